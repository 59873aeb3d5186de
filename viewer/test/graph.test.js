// The graph's algorithms against their definitions on seeded random graphs.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ABSENT, sourceIndex, sourceOf } from "../src/graph/csr.js";
import { depthFirst } from "../src/graph/search.js";
import { cheapestWays, wayTo } from "../src/graph/reach.js";
import { dominatedNodes, dominatorTree, retainedSizes, treeOrder } from "../src/graph/dominators.js";
import { holdingSideTables } from "../src/graph/sidetables.js";
import { stringTable } from "../src/data/strings.js";
import { turned } from "../src/graph/csr.js";
import { foundHolders, freedByCutting } from "../src/graph/release.js";
import { entriesOf, graphOf, heldBy, randomGraph, reachedFrom, seeded } from "./support/random.js";

function eachGraph(count, most, body) {
  for (let seed = 1; seed <= count; seed++) {
    const random = seeded(seed);
    body(randomGraph(random, most), random, `seed ${seed}`);
  }
}

test("references are turned round", () => {
  eachGraph(200, 30, (graph, _, name) => {
    const there = [];
    const back = [];
    const index = sourceIndex(graph);
    for (let node = 0; node <= graph.nodeCount; node++) {
      for (let slot = graph.first[node]; slot < graph.first[node + 1]; slot++) {
        there.push(`${slot}: ${node} ${graph.target[slot]}`);
        assert.equal(sourceOf(graph, index, slot), node, name);
      }
      for (let place = graph.backFirst[node]; place < graph.backFirst[node + 1]; place++) {
        back.push(`${graph.backSlot[place]}: ${graph.backSource[place]} ${node}`);
      }
    }
    assert.deepEqual(back.sort(), there.sort(), name);
  });
});

test("components are sets of nodes that lead to each other", () => {
  eachGraph(300, 24, (graph, _, name) => {
    const { componentByNode, sizes } = depthFirst(graph, []).components;
    const from = [];
    for (let node = 0; node <= graph.nodeCount; node++) from.push(reachedFrom(graph, [node]));
    const sums = new Uint32Array(sizes.length);
    for (let a = 0; a <= graph.nodeCount; a++) {
      sums[componentByNode[a]]++;
      for (let b = 0; b <= graph.nodeCount; b++) {
        const isMutual = from[a].has(b) && from[b].has(a);
        assert.equal(componentByNode[a] === componentByNode[b], isMutual, `${name}: ${a} and ${b}`);
        if (from[a].has(b)) assert.ok(componentByNode[a] >= componentByNode[b], `${name}: order of ${a} and ${b}`);
      }
    }
    assert.deepEqual(sums, sizes, name);
  });
});

test("retained is what only ways through a node reach", () => {
  eachGraph(300, 30, (graph, random, name) => {
    const entries = entriesOf(graph);
    const sizes = Uint32Array.from({ length: graph.nodeCount }, () => Math.floor(random() * 100));
    const tree = dominatorTree(graph, depthFirst(graph, entries));
    const { bytes, counts } = retainedSizes(tree, sizes);
    const sources = [graph.nodeCount, ...entries];
    const all = reachedFrom(graph, sources);
    assert.equal(all.size, graph.nodeCount + 1, `${name}: entries lead to everything`);
    for (let node = 0; node < graph.nodeCount; node++) {
      const without = reachedFrom(graph, sources, new Set([node]));
      const gone = [...all].filter((other) => !without.has(other));
      assert.equal(counts[node], gone.length, `${name}: objects of ${node}`);
      assert.equal(bytes[node], gone.reduce((sum, other) => sum + sizes[other], 0), `${name}: bytes of ${node}`);
    }
    assert.equal(counts[graph.nodeCount], graph.nodeCount, name);
    const order = treeOrder(tree.dominatorByNode);
    assert.deepEqual(retainedSizes({ dominatorByNode: tree.dominatorByNode, order }, sizes).bytes, bytes, name);
    const { first, child } = dominatedNodes(tree.dominatorByNode);
    for (let node = 0; node <= graph.nodeCount; node++) {
      const expected = [...tree.dominatorByNode.keys()].filter((other) => other < graph.nodeCount && tree.dominatorByNode[other] === node);
      assert.deepEqual([...child.subarray(first[node], first[node + 1])], expected, name);
    }
  });
});

test("dominators of a chain of 300,000 nodes, and of a graph without its entries", () => {
  const length = 300_000;
  const references = [[length, 0]];
  for (let node = 1; node < length; node++) references.push([node - 1, node]);
  const graph = graphOf(length, references);
  const { dominatorByNode, order } = dominatorTree(graph, depthFirst(graph, new Uint32Array(0)));
  assert.ok(dominatorByNode.every((dominator, node) => dominator === (node === 0 || node === length ? length : node - 1)));
  assert.equal(retainedSizes({ dominatorByNode, order }, new Uint32Array(length).fill(2)).bytes[1], (length - 1) * 2);
  assert.equal(depthFirst(graph, []).components.count, length + 1);
  // Entries that are missing, as damaged data may have them, must not leave nodes out.
  const loose = graphOf(4, [[0, 1], [1, 0], [2, 3]]);
  assert.equal(retainedSizes(dominatorTree(loose, depthFirst(loose, new Uint32Array(0))), [1, 1, 1, 1]).bytes[4], 4);
});

test("a loop is no dominator tree", () => {
  assert.equal(treeOrder(Uint32Array.of(1, 0, 3, 3)), null);
  assert.deepEqual([...treeOrder(Uint32Array.of(3, 0, 1, 3))], [3, 0, 1, 2]);
});

