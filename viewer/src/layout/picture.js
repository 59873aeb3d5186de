// The graph as an SVG file of its own.

import { BOX_WIDTH } from "./drawing.js";
import { boxTexts, linkText } from "./captions.js";

/**
 * @param {import("../data/model.js").Model} model
 * @param {import("./slice.js").Slice} slice
 * @param {import("./drawing.js").Drawing} drawing
 * @param {(name: string) => string} color by the style sheet's name
 * @param {boolean[]} [isMarked] for each link whether a finding proposes to cut it
 * @returns {string}
 */
export function pictureOf(model, slice, drawing, color, isMarked = []) {
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${drawing.width}" height="${drawing.height}" viewBox="0 0 ${drawing.width} ${drawing.height}" font-family="system-ui, sans-serif">`,
    `<rect width="100%" height="100%" fill="${color("page")}"/>`,
  ];
  slice.links.forEach((link, at) => {
    const placed = drawing.links[at];
    const stroke = color(isMarked[at] ? "cut" : link.isInCycle ? "cycle" : "line");
    const dashes = link.strength > 0 ? ' stroke-dasharray="6 4"' : link.provenance === 2 ? ' stroke-dasharray="1.5 3"' : "";
    parts.push(`<path d="${placed.path}" fill="none" stroke="${stroke}" stroke-width="${isMarked[at] ? 3.2 : link.isInCycle ? 2.2 : 1.4}"${dashes}/><path d="${placed.arrow}" fill="${stroke}"/>`);
  });
  slice.boxes.forEach((box, at) => {
    const { x, y, width, height } = drawing.boxes[at];
    const { title, note } = boxTexts(model, box);
    const stroke = color(at === 0 ? "accent" : box.isDominator ? "dominator" : "border");
    parts.push(`<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="6" fill="${color("surface")}" stroke="${stroke}" stroke-width="${at === 0 || box.isDominator ? 2 : 1}"/>`);
    parts.push(text(x + 10, y + (note ? 18 : height / 2 + 4), fitted(title, BOX_WIDTH - 20, 7), color("text"), 12, "600"));
    if (note) parts.push(text(x + 10, y + 34, fitted(note, BOX_WIDTH - 20, 6), color("quiet"), 11));
  });
  slice.links.forEach((link, at) => {
    const { label } = drawing.links[at];
    if (!label) return;
    const shown = fitted(`${isMarked[at] ? "cut: " : ""}${linkText(link)}`, label.width, 6.2);
    const width = Math.min(label.width, shown.length * 6.2 + 8);
    const x = drawing.links[at].isBack ? label.x + (label.width - width) / 2 : label.x;
    parts.push(`<rect x="${x}" y="${label.y + 2}" width="${width}" height="16" rx="3" fill="${color("page")}" fill-opacity="0.9"/>`);
    parts.push(text(x + 4, label.y + 14, shown, color("text"), 11));
  });
  parts.push("</svg>");
  return parts.join("\n");
}

/**
 * @param {number} x
 * @param {number} y
 * @param {string} content
 * @param {string} fill
 * @param {number} size
 * @param {string} [weight]
 */
function text(x, y, content, fill, size, weight) {
  return `<text x="${x}" y="${y}" font-size="${size}" fill="${fill}"${weight ? ` font-weight="${weight}"` : ""}>${escaped(content)}</text>`;
}

/**
 * @param {string} content
 * @param {number} width
 * @param {number} perLetter
 */
function fitted(content, width, perLetter) {
  const most = Math.floor(width / perLetter);
  const letters = [...content];
  return letters.length <= most ? content : `${letters.slice(0, most - 1).join("")}…`;
}

/**
 * A text as XML takes it; letters that XML does not allow are left out.
 *
 * @param {string} content
 */
function escaped(content) {
  return content
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "")
    .replace(/[&<>"]/g, (c) => (c === "&" ? "&amp;" : c === "<" ? "&lt;" : c === ">" ? "&gt;" : "&quot;"));
}
