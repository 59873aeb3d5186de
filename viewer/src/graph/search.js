// The depth-first search that cycles and dominators are found by.

import { ABSENT, HOLDS_MASK } from "./csr.js";

/**
 * Depth-first numbers, and the strongly connected components of the references that hold: two nodes are in the same one
 * when each leads to the other.
 *
 * @typedef {object} Search
 * @property {Uint32Array} nodeByNumber the outside has number 0
 * @property {Uint32Array} numberByNode
 * @property {Uint32Array} ancestor by number; 0 for what hangs on the outside
 * @property {Components} components
 *
 * @typedef {object} Components numbered in the order in which they are completed, so a component's number is greater than
 *   those of all that it leads to
 * @property {Uint32Array} componentByNode
 * @property {number} count
 * @property {Uint32Array} sizes
 */

/** What `low` says of a node whose component is complete; more than any number. */
const CLOSED = ABSENT - 1;

/**
 * Searches from the outside, then from the entries of the unreachable part, which hang on the outside as targets of
 * roots do. Tarjan, "Depth-first search and linear graph algorithms", 1972, without recursion.
 *
 * A reference asks one array alone: whether its target was seen, and the least number of what is open that it leads to.
 *
 * Time O(V + E), memory 32 bytes a node.
 *
 * @param {import("./csr.js").Graph} graph
 * @param {ArrayLike<number>} entries
 * @returns {Search}
 */
export function depthFirst(graph, entries) {
  const { nodeCount, first, target, info } = graph;
  const all = nodeCount + 1;
  const nodeByNumber = new Uint32Array(all);
  const numberByNode = new Uint32Array(all);
  const ancestor = new Uint32Array(all);
  const componentByNode = new Uint32Array(all);
  const sizes = new Uint32Array(all);
  const low = new Uint32Array(all).fill(ABSENT);
  const cursor = first.slice(0, all);
  const path = new Uint32Array(all);
  const open = new Uint32Array(all);
  let openCount = 0;
  let components = 0;
  let count = 0;
  // Were an entry missing, the rest would be entered node by node: the sizes are checked against the analyzer's.
  for (let start = -1; start < entries.length + nodeCount && count < all; start++) {
    const begin = start < 0 ? nodeCount : start < entries.length ? entries[start] : start - entries.length;
    if (low[begin] !== ABSENT) continue;
    let depth = 0;
    path[0] = begin;
    low[begin] = numberByNode[begin] = count;
    nodeByNumber[count++] = begin;
    open[openCount++] = begin;
    while (depth >= 0) {
      const node = path[depth];
      const end = first[node + 1];
      let slot = cursor[node];
      let least = low[node];
      let child = ABSENT;
      while (slot < end) {
        const next = target[slot];
        const known = low[next];
        if ((known === ABSENT || known < least) && (info[slot] & HOLDS_MASK) === 0) {
          if (known === ABSENT) {
            child = next;
            slot++;
            break;
          }
          least = known;
        }
        slot++;
      }
      cursor[node] = slot;
      low[node] = least;
      if (child !== ABSENT) {
        low[child] = numberByNode[child] = count;
        ancestor[count] = numberByNode[node];
        nodeByNumber[count++] = child;
        open[openCount++] = child;
        path[++depth] = child;
        continue;
      }
      if (least === numberByNode[node]) {
        const before = openCount;
        let member;
        do {
          member = open[--openCount];
          componentByNode[member] = components;
          low[member] = CLOSED;
        } while (member !== node);
        sizes[components++] = before - openCount;
      } else {
        // The root of a component is below: it has a lesser number.
        const below = path[depth - 1];
        if (least < low[below]) low[below] = least;
      }
      depth--;
    }
  }
  return {
    nodeByNumber,
    numberByNode,
    ancestor,
    components: { componentByNode, count: components, sizes: sizes.slice(0, components) },
  };
}
