// One object: what it is, what it refers to, who refers to it, where it was made.

import { fill, h } from "./dom.js";
import { bytesText, button, copy, heading, typeText } from "./widgets.js";
import { wayTexts } from "./ways.js";
import { PROVENANCES, STRENGTHS, TASK_KINDS, TASK_STATES } from "../data/model.js";
import { KIND_NAMES } from "../graph/costs.js";
import { address, bytes, count, fileName, number } from "../text/format.js";
import { markdownText, treeText } from "../text/copies.js";
import { termText } from "../text/filter.js";

/** How many references are listed at first, and how many more at a time. */
const PAGE = 60;

export class ObjectView {
  name = "object";
  title = "Object";
  needsData = true;

  /**
   * @param {import("./app.js").App} app
   * @param {HTMLElement} place
   */
  show(app, place) {
    const { nodes, problem } = app.subject();
    if (nodes.length === 0) {
      heading(place, "Object");
      place.append(h("p", { class: "banner note" }, problem || "No object was named. Choose one in Objects, or search for an address."));
      return;
    }
    const [node] = nodes;
    const { model } = app;
    const options = app.objectOptions(node);
    fill(
      place,
      h("div", { class: "heading" }, h("h1", null, typeText(model.typeName(node))), h("span", { class: "spacer" }), h("a", { class: "button main", href: app.link("retainers", options) }, "Retained by"), h("a", { class: "button", href: app.link("references", options) }, "References"), h("a", { class: "button", href: app.link("map", { ...options, group: "objects" }) }, "In the map"), button("Link", () => void copy(app, location.href), { icon: "link", tip: "Copy a link to this object" })),
      h("div", { class: "facts" }, facts(app, node)),
      way(app, node),
      h("div", { class: "columns" }, referenceList(app, node, true), referenceList(app, node, false)),
      stack(app, node),
    );
  }
}

/**
 * @param {import("./app.js").App} app
 * @param {number} node
 */
function facts(app, node) {
  const { model } = app;
  const { node: column } = model;
  const strong = column.strong[node];
  const state = column.flags[node] & 3;
  const task = model.taskOf(node);
  const info = task >= 0 ? model.tables.task.info[task] : 0;
  const within = app.route.options.o ? parseInt(app.route.options.o, 16) - column.address[node] : 0;
  /** @type {[string, import("./dom.js").Child][]} */
  const rows = [
    ["Address", h("code", null, address(column.address[node]), within > 0 && ` (asked for ${within} bytes further in)`)],
    ["Kind", [KIND_NAMES[column.kind[node]], state === 1 ? ", being destroyed" : state === 2 ? ", destroyed" : ""]],
    ["Module", model.moduleName(node) || "none"],
    ["Own bytes", bytesText(column.bytes[node])],
    ["Retains", h("span", { title: `${number(model.retained.bytes[node])} bytes` }, `${bytes(model.retained.bytes[node])} in ${count(model.retained.counts[node], "object")}`)],
    ["State", model.isLeaked(node) ? h("b", { class: "bad" }, "leaked") : model.ways.isReached[node] ? "reachable" : (column.flags[node] & 32) !== 0 ? "held from outside without a root" : "no root is known"],
    ["Counts", `${strong === 0 ? "no strong count" : `${number(strong - 1)} strong`}, ${number(column.unowned[node])} unowned, ${number(column.weak[node])} weak`],
  ];
  const generation = model.generationName(column.generation[node]);
  if (generation) rows.push(["Generation", generation]);
  if (task >= 0) rows.push(["Task", `${number(model.tables.task.id[task])}, ${TASK_KINDS[(info >> 2) & 3] ?? "task"}, ${TASK_STATES[info & 3]}${info & 16 ? ", cancelled" : ""}`]);
  const holder = model.analysis.dominatorByNode[node];
  rows.push(["Dominated by", holder === model.outside ? (model.isLeaked(node) ? "nothing: no root reaches it, and it hangs on no one object" : "nothing: it hangs on roots, or on several") : link(app, holder)]);
  rows.push(["Alike", h("a", { href: app.link("objects", { q: termText("type", model.reportName(node)).replace("type:", "type=") }) }, "all objects of the type")]);
  return h("dl", null, rows.map(([name, value]) => [h("dt", null, name), h("dd", null, value)]).flat());
}

/**
 * @param {import("./app.js").App} app
 * @param {number} node
 */
export function link(app, node) {
  return h("a", { href: app.link("object", app.objectOptions(node)) }, typeText(app.model.typeName(node)));
}

/**
 * The way from a root as text.
 *
 * @param {import("./app.js").App} app
 * @param {number} node
 */
