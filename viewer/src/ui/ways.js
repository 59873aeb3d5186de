// Ways as texts that can be copied.

import { PROVENANCES, STRENGTHS } from "../data/model.js";
import { stepsAlong, wayFromRoot } from "../layout/steps.js";
import { address, bytes, count } from "../text/format.js";
import { KIND } from "../graph/costs.js";

/**
 * A way's steps as texts.
 *
 * @param {import("../data/model.js").Model} model
 * @param {import("../layout/steps.js").Step[]} steps each with its holder
 * @returns {import("../text/copies.js").TextStep[]}
 */
export function stepTexts(model, steps) {
  return steps.map((step) => {
    const notes = [];
    if (step.strength > 0) notes.push(STRENGTHS[step.strength] ?? "unknown");
    // A root is found as a word of the program's memory, and a task's memory has no types: nothing to doubt in either.
    if (step.provenance === 2 && !step.isRoot && model.node.kind[step.node] !== KIND.task) notes.push(PROVENANCES[2]);
    return step.isRoot ? { type: step.field, field: "", notes, via: step.via } : { type: model.typeName(step.node), field: step.field, notes, via: step.via };
  });
}

/**
 * The way by which a node is held, as text; null where there is none.
 *
 * @param {import("../data/model.js").Model} model
 * @param {number} node
 * @param {Set<number>} [cut]
 */
export function wayTexts(model, node, cut) {
  const slots = wayFromRoot(model, node, cut);
  if (!slots || (slots.length === 0 && !model.isLeaked(node))) return null;
  const steps = stepsAlong(model, slots);
  const end = model.typeName(node);
  const state = model.isLeaked(node) ? "leaked" : "held";
  const title = `${end} at ${address(model.node.address[node])}, ${state}: retains ${bytes(model.retained.bytes[node])} in ${count(model.retained.counts[node], "object")}`;
  return { title, steps: stepTexts(model, steps), end };
}
