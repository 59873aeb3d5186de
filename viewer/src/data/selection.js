// Which objects a filter is about.

import { FLAG } from "./model.js";
import { compares, matches } from "../text/filter.js";
import { ABSENT } from "../graph/csr.js";
import { KIND, KIND_NAMES } from "../graph/costs.js";

/**
 * A function that says whether a node is as all terms say; terms with errors are left out.
 *
 * What is said of tables with few rows (types, labels, stacks) is looked up once a row, so a million nodes take some
 * tens of milliseconds.
 *
 * @param {import("./model.js").Model} model
 * @param {import("../text/filter.js").Term[]} terms
 * @returns {((node: number) => boolean) | null} null for all nodes
 */
export function nodeFilter(model, terms) {
  const tests = terms
    .filter((term) => term.error === null)
    .map((term) => {
      const test = testOf(model, term);
      return term.isNegated ? (/** @type {number} */ node) => !test(node) : test;
    });
  if (tests.length === 0) return null;
  if (tests.length === 1) return tests[0];
  return (node) => {
    for (const test of tests) if (!test(node)) return false;
    return true;
  };
}

/**
 * The nodes that pass, ascending. Time O(V).
 *
 * @param {import("./model.js").Model} model
 * @param {((node: number) => boolean) | null} isWanted
 */
export function selectedNodes(model, isWanted) {
  const nodes = new Uint32Array(model.nodeCount);
  let count = 0;
  for (let node = 0; node < model.nodeCount; node++) if (!isWanted || isWanted(node)) nodes[count++] = node;
  return nodes.subarray(0, count);
}

/**
 * Nodes in an order. Numbers and places are packed into one array that the engine sorts natively.
 *
 * Time O(n log n).
 *
 * @param {Uint32Array} nodes ascending; equal ones stay so
 * @param {(node: number) => number} value not negative
 * @param {boolean} isDown
 */
export function sortedNodes(nodes, value, isDown) {
  const rows = nodes.length;
  const keys = new Float64Array(rows);
  let most = 0;
  for (let at = 0; at < rows; at++) {
    keys[at] = value(nodes[at]);
    if (keys[at] > most) most = keys[at];
  }
  if ((most + 1) * rows < 2 ** 52) {
    for (let at = 0; at < rows; at++) keys[at] = (isDown ? most - keys[at] : keys[at]) * rows + at;
    keys.sort();
    return Uint32Array.from(keys, (key) => nodes[key % rows]);
  }
  const order = Uint32Array.from(nodes, (_, at) => at);
  order.sort((a, b) => (isDown ? keys[b] - keys[a] : keys[a] - keys[b]) || a - b);
  return order.map((at) => nodes[at]);
}

/**
 * @param {import("./model.js").Model} model
 * @param {import("../text/filter.js").Term} term
 * @returns {(node: number) => boolean}
 */
