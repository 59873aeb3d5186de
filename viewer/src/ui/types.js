// All types: what is alive of each, what was born and died, what is leaked, what they retain.

import { h } from "./dom.js";
import { Table } from "./table.js";
import { bytesText, filterField, heading, staircase, typeText } from "./widgets.js";
import { nodeFilter, selectedNodes } from "../data/selection.js";
import { bytes, count, number } from "../text/format.js";
import { parseFilter, termText } from "../text/filter.js";

/**
 * @typedef {object} TypeRow
 * @property {number} row
 * @property {string} name
 * @property {number} live
 * @property {number} born
 * @property {number} died
 * @property {number} leaked
 * @property {number} bytes
 * @property {number} retained
 */

export class TypesView {
  name = "types";
  title = "Types";
  needsData = true;

  /**
   * @param {import("./app.js").App} app
   * @param {HTMLElement} place
   */
  show(app, place) {
    const { model } = app;
    const shots = app.summary.snapshots.length;
    const { rows, isCounted } = typeRows(app);
    const sums = rows.reduce((sum, row) => ({ count: sum.count + row.live, bytes: sum.bytes + row.bytes }), { count: 0, bytes: 0 });
    const most = Math.max(1, ...rows.map((row) => row.bytes));
    const mostRetained = Math.max(1, ...rows.map((row) => row.retained));
    const { live } = app.summary.totals;
    /** @type {import("./table.js").Column<TypeRow>[]} */
    const columns = [
      { key: "type", title: "Type", width: "minmax(14rem, 1fr)", cell: (row) => typeText(row.name), value: (row) => row.name },
      { key: "live", title: "Live", tip: "Objects that are alive", width: "6rem", isNumber: true, cell: (row) => number(row.live), value: (row) => row.live },
      ...(shots > 1 && !isCounted
        ? /** @type {import("./table.js").Column<TypeRow>[]} */ ([
            { key: "born", title: "Born", tip: "Born after the first snapshot and alive", width: "5.5rem", isNumber: true, cell: (row) => signless(row.born, "+"), value: (row) => row.born },
            { key: "died", title: "Died", tip: "Alive in the first snapshot and gone", width: "5.5rem", isNumber: true, cell: (row) => signless(row.died, "−"), value: (row) => row.died },
            {
              key: "stairs", title: "Staircase", tip: "Alive in each snapshot", width: "6rem",
              cell: (row) => staircase(model.tables.report.count.subarray(row.row * shots, row.row * shots + shots)), value: (row) => row.born - row.died,
            },
          ])
        : []),
      { key: "leaked", title: "Leaked", tip: "Objects that no root reaches", width: "5.5rem", isNumber: true, cell: (row) => (row.leaked ? h("b", { class: "bad" }, number(row.leaked)) : ""), value: (row) => row.leaked },
      { key: "bytes", title: "Bytes", tip: "Their own bytes", width: "8rem", isNumber: true, cell: (row) => bytesText(row.bytes), value: (row) => row.bytes, bar: (row) => row.bytes / most },
      { key: "retained", title: "Retained", tip: "What would go with them; what objects of the type hold of each other counts once", width: "8rem", isNumber: true, cell: (row) => bytesText(row.retained), value: (row) => row.retained, bar: (row) => row.retained / mostRetained },
    ];
    const table = new Table(app, {
      label: "Types", columns, rows, sort: "-retained",
      hash: (row) => app.link("objects", { q: [app.route.options.q, termText("type", row.name).replace("type:", "type=")].filter(Boolean).join(" ") }),
    });
    const isAll = sums.count === live.count;
    const echo = isAll ? `${count(rows.length, "type")}, ${count(live.count, "object")}, ${bytes(live.bytes)}` : `${count(rows.length, "type")}: ${number(sums.count)} of ${count(live.count, "object")}, ${bytes(sums.bytes)} of ${bytes(live.bytes)}`;
    heading(place, "Types", h("span", { class: "spacer" }), table.saveButton("types.csv"));
    place.append(filterField(app, echo, "type:Page leaked size>1k"), table.element);
  }
}

/** @param {number} value @param {string} sign */
function signless(value, sign) {
  return value === 0 ? "" : sign + number(value);
}

/**
 * The rows: from the report's own counts where types are all that is asked for, else counted among the objects.
 *
 * @param {import("./app.js").App} app
 * @returns {{rows: TypeRow[], isCounted: boolean}}
 */
function typeRows(app) {
  const { model } = app;
  const { report } = model.tables;
  const shots = app.summary.snapshots.length;
  const terms = parseFilter(app.route.options.q ?? "");
  const isWanted = nodeFilter(model, terms);
  const { retainedByReport } = model.analysis;
  if (!isWanted) {
    const rows = Array.from(report.name, (name, row) => ({
      row,
      name: model.text(name),
      live: report.count[row * shots + shots - 1],
      born: report.bornCount[row],
      died: report.diedCount[row],
      leaked: report.leakedCount[row],
      bytes: report.bytes[row * shots + shots - 1],
      retained: retainedByReport[row],
    }));
    // What reports leave out of their counts, as free memory of a library, is no row.
    return { rows: rows.filter((row) => row.live > 0 || row.born > 0 || row.died > 0 || row.leaked > 0), isCounted: false };
  }
  /** @type {Map<number, TypeRow>} */
  const rows = new Map();
  for (const node of selectedNodes(model, isWanted)) {
    const row = model.reportRow(node);
    let entry = rows.get(row);
    if (!entry) {
      entry = { row, name: model.text(report.name[row]), live: 0, born: 0, died: 0, leaked: 0, bytes: 0, retained: retainedByReport[row] };
      rows.set(row, entry);
    }
    entry.live++;
    entry.bytes += model.node.bytes[node];
    if (model.isLeaked(node)) entry.leaked++;
  }
  return { rows: [...rows.values()], isCounted: true };
}
