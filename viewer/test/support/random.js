// Numbers that look random and are the same in each run, and graphs made of them.

import { turned } from "../../src/graph/csr.js";

/** A generator after "mulberry32": numbers from 0 up to, not including, 1. */
export function seeded(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 4294967296;
  };
}

/** A graph of the given references; the outside is node `nodeCount`. */
export function graphOf(nodeCount, references) {
  const sorted = references.map((r, at) => ({ at, from: r[0], to: r[1], info: r[2] ?? 0 }));
  sorted.sort((a, b) => a.from - b.from || a.at - b.at);
  const first = new Uint32Array(nodeCount + 2);
  for (const { from } of sorted) first[from + 1]++;
  for (let node = 0; node <= nodeCount; node++) first[node + 1] += first[node];
  const graph = {
    nodeCount,
    first,
    target: Uint32Array.from(sorted, (r) => r.to),
    info: Uint8Array.from(sorted, (r) => r.info),
  };
  return { ...graph, ...turned(graph) };
}

/** A random graph with up to `most` nodes: some references are weak, some nodes are not reached. */
export function randomGraph(random, most) {
  const nodeCount = 1 + Math.floor(random() * most);
  const references = [];
  const edges = Math.floor(random() * nodeCount * 2.5);
  const node = () => Math.floor(random() * nodeCount);
  for (let at = 0; at < edges; at++) references.push([node(), node(), random() < 0.15 ? 1 : random() < 0.05 ? 0x80 : random() < 0.2 ? 0x20 : 0]);
  for (let at = Math.floor(random() * 4); at >= 0; at--) references.push([nodeCount, node(), random() < 0.1 ? 2 : 0x20]);
  return graphOf(nodeCount, references);
}

/** The targets that a node holds. */
export function heldBy(graph, node) {
  const held = [];
  for (let slot = graph.first[node]; slot < graph.first[node + 1]; slot++) {
    if ((graph.info[slot] & 0x8f) === 0) held.push(graph.target[slot]);
  }
  return held;
}

/** All nodes that some nodes lead to without passing one that is closed, themselves included. */
export function reachedFrom(graph, sources, closed = new Set()) {
  const seen = new Set(sources.filter((node) => !closed.has(node)));
  const queue = [...seen];
  for (const node of queue) {
    for (const next of heldBy(graph, node)) {
      if (seen.has(next) || closed.has(next)) continue;
      seen.add(next);
      queue.push(next);
    }
  }
  return seen;
}

/** The least node of each unreachable component that nothing else unreachable leads to, by definition. */
export function entriesOf(graph) {
  const reached = reachedFrom(graph, [graph.nodeCount]);
  const rest = [...Array(graph.nodeCount).keys()].filter((node) => !reached.has(node));
  const from = new Map(rest.map((node) => [node, reachedFrom(graph, [node])]));
  return Uint32Array.from(
    rest.filter((node) => rest.every((other) => !from.get(other).has(node) || (from.get(node).has(other) && other >= node))),
  );
}
