// Where live memory was allocated: flames from the outermost function, inverted, or around one function.

import { fill, h } from "./dom.js";
import { TreeCanvas } from "./treecanvas.js";
import { Table } from "./table.js";
import { bytesText, button, filterField, save, segments } from "./widgets.js";
import { callTree, costsByStack, functionCosts } from "../layout/calls.js";
import { icicle } from "../layout/weighted.js";
import { nodeFilter } from "../data/selection.js";
import { bytes, clipped, count, number, percent, shortFunction } from "../text/format.js";
import { parseFilter } from "../text/filter.js";

const FLAME_ROW = 19;

export class AllocationsView {
  name = "allocations";
  title = "Allocations";
  needsData = true;
  /** @type {TreeCanvas | null} */
  picture = null;

  /**
   * @param {import("./app.js").App} app
   * @param {HTMLElement} place
   */
  show(app, place) {
    const { model } = app;
    const { options } = app.route;
    const mode = options.as ?? "";
    const isFolded = options.runtime !== "1";
    const costs = costsByStack(model, nodeFilter(model, parseFilter(options.q ?? "")));
    const known = costs.counts.reduce((sum, value, row) => sum + (row > 0 ? value : 0), 0);
    const all = known + costs.counts[0];
    const hash = (/** @type {string} */ as) => app.link("allocations", { q: options.q, runtime: options.runtime, find: options.find, as });
    const find = h("input", {
      type: "search", value: options.find ?? "", placeholder: "Find a function", "aria-label": "Find a function", autocomplete: "off", spellcheck: "false",
      onchange: () => app.go("allocations", { ...options, find: find.value.trim() }),
    });
    const runtime = h("label", { class: "switch" }, h("input", { type: "checkbox", checked: !isFolded, onchange: () => app.go("allocations", { ...options, runtime: isFolded ? "1" : "" }) }), "frames of the runtime too");
    fill(
      place,
      h(
        "div", { class: "heading" }, h("h1", null, this.title), h("span", { class: "spacer" }),
        segments("Order", [
          { title: "Flame", hash: hash(""), isCurrent: mode === "", tip: "From the outermost function; the same calls are one, the largest left" },
          { title: "Inverted", hash: hash("inverted"), isCurrent: mode === "inverted", tip: "From the function that allocates" },
          { title: "Sandwich", hash: hash("sandwich"), isCurrent: mode === "sandwich", tip: "One function: who calls it above, what it calls below" },
        ]),
        button("PNG", () => void this.save(app), { icon: "save", tip: "Save the picture" }),
      ),
      filterField(app, `${number(all)} objects; ${known === all ? "all" : number(known)} with a stack`, "leaked gen:2 type:Page"),
      h("div", { class: "toolbar" }, find, runtime),
    );
    if (all === 0) {
      place.append(h("p", { class: "quiet" }, "No objects to show."));
      this.picture = null;
      return;
    }
    if (known === 0) {
      place.append(h("p", { class: "banner note" }, "No stack was recorded for these objects: the agent records them where it runs from the start (memgraph run --stacks full)."));
      this.picture = null;
      return;
    }
    if (mode === "sandwich") this.sandwich(app, place, costs, isFolded);
    else this.flame(app, place, costs, isFolded, mode === "inverted");
  }

  /**
   * @param {import("./app.js").App} app
   * @param {HTMLElement} place
   * @param {{bytes: Float64Array, counts: Float64Array}} costs
   * @param {boolean} isFolded
   * @param {boolean} isInverted
   */
  flame(app, place, costs, isFolded, isInverted) {
    const { root, foldedFrames } = callTree(app.model, costs, { isFolded, isInverted });
    this.picture = this.canvas(app, root, isInverted ? "Inverted flame graph of allocations" : "Flame graph of allocations", false);
    const { find } = app.route.options;
    const found = find ? foundBytes(root, find) : 0;
    place.append(
      h("p", { class: "quiet" }, find ? `${bytes(found)}, ${percent(found, root.value)} of all, go through a function with “${clipped(find, 60)}”. ` : "", isFolded && foldedFrames > 0 ? `${count(foldedFrames, "frame")} of the runtime ${foldedFrames === 1 ? "is" : "are"} folded. ` : "", "A click zooms in, Backspace out; a second click on the same function shows its sandwich."),
      this.picture.element,
    );
    this.picture.draw();
  }

