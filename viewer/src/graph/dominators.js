// Dominators, and what would go with each node.

import { ABSENT, HOLDS_MASK } from "./csr.js";

/**
 * The dominator tree: the immediate dominator of a node is the last node that all ways from the roots, or from an entry
 * of the unreachable part, go through. The outside stands for "none".
 *
 * Semi-NCA: Georgiadis, "Linear-time algorithms for dominators and related problems", 2005; as the analyzer does it.
 *
 * Time O((V + E) log V) at worst and linear in practice; 28 bytes a node while it works, 8 afterwards.
 *
 * @param {import("./csr.js").Graph} graph
 * @param {Uint32Array} entries the nodes by which the unreachable part is entered
 * @returns {{dominatorByNode: Uint32Array, order: Uint32Array}} `order` has each node after its dominator, the outside first
 */
export function dominatorTree(graph, entries) {
  const { nodeCount, first, target, info, backFirst, backSource, backSlot } = graph;
  const outside = nodeCount;
  const all = nodeCount + 1;
  const nodeByNumber = new Uint32Array(all);
  const numberByNode = new Uint32Array(all).fill(ABSENT);
  const ancestor = new Uint32Array(all);
  const cursor = new Uint32Array(all);
  let count = 0;

  // Depth-first numbers; 0 is the outside. Entries hang on it as targets of roots do.
  const path = new Uint32Array(all);
  const isEntry = new Uint8Array(all);
  for (const node of entries) isEntry[node] = 1;
  // Were an entry missing, the rest would be entered node by node: the sizes are checked against the analyzer's.
  for (let start = -1; start < entries.length + nodeCount && count < all; start++) {
    const begin = start < 0 ? outside : start < entries.length ? entries[start] : start - entries.length;
    if (numberByNode[begin] !== ABSENT) continue;
    isEntry[begin] = 1;
    let depth = 0;
    path[0] = begin;
    numberByNode[begin] = count;
    nodeByNumber[count++] = begin;
    cursor[begin] = first[begin];
    while (depth >= 0) {
      const node = path[depth];
      const end = first[node + 1];
      let slot = cursor[node];
      let child = ABSENT;
      while (slot < end) {
        const next = target[slot];
        if ((info[slot++] & HOLDS_MASK) === 0 && numberByNode[next] === ABSENT) {
          child = next;
          break;
        }
      }
      cursor[node] = slot;
      if (child === ABSENT) {
        depth--;
        continue;
      }
      numberByNode[child] = count;
      ancestor[count] = numberByNode[node];
      nodeByNumber[count++] = child;
      cursor[child] = first[child];
      path[++depth] = child;
    }
  }

  const dominator = ancestor.slice();
  const best = cursor; // its work is done
  for (let number = 0; number < count; number++) best[number] = number;
  const semi = best.slice();
  const stack = path;
  for (let number = count - 1; number > 0; number--) {
    const node = nodeByNumber[number];
    let least = isEntry[node] ? 0 : ancestor[number];
    for (let place = backFirst[node], end = backFirst[node + 1]; place < end; place++) {
      if ((info[backSlot[place]] & HOLDS_MASK) !== 0) continue;
      const from = numberByNode[backSource[place]];
      if (from > number && ancestor[from] > number) {
        // Shorten the way up to the first ancestor that was not worked on yet, keeping the least semidominator.
        let depth = 0;
        let walk = from;
        do {
          stack[depth++] = walk;
          walk = ancestor[walk];
        } while (ancestor[walk] > number);
        let above = walk;
        let aboveBest = best[above];
        do {
          walk = stack[--depth];
          ancestor[walk] = ancestor[above];
          const own = best[walk];
          if (semi[aboveBest] < semi[own]) best[walk] = best[above];
          else aboveBest = own;
          above = walk;
        } while (depth > 0);
      }
      const candidate = semi[best[from]];
      if (candidate < least) least = candidate;
    }
    semi[number] = least;
  }

  const dominatorByNode = new Uint32Array(all).fill(outside);
  for (let number = 1; number < count; number++) {
    const least = semi[number];
    let candidate = dominator[number];
    while (candidate > least) candidate = dominator[candidate];
    dominator[number] = candidate;
    dominatorByNode[nodeByNumber[number]] = nodeByNumber[candidate];
  }
  return { dominatorByNode, order: nodeByNumber };
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
