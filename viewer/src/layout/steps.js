// Single steps between objects, with storage and boxes folded into the field that holds them.

import { ABSENT } from "../graph/csr.js";
import { wayTo } from "../graph/reach.js";

/**
 * @typedef {object} Step
 * @property {number} node the object at the other end; the outside for a root
 * @property {boolean} isRoot
 * @property {number[]} slots from the one that leaves the holder to the one that reaches what is held
 * @property {number} strength of the weakest slot
 * @property {number} provenance of the least sure slot
 *
 * @typedef {object} StepNames
 * @property {string} field the path of fields: `channels[2].handler`
 * @property {string} folded the same with every index as `[_]`
 * @property {string} via the function that the reference goes through; empty for none
 *
 * @typedef {object} StepOptions
 * @property {boolean} [isOutgoing]
 * @property {boolean} [isWithWeak] references that hold nothing as well
 * @property {Set<number>} [cut] slots that are taken for gone
 * @property {number} [limit] how many steps at most
 */

/** How far storage within storage is folded. */
const FOLDS = 8;

/**
 * The steps that lead to a node, or away from it.
 *
 * Time O(references looked at), no more than `limit` and those of folded storage.
 *
 * @param {import("../data/model.js").Model} model
 * @param {number} node
 * @param {StepOptions} options
 * @returns {Step[]}
 */
export function stepsAt(model, node, options) {
  const { isOutgoing = false, isWithWeak = false, cut, limit = Infinity } = options;
  const { first, target, info, backFirst, backSlot } = model.graph;
  /** @type {Step[]} */
  const steps = [];
  /** @type {number[]} slots between `node` and where the walk is, nearest first */
  const path = [];
  /** @type {number[]} */
  const nodes = [node];
  /** @param {number} at */
  const walk = (at) => {
    const begin = isOutgoing ? first[at] : backFirst[at];
    const end = isOutgoing ? first[at + 1] : backFirst[at + 1];
    for (let place = begin; place < end && steps.length < limit; place++) {
      const slot = isOutgoing ? place : backSlot[place];
      if ((info[slot] & 0x80) !== 0 || (!isWithWeak && (info[slot] & 15) !== 0) || cut?.has(slot)) continue;
      const other = isOutgoing ? target[slot] : model.source(slot);
      path.push(slot);
      const before = steps.length;
      if (model.isFolded(other) && path.length < FOLDS && !nodes.includes(other)) {
        nodes.push(other);
        walk(other);
        nodes.pop();
      }
      // Storage that leads nowhere, or that nothing holds, stands for itself.
      if (steps.length === before) {
        if (path.length === 1) steps.push({ node: other, isRoot: other === model.outside, slots: [slot], strength: model.strength(slot), provenance: model.provenance(slot) });
        else steps.push(stepOf(model, other, isOutgoing ? [...path] : [...path].reverse()));
      }
      path.pop();
    }
  };
  walk(node);
  return steps;
}

/**
 * A step along some slots.
 *
 * @param {import("../data/model.js").Model} model
 * @param {number} node
 * @param {number[]} slots
 * @returns {Step}
 */
function stepOf(model, node, slots) {
  let strength = 0;
  let provenance = 0;
  for (const slot of slots) {
    strength = Math.max(strength, model.strength(slot));
    provenance = Math.max(provenance, model.provenance(slot));
  }
  return { node, isRoot: node === model.outside, slots, strength, provenance };
}

/**
 * What a step is called.
 *
 * @param {import("../data/model.js").Model} model
 * @param {Step} step
 * @returns {StepNames}
 */
export function namesOf(model, step) {
  let via = "";
  for (const slot of step.slots) via = model.via(slot) || via;
  return {
    field: joinedFields(step.slots.map((slot) => model.field(slot))),
    folded: joinedFields(step.slots.map((slot) => model.foldedField(slot))),
    via,
  };
}

/**
 * The labels of a folded chain as one path: `channels` and `[2].handler` make `channels[2].handler`.
 *
 * @param {string[]} labels
 */
