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
 * @property {Uint32Array} backSlot the slot of each place, ascending within a node
 *
 * @typedef {Graph & {backSource: Uint32Array}} SourcedGraph `backSource` is the node that each place comes from: who asks for
 *   all of them saves the time of `sourceOf`, and pays 4 bytes a reference
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

/** How many slots share a row of the index, as a power of two. */
const BLOCK = 5;

/**
 * Where `sourceOf` has to look: the source of each 32nd slot. Time O(V + E / 32), memory an eighth of a byte a reference.
 *
 * @param {{nodeCount: number, first: Uint32Array, target: Uint32Array}} graph
 */
export function sourceIndex({ nodeCount, first, target }) {
  const index = new Uint32Array((target.length >>> BLOCK) + 2).fill(nodeCount);
  let row = 0;
  for (let node = 0; node <= nodeCount; node++) while (row << BLOCK < first[node + 1]) index[row++] = node;
  return index;
}

/**
 * The node that a slot leaves. Time O(log V) at worst, and of the nodes that 32 slots leave in practice.
 *
 * @param {{first: Uint32Array}} graph
 * @param {Uint32Array} index of `sourceIndex`
 * @param {number} slot
 */
export function sourceOf({ first }, index, slot) {
  let low = index[slot >>> BLOCK];
  let high = index[(slot >>> BLOCK) + 1] + 1;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (first[middle] <= slot) low = middle;
    else high = middle;
  }
  return low;
}
