// A table of any number of rows, of which only those in sight are in the page.

import { fill, freshId, h } from "./dom.js";
import { csvOf } from "../text/copies.js";
import { number } from "../text/format.js";
import { button, save } from "./widgets.js";

/**
 * @template Row
 * @typedef {object} Column
 * @property {string} key as the hash has it
 * @property {string} title
 * @property {string} [tip]
 * @property {string} width as a grid track
 * @property {boolean} [isNumber] starts with the largest when it is sorted by
 * @property {(row: Row) => import("./dom.js").Child} cell
 * @property {(row: Row) => string | number} value for sorting and CSV
 * @property {(row: Row) => number} [order] a number to sort by instead of `value`
 * @property {(row: Row) => number} [bar] a part of the whole to draw behind the number, from 0 to 1
 */

const TABLE_ROW = 28;

/** No element may be taller: browsers stop at some 17 million pixels. */
const TALLEST = 8_000_000;

/** How many rows a CSV file gets. */
const MOST_SAVED = 100_000;

/**
 * @template Row
 */
export class Table {
  /**
   * @param {import("./app.js").App} app
   * @param {object} about
   * @param {string} about.label
   * @param {Column<Row>[]} about.columns
   * @param {ArrayLike<Row>} about.rows
   * @param {string} about.sort the column that it starts with, `-` before it for the largest first
   * @param {boolean} [about.isLow] whether something else stands below it
   * @param {(row: Row) => string} [about.hash] where Enter and a click lead
   * @param {((column: Column<Row>, isDown: boolean) => ArrayLike<Row>)} [about.sorted] a quicker way to sort
   */
  constructor(app, about) {
    this.app = app;
    this.about = about;
    /** @type {ArrayLike<Row>} */
    this.rows = about.rows;
    this.active = 0;
    this.shownFrom = -1;
    this.shownTo = -1;
    this.id = freshId("row");
    this.head = h("div", { role: "row", class: "head" });
    this.body = h("div", { class: "rows", role: "rowgroup" });
    this.window = h("div", { class: "window", role: "presentation" });
    this.body.append(this.window);
    this.grid = h(
      "div",
      {
        class: about.isLow ? "grid low" : "grid", role: "grid", tabindex: 0, "aria-label": about.label,
        onkeydown: (/** @type {KeyboardEvent} */ event) => this.onKey(event),
        onscroll: () => this.draw(),
        onfocus: () => this.mark(),
      },
      h("div", { class: "sheet", role: "presentation" }, h("div", { role: "rowgroup", class: "headgroup" }, this.head), this.body),
    );
    this.grid.style.setProperty("--columns", about.columns.map((column) => column.width).join(" "));
    this.element = h("div", { class: "table" }, this.grid);
    this.sort();
    new ResizeObserver(() => this.draw()).observe(this.grid);
  }

  /**
   * The button that saves the table.
   *
   * @param {string} name
   */
  saveButton(name) {
    return button("CSV", () => this.saveCSV(name), { icon: "save", tip: "Save the table as CSV" });
  }

  /** @param {string} name */
  saveCSV(name) {
    const { columns } = this.about;
    const most = Math.min(this.rows.length, MOST_SAVED);
    const lines = [columns.map((column) => column.title)];
    for (let at = 0; at < most; at++) lines.push(columns.map((column) => String(column.value(this.rows[at]))));
    save(this.app, name, new Blob([csvOf(lines)], { type: "text/csv" }));
    if (most < this.rows.length) this.app.shell.say(`Saved the first ${number(most)} of ${number(this.rows.length)} rows.`);
  }

