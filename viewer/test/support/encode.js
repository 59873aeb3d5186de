// Writes reports as `memgraph view` does, for tests of the page without the tool. docs/viewer-format.md is what this writes.

import { gzipSync } from "node:zlib";
import { turned } from "../../src/graph/csr.js";
import { depthFirst } from "../../src/graph/search.js";
import { dominatorTree, retainedSizes } from "../../src/graph/dominators.js";
import { cheapestWays } from "../../src/graph/reach.js";
import { check } from "../../src/data/analysis.js";

const encodings = {
  bytes: (values) => Buffer.from(values),
  u32: (values) => leb(values, (value) => value),
  u53: (values) => leb(values, (value) => value),
  z32: (values) => leb(values, (value) => (value < 0 ? -value * 2 - 1 : value * 2)),
  z53: (values) => leb(values, (value) => (value < 0 ? -value * 2 - 1 : value * 2)),
};

function leb(values, map) {
  const buffer = Buffer.alloc(values.length * 8 + 8);
  let at = 0;
  for (let row = 0; row < values.length; row++) {
    let value = map(values[row]);
    while (value >= 128) {
      buffer[at++] = (value % 128) | 128;
      value = Math.floor(value / 128);
    }
    buffer[at++] = value;
  }
  return buffer.subarray(0, at);
}

/** Columns as `[name, encoding, values]`, as the summary's heads and the payload's bytes. */
export function encodeColumns(columns) {
  const parts = columns.map(([name, encoding, values]) => ({ name, encoding, count: values.length, data: encodings[encoding](values) }));
  return {
    heads: parts.map(({ name, encoding, count, data }) => ({ name, encoding, count, bytes: data.length })),
    payload: Buffer.concat(parts.map((part) => part.data)),
  };
}

/** A summary and the texts of its data elements. */
export function encodeReport(summary, columns, { encoding = "gzip", chunk = 196_608 } = {}) {
  const { heads, payload } = encodeColumns(columns);
  const bytes = encoding === "gzip" ? gzipSync(payload, { level: 6 }) : payload;
  const chunks = [];
  for (let at = 0; at < bytes.length; at += chunk) chunks.push(bytes.subarray(at, at + chunk).toString("base64"));
  return {
    summary: {
      format: "memory-graph/view/1",
      ...summary,
      payload: { encoding, bytes: bytes.length, rawBytes: payload.length, chunks: chunks.length },
      columns: heads,
    },
    chunks,
  };
}

/** A report as a file. */
export function pageOf(template, staticPart, { summary, chunks }) {
  const escapes = { "<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029" };
  const slots = {
    title: escapeText(summary.title),
    static: staticPart,
    summary: JSON.stringify(summary).replace(/[<>&\u2028\u2029]/g, (c) => escapes[c]),
    data: chunks.map((text) => `<script type="text/plain" class="data">${text}</script>`).join("\n"),
  };
  return template.replace(/<!--slot:(\w+)-->/g, (_, name) => slots[name]);
}

export function escapeText(text) {
  return String(text).replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
}

/** A report that is built object by object. */
export class ReportBuilder {
  strings = [""];
  #stringRows = new Map([["", 0]]);
  types = [];
  #typeRows = new Map();
  labels = [{ name: 0, index: 0, via: 0 }];
  #labelRows = new Map([["0 0 0", 0]]);
  frames = [{ function: 0, file: 0, line: 0, module: 0, flags: 0 }];
  #frameRows = new Map();
  stacks = [{ parent: 0, frame: 0 }];
  #stackRows = new Map();
  nodes = [];
  edges = [];
  roots = [];
  tasks = [];
  /** Counts by reported type of earlier snapshots, oldest first: `{type: [count, bytes]}` each. */
  earlier = [];
  summary = {};

  string(text) {
    let row = this.#stringRows.get(text);
    if (row === undefined) {
      row = this.strings.push(text) - 1;
      this.#stringRows.set(text, row);
    }
    return row;
  }

