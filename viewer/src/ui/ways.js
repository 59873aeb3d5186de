// Ways as texts that can be copied.

import { PROVENANCES, STRENGTHS } from "../data/model.js";
import { cycleThrough, namesOf, stepsAlong, wayFromRoot } from "../layout/steps.js";
import { address, bytes, count } from "../text/format.js";
import { KIND } from "../graph/costs.js";

/**
 * A way's steps as texts.
 *
 * @param {import("../data/model.js").Model} model
 * @param {import("../layout/steps.js").Step[]} steps each with its holder
 * @returns {import("../text/copies.js").TextStep[]}
 */
function stepTexts(model, steps) {
  return steps.map((step) => {
    const notes = [];
    if (step.strength > 0) notes.push(STRENGTHS[step.strength] ?? "unknown");
    // A root is found as a word of the program's memory, and a task's memory has no types: nothing to doubt in either.
    if (step.provenance === 2 && !step.isRoot && model.node.kind[step.node] !== KIND.task) notes.push(PROVENANCES[2]);
    const { field, via } = namesOf(model, step);
    return step.isRoot ? { type: field, field: "", notes, via } : { type: model.typeName(step.node), field, notes, via };
  });
}

/**
 * The way by which a node is held, or of a leaked one the cycle that it lies on, as text; null where there is neither.
 *
 * @param {import("../data/model.js").Model} model
 * @param {number} node
 * @param {Set<number>} [cut]
 */
export function wayTexts(model, node, cut) {
  const cycle = model.ways.isReached[node] ? null : cycleThrough(model, node);
  const slots = cycle ?? wayFromRoot(model, node, cut);
  if (!slots || (slots.length === 0 && !model.isLeaked(node))) return null;
  const steps = stepsAlong(model, slots);
  const end = model.typeName(node);
  const state = model.isLeaked(node) ? (cycle ? "leaked in a cycle" : "leaked") : "held";
  const title = `${end} at ${address(model.node.address[node])}, ${state}: retains ${bytes(model.retained.bytes[node])} in ${count(model.retained.counts[node], "object")}`;
  return { title, steps: stepTexts(model, steps), end, isCycle: cycle !== null };
}
