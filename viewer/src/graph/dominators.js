// Dominators, and what would go with each node.

import { ABSENT, HOLDS_MASK } from "./csr.js";

/**
 * The dominator tree: the immediate dominator of a node is the last node that all ways from the roots, or from an entry
 * of the unreachable part, go through. The outside stands for "none".
 *
 * Semi-NCA: Georgiadis, "Linear-time algorithms for dominators and related problems", 2005; as the analyzer does it.
 *
 * Time O((V + E) log V) at worst and linear in practice; 44 bytes a node while it works, 8 afterwards.
 *
 * @param {import("./csr.js").Graph} graph
 * @param {Uint32Array} entries the nodes by which the unreachable part is entered
 * @returns {{dominatorByNode: Uint32Array, order: Uint32Array}} `order` has each node after its dominator, the outside first
 */
export function dominatorTree(graph, entries) {
  // Each step is a function of its own: engines optimize long loops better one at a time.
  const search = depthFirst(graph, entries);
  const dominator = search.ancestor.slice();
  const semi = semidominators(graph, search);
  return { dominatorByNode: immediateDominators(dominator, semi, search.nodeByNumber), order: search.nodeByNumber };
}

/**
 * Depth-first numbers; 0 is the outside. Entries hang on it as targets of roots do.
 *
 * @typedef {object} Search
 * @property {Uint32Array} nodeByNumber
 * @property {Uint32Array} numberByNode
 * @property {Uint32Array} ancestor by number; 0 for what hangs on the outside
 *
 * @param {import("./csr.js").Graph} graph
 * @param {Uint32Array} entries
 * @returns {Search}
 */
function depthFirst(graph, entries) {
  const { nodeCount, first, target, info } = graph;
  const all = nodeCount + 1;
  const nodeByNumber = new Uint32Array(all);
  const numberByNode = new Uint32Array(all).fill(ABSENT);
  const ancestor = new Uint32Array(all);
  const cursor = first.slice(0, all);
  const path = new Uint32Array(all);
  let count = 0;
  // Were an entry missing, the rest would be entered node by node: the sizes are checked against the analyzer's.
  for (let start = -1; start < entries.length + nodeCount && count < all; start++) {
    const begin = start < 0 ? nodeCount : start < entries.length ? entries[start] : start - entries.length;
    if (numberByNode[begin] !== ABSENT) continue;
    let depth = 0;
    path[0] = begin;
    numberByNode[begin] = count;
    nodeByNumber[count++] = begin;
    while (depth >= 0) {
      const node = path[depth];
      const end = first[node + 1];
      let slot = cursor[node];
      let child = ABSENT;
      while (slot < end) {
        const next = target[slot];
        if (numberByNode[next] === ABSENT && (info[slot] & HOLDS_MASK) === 0) {
          child = next;
          slot++;
          break;
        }
        slot++;
      }
      cursor[node] = slot;
      if (child === ABSENT) {
        depth--;
        continue;
      }
      numberByNode[child] = count;
      ancestor[count] = numberByNode[node];
      nodeByNumber[count++] = child;
      path[++depth] = child;
    }
  }
  return { nodeByNumber, numberByNode, ancestor };
}

/**
 * The semidominator of each number.
 *
 * @param {import("./csr.js").Graph} graph
 * @param {Search} search
 */
