// References that the reader takes for gone, as the hash names them.

/**
 * The references that a text names: `12,13` are slots, `k12` stands for the same field of all objects of the type.
 * What is no reference of the report is left out.
 *
 * Time O(E of the types that are named).
 *
 * @param {import("./model.js").Model} model
 * @param {string} text
 * @returns {Set<number>}
 */
export function cutSlots(model, text) {
  /** @type {Set<number>} */
  const slots = new Set();
  for (const part of text.split(",")) {
    const match = /^(k?)(\d{1,10})$/.exec(part);
    const slot = match ? Number(match[2]) : Infinity;
    if (!match || slot >= model.graph.target.length) continue;
    if (match[1] && !model.isRoot(slot)) for (const alike of slotsAlike(model, slot)) slots.add(alike);
    else slots.add(slot);
  }
  return slots;
}

/**
 * The references by the same field of all objects of the same type. Time O(V + E of the type).
 *
 * @param {import("./model.js").Model} model
 * @param {number} slot not of a root
 */
export function slotsAlike(model, slot) {
  const { type } = model.node;
  const { first } = model.graph;
  const own = model.labelKey(slot);
  const wanted = type[model.source(slot)];
  const slots = [];
  for (let node = 0; node < model.nodeCount; node++) {
    if (type[node] !== wanted) continue;
    for (let at = first[node]; at < first[node + 1]; at++) if (model.labelKey(at) === own) slots.push(at);
  }
  return slots;
}

/**
 * The cut of a finding as the hash has it: each field of the proposal, of all objects that have it.
 *
 * @param {any} finding
 */
export function cutText(finding) {
  const edges = (finding.graph.cuts ?? []).flatMap((/** @type {any} */ cut) => cut.edges.slice(0, 1));
  return edges.map((/** @type {number} */ edge) => `k${edge}`).join(",");
}