function testOf(model, term) {
  const { node: column, tables, graph } = model;
  switch (term.key) {
    case "":
    case "type": {
      const { report, name } = tables.type;
      const isWanted = rows(name.length, (row) => matches(term, model.text(name[row])) || matches(term, model.text(tables.report.name[report[row]])));
      return (node) => isWanted[column.type[node]] === 1;
    }
    case "module": {
      const { module } = tables.type;
      const isWanted = rows(module.length, (row) => model.text(module[row]).toLowerCase() === term.value.toLowerCase());
      return (node) => isWanted[column.type[node]] === 1;
    }
    case "kind": {
      const isWanted = rows(KIND_NAMES.length, (row) => matches(term, KIND_NAMES[row]));
      return (node) => isWanted[column.kind[node]] === 1;
    }
    case "field":
    case "heldby": {
      const isWanted = rows(tables.label.name.length, (row) => matches(term, model.labelText(row, false)));
      const { first, backFirst, backSlot } = graph;
      if (term.key === "field") {
        return (node) => {
          for (let slot = first[node]; slot < first[node + 1]; slot++) if (isWanted[tables.edge.label[slot]]) return true;
          return false;
        };
      }
      return (node) => {
        for (let place = backFirst[node]; place < backFirst[node + 1]; place++) {
          const slot = backSlot[place];
          if (slot < model.firstRoot && isWanted[tables.edge.label[slot]]) return true;
        }
        return false;
      };
    }
    case "root": {
      const roots = rootSlots(model);
      const isWanted = rows(tables.root.count, (row) => matches(term, model.rootKind(row + model.firstRoot)) || matches(term, model.rootName(row + model.firstRoot)));
      return (node) => roots[node] !== ABSENT && isWanted[roots[node] - model.firstRoot] === 1;
    }
    case "stack": {
      const { parent, frame } = tables.stack;
      const isFrame = rows(tables.frame.function.length, (row) => row > 0 && matches(term, model.text(tables.frame.function[row])));
      const isWanted = new Uint8Array(frame.length);
      for (let row = 1; row < frame.length; row++) isWanted[row] = isFrame[frame[row]] | isWanted[parent[row]];
      return (node) => isWanted[column.stack[node]] === 1;
    }
    case "gen": {
      // Above what 16 bits can say it is unknown: of no generation, then.
      if (!Number.isNaN(term.amount)) return (node) => column.generation[node] <= 0xffff && compares(term, column.generation[node]);
      const wanted = new Set(
        model.summary.generations
          .filter((/** @type {any} */ entry) => String(entry.generation) === term.value || entry.name.toLowerCase() === term.value.toLowerCase())
          .map((/** @type {any} */ entry) => entry.generation),
      );
      return (node) => wanted.has(column.generation[node]);
    }
    case "size":
      return (node) => compares(term, column.bytes[node]);
    case "retained":
      return (node) => compares(term, model.retained.bytes[node]);
    case "refs":
      return (node) => compares(term, graph.backFirst[node + 1] - graph.backFirst[node]);
    case "strong":
      return (node) => column.strong[node] > 0 && compares(term, column.strong[node] - 1);
    case "leaked":
      return (node) => (column.flags[node] & FLAG.leaked) !== 0;
    case "born":
      return (node) => (column.flags[node] & FLAG.born) !== 0;
    case "own":
      return (node) => model.isOwn(node);
    case "swift":
      return (node) => column.kind[node] >= KIND.object && column.kind[node] <= KIND.task;
    case "destroyed":
      return (node) => (column.flags[node] & 3) === 2;
    default:
      return () => true;
  }
}

/**
 * @param {number} count
 * @param {(row: number) => boolean} isWanted
 */
function rows(count, isWanted) {
  const values = new Uint8Array(count);
  for (let row = 0; row < count; row++) values[row] = isWanted(row) ? 1 : 0;
  return values;
}

/** @type {WeakMap<import("./model.js").Model, Uint32Array>} */
const rootsByModel = new WeakMap();

/**
 * The root slot of each node's cheapest way; ABSENT for what no root reaches. Time O(V), once.
 *
 * @param {import("./model.js").Model} model
 */
export function rootSlots(model) {
  const known = rootsByModel.get(model);
  if (known) return known;
  const roots = new Uint32Array(model.nodeCount).fill(ABSENT);
  const { slotByNode, isReached } = model.ways;
  /** @type {number[]} */
  const path = [];
  for (let start = 0; start < model.nodeCount; start++) {
    if (!isReached[start]) continue;
    let node = start;
    let root = roots[node];
    while (root === ABSENT) {
      path.push(node);
      const slot = slotByNode[node];
      if (slot >= model.firstRoot) root = slot;
      else {
        node = model.source(slot);
        root = roots[node];
      }
    }
    for (const passed of path) roots[passed] = root;
    path.length = 0;
  }
  rootsByModel.set(model, roots);
  return roots;
}
