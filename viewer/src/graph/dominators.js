// Dominators, and what would go with each node.

import { HOLDS_MASK } from "./csr.js";

/**
 * The dominator tree: the immediate dominator of a node is the last node that all ways from the roots, or from an entry
 * of the unreachable part, go through. The outside stands for "none".
 *
 * Semi-NCA: Georgiadis, "Linear-time algorithms for dominators and related problems", 2005; as the analyzer does it.
 *
 * Time O((V + E) log V) at worst and linear in practice; 44 bytes a node while it works, 8 afterwards.
 *
 * @param {import("./csr.js").SourcedGraph} graph
 * @param {import("./search.js").Search} search from the entries of the unreachable part, too
 * @returns {{dominatorByNode: Uint32Array, order: Uint32Array}} `order` has each node after its dominator, the outside first
 */
export function dominatorTree(graph, search) {
  // Each step is a function of its own: engines optimize long loops better one at a time.
  const dominator = search.ancestor.slice();
  const semi = semidominators(graph, search);
  return { dominatorByNode: immediateDominators(dominator, semi, search.nodeByNumber), order: search.nodeByNumber };
}

/**
 * The semidominator of each number.
 *
 * @param {import("./csr.js").SourcedGraph} graph
 * @param {import("./search.js").Search} search
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
