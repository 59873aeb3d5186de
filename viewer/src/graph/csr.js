// The references of a snapshot in compressed sparse row form, both ways round.

/**
 * Nodes are numbers from 0; the number past the last one stands for the world outside the heap, whose references
 * are the roots. A reference is named by its slot, a place in `target`.
 *
 * @typedef {object} Graph
 * @property {number} nodeCount nodes without the outside
 * @property {Uint32Array} first the references of node v are slots first[v] up to first[v + 1]; nodeCount + 2 rows
 * @property {Uint32Array} target the node that each slot leads to
 * @property {Uint8Array} info bits 0-3 strength, 4-6 provenance, bit 7: a stale word in destroyed memory
 * @property {Uint32Array} backFirst what leads to node v are places backFirst[v] up to backFirst[v + 1]
 * @property {Uint32Array} backSource the node that each place comes from, ascending within a node
 * @property {Uint32Array} backSlot the slot of each place
 */

/** The number that stands for "no node", "no slot", "not reached". */
export const ABSENT = 0xffffffff;

/** The bit of `info` that says that the reference lies in memory that was destroyed already. */
export const STALE = 0x80;

/** The bits of `info` that are all zero where a reference keeps its target alive. */
export const HOLDS_MASK = 0x8f;

/**
 * Turns the references round.
 *
 * Time O(V + E), memory 8 bytes a reference.
 *
 * @param {{nodeCount: number, first: Uint32Array, target: Uint32Array}} graph
 * @returns {{backFirst: Uint32Array, backSource: Uint32Array, backSlot: Uint32Array}}
 */
export function turned(graph) {
  const { nodeCount, first, target } = graph;
  const backFirst = new Uint32Array(nodeCount + 2);
  const slots = target.length;
  for (let slot = 0; slot < slots; slot++) backFirst[target[slot] + 1]++;
  for (let node = 0; node <= nodeCount; node++) backFirst[node + 1] += backFirst[node];
  const next = backFirst.slice();
  const backSource = new Uint32Array(slots);
  const backSlot = new Uint32Array(slots);
  for (let node = 0; node <= nodeCount; node++) {
    for (let slot = first[node], end = first[node + 1]; slot < end; slot++) {
      const place = next[target[slot]]++;
      backSource[place] = node;
      backSlot[place] = slot;
    }
  }
  return { backFirst, backSource, backSlot };
}

/**
 * The node that a slot leaves. Time O(log V).
 *
 * @param {Graph} graph
 * @param {number} slot
 */
export function sourceOf(graph, slot) {
  const { first } = graph;
  let low = 0;
  let high = graph.nodeCount + 1;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (first[middle] <= slot) low = middle;
    else high = middle;
  }
  return low;
}
