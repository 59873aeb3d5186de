// The decoded tables of a report: nodes, references, roots, names, stacks, tasks and counts by type.

import { DamagedData, columnReader } from "./columns.js";
import { stringTable } from "./strings.js";
import { STALE } from "../graph/csr.js";

/**
 * Everything that the payload says, as arrays. It crosses from the worker to the page, so there are no functions in it.
 *
 * @typedef {object} Tables
 * @property {number} nodeCount
 * @property {import("./strings.js").StringTable} strings
 * @property {{name: Uint32Array, module: Uint32Array, report: Uint32Array, flags: Uint8Array}} type
 * @property {NodeTable} node
 * @property {{first: Uint32Array, target: Uint32Array, info: Uint8Array, label: Rows}} edge
 *   the roots are the references of node `nodeCount`; `label` has rows for the others only
 * @property {{name: Uint32Array, index: Uint32Array, via: Uint32Array}} label
 * @property {{kind: Uint8Array, name: Uint32Array, count: number}} root
 * @property {Uint32Array} entries
 * @property {{function: Uint32Array, file: Uint32Array, line: Uint32Array, module: Uint32Array, flags: Uint8Array}} frame
 * @property {{parent: Uint32Array, frame: Uint32Array}} stack `parent` is a row
 * @property {{node: Uint32Array, id: Float64Array, info: Uint32Array, parent: Uint32Array, stack: Uint32Array}} task
 * @property {ReportTable} report
 * @property {Uint32Array | null} dominator the outside is node `nodeCount`
 * @property {Float64Array | null} retainedBytes
 * @property {Uint32Array | null} retainedCount
 *
 * @typedef {Uint8Array | Uint16Array | Uint32Array} Rows as narrow as the values allow
 *
 * @typedef {object} NodeTable
 * @property {Rows} type
 * @property {Float64Array | Uint32Array} bytes
 * @property {Float64Array} address
 * @property {Uint8Array} kind
 * @property {Uint8Array} flags
 * @property {Rows} generation
 * @property {Rows} stack
 * @property {Rows} strong
 * @property {Rows} unowned
 * @property {Rows} weak
 *
 * @typedef {object} ReportTable
 * @property {Uint32Array} name
 * @property {Uint8Array} flags
 * @property {Uint32Array} count of all snapshots of the first type, then of the second
 * @property {Float64Array} bytes
 * @property {Uint32Array} leakedCount
 * @property {Float64Array} leakedBytes
 * @property {Uint32Array} bornCount
 * @property {Float64Array} bornBytes
 * @property {Uint32Array} diedCount
 * @property {Float64Array} diedBytes
 */

/**
 * Reads all tables and checks every row that they name.
 *
 * Time O(bytes).
 *
 * @param {any} summary
 * @param {Uint8Array} payload
 * @returns {Tables}
 */
export function readTables(summary, payload) {
  const columns = columnReader(summary.columns, payload);
  const nodeCount = columns.rows("node.type");
  const edgeCount = columns.rows("edge.target");
  const rootCount = columns.rows("root.target");
  const stringCount = columns.rows("string.length");
  const typeCount = columns.rows("type.name");
  const labelCount = columns.rows("label.name");
  const frameCount = columns.rows("frame.function");
  const stackCount = columns.rows("stack.frame");
  const taskCount = columns.rows("task.node");
  const reportCount = columns.rows("report.name");
  const shots = summary.snapshots.length;
  /** @type {(name: string, rows: number) => any} */
  const read = (name, rows) => columns.read(name, rows);
  /** @type {(name: string, rows: number) => Uint32Array} */
  const texts = (name, rows) => columns.indices(name, rows, Math.max(stringCount, 1));

  const flags = read("node.flags", nodeCount);
  const { bytes, address } = places(read("node.bytes", nodeCount), read("node.gap", nodeCount));
  const first = firstRows(read("edge.degree", nodeCount), edgeCount, rootCount);
  const edge = references(
    first,
    read("edge.target", edgeCount),
    read("edge.info", edgeCount),
    columns.indices("root.target", rootCount, nodeCount),
    read("root.info", rootCount),
    flags,
  );
  return {
    nodeCount,
    strings: stringTable(read("string.length", stringCount), read("string.text", columns.rows("string.text"))),
    type: {
      name: texts("type.name", typeCount),
      module: texts("type.module", typeCount),
      report: columns.indices("type.report", typeCount, reportCount),
      flags: read("type.flags", typeCount),
    },
    node: {
      type: columns.narrow("node.type", nodeCount, typeCount),
      bytes,
      address,
      kind: read("node.kind", nodeCount),
      flags,
      generation: columns.narrow("node.generation", nodeCount),
      stack: columns.narrow("node.stack", nodeCount, stackCount),
      strong: columns.narrow("node.strong", nodeCount),
      unowned: columns.narrow("node.unowned", nodeCount),
      weak: columns.narrow("node.weak", nodeCount),
    },
    edge: { ...edge, label: columns.narrow("edge.label", edgeCount, labelCount) },
    label: {
      name: texts("label.name", labelCount),
      index: read("label.index", labelCount),
      via: texts("label.via", labelCount),
    },
    root: { kind: read("root.kind", rootCount), name: texts("root.name", rootCount), count: rootCount },
    entries: columns.indices("entry.node", columns.rows("entry.node"), nodeCount),
    frame: {
      function: texts("frame.function", frameCount),
      file: texts("frame.file", frameCount),
      line: read("frame.line", frameCount),
      module: texts("frame.module", frameCount),
      flags: read("frame.flags", frameCount),
    },
    stack: {
      parent: parents(read("stack.parent", stackCount)),
      frame: columns.indices("stack.frame", stackCount, frameCount),
    },
    task: {
      node: columns.indices("task.node", taskCount, nodeCount),
      id: read("task.id", taskCount),
      info: read("task.info", taskCount),
      parent: columns.indices("task.parent", taskCount, taskCount + 1),
      stack: columns.indices("task.stack", taskCount, stackCount),
    },
    report: {
      name: texts("report.name", reportCount),
      flags: read("report.flags", reportCount),
      count: read("report.count", reportCount * shots),
      bytes: read("report.bytes", reportCount * shots),
      leakedCount: read("report.leakedCount", reportCount),
      leakedBytes: read("report.leakedBytes", reportCount),
      bornCount: read("report.bornCount", reportCount),
      bornBytes: read("report.bornBytes", reportCount),
      diedCount: read("report.diedCount", reportCount),
      diedBytes: read("report.diedBytes", reportCount),
    },
    dominator: columns.has("node.dominator") ? dominators(read("node.dominator", nodeCount)) : null,
    retainedBytes: columns.has("node.retainedBytes") ? read("node.retainedBytes", nodeCount) : null,
    retainedCount: columns.has("node.retainedCount") ? read("node.retainedCount", nodeCount) : null,
  };
}

