// The overlay that says which keys there are, what words mean and what filters can say.

import { h } from "./dom.js";
import { FLAGS, KEYS } from "../text/filter.js";

const PAGE_KEYS = [
  ["/", "search"],
  ["1 … 8", "the views, in their order"],
  ["[ ]", "back and forward"],
  ["t", "colours: as the system, light, dark"],
  ["?", "this help"],
  ["Esc", "close, or leave the search"],
];

const GRAPH_KEYS = [
  ["← →", "to what holds it, to what it holds"],
  ["↑ ↓", "up and down a column"],
  ["Enter", "make it the subject, or open what is folded"],
  ["o", "its object page"],
  ["x", "ignore the reference by which it holds the next"],
  ["r", "take all references back"],
];

const OTHER_KEYS = [
  ["↑ ↓ Home End", "rows of a table or an outline"],
  ["Enter", "open the row, or zoom"],
  ["→ ←", "open and close a part of an outline"],
  ["Backspace", "zoom out of a picture"],
];

const WORDS = [
  ["leaked", "No root reaches it: nothing can use it any more."],
  ["abandoned", "Reachable, but more with each repetition."],
  ["retained", "What would go with it: its own bytes and those of all that only it keeps alive."],
  ["generation", "The objects born between two marks and still alive."],
  ["dominator", "All ways from roots to the object go through it: cutting one reference there frees the object."],
  ["unsure", "A reference that no type declares: a word of C memory, of a stack or a task's frame, that the reference counts allow to be one."],
];

/**
 * Opens the help.
 *
 * @param {import("./app.js").App} app
 */
export function showHelp(app) {
  document.querySelector("dialog.help")?.remove();
  /** @param {string} title @param {string[][]} rows */
  const list = (title, rows) =>
    h("section", null, h("h3", null, title), h("dl", null, rows.map(([key, meaning]) => [h("dt", null, h("kbd", null, key)), h("dd", null, meaning)]).flat()));
  /** @type {HTMLDialogElement} */
  const dialog = h(
    "dialog",
    { class: "help", "aria-label": "Help" },
    h("form", { method: "dialog" }, h("h2", null, "Help"), h("button", { class: "button" }, "Close")),
    h(
      "div",
      { class: "columns" },
      list("Keys", PAGE_KEYS),
      list("In the graph", GRAPH_KEYS),
      list("In tables and pictures", OTHER_KEYS),
      list("Filters: -word, \"two words\", key:value", [
        ...Object.entries(KEYS).map(([key, { meaning }]) => [`${key}:`, meaning]),
        ...Object.entries(FLAGS),
      ]),
      h("section", { class: "words" }, h("h3", null, "Words"), h("dl", null, WORDS.map(([word, meaning]) => [h("dt", null, word), h("dd", null, meaning)]).flat())),
    ),
    h("p", { class: "quiet" }, `${app.summary.tool.name} ${app.summary.tool.version}. All is in this one file; it loads nothing and sends nothing.`),
  );
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}