function way(app, node) {
  const texts = wayTexts(app.model, node);
  if (!texts) return h("p", { class: "quiet" }, "No way from a root is known.");
  const { title, steps, end, isCycle } = texts;
  return h(
    "section",
    null,
    h("h2", null, isCycle ? "Shortest cycle" : steps.length === 0 ? "Nothing holds it" : "Shortest way"),
    h("pre", { class: "way", tabindex: 0, role: "region", "aria-label": "Shortest way" }, treeText("", steps, end).trimStart()),
    h("div", { class: "actions" }, button("Copy", () => void copy(app, treeText(title, steps, end)), { icon: "copy" }), button("Markdown", () => void copy(app, markdownText(title, steps, end)), { icon: "copy" })),
  );
}

/**
 * What it refers to, or what refers to it.
 *
 * @param {import("./app.js").App} app
 * @param {number} node
 * @param {boolean} isOutgoing
 */
function referenceList(app, node, isOutgoing) {
  const { model } = app;
  const { first, target, backFirst, backSlot } = model.graph;
  const begin = isOutgoing ? first[node] : backFirst[node];
  const end = isOutgoing ? first[node + 1] : backFirst[node + 1];
  const list = h("tbody");
  const more = h("p");
  let at = begin;
  const grow = () => {
    const stop = Math.min(end, at + PAGE);
    for (; at < stop; at++) {
      const slot = isOutgoing ? at : backSlot[at];
      const other = isOutgoing ? target[slot] : model.source(slot);
      list.append(
        h(
          "tr",
          null,
          h("td", null, h("code", { dir: "auto" }, model.field(slot) || "?"), model.via(slot) && h("small", { class: "quiet" }, ` through ${model.via(slot)}`), " ", badges(model, slot)),
          h("td", null, other === model.outside ? model.rootKind(slot) : link(app, other)),
          h("td", { class: "number" }, other === model.outside ? "" : bytesText(model.node.bytes[other])),
        ),
      );
    }
    fill(more, at < end && button(`Show ${number(Math.min(PAGE, end - at))} of ${number(end - at)} more`, grow));
  };
  grow();
  const title = isOutgoing ? "Refers to" : "Held and referred to by";
  return h(
    "section",
    null,
    h("h2", null, title, h("span", { class: "count" }, number(end - begin))),
    end === begin
      ? h("p", { class: "quiet" }, isOutgoing ? "Nothing." : "Nothing that was found.")
      : h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": title }, h("table", null, h("thead", null, h("tr", null, h("th", null, isOutgoing ? "Field" : "By"), h("th", null, isOutgoing ? "Object" : "Of"), h("th", { class: "number" }, "Bytes"))), list)),
    more,
  );
}

/**
 * What there is to say of a reference besides that it is strong and declared.
 *
 * @param {import("../data/model.js").Model} model
 * @param {number} slot
 */
export function badges(model, slot) {
  const strength = model.strength(slot);
  const provenance = model.provenance(slot);
  return [
    strength > 0 && h("span", { class: `badge ${STRENGTHS[strength] ?? ""}` }, STRENGTHS[strength] ?? "unknown"),
    provenance === 2 && h("span", { class: "badge unsure" }, PROVENANCES[2]),
    (model.graph.info[slot] & 0x80) !== 0 && h("span", { class: "badge" }, "stale"),
  ];
}

/**
 * Where it was allocated; what only allocates is folded.
 *
 * @param {import("./app.js").App} app
 * @param {number} node
 */
function stack(app, node) {
  const frames = app.model.frames(app.model.node.stack[node]);
  if (frames.length === 0) return h("section", null, h("h2", null, "Made"), h("p", { class: "quiet" }, "No stack was recorded."));
  const folded = frames.findIndex((frame) => !frame.isAllocator);
  const skipped = Math.max(0, folded);
  /** @param {typeof frames[number]} frame */
  const line = (frame) =>
    h("li", { class: frame.isOwn ? "own" : null }, h("code", { dir: "auto" }, frame.function || "unknown function"), h("span", { class: "quiet" }, frame.file ? ` ${fileName(frame.file)}${frame.line ? `:${frame.line}` : ""}` : ` ${fileName(frame.module)}`, frame.isInlined && ", inlined"));
  return h(
    "section",
    null,
    h("h2", null, "Made"),
    skipped > 0 && h("details", null, h("summary", null, `${count(skipped, "frame")} of the allocator`), h("ol", { class: "stack" }, frames.slice(0, skipped).map(line))),
    h("ol", { class: "stack" }, frames.slice(skipped).map(line)),
  );
}
