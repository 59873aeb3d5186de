// Strongly connected components.

import { ABSENT, HOLDS_MASK } from "./csr.js";

/**
 * The strongly connected components of the references that hold: two nodes are in the same one when each leads to the
 * other. Tarjan, "Depth-first search and linear graph algorithms", 1972, without recursion.
 *
 * Components are numbered in the order in which they are completed, so a component's number is greater than those of
 * all that it leads to. The outside is a component of its own, since nothing leads to it.
 *
 * Time O(V + E), memory 24 bytes a node.
 *
 * @param {import("./csr.js").Graph} graph
 * @returns {{componentByNode: Uint32Array, count: number, sizes: Uint32Array}}
 */
export function strongComponents(graph) {
  const { nodeCount, first, target, info } = graph;
  const all = nodeCount + 1;
  const component = new Uint32Array(all).fill(ABSENT);
  const number = new Uint32Array(all); // from 1; 0 for a node that was not seen yet
  const low = new Uint32Array(all);
  const cursor = new Uint32Array(all);
  const open = new Uint32Array(all);
  const path = new Uint32Array(all);
  let openCount = 0;
  let seenCount = 0;
  let count = 0;
  for (let start = 0; start < all; start++) {
    if (number[start] !== 0) continue;
    let depth = 0;
    path[0] = start;
    number[start] = low[start] = ++seenCount;
    cursor[start] = first[start];
    open[openCount++] = start;
    while (depth >= 0) {
      const node = path[depth];
      const end = first[node + 1];
      let slot = cursor[node];
      let child = ABSENT;
      while (slot < end) {
        const next = target[slot];
        if ((info[slot++] & HOLDS_MASK) !== 0) continue;
        if (number[next] === 0) {
          child = next;
          break;
        }
        if (component[next] === ABSENT && number[next] < low[node]) low[node] = number[next];
      }
      cursor[node] = slot;
      if (child !== ABSENT) {
        number[child] = low[child] = ++seenCount;
        cursor[child] = first[child];
        open[openCount++] = child;
        path[++depth] = child;
        continue;
      }
      if (low[node] === number[node]) {
        let member;
        do {
          member = open[--openCount];
          component[member] = count;
        } while (member !== node);
        count++;
      }
      depth--;
      if (depth >= 0 && low[node] < low[path[depth]]) low[path[depth]] = low[node];
    }
  }
  const sizes = new Uint32Array(count);
  for (let node = 0; node < all; node++) sizes[component[node]]++;
  return { componentByNode: component, count, sizes };
}
