// Snapshots against each other: what was born, what died, and the staircase of every type.

import { h } from "./dom.js";
import { Table } from "./table.js";
import { filterField, heading, staircase, typeText } from "./widgets.js";
import { bytes, count, number, signed, signedBytes } from "../text/format.js";
import { matches, parseFilter, termText } from "../text/filter.js";

/**
 * @typedef {object} Change
 * @property {number} row
 * @property {string} name
 * @property {number[]} counts
 * @property {number} change
 * @property {number} changeBytes
 * @property {number} born
 * @property {number} died
 * @property {boolean} isGrowing whether there are more at each snapshot
 */

export class CompareView {
  name = "compare";
  title = "Compare";
  needsData = true;

  /**
   * @param {import("./app.js").App} app
   * @param {HTMLElement} place
   */
  show(app, place) {
    const { snapshots } = app.summary;
    const shots = snapshots.length;
    if (shots < 2) {
      heading(place, "Compare");
      place.append(h("p", { class: "quiet" }, "This report has one snapshot. memgraph view A B -o report.html compares two or more."));
      return;
    }
    const all = changes(app);
    const rows = all.filter((row) => row.change !== 0 || row.born > 0 || row.died > 0);
    const shown = wantedRows(app, rows);
    const most = Math.max(1, ...shown.map((row) => Math.abs(row.changeBytes)));
    /** @type {import("./table.js").Column<Change>[]} */
    const columns = [
      { key: "type", title: "Type", width: "minmax(14rem, 1fr)", cell: (row) => h("span", { class: "marked" }, typeText(row.name), row.isGrowing && h("span", { class: "badge grows", title: "More in each snapshot than in the one before" }, "grows")), value: (row) => row.name },
      { key: "stairs", title: "Staircase", tip: "Alive in each snapshot", width: "7rem", cell: (row) => staircase(row.counts), value: (row) => row.counts.join(" "), order: (row) => row.counts[shots - 1] },
      { key: "first", title: snapshots[0].title, tip: "Alive in the first snapshot", width: "6.5rem", isNumber: true, cell: (row) => number(row.counts[0]), value: (row) => row.counts[0] },
      { key: "last", title: snapshots[shots - 1].title, tip: "Alive in the last snapshot", width: "6.5rem", isNumber: true, cell: (row) => number(row.counts[shots - 1]), value: (row) => row.counts[shots - 1] },
      { key: "change", title: "Change", width: "6rem", isNumber: true, cell: (row) => h("b", { class: row.change > 0 ? "more" : row.change < 0 ? "fewer" : "quiet" }, signed(row.change)), value: (row) => row.change },
      { key: "step", title: "A step", tip: "Change from snapshot to snapshot, on average", width: "5.5rem", isNumber: true, cell: (row) => signed(Math.round((row.change / (shots - 1)) * 10) / 10), value: (row) => row.change / (shots - 1) },
      { key: "born", title: "Born", tip: "After the first snapshot, and alive at the last", width: "5.5rem", isNumber: true, cell: (row) => (row.born ? `+${number(row.born)}` : ""), value: (row) => row.born },
      { key: "died", title: "Died", tip: "Alive at the first snapshot and gone at the last", width: "5.5rem", isNumber: true, cell: (row) => (row.died ? `−${number(row.died)}` : ""), value: (row) => row.died },
      { key: "bytes", title: "Bytes", tip: "Change in bytes", width: "8rem", isNumber: true, cell: (row) => signedBytes(row.changeBytes), value: (row) => row.changeBytes, bar: (row) => Math.abs(row.changeBytes) / most },
    ];
    const table = new Table(app, {
      label: "Changes by type", columns, rows: shown, sort: "-bytes",
      hash: (row) => app.link("objects", { q: `${termText("type", row.name).replace("type:", "type=")} born` }),
    });
    heading(place, "Compare", h("span", { class: "spacer" }), table.saveButton("changes.csv"));
    place.append(steps(app), filterField(app, `${number(shown.length)} of ${count(rows.length, "type")} with a change`, "grows own App."), table.element);
  }
}

/**
 * @param {import("./app.js").App} app
 * @returns {Change[]}
 */
function changes(app) {
  const { model } = app;
  const { report } = model.tables;
  const shots = app.summary.snapshots.length;
  return Array.from(report.name, (name, row) => {
    const counts = Array.from(report.count.subarray(row * shots, row * shots + shots));
    return {
      row,
      name: model.text(name),
      counts,
      change: counts[shots - 1] - counts[0],
      changeBytes: report.bytes[row * shots + shots - 1] - report.bytes[row * shots],
      born: report.bornCount[row],
      died: report.diedCount[row],
      isGrowing: shots > 2 && counts.every((value, at) => at === 0 || value > counts[at - 1]),
    };
  });
}

/**
 * The rows that a filter leaves: of its terms words, `type:`, `own` and here also `grows` mean something.
 *
 * @param {import("./app.js").App} app
 * @param {Change[]} rows
 */
function wantedRows(app, rows) {
  const terms = parseFilter(app.route.options.q ?? "");
  const { flags } = app.model.tables.report;
  return rows.filter((row) =>
    terms.every((term) => {
      if (term.error) return true;
      const isWord = term.key === "" && term.text.replace("-", "") === "grows";
      const is = isWord ? row.isGrowing : term.key === "own" ? (flags[row.row] & 1) !== 0 : term.key === "" || term.key === "type" ? matches(term, row.name) : true;
      return is !== term.isNegated;
    }),
  );
}

/**
 * What was alive at each snapshot.
 *
 * @param {import("./app.js").App} app
 */
function steps(app) {
  const { snapshots } = app.summary;
  const most = Math.max(1, ...snapshots.map((/** @type {any} */ shot) => shot.live.bytes));
  return h(
    "ol",
    { class: "steps" },
    snapshots.map((/** @type {any} */ shot, /** @type {number} */ at) => {
      const before = at > 0 ? snapshots[at - 1].live : null;
      return h(
        "li",
        null,
        h("i", { class: "column", "aria-hidden": "true" }, h("i", { style: `height:${(shot.live.bytes / most) * 100}%` })),
        h("b", { title: shot.path }, shot.title),
        h("span", null, `${number(shot.live.count)} · ${bytes(shot.live.bytes)}`),
        before && h("span", { class: shot.live.bytes > before.bytes ? "more" : shot.live.bytes < before.bytes ? "fewer" : "quiet" }, `${signed(shot.live.count - before.count)} · ${signedBytes(shot.live.bytes - before.bytes)}`),
      );
    }),
  );
}
