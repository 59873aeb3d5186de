// What the runtime would free if some references were gone.

import { HOLDS_MASK } from "./csr.js";

/**
 * Plays out reference counting: a node is freed when its last holder goes. It has as many holders as references hold
 * it, or as its strong count says, whichever is more: retains that no reference explains are never released here. A
 * freed node releases what it refers to. The same rules as the analyzer's.
 *
 * Time O(slots + nodes and references freed).
 *
 * @param {import("./csr.js").Graph} graph
 * @param {(node: number) => number} holdersOf how many holders a node has, see `holderCount`
 * @param {Iterable<number>} slots the references that go
 * @returns {number[]} the nodes that are freed, in order
 */
export function freedByCutting(graph, holdersOf, slots) {
  const { nodeCount, first, target, info } = graph;
  const cut = new Set();
  for (const slot of slots) if ((info[slot] & HOLDS_MASK) === 0) cut.add(slot);
  /** @type {Map<number, number>} */
  const left = new Map();
  /** @type {number[]} */
  const freed = [];
  /** @param {number} node */
  const release = (node) => {
    if (node >= nodeCount) return;
    const before = left.get(node) ?? holdersOf(node);
    left.set(node, before - 1);
    if (before === 1) freed.push(node);
  };
  for (const slot of cut) release(target[slot]);
  for (let at = 0; at < freed.length; at++) {
    const node = freed[at];
    for (let slot = first[node], end = first[node + 1]; slot < end; slot++) {
      if ((info[slot] & HOLDS_MASK) === 0 && !cut.has(slot)) release(target[slot]);
    }
  }
  return freed;
}

/**
 * How many references hold a node. Time O(references to it).
 *
 * @param {import("./csr.js").Graph} graph
 * @param {number} node
 */
export function foundHolders(graph, node) {
  const { backFirst, backSlot, info } = graph;
  let found = 0;
  for (let place = backFirst[node], end = backFirst[node + 1]; place < end; place++) {
    if ((info[backSlot[place]] & HOLDS_MASK) === 0) found++;
  }
  return found;
}