  sort() {
    const wanted = this.app.route.options.sort || this.about.sort;
    const isDown = wanted.startsWith("-");
    const { columns } = this.about;
    const column = columns.find((entry) => entry.key === wanted.replace("-", "")) ?? columns[0];
    this.rows = this.about.sorted
      ? this.about.sorted(column, isDown)
      : Array.from(this.about.rows).sort((a, b) => {
          const key = column.order ?? column.value;
          const [x, y] = [key(a), key(b)];
          return (x < y ? -1 : x > y ? 1 : 0) * (isDown ? -1 : 1);
        });
    fill(
      this.head,
      columns.map((entry, at) => {
        const isSorted = entry === column;
        return h(
          "div",
          { role: "columnheader", "aria-sort": isSorted ? (isDown ? "descending" : "ascending") : "none", "aria-colindex": at + 1, class: entry.isNumber ? "number" : null },
          h(
            "button",
            {
              type: "button", title: entry.tip, tabindex: -1,
              onclick: () => {
                const isNowDown = isSorted ? !isDown : entry.isNumber === true;
                this.app.adjust({ sort: (isNowDown ? "-" : "") + entry.key });
                this.sort();
              },
            },
            entry.title,
            isSorted && h("span", { class: "arrow", "aria-hidden": "true" }, isDown ? "↓" : "↑"),
          ),
        );
      }),
    );
    const { length } = this.rows;
    this.grid.setAttribute("aria-rowcount", String(length + 1));
    this.grid.setAttribute("aria-colcount", String(columns.length));
    const height = length * TABLE_ROW;
    this.scale = height > TALLEST ? height / TALLEST : 1;
    this.grid.style.height = `${Math.min(height, TALLEST) + TABLE_ROW + 4}px`;
    this.body.style.height = `${Math.min(height, TALLEST)}px`;
    this.shownFrom = this.shownTo = -1;
    this.active = 0;
    this.draw();
  }

  /** The first row in sight. */
  get top() {
    return Math.floor((this.grid.scrollTop * (this.scale ?? 1)) / TABLE_ROW);
  }

  draw() {
    const visible = Math.ceil(this.grid.clientHeight / TABLE_ROW) || 30;
    const from = Math.max(0, Math.min(this.top - 6, this.rows.length - visible));
    const to = Math.min(this.rows.length, this.top + visible + 12);
    if (from === this.shownFrom && to === this.shownTo) return;
    this.shownFrom = from;
    this.shownTo = to;
    // Where rows are scaled down, those in sight are placed where the reader has scrolled to.
    const offset = this.scale === 1 ? from * TABLE_ROW : this.grid.scrollTop - (this.top - from) * TABLE_ROW;
    this.window.style.transform = `translateY(${offset}px)`;
    const parts = [];
    for (let at = from; at < to; at++) parts.push(this.row(at));
    fill(this.window, parts);
    this.mark();
  }

  /** @param {number} at */
  row(at) {
    const row = this.rows[at];
    return h(
      "div",
      { role: "row", class: "row", id: `${this.id}-${at}`, "aria-rowindex": at + 2, onclick: (/** @type {MouseEvent} */ event) => this.onClick(event, at) },
      this.about.columns.map((column, place) => {
        const cell = h("div", { role: "gridcell", "aria-colindex": place + 1, class: column.isNumber ? "number" : "text" }, column.cell(row));
        const part = column.bar?.(row);
        if (part !== undefined && part > 0.004) cell.append(h("i", { class: "meter", style: `width:${Math.min(100, part * 100)}%` }));
        return cell;
      }),
    );
  }

  /** Shows which row the keyboard is at. */
  mark() {
    for (const element of this.window.children) element.classList.toggle("active", element.id === `${this.id}-${this.active}`);
    if (this.rows.length > 0) this.grid.setAttribute("aria-activedescendant", `${this.id}-${this.active}`);
  }

  /**
   * @param {MouseEvent} event
   * @param {number} at
   */
  onClick(event, at) {
    this.active = at;
    this.mark();
    const isLink = event.target instanceof Element && event.target.closest("a, button");
    if (!isLink && getSelection()?.isCollapsed !== false) this.open(at);
  }

  /** @param {number} at */
  open(at) {
    if (this.about.hash && at < this.rows.length) location.hash = this.about.hash(this.rows[at]);
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const page = Math.max(1, Math.floor(this.grid.clientHeight / TABLE_ROW) - 2);
    const last = this.rows.length - 1;
    const { active } = this;
    /** @type {Record<string, number>} */
    const moves = { ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + page, PageUp: active - page, Home: 0, End: last };
    if (event.key === "Enter" && event.target === this.grid) this.open(active);
    else if (event.key in moves && last >= 0) this.move(Math.max(0, Math.min(last, moves[event.key])));
    else return;
    event.preventDefault();
  }

  /** @param {number} to */
  move(to) {
    this.active = to;
    const visible = Math.max(1, Math.floor(this.grid.clientHeight / TABLE_ROW) - 2);
    const { top } = this;
    const scale = this.scale ?? 1;
    if (to < top) this.grid.scrollTop = (to * TABLE_ROW) / scale;
    else if (to > top + visible - 1) this.grid.scrollTop = ((to - visible + 1) * TABLE_ROW) / scale;
    this.draw();
    this.mark();
  }
}