test("the cheapest way is the cheapest", () => {
  eachGraph(300, 24, (graph, random, name) => {
    const costs = Uint8Array.from({ length: graph.target.length }, () => 1 + Math.floor(random() * 63));
    const entries = entriesOf(graph);
    const index = sourceIndex(graph);
    const ways = cheapestWays(graph, costs, entries);
    // Bellman and Ford, from the outside and then, for what is left, from the entries.
    const expected = new Array(graph.nodeCount + 1).fill(Infinity);
    let isDone = () => false;
    const relax = () => {
      for (let round = 0; round <= graph.nodeCount; round++) {
        for (let slot = 0; slot < graph.target.length; slot++) {
          if ((graph.info[slot] & 0x8f) !== 0) continue;
          const cost = expected[sourceOf(graph, index, slot)] + costs[slot];
          if (cost < expected[graph.target[slot]] && !isDone(graph.target[slot])) expected[graph.target[slot]] = cost;
        }
      }
    };
    expected[graph.nodeCount] = 0;
    relax();
    const reached = expected.map((cost) => (cost < Infinity ? 1 : 0));
    isDone = (node) => reached[node] === 1;
    for (const node of entries) expected[node] = 0;
    relax();
    for (let node = 0; node <= graph.nodeCount; node++) {
      const cost = ways.costByNode[node];
      assert.equal(cost === ABSENT ? Infinity : cost, expected[node], `${name}: cost of ${node}`);
      assert.equal(ways.isReached[node], reached[node], `${name}: ${node} reached`);
      const way = wayTo(ways, node, (slot) => sourceOf(graph, index, slot));
      assert.equal(way.reduce((sum, slot) => sum + costs[slot], 0), expected[node], `${name}: way to ${node}`);
      if (reached[node] && node < graph.nodeCount) assert.equal(sourceOf(graph, index, way[0]), graph.nodeCount, `${name}: ${node} is held by a root`);
    }
  });
});

test("cutting frees what reference counting frees", () => {
  eachGraph(400, 20, (graph, random, name) => {
    const extra = Array.from({ length: graph.nodeCount }, () => (random() < 0.1 ? 1 : random() < 0.05 ? Infinity : 0));
    const cut = [];
    for (let slot = 0; slot < graph.target.length; slot++) if (random() < 0.2) cut.push(slot);
    const freed = freedByCutting(graph, (node) => foundHolders(graph, node) + extra[node], cut);
    // By definition: again and again look for a node without a holder that had one.
    const isCut = new Set(cut);
    const gone = new Set();
    const hasLost = new Set();
    for (let isChanged = true; isChanged; ) {
      isChanged = false;
      for (let node = 0; node < graph.nodeCount; node++) {
        if (gone.has(node)) continue;
        let holders = extra[node];
        let lost = 0;
        for (let place = graph.backFirst[node]; place < graph.backFirst[node + 1]; place++) {
          const slot = graph.backSlot[place];
          if ((graph.info[slot] & 0x8f) !== 0) continue;
          if (isCut.has(slot) || gone.has(graph.backSource[place])) lost++;
          else holders++;
        }
        if (lost > 0) hasLost.add(node);
        if (lost > 0 && holders === 0) {
          gone.add(node);
          isChanged = true;
        }
      }
    }
    assert.deepEqual(freed.sort((a, b) => a - b), [...gone].sort((a, b) => a - b), name);
    assert.equal(new Set(freed).size, freed.length, name);
  });
});

test("random graphs have what the tests are about", () => {
  let unreached = 0;
  let weak = 0;
  eachGraph(300, 30, (graph) => {
    if (entriesOf(graph).length > 0) unreached++;
    weak += graph.info.filter((info) => (info & 0x8f) !== 0).length;
    assert.ok(heldBy(graph, graph.nodeCount).length >= 0);
  });
  assert.ok(unreached > 100 && weak > 300);
});

test("a side table goes with its object only where no weak reference elsewhere keeps it", () => {
  // 0 a hub, 1 and 4 screens with tables 2 and 5 and parts 3 and 6; 1 is referred to weakly by the hub, 4 by its part. 7 is a
  // screen whose weak reference was not found.
  const graph = graphOf(9, [
    [0, 1], [0, 4], [0, 7], [0, 1, 1],
    [1, 2], [1, 3],
    [4, 5], [4, 6], [6, 4, 1],
    [7, 8],
    [9, 0],
  ]);
  const lengths = Uint32Array.from([4, 10]);
  const isTable = (node) => [2, 5, 8].includes(node);
  const tables = {
    nodeCount: 9,
    node: {
      kind: Uint8Array.from({ length: 9 }, (_, node) => (isTable(node) ? 7 : 1)),
      weak: Uint8Array.from([0, 1, 0, 0, 1, 0, 0, 1, 0]),
    },
    edge: { ...graph, label: Uint8Array.from(graph.target.subarray(0, graph.first[9]), (to) => (isTable(to) ? 1 : 0)) },
    label: { name: Uint32Array.from([0, 1]) },
    strings: stringTable(lengths, new TextEncoder().encode("partside table")),
  };
  const held = holdingSideTables(tables);
  const holding = { ...held, ...turned(held) };
  const { counts } = retainedSizes(dominatorTree(holding, depthFirst(holding, [])), new Uint32Array(9).fill(1));
  assert.deepEqual([...counts.subarray(0, 9)].map((count, node) => [node, count]).filter(([node]) => [0, 1, 4, 7].includes(node)), [
    [0, 8],
    [1, 2],
    [4, 3],
    [7, 1],
  ]);
  // Without weak references to them nothing is new.
  assert.equal(holdingSideTables({ ...tables, edge: { ...tables.edge, info: new Uint8Array(graph.info.length).fill(2) } }), null);
});
