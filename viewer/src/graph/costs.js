// Which of several ways to an object is the one to show.

/** Kinds of nodes, as docs/viewer-format.md numbers them. */
export const KIND = {
  block: 0,
  object: 1,
  closure: 2,
  box: 3,
  storage: 4,
  task: 5,
  taskSlab: 6,
  sideTable: 7,
  cBlock: 8,
  coreFoundation: 9,
  resource: 10,
  runtime: 11,
  cStorage: 12,
};

/** What a reader calls each kind. */
export const KIND_NAMES = [
  "C memory",
  "object",
  "closure",
  "box",
  "storage",
  "task",
  "task memory",
  "side table",
  "dispatch block",
  "CoreFoundation object",
  "resource",
  "runtime",
  "part of a C object",
];

/** What texts fold, by kind; a table, since it is asked for each reference of a picture. */
const IS_FOLDED = KIND_NAMES.map((_, kind) => [KIND.storage, KIND.box, KIND.taskSlab, KIND.sideTable, KIND.cStorage].includes(kind));

/**
 * Whether nodes of a kind have no name of their own in the source: texts fold them into the field that holds them.
 *
 * @param {number} kind
 */
export function isFolded(kind) {
  return IS_FOLDED[kind] ?? false;
}

/**
 * Whether the runtime counts references to nodes of a kind.
 *
 * @param {number} kind
 */
export function isCounted(kind) {
  return kind >= KIND.object && kind <= KIND.task;
}

/** What roots of each kind cost: a global says more than a stack, which may have borrowed the object only. */
const ROOT_COSTS = [1, 34, 34, 34, 3, 1, 6, 4];

/**
 * What each reference costs, as the analyzer prices them: fewer steps first, folded storage for little; then fewer
 * words of which nobody is sure, then more names. Time O(E).
 *
 * @param {import("../data/tables.js").Tables} tables
 */
export function referenceCosts(tables) {
  const { edge, node, label, root, nodeCount } = tables;
  const unnamed = new Uint8Array(label.name.length);
  for (let row = 0; row < unnamed.length; row++) {
    unnamed[row] = label.name[row] === 0 && label.via[row] === 0 && label.index[row] === 0 ? 1 : 0;
  }
  const costs = new Uint8Array(edge.target.length);
  for (let source = 0; source < nodeCount; source++) {
    const base = isFolded(node.kind[source]) ? 2 : 16;
    for (let slot = edge.first[source]; slot < edge.first[source + 1]; slot++) {
      costs[slot] = base + ((edge.info[slot] & 0x70) === 0x20 ? 2 : 0) + unnamed[edge.label[slot]];
    }
  }
  const firstRoot = edge.first[nodeCount];
  for (let row = 0; row < root.count; row++) costs[firstRoot + row] = ROOT_COSTS[root.kind[row]] ?? 6;
  return costs;
}
