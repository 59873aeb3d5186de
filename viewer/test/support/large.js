// A large report: objects in containers, hubs with many referrers, cycles, and leaked parts; three references an object.

import { turned } from "../../src/graph/csr.js";
import { depthFirst } from "../../src/graph/search.js";
import { dominatorTree, retainedSizes } from "../../src/graph/dominators.js";
import { check } from "../../src/data/analysis.js";
import { seeded } from "./random.js";

/** The summary and columns of a report with so many nodes. */
export function largeReport(n) {
  const random = seeded(42);
  const pick = (count) => Math.floor(random() * count);
  const strings = [""];
  const string = (text) => strings.push(text) - 1;
  const typeNames = Array.from({ length: 400 }, (_, at) => string(at % 7 === 0 ? `Swift._ContiguousArrayStorage<App.Model${at}>` : at % 5 === 0 ? `closure #${1 + (at % 4)} in App.Screen${at}.body()` : `App.Module${at % 9}.Model${at}`));
  const app = string("App");
  const labelNames = ["", "next", "delegate", "items", "owner", "handler", "child", "context"].map((name) => (name ? string(name) : 0));
  const functionNames = Array.from({ length: 1500 }, (_, at) => string(at % 3 === 0 ? `swift_runtime${at}` : `App.Module${at % 9}.function${at}(_:)`));
  const file = string("/app/Sources/Main.swift");
  const rootName = Array.from({ length: 200 }, (_, at) => string(`static App.Registry${at}.shared`));

  const type = new Uint32Array(n);
  const bytes = new Float64Array(n);
  const kind = new Uint8Array(n);
  const flags = new Uint8Array(n);
  const first = new Uint32Array(n + 2);
  const target = [];
  const labels = [];
  const infos = [];
  for (let node = 0; node < n; node++) {
    const t = pick(typeNames.length);
    type[node] = t;
    kind[node] = t % 7 === 0 ? 4 : t % 5 === 0 ? 2 : 1;
    bytes[node] = 16 * (1 + pick(12)) + (kind[node] === 4 ? 16 * pick(200) : 0);
    // A tree with local references, some far ones, a few to hubs.
    const degree = kind[node] === 4 ? 2 + pick(7) : 1 + pick(4);
    for (let at = 0; at < degree; at++) {
      const roll = random();
      const next = roll < 0.72 ? Math.min(n - 1, node + 1 + pick(60)) : roll < 0.9 ? pick(n) : roll < 0.93 ? pick(50) * 1000 % n : Math.max(0, node - pick(200));
      target.push(next);
      labels.push(kind[node] === 4 ? 8 + (at % 8) : 1 + pick(7));
      infos.push((random() < 0.1 ? 1 + pick(3) : 0) | ((random() < 0.1 ? 2 : 1) << 4));
    }
    first[node + 1] = target.length;
  }
  const edgeCount = target.length;
  const roots = [];
  for (let at = 0; at < 4000; at++) roots.push({ kind: pick(4), target: at < 200 ? at : pick(n), name: rootName[at % 200], info: 0x20 });
  for (const root of roots) target.push(root.target);
  first[n + 1] = target.length;
  const graph = { nodeCount: n, first, target: Uint32Array.from(target), info: Uint8Array.from([...infos, ...roots.map((root) => root.info)].length ? concatenated(infos, roots) : []) };
  Object.assign(graph, turned(graph));
  const components = depthFirst(graph, []).components;
  const reached = new Uint8Array(n + 1);
  const queue = [n];
  reached[n] = 1;
  for (let at = 0; at < queue.length; at++) {
    for (let slot = first[queue[at]]; slot < first[queue[at] + 1]; slot++) {
      const next = graph.target[slot];
      if ((graph.info[slot] & 0x8f) === 0 && !reached[next]) {
        reached[next] = 1;
        queue.push(next);
      }
    }
  }
  const isHeld = new Uint8Array(components.count);
  for (let node = 0; node < n; node++) {
    if (reached[node]) continue;
    flags[node] = 4;
    for (let slot = first[node]; slot < first[node + 1]; slot++) {
      if ((graph.info[slot] & 0x8f) !== 0) continue;
      const other = components.componentByNode[graph.target[slot]];
      if (other !== components.componentByNode[node]) isHeld[other] = 1;
    }
  }
  const entries = [];
  for (let node = 0; node < n; node++) {
    const component = components.componentByNode[node];
    if (reached[node] || isHeld[component]) continue;
    isHeld[component] = 1;
    entries.push(node);
  }
  const tree = dominatorTree(graph, depthFirst(graph, Uint32Array.from(entries)));
  const retained = retainedSizes(tree, bytes);
  const [retainedBytesSum, retainedCountSum, cyclicComponents, largestComponent] = check({ retainedBytesSum: -1, retainedCountSum: -1, cyclicComponents: -1, largestComponent: -1 }, graph, retained, components).map((figure) => figure.page);

  const stackCount = 20_000;
  const stackParent = new Uint32Array(stackCount);
  const stackFrame = new Uint32Array(stackCount);
  for (let row = 1; row < stackCount; row++) {
    stackParent[row] = row < 2 ? row : 1 + pick(Math.ceil(row / 2));
    stackFrame[row] = 1 + pick(functionNames.length - 1);
  }
  const counts = new Uint32Array(typeNames.length);
  const sums = new Float64Array(typeNames.length);
  const lost = new Uint32Array(typeNames.length);
  const lostBytes = new Float64Array(typeNames.length);
  for (let node = 0; node < n; node++) {
    counts[type[node]]++;
    sums[type[node]] += bytes[node];
    if (flags[node]) {
      lost[type[node]]++;
      lostBytes[type[node]] += bytes[node];
    }
  }
  const texts = strings.map((text) => Buffer.from(text));
  const deltas = new Int32Array(edgeCount);
  for (let node = 0; node < n; node++) {
    let last = node;
    for (let slot = first[node]; slot < first[node + 1]; slot++) {
      deltas[slot] = graph.target[slot] - last;
      last = graph.target[slot];
    }
  }
  const zeros = (count) => new Uint8Array(count);
  const columns = [
    ["string.length", "u32", texts.map((text) => text.length)], ["string.text", "bytes", Buffer.concat(texts)],
    ["type.name", "u32", typeNames], ["type.module", "u32", typeNames.map(() => app)], ["type.report", "u32", typeNames.map((_, at) => at)], ["type.flags", "bytes", typeNames.map((_, at) => (at % 7 === 0 ? 0 : 1))],
    ["node.type", "u32", type], ["node.bytes", "u53", bytes], ["node.gap", "z53", Float64Array.from({ length: n }, (_, at) => (at === 0 ? 0x7f00_0000_0000 : pick(6) === 0 ? 16 * pick(50) : 16))],
    ["node.kind", "bytes", kind], ["node.flags", "bytes", flags], ["node.generation", "u32", zeros(n)], ["node.stack", "u32", Uint32Array.from({ length: n }, () => pick(stackCount))],
    ["node.strong", "u32", Uint32Array.from({ length: n }, () => 2 + pick(3))], ["node.unowned", "u32", zeros(n)], ["node.weak", "u32", zeros(n)],
    ["edge.degree", "u32", Uint32Array.from({ length: n }, (_, at) => first[at + 1] - first[at])], ["edge.target", "z32", deltas], ["edge.label", "u32", Uint32Array.from(labels)], ["edge.info", "bytes", Uint8Array.from(infos)],
    ["label.name", "u32", [...labelNames, ...zeros(8)]], ["label.index", "u32", [...zeros(8), 1, 2, 3, 4, 5, 6, 7, 8]], ["label.via", "u32", zeros(16)],
    ["root.kind", "bytes", roots.map((root) => root.kind)], ["root.target", "u32", roots.map((root) => root.target)], ["root.info", "bytes", roots.map((root) => root.info)], ["root.name", "u32", roots.map((root) => root.name)],
    ["entry.node", "u32", entries],
    ["frame.function", "u32", [0, ...functionNames.slice(1)]], ["frame.file", "u32", functionNames.map((_, at) => (at % 3 ? file : 0))], ["frame.line", "u32", functionNames.map((_, at) => at % 90)], ["frame.module", "u32", functionNames.map(() => app)], ["frame.flags", "bytes", functionNames.map((_, at) => (at % 3 ? 2 : 0))],
    ["stack.parent", "u32", stackParent], ["stack.frame", "u32", stackFrame],
    ["task.node", "u32", []], ["task.id", "u53", []], ["task.info", "u32", []], ["task.parent", "u32", []], ["task.stack", "u32", []],
    ["report.name", "u32", typeNames], ["report.flags", "bytes", typeNames.map(() => 1)], ["report.count", "u32", counts], ["report.bytes", "u53", sums], ["report.leakedCount", "u32", lost], ["report.leakedBytes", "u53", lostBytes],
    ["report.bornCount", "u32", zeros(400)], ["report.bornBytes", "u53", zeros(400)], ["report.diedCount", "u32", zeros(400)], ["report.diedBytes", "u53", zeros(400)],
  ];
  if (n > 2_000_000) columns.push(["node.dominator", "z32", Int32Array.from({ length: n }, (_, node) => (tree.dominatorByNode[node] === n ? 0 : node - tree.dominatorByNode[node]))]);
  const live = { count: n, bytes: bytes.reduce((a, b) => a + b, 0) };
  const leaked = { count: flags.reduce((sum, flag) => sum + (flag ? 1 : 0), 0), bytes: lostBytes.reduce((a, b) => a + b, 0) };
  const summary = {
    tool: { name: "memgraph", version: "0.0" }, title: "Large", answer: `${leaked.count} leaked objects`, nodes: n, edges: edgeCount, embed: "all",
    snapshots: [{ path: "large.mgraph", title: "large", process: 1, executable: "/app/Large", mark: "large", source: "twin", hasAgent: true, isPartial: false, stackMode: "full", objects: n, references: edgeCount, live, leaked, marks: [] }],
    generations: [], totals: { live, leaked }, findings: [], tasks: [], actors: [], memory: [], referenceCounts: { exact: n, unexplained: 0, overCounted: 0 }, diagnostics: [], symbolGaps: [], limits: [],
    check: { retainedBytesSum, retainedCountSum, cyclicComponents, largestComponent },
  };
  return { summary, columns };
}

function concatenated(infos, roots) {
  const all = new Uint8Array(infos.length + roots.length);
  all.set(infos);
  all.set(roots.map((root) => root.info), infos.length);
  return all;
}
