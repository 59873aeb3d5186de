// The graph in the page: boxes are buttons, lines are one SVG below them, so it can be focused, selected, searched and read out.

import { fill, h, icon, set, svg, write } from "./dom.js";
import { button, bytesText, typeText } from "./widgets.js";
import { boxTexts, linkNotes } from "../layout/captions.js";
import { KIND_NAMES } from "../graph/costs.js";
import { address, bytes, clipped, count, number, shortType } from "../text/format.js";

/**
 * @typedef {object} PictureActions
 * @property {boolean} isIncoming
 * @property {boolean[]} isMarked for each link whether a finding proposes to cut it
 * @property {(box: number) => void} choose
 * @property {(link: import("../layout/slice.js").Link, isKind: boolean) => void} ignore
 */

/**
 * Its elements are used again for the next part of the graph: made anew at each click they would be most of what the page
 * leaves to its browser's collector. So they have no listeners of their own; those of the sheet ask which one it was.
 */
export class GraphPicture {
  /** @param {import("./app.js").App} app */
  constructor(app) {
    this.app = app;
    /** @type {HTMLButtonElement[]} more than the picture has boxes, where one before had */
    this.boxes = [];
    /** @type {HTMLButtonElement[]} the same for labels; those in use come first */
    this.edges = [];
    this.slice = /** @type {import("../layout/slice.js").Slice} */ ({ boxes: [], links: [], isCapped: false });
    this.drawing = /** @type {import("../layout/drawing.js").Drawing} */ ({ boxes: [], links: [], width: 0, height: 0, columns: [] });
    this.actions = /** @type {PictureActions} */ ({ isIncoming: true, isMarked: [], choose() {}, ignore() {} });
    /** @type {boolean[]} */
    this.isCut = [];
    /** @type {ReturnType<typeof boxTexts>[]} */
    this.texts = [];
    /** @type {HTMLButtonElement[]} those of this slice's boxes, and of its links where they have labels */
    this.buttons = [];
    /** @type {(HTMLButtonElement | null)[]} */
    this.labels = [];
    this.nearLines = svg("g");
    /** The box that Tab leads to, the box that the panel is about (-1 for a link), and the links that are marked for it. */
    this.stop = 0;
    this.shown = -1;
    /** @type {number[]} */
    this.near = [];
    this.panel = h("aside", { class: "panel", "aria-label": "Details", "aria-live": "polite" });
    this.svg = svg("svg", { "aria-hidden": "true" });
    this.sheet = h("div", {
      class: "sheet",
      onclick: (/** @type {Event} */ event) => this.clicked(event),
      onfocusin: (/** @type {Event} */ event) => {
        const at = numberOf(event, "box");
        if (at >= 0) this.focused(at);
      },
      onmouseover: (/** @type {Event} */ event) => {
        const at = numberOf(event, "box");
        if (at >= 0) this.showBox(at);
      },
    });
    this.scroller = h("div", { class: "graph", role: "group", tabindex: -1 }, this.sheet);
    this.element = h("div", { class: "graphview" }, this.scroller, this.panel);
  }

  /**
   * Shows a part of the graph in place of the one before.
   *
   * @param {import("../layout/slice.js").Slice} slice
   * @param {import("../layout/drawing.js").Drawing} drawing
   * @param {PictureActions} actions
   */
  show(slice, drawing, actions) {
    this.slice = slice;
    this.drawing = drawing;
    this.actions = actions;
    this.isCut = actions.isMarked;
    this.texts = slice.boxes.map((box) => boxTexts(this.app.model, box));
    this.buttons = slice.boxes.map((_, at) => this.box(at));
    let used = 0;
    this.labels = slice.links.map((_, at) => (this.drawing.links[at].label ? this.label(at, used++) : null));
    set(this.sheet, { style: `width:${drawing.width}px;height:${drawing.height}px` });
    set(this.svg, { width: drawing.width, height: drawing.height });
    // Lines alike are one element: a browser takes longer for each element than for what is drawn by it. What is near is
    // drawn again, above.
    this.nearLines = svg("g");
    fill(this.svg, this.lines(slice.links.keys()), this.nearLines);
    fill(this.sheet, this.svg, this.edges.slice(0, used), this.buttons);
    set(this.scroller, { "aria-label": `Graph of ${count(slice.boxes.length, "box", "boxes")}; arrow keys walk, Enter chooses` });
    this.stop = 0;
    this.shown = -1;
    this.near = [];
    this.showBox(0);
  }