function semidominators(graph, { nodeByNumber, numberByNode, ancestor }) {
  const { info, backFirst, backSource, backSlot } = graph;
  const count = nodeByNumber.length;
  // What is asked of a number lies together, as memory is what this waits for: its ancestor, the number with the least
  // semidominator on the way to it, and its own semidominator.
  const rows = new Uint32Array(count * 4);
  for (let number = 0; number < count; number++) {
    rows[number * 4] = ancestor[number];
    rows[number * 4 + 1] = rows[number * 4 + 2] = number;
  }
  const stack = new Uint32Array(count);
  for (let number = count - 1; number > 0; number--) {
    const node = nodeByNumber[number];
    let least = rows[number * 4];
    for (let place = backFirst[node], end = backFirst[node + 1]; place < end; place++) {
      if ((info[backSlot[place]] & HOLDS_MASK) !== 0) continue;
      const from = numberByNode[backSource[place]];
      if (from > number && rows[from * 4] > number) {
        // Shorten the way up to the first ancestor that was not worked on yet, keeping the least semidominator.
        let depth = 0;
        let walk = from;
        do {
          stack[depth++] = walk;
          walk = rows[walk * 4];
        } while (rows[walk * 4] > number);
        const top = rows[walk * 4];
        let aboveBest = rows[walk * 4 + 1];
        let aboveSemi = rows[aboveBest * 4 + 2];
        do {
          walk = stack[--depth];
          rows[walk * 4] = top;
          const own = rows[walk * 4 + 1];
          const ownSemi = rows[own * 4 + 2];
          if (aboveSemi < ownSemi) {
            rows[walk * 4 + 1] = aboveBest;
          } else {
            aboveBest = own;
            aboveSemi = ownSemi;
          }
        } while (depth > 0);
      }
      const candidate = rows[rows[from * 4 + 1] * 4 + 2];
      if (candidate < least) least = candidate;
    }
    rows[number * 4 + 2] = least;
  }
  const semi = new Uint32Array(count);
  for (let number = 0; number < count; number++) semi[number] = rows[number * 4 + 2];
  return semi;
}

/**
 * The nearest common ancestor, in the tree so far, of each number's parent and its semidominator.
 *
 * @param {Uint32Array} dominator the parents of the search
 * @param {Uint32Array} semi
 * @param {Uint32Array} nodeByNumber
 */
function immediateDominators(dominator, semi, nodeByNumber) {
  const count = nodeByNumber.length;
  const dominatorByNode = new Uint32Array(count).fill(count - 1);
  for (let number = 1; number < count; number++) {
    const least = semi[number];
    let candidate = dominator[number];
    while (candidate > least) candidate = dominator[candidate];
    dominator[number] = candidate;
    dominatorByNode[nodeByNumber[number]] = nodeByNumber[candidate];
  }
  return dominatorByNode;
}

/**
 * The nodes of a dominator tree, each after its dominator. Time O(V).
 *
 * @param {Uint32Array} dominatorByNode the outside is the last node
 * @returns {Uint32Array | null} null where there is a loop, so it is no tree
 */
export function treeOrder(dominatorByNode) {
  const all = dominatorByNode.length;
  const waiting = new Uint32Array(all);
  for (let node = 0; node < all - 1; node++) waiting[dominatorByNode[node]]++;
  // Leaves first, from the end on.
  const order = new Uint32Array(all);
  let filled = all;
  let next = all;
  for (let node = 0; node < all; node++) if (waiting[node] === 0) order[--filled] = node;
  while (next > filled) {
    const node = order[--next];
    if (node !== all - 1 && --waiting[dominatorByNode[node]] === 0) order[--filled] = dominatorByNode[node];
  }
  return filled === 0 ? order : null;
}

/**
 * What would go with each node, itself included. Time O(V).
 *
 * @param {{dominatorByNode: Uint32Array, order: Uint32Array}} tree
 * @param {ArrayLike<number>} sizes bytes of each node
 * @returns {{bytes: Float64Array, counts: Uint32Array}} the last row is the outside's: everything
 */
export function retainedSizes(tree, sizes) {
  const { dominatorByNode, order } = tree;
  const all = order.length;
  const bytes = new Float64Array(all);
  const counts = new Uint32Array(all).fill(1);
  for (let node = 0; node < all - 1; node++) bytes[node] = sizes[node];
  counts[all - 1] = 0;
  for (let at = all - 1; at > 0; at--) {
    const node = order[at];
    const above = dominatorByNode[node];
    bytes[above] += bytes[node];
    counts[above] += counts[node];
  }
  return { bytes, counts };
}

/**
 * The nodes that each node dominates immediately, ascending. Time O(V).
 *
 * @param {Uint32Array} dominatorByNode
 * @returns {{first: Uint32Array, child: Uint32Array}}
 */
export function dominatedNodes(dominatorByNode) {
  const all = dominatorByNode.length;
  const outside = all - 1;
  const first = new Uint32Array(all + 1);
  for (let node = 0; node < outside; node++) first[dominatorByNode[node] + 1]++;
  for (let node = 0; node < all; node++) first[node + 1] += first[node];
  const next = first.slice();
  const child = new Uint32Array(outside);
  for (let node = 0; node < outside; node++) child[next[dominatorByNode[node]]++] = node;
  return { first, child };
}
