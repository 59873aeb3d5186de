// Objects, one a row: those of a type, of a finding, or whatever a filter leaves.

import { h } from "./dom.js";
import { Table } from "./table.js";
import { bytesText, filterField, heading, typeText } from "./widgets.js";
import { nodeFilter, selectedNodes, sortedNodes } from "../data/selection.js";
import { address, bytes, count, number } from "../text/format.js";
import { parseFilter } from "../text/filter.js";

export class ObjectsView {
  name = "objects";
  title = "Objects";
  needsData = true;

  /**
   * @param {import("./app.js").App} app
   * @param {HTMLElement} place
   */
  show(app, place) {
    const { model } = app;
    const { node } = model;
    const { f, q } = app.route.options;
    const finding = f ? app.summary.findings[Number(f) - 1] : null;
    const isWanted = nodeFilter(model, parseFilter(q ?? ""));
    /** @type {Uint32Array} */
    const nodes = finding ? Uint32Array.from(finding.graph.members).filter((member) => !isWanted || isWanted(member)) : selectedNodes(model, isWanted);
    const { bytes: retained, counts } = model.retained;
    let sum = 0;
    let most = 1;
    let mostRetained = 1;
    for (const at of nodes) {
      sum += node.bytes[at];
      if (node.bytes[at] > most) most = node.bytes[at];
      if (retained[at] > mostRetained) mostRetained = retained[at];
    }
    const { embed, generations, totals } = app.summary;
    const { backFirst } = model.graph;
    const ranks = typeRanks(model);
    /** @type {import("./table.js").Column<number>[]} */
    const columns = [
      { key: "type", title: "Type", width: "minmax(14rem, 1fr)", cell: (at) => typeText(model.typeName(at)), value: (at) => model.typeName(at), order: (at) => ranks[node.type[at]] },
      {
        key: "at", title: "Address", width: "9.5rem", value: (at) => address(node.address[at]), order: (at) => at,
        cell: (at) => h("a", { href: app.link("object", app.objectOptions(at)), tabindex: -1 }, h("code", null, address(node.address[at]))),
      },
      { key: "size", title: "Bytes", tip: "Its own bytes", width: "8rem", isNumber: true, cell: (at) => bytesText(node.bytes[at]), value: (at) => node.bytes[at], bar: (at) => node.bytes[at] / most },
      { key: "retained", title: "Retained", tip: "What would go with it", width: "8rem", isNumber: true, cell: (at) => bytesText(retained[at]), value: (at) => retained[at], bar: (at) => retained[at] / mostRetained },
      { key: "objects", title: "Objects", tip: "How many would go with it, itself included", width: "6rem", isNumber: true, cell: (at) => number(counts[at]), value: (at) => counts[at] },
      { key: "refs", title: "Held by", tip: "References to it", width: "6rem", isNumber: true, cell: (at) => number(backFirst[at + 1] - backFirst[at]), value: (at) => backFirst[at + 1] - backFirst[at] },
      ...(generations.length > 0
        ? /** @type {import("./table.js").Column<number>[]} */ ([{ key: "gen", title: "Generation", width: "8rem", cell: (at) => model.generationName(node.generation[at]), value: (at) => node.generation[at] }])
        : []),
      { key: "leaked", title: "Leaked", width: "6rem", cell: (at) => (model.isLeaked(at) ? h("b", { class: "bad" }, "leaked") : ""), value: (at) => (model.isLeaked(at) ? 1 : 0), isNumber: true },
    ];
    const table = new Table(app, {
      label: "Objects", columns, rows: nodes, sort: "-retained",
      hash: (at) => app.link("object", app.objectOptions(at)),
      sorted: (column, isDown) => sortedNodes(nodes, column.order ?? /** @type {(node: number) => number} */ (column.value), isDown),
    });
    // With all of them in the file, the list also has what reports leave out of their counts.
    const all = embed === "all" ? { count: model.nodeCount, bytes: bytesOfAll(model) } : totals.live;
    const whole = finding ? `those of finding ${f}` : `${count(all.count, "object")}, ${bytes(sum)} of ${bytes(all.bytes)}`;
    heading(place, finding ? `Objects of finding ${f}` : "Objects", h("span", { class: "spacer" }), table.saveButton("objects.csv"));
    if (f && !finding) place.append(h("p", { class: "banner note" }, `This report has no finding ${f}.`));
    if (finding && finding.graph.memberCount > finding.graph.members.length) {
      place.append(h("p", { class: "quiet" }, `The report lists the first ${number(finding.graph.members.length)} of ${number(finding.graph.memberCount)}.`));
    }
    place.append(filterField(app, `${number(nodes.length)} of ${whole}`, "type:Page field:delegate retained>1m"), table.element);
  }
}

/** @param {import("../data/model.js").Model} model */
function bytesOfAll(model) {
  let sum = 0;
  for (const size of model.node.bytes) sum += size;
  return sum;
}

/**
 * The place of each type's name among all. Time O(types log types).
 *
 * @param {import("../data/model.js").Model} model
 */
function typeRanks(model) {
  const names = Array.from(model.tables.type.name, (name) => model.text(name));
  const ranks = new Uint32Array(names.length);
  [...names.keys()].sort((a, b) => (names[a] < names[b] ? -1 : names[a] > names[b] ? 1 : 0)).forEach((row, at) => (ranks[row] = at));
  return ranks;
}
