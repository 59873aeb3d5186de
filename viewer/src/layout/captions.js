// What stands in boxes and on lines.

import { PROVENANCES, STRENGTHS } from "../data/model.js";
import { bytes, count, number, shortType } from "../text/format.js";

/**
 * @param {import("../data/model.js").Model} model
 * @param {import("./slice.js").Box} box
 * @returns {{title: string, note: string, whole: string}} `whole` is the full name
 */
export function boxTexts(model, box) {
  if (box.kind === "more") return { title: `+${number(box.count)} more`, note: "", whole: `${count(box.count, "more reference")}, folded` };
  if (box.kind === "gap") return { title: `… ${count(box.count, "step")} …`, note: "", whole: `${count(box.count, "step")} left out` };
  if (box.kind === "root") {
    const name = model.rootName(box.members[0]);
    const kind = model.rootKind(box.members[0]);
    return { title: box.count > 1 ? `${number(box.count)} × ${name}` : name, note: kind, whole: name };
  }
  const [node] = box.members;
  const name = model.typeName(node);
  if (box.count > 1) {
    let own = 0;
    for (const member of box.members) own += model.node.bytes[member];
    const note = box.members.length === box.count ? bytes(own) : `${bytes(own)} in the first ${number(box.members.length)}`;
    return { title: `${number(box.count)} × ${shortType(name)}`, note, whole: name };
  }
  const retains = `retains ${bytes(model.retained.bytes[node])}`;
  return { title: shortType(name), note: model.isLeaked(node) ? retains : `${bytes(model.node.bytes[node])}, ${retains}`, whole: name };
}

/**
 * What a reference is called, with what makes it less than strong and sure.
 *
 * @param {import("./slice.js").Link} link
 */
export function linkText(link) {
  const notes = linkNotes(link);
  const times = link.count > 1 ? `${number(link.count)} × ` : "";
  return `${times}${link.field || "?"}${notes.length ? ` [${notes.join(", ")}]` : ""}`;
}

/**
 * @param {import("./slice.js").Link} link
 */
export function linkNotes(link) {
  const notes = [];
  if (link.strength > 0) notes.push(STRENGTHS[link.strength] ?? "unknown");
  if (link.provenance === 2) notes.push(PROVENANCES[2]);
  return notes;
}
