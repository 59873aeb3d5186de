// The search in the header: types, findings and addresses as they are typed, or a filter over all objects.

import { fill, freshId, h } from "./dom.js";
import { address, bytes, clipped, count, number } from "../text/format.js";
import { foldedText, matches, parseFilter, termText } from "../text/filter.js";

/** How many types are offered. */
const MOST_TYPES = 8;

export class SearchBox {
  /** @param {import("./app.js").App} app */
  constructor(app) {
    this.app = app;
    const list = freshId("found");
    this.input = h("input", {
      type: "search",
      placeholder: "Search or filter",
      "aria-label": "Search types and addresses, or filter objects",
      title: "Search (/)",
      autocomplete: "off",
      spellcheck: "false",
      role: "combobox",
      "aria-expanded": "false",
      "aria-controls": list,
      "aria-autocomplete": "list",
      oninput: () => this.offer(),
      onfocus: () => this.offer(),
      onblur: () => setTimeout(() => this.close(), 150),
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.onKey(event),
    });
    this.list = h("ul", { id: list, role: "listbox", "aria-label": "Found", hidden: true });
    this.element = h("div", { class: "search" }, this.input, h("kbd", { "aria-hidden": "true" }, "/"), this.list);
    this.active = -1;
  }

  focus() {
    this.input.focus();
    this.input.select();
  }

  /** Shows the filter of the objects that are shown. */
  update() {
    if (document.activeElement === this.input) return;
    this.input.value = this.app.view.name === "objects" || this.app.view.name === "types" ? (this.app.route.options.q ?? "") : "";
  }

  close() {
    this.list.hidden = true;
    this.active = -1;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }

  /** What the text can lead to, best first. */
  choices() {
    const text = this.input.value.trim();
    /** @type {{title: string, note: string, hash: string}[]} */
    const choices = [];
    if (text === "") return choices;
    if (!this.app.hasModel) return [{ title: "The data are being read", note: "", hash: location.hash || "#/findings" }];
    const { model } = this.app;
    if (/^0x[0-9a-f]+$/i.test(text)) {
      const node = model.nodeAt(parseInt(text, 16));
      if (node >= 0) {
        choices.push({ title: `${address(model.node.address[node])} ${clipped(model.typeName(node), 60)}`, note: bytes(model.node.bytes[node]), hash: this.app.link("object", this.app.objectOptions(node)) });
      }
    }
    const words = parseFilter(text);
    if (words.every((term) => term.key === "" && !term.isNegated)) {
      const { report } = model.tables;
      const shots = this.app.summary.snapshots.length;
      /** @type {{row: number, name: string, rank: number, bytes: number}[]} */
      const found = [];
      for (let row = 0; row < report.name.length; row++) {
        const name = model.text(report.name[row]);
        if (!words.every((term) => matches(term, name))) continue;
        const lower = foldedText(name).replaceAll("\x60", "");
        const start = foldedText(words[0].value).replaceAll("\x60", "");
        const isStart = lower.startsWith(start) || lower.includes(`.${start}`);
        found.push({ row, name, rank: (isStart ? 2 : 0) + (report.flags[row] & 1), bytes: report.bytes[row * shots + shots - 1] });
      }
      found.sort((a, b) => b.rank - a.rank || b.bytes - a.bytes || a.row - b.row);
      for (const { row, name } of found.slice(0, MOST_TYPES)) {
        choices.push({ title: clipped(name, 80), note: count(report.count[row * shots + shots - 1], "object"), hash: this.app.link("objects", { q: termText("type", name).replace("type:", "type=") }) });
      }
      if (found.length > MOST_TYPES) {
        choices.push({ title: `All ${number(found.length)} types with “${clipped(text, 30)}”`, note: "types", hash: this.app.link("types", { q: text }) });
      }
    }
    choices.push({ title: `Objects: ${clipped(text, 60)}`, note: "filter", hash: this.app.link("objects", { q: text }) });
    return choices;
  }

  offer() {
    const choices = this.choices();
    fill(
      this.list,
      choices.map((choice, at) =>
        h(
          "li",
          { role: "option", id: `${this.list.id}-${at}`, "aria-selected": at === this.active ? "true" : "false", "data-hash": choice.hash, onmousedown: () => this.open(choice.hash) },
          h("span", null, choice.title),
          h("small", null, choice.note),
        ),
      ),
    );
    this.list.hidden = choices.length === 0;
    this.input.setAttribute("aria-expanded", String(choices.length > 0));
  }

  /** @param {string} hash */
  open(hash) {
    this.close();
    this.input.blur();
    location.hash = hash;
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const options = [...this.list.children];
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (options.length === 0) return;
      const step = event.key === "ArrowDown" ? 1 : -1;
      this.active = (this.active + step + options.length + (this.active < 0 && step < 0 ? 1 : 0)) % options.length;
      options.forEach((option, at) => option.setAttribute("aria-selected", String(at === this.active)));
      this.input.setAttribute("aria-activedescendant", options[this.active].id);
    } else if (event.key === "Enter") {
      const chosen = options[this.active] ?? (parseFilter(this.input.value).some((term) => term.key !== "") ? options[options.length - 1] : options[0]);
      if (chosen instanceof HTMLElement) this.open(chosen.dataset.hash ?? "");
    } else if (event.key === "Escape") {
      if (this.list.hidden) this.input.blur();
      this.close();
    }
  }
}
