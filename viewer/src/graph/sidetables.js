// Which weak references keep memory: the side tables of their objects.

import { HOLDS_MASK } from "./csr.js";
import { KIND } from "./costs.js";
import { stringReader } from "../data/strings.js";

/** What the reference from an object to its side table is called. */
const LABEL = "side table";

/** A weak reference in memory that is alive, in the bits of `info` that `HOLDS_MASK` has. */
const WEAK = 1;

/**
 * The references by which side tables are held: an object's own, and each weak one to the object. Dominators and retained
 * sizes are found on them, as the analyzer does; a table goes when all of them have gone. Weak references that are
 * counted but were not found are the outside's.
 *
 * Time O(V + E).
 *
 * @param {import("../data/tables.js").Tables} tables
 * @returns {{nodeCount: number, first: Uint32Array, target: Uint32Array, info: Uint8Array} | null} null where no weak reference
 *   keeps a side table
 */
export function holdingSideTables({ nodeCount, node, edge, label, strings }) {
  const { first, target, info } = edge;
  if (!node.kind.includes(KIND.sideTable)) return null;
  const text = stringReader(strings);
  const isNamed = Array.from(label.name, (row) => text(row) === LABEL);
  /** @type {Map<number, number>} */
  const tableByObject = new Map();
  for (let from = 0; from < nodeCount; from++) {
    for (let slot = first[from]; slot < first[from + 1]; slot++) {
      if (node.kind[target[slot]] !== KIND.sideTable || (info[slot] & HOLDS_MASK) !== 0) continue;
      if (isNamed[edge.label[slot]]) tableByObject.set(from, Math.max(target[slot], tableByObject.get(from) ?? 0));
    }
  }
  if (tableByObject.size === 0) return null;
  /** @type {Map<number, number[]>} the tables that each node holds besides, the outside as well */
  const more = new Map();
  /** @type {(from: number, table: number) => void} */
  const add = (from, table) => {
    const known = more.get(from);
    if (known) known.push(table);
    else more.set(from, [table]);
  };
  /** @type {Map<number, number>} */
  const found = new Map();
  for (let from = 0; from < nodeCount; from++) {
    for (let slot = first[from]; slot < first[from + 1]; slot++) {
      const table = (info[slot] & HOLDS_MASK) === WEAK ? tableByObject.get(target[slot]) : undefined;
      if (table === undefined) continue;
      add(from, table);
      found.set(table, (found.get(table) ?? 0) + 1);
    }
  }
  for (const [object, table] of tableByObject) {
    if (node.weak[object] > (found.get(table) ?? 0)) add(nodeCount, table);
  }
  if (more.size === 0) return null;
  let count = 0;
  for (const tables of more.values()) count += tables.length;
  const result = {
    nodeCount,
    first: new Uint32Array(first.length),
    target: new Uint32Array(target.length + count),
    info: new Uint8Array(target.length + count),
  };
  let end = 0;
  for (let from = 0; from <= nodeCount; from++) {
    result.first[from] = end;
    result.target.set(target.subarray(first[from], first[from + 1]), end);
    result.info.set(info.subarray(first[from], first[from + 1]), end);
    end += first[from + 1] - first[from];
    for (const table of more.get(from) ?? []) result.target[end++] = table;
  }
  result.first[nodeCount + 1] = end;
  return result;
}