  /** @param {Event} event */
  clicked(event) {
    const box = numberOf(event, "box");
    const link = numberOf(event, "link");
    if (box >= 0) this.actions.choose(box);
    else if (link >= 0) this.showLink(link, true);
  }

  /** @param {number} at */
  lineClass(at) {
    const link = this.slice.links[at];
    const kind = link.strength > 0 ? "weak" : link.provenance === 2 ? "unsure" : "strong";
    return `link ${kind}${link.isInCycle ? " cycle" : ""}${this.isCut[at] ? " cut" : ""}${link.count === 0 ? " folded" : ""}`;
  }

  /**
   * The lines of some links, an element for all that look alike; those to see first come last.
   *
   * @param {Iterable<number>} links
   * @param {string} [extra] one more class
   */
  lines(links, extra = "") {
    /** @type {Map<string, {track: string, arrow: string, rank: number}>} */
    const paths = new Map();
    for (const at of links) {
      const name = this.lineClass(at);
      const { path, arrow } = this.drawing.links[at];
      const known = paths.get(name);
      if (known) {
        known.track += path;
        known.arrow += arrow;
      } else {
        const link = this.slice.links[at];
        paths.set(name, { track: path, arrow, rank: (this.isCut[at] ? 4 : 0) + (link.isInCycle ? 2 : 0) + (link.count > 0 ? 1 : 0) });
      }
    }
    return [...paths]
      .sort(([, a], [, b]) => a.rank - b.rank)
      .map(([name, { track, arrow }]) => svg("g", { class: name + extra }, svg("path", { d: track, class: "track" }), svg("path", { d: arrow, class: "arrow" })));
  }

  /**
   * @param {number} at
   * @param {number} place which of the elements to use
   */
  label(at, place) {
    const link = this.slice.links[at];
    const { label, isBack } = this.drawing.links[at];
    const { x, y, width } = /** @type {NonNullable<typeof label>} */ (label);
    const element = (this.edges[place] ??= h("button", { type: "button", tabindex: -1 }, h("span", { class: "field" }, h("bdi", null, " ")), h("span", { class: "via", dir: "auto" }, " ")));
    set(element, {
      class: `edge${isBack ? " back" : ""}${link.isInCycle ? " cycle" : ""}${this.isCut[at] ? " cut" : ""}`,
      style: `left:${x}px;top:${y}px;max-width:${width}px`,
      title: `${clipped(this.texts[link.from].whole, 500)}.${clipped(link.field, 500)}`,
      "data-link": at,
    });
    const [field, via] = /** @type {HTMLElement[]} */ ([...element.children]);
    const name = /** @type {HTMLElement} */ (field.querySelector("bdi"));
    write(name, clipped(link.field || "?", 120));
    fill(
      field,
      this.isCut[at] && h("span", { class: "badge cut" }, icon("cut"), "cut"),
      link.count > 1 && h("small", null, `${number(link.count)} × `),
      name,
      linkNotes(link).map((note) => h("span", { class: `badge ${note}` }, note)),
      link.isInCycle && h("span", { class: "badge cycle" }, "cycle"),
    );
    via.hidden = link.via === "";
    write(via, clipped(shortType(link.via), 120));
    return element;
  }

  /** @param {number} at */
  box(at) {
    const { model } = this.app;
    const box = this.slice.boxes[at];
    const { x, y, width, height } = this.drawing.boxes[at];
    const { title, note, whole } = this.texts[at];
    const classes = ["box", box.kind];
    if (at === 0) classes.push("target");
    if (box.isDominator) classes.push("dominator");
    if (box.isOnWay) classes.push("way");
    const isLeaked = box.kind === "objects" && model.isLeaked(box.members[0]);
    const links = this.slice.links.filter((link) => link.from === at && link.count > 0).slice(0, 3);
    const holds = links.map((link) => `${link.field || "a reference"}${linkNotes(link).map((text) => `, ${text}`).join("")}, to ${this.texts[link.to].title}`);
    const spoken = [whole, box.count > 1 && box.kind === "objects" && count(box.count, "object"), note, isLeaked && "leaked", box.isDominator && "every way goes through it", holds.length > 0 && `holds ${holds.join("; ")}`];
    const element = (this.boxes[at] ??= h("button", { type: "button", "data-box": at }, h("span", { class: "name", dir: "auto" }, " "), h("span", { class: "note" }, h("b", { class: "bad" }, "leaked, "), " ")));
    set(element, {
      tabindex: at === 0 ? 0 : -1,
      class: classes.join(" "),
      title: clipped(whole, 1000),
      style: `left:${x}px;top:${y}px;width:${width}px;height:${height}px`,
      "aria-label": clipped(spoken.filter(Boolean).join(", "), 600),
      "aria-current": at === 0 ? "true" : null,
    });
    const [name, words] = /** @type {HTMLElement[]} */ ([...element.children]);
    write(name, clipped(title, 80));
    words.hidden = note === "";
    /** @type {HTMLElement} */ (words.firstElementChild).hidden = !isLeaked;
    write(words, note);
    return element;
  }