export function joinedFields(labels) {
  let path = "";
  for (const label of labels) path += path !== "" && label !== "" && !label.startsWith("[") ? `.${label}` : label;
  return path;
}

/**
 * How many references lead to a node, or away from it, of every strength. Time O(1).
 *
 * @param {import("../data/model.js").Model} model
 * @param {number} node
 * @param {boolean} isOutgoing
 */
export function referenceCount(model, node, isOutgoing) {
  const rows = isOutgoing ? model.graph.first : model.graph.backFirst;
  return rows[node + 1] - rows[node];
}

/**
 * The slots of the way by which a node is held: the cheapest from a root, or where some slots are taken for gone the
 * shortest that is left. Null where no root reaches it then; of what no root reaches anyway the way from an entry.
 *
 * Time O(length), or O(V + E) of what holds the node where slots of the cheapest way are gone.
 *
 * @param {import("../data/model.js").Model} model
 * @param {number} node
 * @param {Set<number>} [cut]
 * @returns {number[] | null} from the root on
 */
export function wayFromRoot(model, node, cut) {
  const cheapest = wayTo(model.ways, node, (slot) => model.source(slot));
  if (!cut?.size || !cheapest.some((slot) => cut.has(slot))) {
    return cheapest.length > 0 || model.ways.costByNode[node] === 0 ? cheapest : null;
  }
  const { backFirst, backSlot, nodeCount } = model.graph;
  const slotByNode = new Uint32Array(nodeCount + 1).fill(ABSENT);
  const isEntry = model.ways.isReached[node] ? null : new Set(model.tables.entries);
  const queue = [node];
  const seen = new Uint8Array(nodeCount + 1);
  seen[node] = 1;
  for (let at = 0; at < queue.length; at++) {
    const held = queue[at];
    if (held === nodeCount || (isEntry?.has(held) && held !== node)) {
      const slots = [];
      for (let walk = held; walk !== node; walk = model.graph.target[slotByNode[walk]]) slots.push(slotByNode[walk]);
      return slots;
    }
    for (let place = backFirst[held]; place < backFirst[held + 1]; place++) {
      const slot = backSlot[place];
      if (!model.holds(slot) || cut.has(slot)) continue;
      const holder = model.source(slot);
      if (seen[holder]) continue;
      seen[holder] = 1;
      slotByNode[holder] = slot;
      queue.push(holder);
    }
  }
  return null;
}

/**
 * The slots of a shortest cycle that a node lies on; null where there is none. Time O(V + E) of its component.
 *
 * @param {import("../data/model.js").Model} model
 * @param {number} node
 * @returns {number[] | null} from the node on
 */
export function cycleThrough(model, node) {
  const { first, target } = model.graph;
  const { componentByNode } = model.analysis;
  /** @type {Map<number, number>} the slot by which each node was found */
  const slotByNode = new Map();
  const queue = [node];
  for (const at of queue) {
    for (let slot = first[at]; slot < first[at + 1]; slot++) {
      const next = target[slot];
      if (!model.holds(slot) || componentByNode[next] !== componentByNode[node]) continue;
      if (next === node) {
        const slots = [slot];
        for (let walk = at; walk !== node; walk = model.source(slots[slots.length - 1])) slots.push(/** @type {number} */ (slotByNode.get(walk)));
        return slots.reverse();
      }
      if (slotByNode.has(next)) continue;
      slotByNode.set(next, slot);
      queue.push(next);
    }
  }
  return null;
}

/**
 * The steps along some slots, with storage folded, from the root on.
 *
 * @param {import("../data/model.js").Model} model
 * @param {number[]} slots each leaves the node that the one before leads to
 * @returns {Step[]} each with its holder as `node`
 */
export function stepsAlong(model, slots) {
  /** @type {{node: number, slots: number[]}[]} */
  const groups = [];
  for (const slot of slots) {
    const node = model.source(slot);
    const last = groups.at(-1);
    if (last && model.isFolded(node)) last.slots.push(slot);
    else groups.push({ node, slots: [slot] });
  }
  return groups.map((group) => stepOf(model, group.node, group.slots));
}