  type(name, module = "", isOwn = module !== "" && module !== "Swift") {
    const key = `${name}\0${module}`;
    let row = this.#typeRows.get(key);
    if (row === undefined) {
      row = this.types.push({ name: this.string(name), module: this.string(module), flags: isOwn ? 1 : 0 }) - 1;
      this.#typeRows.set(key, row);
    }
    return row;
  }

  label(name, index, via = "") {
    const label = { name: this.string(name), index: index === undefined ? 0 : index === "_" ? 1 : index + 2, via: this.string(via) };
    const key = `${label.name} ${label.index} ${label.via}`;
    let row = this.#labelRows.get(key);
    if (row === undefined) {
      row = this.labels.push(label) - 1;
      this.#labelRows.set(key, row);
    }
    return row;
  }

  /** A stack from its frames, outermost first, each `[function, file, line, module, flags]`. */
  stack(...frames) {
    let row = 0;
    for (const frame of frames) {
      const key = frame.join("\0");
      let frameRow = this.#frameRows.get(key);
      if (frameRow === undefined) {
        const [name, file = "", line = 0, module = "", flags = 0] = frame;
        frameRow = this.frames.push({ function: this.string(name), file: this.string(file), line, module: this.string(module), flags }) - 1;
        this.#frameRows.set(key, frameRow);
      }
      const place = `${row} ${frameRow}`;
      let next = this.#stackRows.get(place);
      if (next === undefined) {
        next = this.stacks.push({ parent: row, frame: frameRow }) - 1;
        this.#stackRows.set(place, next);
      }
      row = next;
    }
    return row;
  }

  node({ type, bytes = 48, kind = 1, flags = 0, generation = 0, stack = 0, strong, unowned = 0, weak = 0, gap = 16 }) {
    return this.nodes.push({ type, bytes, kind, flags, generation, stack, strong, unowned, weak, gap }) - 1;
  }

  edge(from, to, name = "", { index, via, strength = 0, provenance = 1 } = {}) {
    this.edges.push({ from, to, label: this.label(name, index, via), info: strength | (provenance << 4) });
  }

  root(kind, name, target, { strength = 0, provenance = 2 } = {}) {
    this.roots.push({ kind, name: this.string(name), target, info: strength | (provenance << 4) });
  }

