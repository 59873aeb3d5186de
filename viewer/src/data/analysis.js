// What the page works out before its views open, in the worker.

import { DamagedData } from "./columns.js";
import { inflate } from "./inflate.js";
import { readTables } from "./tables.js";
import { ABSENT, HOLDS_MASK, turned } from "../graph/csr.js";
import { depthFirst } from "../graph/search.js";
import { cheapestWays } from "../graph/reach.js";
import { referenceCosts } from "../graph/costs.js";
import { holdingSideTables } from "../graph/sidetables.js";
import { dominatedNodes, dominatorTree, retainedSizes, treeOrder } from "../graph/dominators.js";

/**
 * What was worked out of the tables. Arrays and numbers only, since it crosses from the worker.
 *
 * @typedef {object} Analysis
 * @property {{backFirst: Uint32Array, backSlot: Uint32Array}} back
 * @property {import("./tables.js").Rows} componentByNode the same for nodes that no root reaches and that lead to each other; 0 for
 *   what roots reach
 * @property {import("../graph/reach.js").Ways} ways
 * @property {Uint32Array} dominatorByNode
 * @property {{first: Uint32Array, child: Uint32Array}} dominated
 * @property {{bytes: Float64Array | Uint32Array, counts: Uint32Array}} retained
 * @property {Float64Array} retainedByReport what would go with all objects of each reported type
 * @property {{what: string, page: number, analyzer: number}[]} mismatches
 * @property {{stage: string, milliseconds: number}[]} times
 */

const MODULUS = 2 ** 48;

/**
 * Reads the payload and works out what the views need.
 *
 * @param {any} summary
 * @param {Uint8Array[]} parts
 * @param {(stage: string, done: number) => (void | Promise<void>)} progress `done` from 0 to 1
 * @returns {Promise<{tables: import("./tables.js").Tables, analysis: Analysis}>}
 */
export async function analyze(summary, parts, progress) {
  /** @type {{stage: string, milliseconds: number}[]} */
  const times = [];
  let stage = "";
  let began = 0;
  /** @param {string} next @param {number} done */
  const enter = async (next, done) => {
    const now = performance.now();
    if (stage) times.push({ stage, milliseconds: now - began });
    stage = next;
    began = now;
    await progress(next, done);
  };
  await enter("inflating the data", 0);
  let payload = /** @type {Uint8Array | null} */ (await inflate(parts, summary.payload));
  await enter("reading objects and references", 0.1);
  const tables = readTables(summary, /** @type {Uint8Array} */ (payload));
  payload = null;
  await enter("turning references round", 0.25);
  const { nodeCount, edge } = tables;
  const back = turned({ nodeCount, first: edge.first, target: edge.target });
  const graph = { nodeCount, first: edge.first, target: edge.target, info: edge.info, ...back };
  await enter("finding cycles", 0.35);
  // Side tables hang on weak references, too; they hold nothing, so the cycles are the same.
  const held = holdingSideTables(tables);
  const holding = held ? { ...held, ...turned(held) } : graph;
  const search = depthFirst(holding, tables.entries);
  const { components } = search;
  await enter("finding ways from roots", 0.5);
  const ways = cheapestWays(graph, referenceCosts(tables), tables.entries);
  await enter("finding dominators", 0.65);
  const tree = treeOf(tables, holding, search);
  await enter("adding up retained sizes", 0.9);
  const retained = tables.retainedBytes && tables.retainedCount
    ? given(tables, tables.retainedBytes, tables.retainedCount)
    : retainedSizes(tree, tables.node.bytes);
  const dominated = dominatedNodes(tree.dominatorByNode);
  const retainedByReport = retainedByType(tables, dominated, retained.bytes);
  await enter("checking", 0.98);
  const mismatches = check(summary.check, graph, retained, components);
  await enter("", 1);
  tables.dominator = tables.retainedBytes = tables.retainedCount = null;
  return {
    tables,
    analysis: {
      // Where each reference comes from is not handed over: `sourceOf` finds it, in less memory.
      back: { backFirst: back.backFirst, backSlot: back.backSlot },
      componentByNode: unreachedComponents(components.componentByNode, ways.isReached),
      ways: { ...ways, costByNode: narrowedCosts(ways.costByNode) },
      dominatorByNode: tree.dominatorByNode,
      dominated,
      // Nothing retains more than the outside, which stands last.
      retained: retained.bytes[nodeCount] < 2 ** 32 ? { bytes: Uint32Array.from(retained.bytes), counts: retained.counts } : retained,
      retainedByReport,
      mismatches,
      times,
    },
  };
}

/**
 * @param {import("./tables.js").Tables} tables
 * @param {import("../graph/csr.js").SourcedGraph} graph
 * @param {import("../graph/search.js").Search} search
 */
function treeOf(tables, graph, search) {
  if (!tables.dominator) return dominatorTree(graph, search);
  const order = treeOrder(tables.dominator);
  if (!order) throw new DamagedData("node.dominator is no tree");
  return { dominatorByNode: tables.dominator, order };
}