  /**
   * Scrolls to the subject.
   *
   * @param {boolean} isIncoming
   */
  place(isIncoming) {
    const { x, y, height } = this.drawing.boxes[0];
    this.scroller.scrollLeft = isIncoming ? x + 1000 : 0;
    this.scroller.scrollTop = y + height / 2 - this.scroller.clientHeight / 2;
  }

  /**
   * Focuses the box of a node; the subject where there is none.
   *
   * @param {number} node
   */
  focusNode(node) {
    const at = this.slice.boxes.findIndex((box) => box.kind === "objects" && box.members.includes(node));
    const button = this.buttons[Math.max(0, at)];
    // It may have had the keyboard as another object: as if it were a new element, it is told anew.
    if (document.activeElement === button) button.blur();
    button.focus({ preventScroll: at <= 0 });
  }

  /** @param {number} at */
  focused(at) {
    this.buttons[this.stop].tabIndex = -1;
    this.buttons[at].tabIndex = 0;
    this.stop = at;
    this.showBox(at);
  }

  /**
   * Walks: left and right along references, up and down a column.
   *
   * @param {KeyboardEvent} event
   * @returns {boolean}
   */
  onKey(event) {
    const active = document.activeElement;
    const at = active instanceof HTMLElement && active.dataset.box !== undefined && this.element.contains(active) ? Number(active.dataset.box) : -1;
    if (at < 0) return false;
    const box = this.slice.boxes[at];
    switch (event.key) {
      case "ArrowLeft":
      case "ArrowRight": {
        const isLeft = event.key === "ArrowLeft";
        const others = this.slice.links.filter((link) => (isLeft ? link.to : link.from) === at).map((link) => (isLeft ? link.from : link.to));
        const here = this.drawing.boxes[at];
        const near = (/** @type {number} */ other) => {
          const there = this.drawing.boxes[other];
          const isBeside = isLeft ? there.x < here.x : there.x > here.x;
          return (isBeside ? 0 : 1e6) + (this.slice.boxes[other].isOnWay ? 0 : 1e3) + Math.abs(there.y - here.y);
        };
        others.sort((a, b) => near(a) - near(b));
        if (others.length > 0) this.buttons[others[0]].focus();
        return true;
      }
      case "ArrowUp":
      case "ArrowDown": {
        const column = [...this.drawing.columns[box.column]].sort((a, b) => this.drawing.boxes[a].y - this.drawing.boxes[b].y);
        const next = column[column.indexOf(at) + (event.key === "ArrowUp" ? -1 : 1)];
        if (next !== undefined) this.buttons[next].focus();
        return true;
      }
      case "Home":
        this.buttons[0].focus();
        return true;
      case "o":
        if (box.kind === "objects") this.app.go("object", this.app.objectOptions(box.members[0]));
        return true;
      case "+":
        for (const [other, candidate] of this.slice.boxes.entries()) if (candidate.kind === "more" && candidate.of === at) this.actions.choose(other);
        return true;
      case "x": {
        const link = this.slice.links.find((entry) => entry.from === at && entry.count > 0 && entry.strength === 0);
        if (link) this.actions.ignore(link, false);
        return true;
      }
      default:
        return false;
    }
  }

