// Small parts that several views are made of.

import { fill, h, icon } from "./dom.js";
import { bytes, clipped, number } from "../text/format.js";
import { parseFilter, withoutTerm } from "../text/filter.js";

/**
 * A type's or function's name: the whole one, broken where it is long; very long ones are cut and whole in the title.
 *
 * @param {string} name
 */
export function typeText(name) {
  return h("code", { class: "type", title: name.length > 300 ? name : null, dir: "auto" }, clipped(name, 300));
}

/**
 * Bytes with the exact number in the title.
 *
 * @param {number} value
 */
export function bytesText(value) {
  return h("span", { title: `${number(value)} bytes` }, bytes(value));
}

/**
 * A button with a word, and an icon where there is one for it.
 *
 * @param {string} title
 * @param {() => void} action
 * @param {{icon?: Parameters<typeof icon>[0], tip?: string, class?: string}} [options]
 */
export function button(title, action, options = {}) {
  return h("button", { type: "button", class: `button ${options.class ?? ""}`, title: options.tip, onclick: action }, options.icon && icon(options.icon), title);
}

/**
 * Choices of which one holds, as links.
 *
 * @param {string} label
 * @param {{title: string, hash: string, isCurrent: boolean, tip?: string}[]} choices
 */
export function segments(label, choices) {
  return h(
    "div",
    { class: "segments", role: "group", "aria-label": label },
    choices.map(({ title, hash, isCurrent, tip }) => h("a", { href: hash, title: tip, "aria-current": isCurrent ? "true" : null }, title)),
  );
}

/**
 * A switch that changes an option of the hash.
 *
 * @param {import("./app.js").App} app
 * @param {string} option
 * @param {string} title
 * @param {string} [tip]
 */
export function optionSwitch(app, option, title, tip) {
  return h(
    "label",
    { class: "switch", title: tip },
    h("input", {
      type: "checkbox",
      checked: app.route.options[option] === "1",
      onchange: (/** @type {Event} */ event) => {
        app.go(app.route.view, { ...app.route.options, [option]: /** @type {HTMLInputElement} */ (event.target).checked ? "1" : "" });
      },
    }),
    title,
  );
}

/**
 * Copies a text and says so.
 *
 * @param {import("./app.js").App} app
 * @param {string} text
 */
export async function copy(app, text) {
  try {
    await navigator.clipboard.writeText(text);
    app.shell.say("Copied.");
  } catch {
    // Where the clipboard is closed to files, a field that is selected can still be copied from.
    const area = h("textarea", { class: "offscreen", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    const isDone = document.execCommand("copy");
    area.remove();
    app.shell.say(isDone ? "Copied." : "The browser doesn't allow to copy.");
  }
}

/**
 * Offers a file to keep.
 *
 * @param {import("./app.js").App} app
 * @param {string} name
 * @param {Blob} blob
 */
export function save(app, name, blob) {
  const url = URL.createObjectURL(blob);
  const link = h("a", { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
  app.shell.say(`Saved ${name}.`);
}

/**
 * A field for a filter, with a chip for each of its terms.
 *
 * @param {import("./app.js").App} app
 * @param {string} echo what the filter leaves
 * @param {string} placeholder
 */
export function filterField(app, echo, placeholder) {
  const terms = parseFilter(app.route.options.q ?? "");
  const input = h("input", {
    type: "search",
    value: app.route.options.q ?? "",
    placeholder,
    "aria-label": "Filter",
    autocomplete: "off",
    spellcheck: "false",
    onchange: () => app.go(app.route.view, { ...app.route.options, q: input.value.trim() }),
    onkeydown: (/** @type {KeyboardEvent} */ event) => {
      if (event.key === "Escape") input.blur();
    },
  });
  const remove = (/** @type {import("../text/filter.js").Term} */ term) => app.go(app.route.view, { ...app.route.options, q: withoutTerm(terms, term) });
  const chips = h(
    "span",
    { class: "chips" },
    terms.map((term) =>
      h(
        "span",
        { class: term.error ? "chip bad" : "chip" },
        h("bdi", null, clipped(term.text, 60)),
        term.error && h("small", null, `: ${term.error}`),
        h("button", { type: "button", "aria-label": `Remove ${term.text}`, onclick: () => remove(term) }, icon("close")),
      ),
    ),
    terms.length > 1 && button("Clear", () => app.go(app.route.view, { ...app.route.options, q: "" }), { class: "small" }),
  );
  return h("div", { class: "filter" }, input, chips, h("span", { class: "quiet echo", role: "status" }, echo));
}

/**
 * A small picture of how a number went from snapshot to snapshot.
 *
 * @param {ArrayLike<number>} values
 */
export function staircase(values) {
  const most = Math.max(1, ...Array.from(values));
  const list = Array.from(values);
  const steps = list.map((value) => h("i", { style: `height:${Math.max(value > 0 ? 8 : 2, (value / most) * 100)}%` }));
  return h("span", { class: "stairs", role: "img", "aria-label": `from snapshot to snapshot: ${list.map(number).join(", ")}`, title: list.map(number).join(" → ") }, steps);
}

/**
 * A heading of a view with what belongs to it.
 *
 * @param {HTMLElement} place
 * @param {string} title
 * @param {...import("./dom.js").Child} rest
 */
export function heading(place, title, ...rest) {
  fill(place, h("div", { class: "heading" }, h("h1", null, title), rest));
}