/**
 * @param {Float64Array} bytes
 * @param {Float64Array} gaps becomes the addresses
 */
function places(bytes, gaps) {
  let end = 0;
  let most = 0;
  for (let node = 0; node < bytes.length; node++) {
    gaps[node] += end;
    if (!(gaps[node] >= 0 && gaps[node] <= Number.MAX_SAFE_INTEGER)) throw new DamagedData("node.gap leaves the memory");
    if (node > 0 && gaps[node] < gaps[node - 1]) throw new DamagedData("nodes do not ascend by address");
    end = gaps[node] + bytes[node];
    if (bytes[node] > most) most = bytes[node];
  }
  return { bytes: most < 2 ** 32 ? Uint32Array.from(bytes) : bytes, address: gaps };
}

/**
 * @param {Uint32Array} degrees
 * @param {number} edgeCount
 * @param {number} rootCount
 */
function firstRows(degrees, edgeCount, rootCount) {
  const first = new Uint32Array(degrees.length + 2);
  let sum = 0;
  for (let node = 0; node < degrees.length; node++) {
    first[node] = sum;
    sum += degrees[node];
  }
  if (sum !== edgeCount) throw new DamagedData(`edge.degree counts ${sum} references of ${edgeCount}`);
  first[degrees.length] = sum;
  first[degrees.length + 1] = sum + rootCount;
  return first;
}

/**
 * The targets of all references, those of roots last.
 *
 * @param {Uint32Array} first
 * @param {Int32Array} deltas
 * @param {Uint8Array} edgeInfo
 * @param {Uint32Array} rootTarget
 * @param {Uint8Array} rootInfo
 * @param {Uint8Array} flags of the nodes
 */
function references(first, deltas, edgeInfo, rootTarget, rootInfo, flags) {
  const nodeCount = first.length - 2;
  const edgeCount = deltas.length;
  const target = new Uint32Array(edgeCount + rootTarget.length);
  const info = new Uint8Array(target.length);
  info.set(edgeInfo);
  info.set(rootInfo, edgeCount);
  for (let node = 0; node < nodeCount; node++) {
    let value = node;
    const isDestroyed = (flags[node] & 3) === 2;
    for (let slot = first[node]; slot < first[node + 1]; slot++) {
      value += deltas[slot];
      if (value < 0 || value >= nodeCount) throw new DamagedData(`edge.target names node ${value} of ${nodeCount}`);
      target[slot] = value;
      info[slot] = (info[slot] & 0x7f) | (isDestroyed ? STALE : 0);
    }
  }
  target.set(rootTarget, edgeCount);
  return { first, target, info };
}

/** @param {Uint32Array} distances becomes the rows of the callers */
function parents(distances) {
  for (let row = 0; row < distances.length; row++) {
    if (distances[row] > row || (row > 0 && distances[row] === 0)) throw new DamagedData("stack.parent leaves its table");
    distances[row] = row - distances[row];
  }
  return distances;
}

/** @param {Int32Array} distances */
function dominators(distances) {
  const count = distances.length;
  const nodes = new Uint32Array(count + 1).fill(count);
  for (let node = 0; node < count; node++) {
    if (distances[node] === 0) continue;
    const dominator = node - distances[node];
    if (dominator < 0 || dominator >= count) throw new DamagedData("node.dominator leaves its table");
    nodes[node] = dominator;
  }
  return nodes;
}