/**
 * The components of what no root reaches, the only ones that are asked for, numbered anew from 1. Time O(V).
 *
 * @param {Uint32Array} componentByNode
 * @param {Uint8Array} isReached
 */
export function unreachedComponents(componentByNode, isReached) {
  /** @type {Map<number, number>} */
  const numbers = new Map();
  for (let node = 0; node < componentByNode.length; node++) {
    if (!isReached[node] && !numbers.has(componentByNode[node])) numbers.set(componentByNode[node], numbers.size + 1);
  }
  const narrow = numbers.size < 256 ? Uint8Array : numbers.size < 65536 ? Uint16Array : Uint32Array;
  const components = new narrow(componentByNode.length);
  for (let node = 0; node < components.length; node++) {
    if (!isReached[node]) components[node] = numbers.get(componentByNode[node]) ?? 0;
  }
  return components;
}

/**
 * What ways cost, in half the memory where that is enough; what nothing reaches still costs the most. Time O(V).
 *
 * @param {Uint32Array | Uint16Array} costs
 */
export function narrowedCosts(costs) {
  for (let node = 0; node < costs.length; node++) if (costs[node] >= 65535 && costs[node] !== ABSENT) return costs;
  return Uint16Array.from(costs);
}

/**
 * The retained sizes that the payload gives; the outside's row is what its children sum up to.
 *
 * @param {import("./tables.js").Tables} tables
 * @param {Float64Array} bytes
 * @param {Uint32Array} counts
 */
function given(tables, bytes, counts) {
  const all = tables.nodeCount + 1;
  const retained = { bytes: new Float64Array(all), counts: new Uint32Array(all) };
  retained.bytes.set(bytes);
  retained.counts.set(counts);
  for (let node = 0; node < all - 1; node++) {
    if (tables.dominator && tables.dominator[node] !== all - 1) continue;
    retained.bytes[all - 1] += bytes[node];
    retained.counts[all - 1] += counts[node];
  }
  return retained;
}

/**
 * The bytes that are retained by objects of each type: those of an object within what another of the type retains count
 * once. Time O(V).
 *
 * @param {import("./tables.js").Tables} tables
 * @param {{first: Uint32Array, child: Uint32Array}} dominated
 * @param {Float64Array} retained
 */
export function retainedByType(tables, dominated, retained) {
  const { nodeCount, node, type, report } = tables;
  const sums = new Float64Array(report.name.length);
  const above = new Uint32Array(report.name.length);
  const path = new Uint32Array(nodeCount + 1);
  const cursor = dominated.first.slice(0, nodeCount + 1);
  let depth = 0;
  path[0] = nodeCount;
  while (depth >= 0) {
    const parent = path[depth];
    if (cursor[parent] === dominated.first[parent + 1]) {
      if (parent !== nodeCount) above[type.report[node.type[parent]]]--;
      depth--;
      continue;
    }
    const child = dominated.child[cursor[parent]++];
    const row = type.report[node.type[child]];
    if (above[row]++ === 0) sums[row] += retained[child];
    path[++depth] = child;
  }
  return sums;
}

/**
 * Holds the page's figures against the analyzer's.
 *
 * @param {Record<string, number> | undefined} expected
 * @param {import("../graph/csr.js").Graph} graph
 * @param {{bytes: Float64Array, counts: Uint32Array}} retained
 * @param {import("../graph/search.js").Components} components
 */
export function check(expected, graph, retained, components) {
  if (!expected) return [];
  const { nodeCount, first, target, info } = graph;
  let bytes = 0;
  let counts = 0;
  for (let node = 0; node < nodeCount; node++) {
    bytes = (bytes + (retained.bytes[node] % MODULUS)) % MODULUS;
    counts = (counts + retained.counts[node]) % MODULUS;
  }
  const isCyclic = new Uint8Array(components.count);
  let largest = 0;
  for (let component = 0; component < components.count; component++) {
    if (components.sizes[component] > 1) isCyclic[component] = 1;
  }
  for (let node = 0; node < nodeCount; node++) {
    for (let slot = first[node]; slot < first[node + 1]; slot++) {
      if (target[slot] === node && (info[slot] & HOLDS_MASK) === 0) isCyclic[components.componentByNode[node]] = 1;
    }
  }
  let cyclic = 0;
  for (let component = 0; component < components.count; component++) {
    if (!isCyclic[component]) continue;
    cyclic++;
    if (components.sizes[component] > largest) largest = components.sizes[component];
  }
  return [
    { what: "the sum of retained bytes", page: bytes, analyzer: expected.retainedBytesSum },
    { what: "the sum of retained objects", page: counts, analyzer: expected.retainedCountSum },
    { what: "the number of cycles", page: cyclic, analyzer: expected.cyclicComponents },
    { what: "the objects of the largest cycle", page: largest, analyzer: expected.largestComponent },
  ].filter((figure) => figure.analyzer !== undefined && figure.page !== figure.analyzer);
}