  /** @param {number} at */
  showBox(at) {
    if (this.shown === at) return;
    this.shown = at;
    const { model } = this.app;
    const box = this.slice.boxes[at];
    const { whole } = this.texts[at];
    const links = this.slice.links.map((link, place) => ({ link, place })).filter(({ link }) => link.count > 0);
    const list = (/** @type {typeof links} */ found, /** @type {boolean} */ isHolding) =>
      found.length > 0 && [
        h("h3", null, isHolding ? "Holds" : "Held by"),
        h("ul", { class: "list" }, found.slice(0, 8).map(({ link, place }) => h("li", null, h("button", { type: "button", class: "textlink", onclick: () => this.showLink(place, true) }, h("code", null, clipped(isHolding ? `.${link.field || "?"}` : `${this.texts[link.from].title}.${link.field || "?"}`, 90))), linkNotes(link).map((note) => h("span", { class: `badge ${note}` }, note))))),
      ];
    /** @type {import("./dom.js").Child[]} */
    const parts = [h("h2", null, typeText(whole))];
    if (box.kind === "objects") {
      const [node] = box.members;
      const options = this.app.objectOptions(node);
      const generation = model.generationName(model.node.generation[node]);
      parts.push(
        h(
          "dl",
          null,
          h("dt", null, box.count > 1 ? "the first" : "at"), h("dd", null, h("code", null, address(model.node.address[node]))),
          h("dt", null, "kind"), h("dd", null, KIND_NAMES[model.node.kind[node]]),
          h("dt", null, "bytes"), h("dd", null, bytesText(model.node.bytes[node])),
          h("dt", null, "retains"), h("dd", null, `${bytes(model.retained.bytes[node])} in ${count(model.retained.counts[node], "object")}`),
          generation && [h("dt", null, "born in"), h("dd", null, generation)],
        ),
        h("div", { class: "actions" }, at > 0 && button("Make it the subject", () => this.actions.choose(at), { tip: "Enter" }), h("a", { class: "button", href: this.app.link("object", options) }, "Object"), h("a", { class: "button", href: this.app.link(this.actions.isIncoming ? "references" : "retainers", options) }, this.actions.isIncoming ? "References" : "Retained by")),
      );
    } else if (box.kind === "root") {
      parts.push(h("p", { class: "quiet" }, `${model.rootKind(box.members[0])}, a root: what it refers to stays alive.`));
    } else if (box.kind === "more") {
      parts.push(button("Show more", () => this.actions.choose(at)));
    }
    parts.push(...[list(links.filter(({ link }) => link.from === at), true), list(links.filter(({ link }) => link.to === at), false)].flat());
    fill(this.panel, parts);
    this.mark((place) => this.slice.links[place].from === at || this.slice.links[place].to === at);
  }

  /**
   * @param {number} at
   * @param {boolean} isFocusing whether to lead the keyboard to what can be done
   */
  showLink(at, isFocusing) {
    this.shown = -1;
    const { model } = this.app;
    const link = this.slice.links[at];
    const [from, to] = [this.texts[link.from], this.texts[link.to]];
    const isKindPossible = !model.isRoot(link.firstSlots[0]);
    const shown = link.lastSlots.length > 50 ? `the first 50 of ${number(link.count)}` : link.count === 1 ? "this reference" : `these ${number(link.count)} references`;
    const ignore = button(`Ignore ${shown}`, () => this.actions.ignore(link, false), { icon: "cut", tip: "What still holds it, and what would be freed (x)" });
    fill(
      this.panel,
      h("h2", null, h("code", { class: "type" }, clipped(link.field || "?", 300))),
      h(
        "dl",
        null,
        h("dt", null, "of"), h("dd", null, typeText(from.whole)),
        h("dt", null, "to"), h("dd", null, typeText(to.whole)),
        link.via && [h("dt", null, "through"), h("dd", null, typeText(link.via))],
        h("dt", null, "strength"), h("dd", null, ["strong", "weak: holds nothing", "unowned: holds nothing", "unmanaged: holds nothing"][link.strength] ?? "unknown"),
        h("dt", null, "known from"), h("dd", null, ["the program's own declaration", "the type's metadata", "a word that may be a reference (unsure)"][link.provenance] ?? "unknown"),
        link.isInCycle && [h("dt", null, "cycle"), h("dd", null, "it is part of one")],
        this.isCut[at] && [h("dt", null, "cut"), h("dd", null, "a finding proposes to cut it")],
      ),
      link.strength === 0 && h("div", { class: "actions" }, ignore, isKindPossible && button("… this field of all such objects", () => this.actions.ignore(link, true), { icon: "cut", tip: "As a change of the source would" })),
    );
    this.mark((place) => place === at);
    if (isFocusing && link.strength === 0) ignore.focus();
  }

  /** @param {(link: number) => boolean} isNear */
  mark(isNear) {
    const near = [...this.slice.links.keys()].filter(isNear);
    fill(this.nearLines, this.lines(near, " near"));
    for (const [places, isSet] of /** @type {[number[], boolean][]} */ ([[this.near, false], [near, true]])) {
      for (const at of places) this.labels[at]?.classList.toggle("near", isSet);
    }
    this.near = near;
  }
}

/**
 * The number in the data attribute of the element, or of one around it, that an event is about; -1 where there is none.
 *
 * @param {Event} event
 * @param {string} name
 */
function numberOf(event, name) {
  const element = event.target instanceof Element ? event.target.closest(`[data-${name}]`) : null;
  return Number(element?.getAttribute(`data-${name}`) ?? -1);
}