  /** The summary and columns, with the figures to check against; the flags of leaked nodes are set by reachability. */
  finish({ hasDominators = false } = {}) {
    const n = this.nodes.length;
    const edges = this.edges.map((edge, at) => ({ ...edge, at })).sort((a, b) => a.from - b.from || a.at - b.at);
    const first = new Uint32Array(n + 2);
    for (const { from } of edges) first[from + 1]++;
    for (let node = 0; node < n; node++) first[node + 1] += first[node];
    first[n + 1] = first[n] + this.roots.length;
    const graph = {
      nodeCount: n,
      first,
      target: Uint32Array.from([...edges, ...this.roots.map((root) => ({ to: root.target }))], (edge) => edge.to),
      info: Uint8Array.from([...edges, ...this.roots], (edge) => edge.info),
    };
    for (const [at, edge] of edges.entries()) if ((this.nodes[edge.from].flags & 3) === 2) graph.info[at] |= 0x80;
    Object.assign(graph, turned(graph));
    const components = depthFirst(graph, []).components;
    const reached = cheapestWays(graph, new Uint8Array(graph.target.length).fill(1), new Uint32Array(0)).isReached;
    const isHeld = new Uint8Array(n + 1);
    for (const [at, edge] of edges.entries()) {
      const own = components.componentByNode[edge.from];
      const other = components.componentByNode[edge.to];
      if ((graph.info[at] & 0x8f) === 0 && !reached[edge.from] && own !== other) isHeld[other] = 1;
    }
    const entries = [];
    for (let node = 0; node < n; node++) {
      const component = components.componentByNode[node];
      if (reached[node] || isHeld[component]) continue;
      isHeld[component] = 1;
      entries.push(node);
    }
    const tree = dominatorTree(graph, depthFirst(graph, Uint32Array.from(entries)));
    const retained = retainedSizes(tree, this.nodes.map((node) => node.bytes));
    for (let node = 0; node < n; node++) if (!reached[node]) this.nodes[node].flags |= 4;
    const figures = check({ retainedBytesSum: -1, retainedCountSum: -1, cyclicComponents: -1, largestComponent: -1 }, graph, retained, components);
    const [retainedBytesSum, retainedCountSum, cyclicComponents, largestComponent] = figures.map((figure) => figure.page);

    const reportNames = [...new Set(this.types.map((type) => type.name))];
    const reportRow = new Map(reportNames.map((name, row) => [name, row]));
    const shots = this.earlier.length + 1;
    const counts = { count: [], bytes: [], leakedCount: [], leakedBytes: [], bornCount: [], bornBytes: [], diedCount: [], diedBytes: [] };
    const sums = reportNames.map(() => ({ count: 0, bytes: 0, leakedCount: 0, leakedBytes: 0, bornCount: 0, bornBytes: 0 }));
    for (const node of this.nodes) {
      const sum = sums[reportRow.get(this.types[node.type].name)];
      const add = (name, isIn) => {
        sum[`${name}Count`] += isIn ? 1 : 0;
        sum[`${name}Bytes`] += isIn ? node.bytes : 0;
      };
      sum.count++;
      sum.bytes += node.bytes;
      add("leaked", node.flags & 4);
      add("born", node.flags & 8);
    }
    for (const [row, name] of reportNames.entries()) {
      for (const shot of this.earlier) {
        const [count, bytes] = shot[this.strings[name]] ?? [0, 0];
        counts.count.push(count);
        counts.bytes.push(bytes);
      }
      counts.count.push(sums[row].count);
      counts.bytes.push(sums[row].bytes);
      for (const key of ["leakedCount", "leakedBytes", "bornCount", "bornBytes"]) counts[key].push(sums[row][key]);
      const [before, bytesBefore] = this.earlier[0]?.[this.strings[name]] ?? [0, 0];
      counts.diedCount.push(this.earlier.length ? Math.max(0, before - (sums[row].count - sums[row].bornCount)) : 0);
      counts.diedBytes.push(this.earlier.length ? Math.max(0, bytesBefore - (sums[row].bytes - sums[row].bornBytes)) : 0);
    }

    const texts = this.strings.map((text) => Buffer.from(text));
    let end = 0;
    const gaps = this.nodes.map((node, at) => {
      const gap = at === 0 ? 0x7f00_0000_0000 + node.gap : node.gap;
      end += gap + node.bytes;
      return gap;
    });
    const of = (rows, name) => rows.map((row) => row[name]);
    const deltas = [];
    for (let node = 0; node < n; node++) {
      let last = node;
      for (let slot = first[node]; slot < first[node + 1]; slot++) {
        deltas.push(graph.target[slot] - last);
        last = graph.target[slot];
      }
    }
    const columns = [
      ["string.length", "u32", texts.map((text) => text.length)],
      ["string.text", "bytes", Buffer.concat(texts)],
      ["type.name", "u32", of(this.types, "name")],
      ["type.module", "u32", of(this.types, "module")],
      ["type.report", "u32", this.types.map((type) => reportRow.get(type.name))],
      ["type.flags", "bytes", of(this.types, "flags")],
      ["node.type", "u32", of(this.nodes, "type")],
      ["node.bytes", "u53", of(this.nodes, "bytes")],
      ["node.gap", "z53", gaps],
      ["node.kind", "bytes", of(this.nodes, "kind")],
      ["node.flags", "bytes", of(this.nodes, "flags")],
      ["node.generation", "u32", of(this.nodes, "generation")],
      ["node.stack", "u32", of(this.nodes, "stack")],
      ["node.strong", "u32", this.nodes.map((node, at) => node.strong ?? (node.kind >= 1 && node.kind <= 5 ? holders(graph, at) + 1 : 0))],
      ["node.unowned", "u32", of(this.nodes, "unowned")],
      ["node.weak", "u32", of(this.nodes, "weak")],
      ["edge.degree", "u32", this.nodes.map((_, node) => first[node + 1] - first[node])],
      ["edge.target", "z32", deltas],
      ["edge.label", "u32", of(edges, "label")],
      ["edge.info", "bytes", of(edges, "info")],
      ["label.name", "u32", of(this.labels, "name")],
      ["label.index", "u32", of(this.labels, "index")],
      ["label.via", "u32", of(this.labels, "via")],
      ["root.kind", "bytes", of(this.roots, "kind")],
      ["root.target", "u32", of(this.roots, "target")],
      ["root.info", "bytes", of(this.roots, "info")],
      ["root.name", "u32", of(this.roots, "name")],
      ["entry.node", "u32", entries],
      ["frame.function", "u32", of(this.frames, "function")],
      ["frame.file", "u32", of(this.frames, "file")],
      ["frame.line", "u32", of(this.frames, "line")],
      ["frame.module", "u32", of(this.frames, "module")],
      ["frame.flags", "bytes", of(this.frames, "flags")],
      ["stack.parent", "u32", this.stacks.map((stack, row) => row - stack.parent)],
      ["stack.frame", "u32", of(this.stacks, "frame")],
      ["task.node", "u32", of(this.tasks, "node")],
      ["task.id", "u53", of(this.tasks, "id")],
      ["task.info", "u32", of(this.tasks, "info")],
      ["task.parent", "u32", of(this.tasks, "parent")],
      ["task.stack", "u32", of(this.tasks, "stack")],
      ["report.name", "u32", reportNames],
      ["report.flags", "bytes", reportNames.map((name) => this.types.find((type) => type.name === name).flags)],
      ...Object.entries(counts).map(([name, values]) => [`report.${name}`, name.endsWith("ytes") ? "u53" : "u32", values]),
    ];
    if (hasDominators) {
      columns.push(["node.dominator", "z32", this.nodes.map((_, node) => (tree.dominatorByNode[node] === n ? 0 : node - tree.dominatorByNode[node]))]);
      columns.push(["node.retainedBytes", "u53", [...retained.bytes.subarray(0, n)]]);
      columns.push(["node.retainedCount", "u32", [...retained.counts.subarray(0, n)]]);
    }
    const live = { count: n, bytes: this.nodes.reduce((sum, node) => sum + node.bytes, 0) };
    const lost = this.nodes.filter((node) => node.flags & 4);
    const leaked = { count: lost.length, bytes: lost.reduce((sum, node) => sum + node.bytes, 0) };
    const shot = (title) => ({
      path: `marks/${title}.mgraph`, title, process: 4711, executable: "/app/Demo", mark: title, source: "twin", hasAgent: true,
      isPartial: false, stackMode: "full", objects: n, references: edges.length, live, marks: [],
    });
    const summary = {
      tool: { name: "memgraph", version: "0.0" },
      title: "Demo", answer: "Demo", nodes: n, edges: edges.length, embed: "all",
      snapshots: [...this.earlier.map((_, at) => shot(`mark-${at + 1}`)), { ...shot(`mark-${shots}`), leaked }],
      generations: [], totals: { live, leaked }, findings: [], tasks: [], actors: [], memory: [],
      referenceCounts: { exact: n, unexplained: 0, overCounted: 0 }, diagnostics: [], symbolGaps: [], limits: [],
      check: { retainedBytesSum, retainedCountSum, cyclicComponents, largestComponent },
      ...this.summary,
    };
    return { summary, columns, graph, retained, tree };
  }
}

function holders(graph, node) {
  let found = 0;
  for (let place = graph.backFirst[node]; place < graph.backFirst[node + 1]; place++) {
    if ((graph.info[graph.backSlot[place]] & 0x8f) === 0) found++;
  }
  return found;
}
