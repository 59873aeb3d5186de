// The memory as a map: what retains how much, as a treemap or an icicle of the dominator tree.

import { fill, h } from "./dom.js";
import { TreeCanvas } from "./treecanvas.js";
import { button, save, segments } from "./widgets.js";
import { icicle, treemap } from "../layout/weighted.js";
import { retainedTree } from "../layout/retained.js";
import { bytes, clipped, count, number, shortType } from "../text/format.js";
import { termText } from "../text/filter.js";

const MAP_ROW = 20;

export class MapView {
  name = "map";
  title = "Memory map";
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
    const { nodes, problem } = app.subject();
    if (problem) {
      fill(place, h("h1", null, this.title), h("p", { class: "banner note" }, problem));
      return;
    }
    if (model.nodeCount === 0) {
      fill(place, h("h1", null, this.title), h("p", { class: "quiet" }, "No objects to show."));
      return;
    }
    const isIcicle = options.as === "icicle";
    const isMerged = options.group !== "objects";
    const root = retainedTree(model, isMerged, nodes[0] ?? model.outside);
    this.picture = new TreeCanvas(app, root, {
      name: isIcicle ? "Icicle of retained memory" : "Treemap of retained memory",
      label: (group) => clipped(group.label, 400),
      short: (group) => (group.members.length === 1 ? shortType(group.label) : `${number(group.members.length)} × ${shortType(model.text(model.tables.report.name[group.row]))}`),
      note: (group) => `${bytes(group.value)} in ${count(group.objects, "object")}`,
      hue: (group) => (group.row < 0 || (model.tables.report.flags[group.row] & 1) === 0 ? -1 : group.row),
      isFound: () => true,
      isSearching: false,
      isUpwards: false,
      layout: (width, height, top) => (isIcicle ? icicle(top, width, MAP_ROW, 1) : treemap(top, { x: 0, y: 0, width, height: Math.min(1200, Math.max(360, height)) }, 5)),
      height: (rects) => (isIcicle ? rects.reduce((most, rect) => Math.max(most, rect.y + rect.height), 0) : (rects[0]?.height ?? 0)),
      choose: (group) => {
        if (group.row < 0) return;
        if (group.members.length === 1) app.go("object", app.objectOptions(group.members[0]));
        else app.go("objects", { q: termText("type", model.text(model.tables.report.name[group.row])).replace("type:", "type=") });
      },
    });
    const { o, f } = options;
    const keep = { o, f };
    fill(
      place,
      h(
        "div",
        { class: "heading" },
        h("h1", null, this.title),
        h("span", { class: "spacer" }),
        segments("Picture", [
          { title: "Treemap", hash: app.link("map", { ...keep, group: options.group }), isCurrent: !isIcicle },
          { title: "Icicle", hash: app.link("map", { ...keep, group: options.group, as: "icicle" }), isCurrent: isIcicle },
        ]),
        segments("Objects", [
          { title: "By type", hash: app.link("map", { ...keep, as: options.as }), isCurrent: isMerged, tip: "Objects of a type within the same are one" },
          { title: "One by one", hash: app.link("map", { ...keep, as: options.as, group: "objects" }), isCurrent: !isMerged },
        ]),
        o !== undefined && h("a", { class: "button", href: app.link("map", { as: options.as, group: options.group }) }, "Everything"),
        button("PNG", () => void this.save(app), { icon: "save", tip: "Save the picture" }),
      ),
      h("p", { class: "quiet" }, "Each area is what would go with its objects: nested in what keeps it alive alone. A click zooms in, Backspace out; colours are the program's own types."),
      this.picture.element,
    );
    this.picture.draw();
  }

  /** @param {import("./app.js").App} app */
  async save(app) {
    const blob = await this.picture?.toBlob();
    if (blob) save(app, "memory-map.png", blob);
  }

  /**
   * @param {import("./app.js").App} _
   * @param {KeyboardEvent} event
   */
  onKey(_, event) {
    return event.key === "Backspace" && (this.picture?.zoomOut() ?? false);
  }
}