  /**
   * @param {import("./app.js").App} app
   * @param {HTMLElement} place
   * @param {{bytes: Float64Array, counts: Float64Array}} costs
   * @param {boolean} isFolded
   */
  sandwich(app, place, costs, isFolded) {
    const { find, fn } = app.route.options;
    const all = functionCosts(app.model, costs, isFolded);
    const functions = find ? all.filter((call) => call.name.toLowerCase().includes(find.toLowerCase())) : all;
    const most = Math.max(1, ...functions.map((call) => call.value));
    // At first one that allocates: the outermost function has no callers to show.
    const chosen = functions.find((call) => call.name === fn) ?? functions.reduce((best, call) => (best && best.own >= call.own ? best : call), functions[0]);
    const go = (/** @type {import("../layout/calls.js").Call} */ call) => app.link("allocations", { ...app.route.options, fn: call.name });
    const table = new Table(app, {
      label: "Functions",
      columns: [
        { key: "name", title: "Function", width: "minmax(14rem, 1fr)", cell: (call) => [h("code", { class: "type", dir: "auto" }, clipped(call.name, 300)), call.place && h("small", { class: "quiet" }, ` ${call.place}`)], value: (call) => call.name },
        { key: "own", title: "Itself", tip: "Bytes that it allocated itself", width: "8rem", isNumber: true, cell: (call) => bytesText(call.own), value: (call) => call.own, bar: (call) => call.own / most },
        { key: "all", title: "With callees", tip: "Bytes of it and all that it called", width: "9rem", isNumber: true, cell: (call) => bytesText(call.value), value: (call) => call.value, bar: (call) => call.value / most },
        { key: "count", title: "Objects", width: "6rem", isNumber: true, cell: (call) => number(call.count), value: (call) => call.count },
      ],
      rows: functions, sort: "-all", hash: go, isLow: true,
    });
    place.append(table.element);
    if (!chosen) return;
    const callers = callTree(app.model, costs, { isFolded, isInverted: false, callersOf: chosen.key }).root.children()[0];
    const callees = callTree(app.model, costs, { isFolded, isInverted: false, calleesOf: chosen.key }).root.children()[0];
    const above = this.canvas(app, callers, `Callers of ${chosen.name}`, true);
    this.picture = this.canvas(app, callees, `Callees of ${chosen.name}`, false);
    place.append(
      h("h2", null, "Callers of ", h("code", { class: "type" }, clipped(chosen.name, 200))), above.element,
      h("h2", null, "Callees"), this.picture.element,
    );
    above.draw();
    this.picture.draw();
  }

  /**
   * @param {import("./app.js").App} app
   * @param {import("../layout/calls.js").Call} root
   * @param {string} name
   * @param {boolean} isUpwards
   */
  canvas(app, root, name, isUpwards) {
    root.parent = null;
    const find = (app.route.options.find ?? "").toLowerCase();
    return new TreeCanvas(app, root, {
      name,
      label: (call) => call.name,
      short: (call) => shortFunction(call.name),
      note: (call) => `${bytes(call.value)} in ${count(call.count, "object")}${call.own > 0 && call.own < call.value ? `, ${bytes(call.own)} itself` : ""}${call.place ? ` · ${call.place}` : ""}${call.folded > 0 ? ` · ${count(call.folded, "frame")} of the runtime folded` : ""}`,
      hue: (call) => (call.isOwn ? hueOf(call.module || call.name) : -1),
      isFound: (call) => call.name.toLowerCase().includes(find),
      isSearching: find !== "",
      isUpwards,
      layout: (width, _, top) => icicle(top, width, FLAME_ROW, 0.7),
      height: (rects) => rects.reduce((most, rect) => Math.max(most, rect.y + rect.height), 0),
      choose: (call) => {
        if (call.key >= 0) app.go("allocations", { ...app.route.options, as: "sandwich", fn: call.name });
        else app.go("objects", { q: app.route.options.q ?? "" });
      },
    });
  }

  /** @param {import("./app.js").App} app */
  async save(app) {
    const blob = await this.picture?.toBlob();
    if (blob) save(app, "allocations.png", blob);
  }

  /**
   * @param {import("./app.js").App} _
   * @param {KeyboardEvent} event
   */
  onKey(_, event) {
    return event.key === "Backspace" && (this.picture?.zoomOut() ?? false);
  }
}

/** @param {string} text */
function hueOf(text) {
  let hash = 7;
  for (let at = 0; at < text.length; at++) hash = (hash * 31 + text.charCodeAt(at)) % 997;
  return hash;
}

/**
 * The bytes of calls that a search finds, each part of the picture once.
 *
 * @param {import("../layout/calls.js").Call} call
 * @param {string} find
 * @returns {number}
 */
function foundBytes(call, find) {
  if (call.name.toLowerCase().includes(find.toLowerCase())) return call.value;
  return call.children().reduce((sum, child) => sum + foundBytes(child, find), 0);
}

