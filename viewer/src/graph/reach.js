// What roots reach, how far it is, and by which references.

import { ABSENT, HOLDS_MASK } from "./csr.js";

/**
 * The cheapest way to each node.
 *
 * @typedef {object} Ways
 * @property {Uint32Array} slotByNode the last reference of the way to each node; ABSENT for the outside and for entries
 * @property {Uint32Array | Uint16Array} costByNode what the way costs; all bits set for what nothing reaches
 * @property {Uint8Array} isReached whether a root reaches each node; the others were entered without one
 */

/** The most that one reference may cost. */
const MOST = 63;

/**
 * The cheapest way from the roots to each node, by Dial's algorithm ("Algorithm 360", 1969): costs are small whole
 * numbers, so a ring of buckets is the queue.
 *
 * What no root reaches is entered by `entries`, so that its ways begin at what nothing else leads to.
 *
 * Time O(V + E), memory 12 bytes a node.
 *
 * @param {import("./csr.js").Graph} graph
 * @param {Uint8Array} costBySlot from 1 to 63
 * @param {Uint32Array} entries one node of each component of the unreachable part that nothing else leads to
 * @returns {Ways}
 */
export function cheapestWays(graph, costBySlot, entries) {
  const { nodeCount, first, target, info } = graph;
  const cost = new Uint32Array(nodeCount + 1).fill(ABSENT);
  const via = new Uint32Array(nodeCount + 1).fill(ABSENT);
  // What roots reach keeps its way from there when the rest is entered.
  const isReached = new Uint8Array(nodeCount + 1);
  const buckets = Array.from({ length: MOST + 1 }, () => /** @type {number[]} */ ([]));
  /** @param {ArrayLike<number>} sources */
  const spread = (sources) => {
    let waiting = sources.length;
    for (let at = 0; at < sources.length; at++) {
      cost[sources[at]] = 0;
      buckets[0].push(sources[at]);
    }
    for (let now = 0; waiting > 0; now++) {
      const bucket = buckets[now & MOST];
      // A bucket can't grow while it is worked on: costs are at least 1 and less than the number of buckets.
      for (let at = 0; at < bucket.length; at++) {
        const node = bucket[at];
        waiting--;
        if (cost[node] !== now) continue;
        for (let slot = first[node], end = first[node + 1]; slot < end; slot++) {
          if ((info[slot] & HOLDS_MASK) !== 0) continue;
          const next = target[slot];
          const sum = now + costBySlot[slot];
          if (sum < cost[next] && !isReached[next]) {
            cost[next] = sum;
            via[next] = slot;
            buckets[sum & MOST].push(next);
            waiting++;
          }
        }
      }
      bucket.length = 0;
    }
  };
  spread([nodeCount]);
  for (let node = 0; node <= nodeCount; node++) isReached[node] = cost[node] === ABSENT ? 0 : 1;
  spread(entries.filter((node) => !isReached[node]));
  return { slotByNode: via, costByNode: cost, isReached };
}

/**
 * The slots of a node's cheapest way, from the root on. Empty for an entry of the unreachable part.
 *
 * @param {Ways} ways
 * @param {number} node
 * @param {(slot: number) => number} sourceOf
 */
export function wayTo(ways, node, sourceOf) {
  const slots = [];
  for (let slot = ways.slotByNode[node]; slot !== ABSENT; slot = ways.slotByNode[sourceOf(slot)]) slots.push(slot);
  return slots.reverse();
}
