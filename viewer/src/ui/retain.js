// Who retains this, and what does it refer to: a part of the graph that is small enough to be read.

import { fill, h, icon } from "./dom.js";
import { bytesText, button, copy, optionSwitch, save, segments, typeText } from "./widgets.js";
import { GraphPicture } from "./graphpicture.js";
import { wayTexts } from "./ways.js";
import { cutSlots, cutText } from "../data/cuts.js";
import { wayFromRoot } from "../layout/steps.js";
import { largestDominated } from "../layout/retained.js";
import { slice } from "../layout/slice.js";
import { draw } from "../layout/drawing.js";
import { pictureOf } from "../layout/picture.js";
import { address, bytes, count, number } from "../text/format.js";
import { markdownText, stateText, treeText } from "../text/copies.js";

/** How many more groups a click on what is folded shows. */
const MORE = 8;

export class RetainView {
  /** @param {boolean} isIncoming whether it is about holders */
  constructor(isIncoming) {
    this.isIncoming = isIncoming;
    this.name = isIncoming ? "retainers" : "references";
    this.title = isIncoming ? "Retained by" : "References";
    this.needsData = true;
    /** @type {GraphPicture | null} */
    this.picture = null;
    /** @type {HTMLElement | null} */
    this.legend = null;
    /** The node to focus when the picture is made again; -1 for the subject, where the focus was in the picture. */
    this.focusNode = -2;
  }

  /**
   * @param {import("./app.js").App} app
   * @param {HTMLElement} place
   */
  show(app, place) {
    const { model } = app;
    const { options } = app.route;
    const { nodes, finding, problem } = app.subject();
    if (nodes.length === 0) {
      fill(place, h("h1", null, this.title), problem ? h("p", { class: "banner note" }, problem) : this.suggestions(app));
      return;
    }
    const [node] = nodes;
    const cut = cutSlots(model, options.cut ?? "");
    const opened = new Map((options.open ?? "").split(",").filter(Boolean).map((part) => /** @type {[number, number]} */ (part.split(":").map(Number))));
    const part = slice(model, nodes, { isOutgoing: !this.isIncoming, isWithWeak: options.weak === "1", cut, opened });
    const hadFocus = document.activeElement === document.body || document.activeElement?.closest("#mg-main") != null;
    const marked = finding ? new Set(finding.graph.cuts?.flatMap((/** @type {any} */ entry) => entry.edges)) : cutsOfFindings(app);
    const isMarked = part.links.map((link) => link.firstSlots.some((slot) => marked.has(slot)) || link.lastSlots.some((slot) => marked.has(slot)));
    const drawing = draw(part, !this.isIncoming, (link) => (isMarked[link] ? 50 : 0));
    this.picture ??= new GraphPicture(app);
    this.picture.show(part, drawing, {
      isIncoming: this.isIncoming,
      isMarked,
      // What Enter and a click do.
      choose: (box) => this.choose(app, part, box),
      ignore: (link, isKind) => this.ignore(app, link, isKind),
    });
    const { o, f, weak } = options;
    const subject = { o, f, weak };
    fill(
      place,
      h("div", { class: "heading" }, h("h1", null, this.isIncoming ? "Who retains " : "What does ", typeText(model.typeName(node)), this.isIncoming ? "" : " refer to"), h("span", { class: "spacer" }),
        segments("Direction", [
          { title: "Retained by", hash: app.link("retainers", subject), isCurrent: this.isIncoming },
          { title: "References", hash: app.link("references", subject), isCurrent: !this.isIncoming },
        ]),
        h("a", { class: "button", href: app.link("object", app.objectOptions(node)) }, "Object"),
      ),
      h("p", { class: "lead" }, this.lead(app, node, cut, finding)),
      this.ignored(app, node, cut, finding),
      h(
        "div",
        { class: "toolbar" },
        button("Back", () => history.back(), { icon: "back", tip: "Back ([)" }),
        optionSwitch(app, "weak", "weak and unowned too", "References that keep nothing alive as well"),
        h("span", { class: "spacer" }),
        button("Text", () => this.copyWay(app, node, cut, treeText), { icon: "copy", tip: "Copy the way as text" }),
        button("Markdown", () => this.copyWay(app, node, cut, markdownText), { icon: "copy", tip: "Copy the way as Markdown" }),
        button("Link", () => void copy(app, location.href), { icon: "link", tip: "Copy a link to this picture" }),
        button("SVG", () => this.savePicture(app, part, drawing, isMarked, false), { icon: "save", tip: "Save the picture" }),
        button("PNG", () => this.savePicture(app, part, drawing, isMarked, true), { icon: "save", tip: "Save the picture" }),
      ),
      this.picture.element,
      h("p", { class: "quiet" }, this.honest(part)),
      (this.legend ??= legend()),
    );
    this.picture.place(this.isIncoming);
    if (hadFocus || this.focusNode !== -2) this.picture.focusNode(this.focusNode);
    this.focusNode = -2;
  }

  /**
   * @param {import("./app.js").App} app
   * @param {KeyboardEvent} event
   */
  onKey(app, event) {
    if (event.key === "r" && app.route.options.cut) {
      app.go(app.route.view, { ...app.route.options, cut: "" });
      return true;
    }
    return this.picture?.onKey(event) ?? false;
  }

  /**
   * One sentence that is the answer.
   *
   * @param {import("./app.js").App} app
   * @param {number} node
   * @param {Set<number>} cut
   * @param {any} finding
   */
  lead(app, node, cut, finding) {
    const { model } = app;
    const object = [h("code", null, address(model.node.address[node])), ", ", bytesText(model.node.bytes[node]), `, retains ${bytes(model.retained.bytes[node])} in ${count(model.retained.counts[node], "object")}. `];
    if (!this.isIncoming) return object;
    const more = finding && finding.graph.memberCount > 1 ? `One of ${number(finding.graph.memberCount)} alike. ` : "";
    if (model.isLeaked(node)) return [object, more, h("b", { class: "bad" }, "Leaked"), ": no root reaches it."];
    const slots = wayFromRoot(model, node, cut);
    const root = slots && slots.length > 0 && model.isRoot(slots[0]) ? slots[0] : -1;
    return [object, more, root >= 0 ? ["Held by ", model.rootKind(root), " ", h("code", null, model.rootName(root)), "."] : "No root is known that holds it."].flat();
  }

  /**
   * What happens without the references that are ignored.
   *
   * @param {import("./app.js").App} app
   * @param {number} node
   * @param {Set<number>} cut
   * @param {any} finding
   */
  ignored(app, node, cut, finding) {
    if (cut.size === 0) return null;
    const { model } = app;
    const freed = model.freed(cut);
    const isFreed = freed.nodes.includes(node);
    const [slot] = cut;
    const from = model.isRoot(slot) ? model.rootName(slot) : `${model.typeName(model.source(slot))}.${model.field(slot)}`;
    const what = cut.size === 1 ? h("code", null, from) : [count(cut.size, "reference"), " (", h("code", null, from), ", …)"];
    const left = isFreed ? null : wayFromRoot(model, node, cut);
    const result = freed.count > 0 ? `frees ${count(freed.count, "object")}, ${bytes(freed.bytes)}` : "frees nothing: something else holds it too";
    const still = isFreed
      ? "This object would go."
      : model.isLeaked(node)
        ? "This object would stay: what still holds it is shown."
        : left === null
          ? "No root would reach this object, but the counts say that something retains it: it would leak."
          : "This object is still held, as shown.";
    // To close a resource lets go of more than the references of the proposal, to remove an entry of less.
    const { frees } = (finding?.graph && app.route.options.cut === cutText(finding) && finding.cut) || {};
    const isOther = frees && (frees.count !== freed.count || frees.bytes !== freed.bytes);
    const advice = isOther ? ` The finding's advice is not the same as to drop these references: it frees ${count(frees.count, "object")}, ${bytes(frees.bytes)}.` : "";
    return h(
      "div",
      { class: `banner ${isFreed ? "good" : "note"}`, role: "status" },
      icon("cut"),
      h("p", null, "Ignoring ", what, " ", h("b", null, result), ". ", still, advice),
      button("Take it back", () => app.go(app.route.view, { ...app.route.options, cut: "" }), { tip: "r" }),
    );
  }

  /**
   * @param {import("./app.js").App} app
   * @param {import("../layout/slice.js").Slice} part
   * @param {number} at
   */
  choose(app, part, at) {
    const box = part.boxes[at];
    if (box.kind === "more") {
      const key = part.boxes[box.of].members[0];
      const opened = new Map((app.route.options.open ?? "").split(",").filter(Boolean).map((text) => /** @type {[string, string]} */ (text.split(":"))));
      opened.set(String(key), String(Number(opened.get(String(key)) ?? 0) + MORE));
      this.focusNode = key;
      app.go(app.route.view, { ...app.route.options, open: [...opened].map((entry) => entry.join(":")).join(",") });
    } else if (box.kind === "objects" && at !== 0) {
      this.focusNode = -1;
      app.go(app.route.view, { ...app.objectOptions(box.members[0]), weak: app.route.options.weak, cut: app.route.options.cut });
    } else if (box.kind === "objects") {
      app.go("object", app.objectOptions(box.members[0]));
    } else if (box.kind === "root") {
      app.go("objects", { q: `root="${app.model.rootName(box.members[0]).replace(/["\\]/g, "\\$&")}"` });
    }
  }

  /**
   * Takes references for gone.
   *
   * @param {import("./app.js").App} app
   * @param {import("../layout/slice.js").Link} link
   * @param {boolean} isKind the field of all objects of the type, instead of these references alone
   */
  ignore(app, link, isKind) {
    const before = app.route.options.cut ? [app.route.options.cut] : [];
    const parts = isKind ? [`k${link.firstSlots[0]}`] : link.lastSlots.slice(0, 50);
    app.go(app.route.view, { ...app.route.options, cut: [...before, ...parts].join(",") });
  }

  /** @param {import("../layout/slice.js").Slice} part */
  honest(part) {
    const folded = part.boxes.filter((box) => box.kind === "more").reduce((sum, box) => sum + box.count, 0);
    const shown = part.boxes.filter((box) => box.kind !== "more").length;
    if (folded === 0) return `${count(shown, "box", "boxes")}: that is all of it.`;
    return `${count(shown, "box", "boxes")}; ${count(folded, "more reference")} ${folded === 1 ? "is" : "are"} folded${part.isCapped ? ", since more could not be read" : ""}. Click what is folded to open it.`;
  }

  /**
   * @param {import("./app.js").App} app
   * @param {number} node
   * @param {Set<number>} cut
   * @param {(title: string, steps: import("../text/copies.js").TextStep[], end: string) => string} form
   */
  copyWay(app, node, cut, form) {
    const texts = wayTexts(app.model, node, cut);
    if (texts) void copy(app, form(texts.title, texts.steps, texts.end));
    else app.shell.say("There is no way to copy.");
  }

  /**
   * @param {import("./app.js").App} app
   * @param {import("../layout/slice.js").Slice} part
   * @param {import("../layout/drawing.js").Drawing} drawing
   * @param {boolean[]} isMarked
   * @param {boolean} isPNG
   */
  async savePicture(app, part, drawing, isMarked, isPNG) {
    const style = getComputedStyle(document.documentElement);
    const picture = pictureOf(app.model, part, drawing, (name) => style.getPropertyValue(`--${name}`).trim(), isMarked);
    const blob = new Blob([picture], { type: "image/svg+xml" });
    if (!isPNG) {
      save(app, "retained-by.svg", blob);
      return;
    }
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(picture)}`;
    await image.decode();
    const canvas = h("canvas", { width: drawing.width * 2, height: drawing.height * 2 });
    const context = canvas.getContext("2d");
    context?.scale(2, 2);
    context?.drawImage(image, 0, 0);
    canvas.toBlob((made) => made && save(app, "retained-by.png", made));
  }

  /**
   * Objects to begin with where none was named.
   *
   * @param {import("./app.js").App} app
   */
  suggestions(app) {
    const { model } = app;
    const { findings } = app.summary;
    const largest = [...largestDominated(model, model.outside, 5000)].filter((node) => model.isOwn(node)).slice(0, 8);
    return h(
      "div",
      null,
      h("p", { class: "quiet" }, "Choose an object; a click on any type, address or finding leads here as well."),
      findings.length > 0 && [h("h2", null, "Findings"), h("ul", { class: "list" }, findings.slice(0, 12).map((/** @type {any} */ finding, /** @type {number} */ at) => h("li", null, h("a", { href: app.link(this.name, { f: at + 1 }) }, typeText(finding.type)), h("span", { class: "quiet" }, ` ${number(finding.count)} ${stateText(finding)}, ${bytes(finding.retainedBytes)}`))))],
      largest.length > 0 && [h("h2", null, "What retains most"), h("ul", { class: "list" }, largest.map((node) => h("li", null, h("a", { href: app.link(this.name, app.objectOptions(node)) }, typeText(model.typeName(node))), h("span", { class: "quiet" }, ` ${bytes(model.retained.bytes[node])}`))))],
    );
  }
}

/**
 * The edges that the findings propose to cut, with those alike of leaked objects.
 *
 * @param {import("./app.js").App} app
 */
function cutsOfFindings(app) {
  /** @type {Set<number>} */
  const slots = new Set();
  for (const finding of app.summary.findings.slice(0, 200)) {
    for (const cut of finding.graph.cuts ?? []) for (const edge of cut.edges) slots.add(edge);
  }
  return slots;
}

/** What lines and badges mean. */
function legend() {
  const line = (/** @type {string} */ name, /** @type {string} */ title) => h("li", null, h("i", { class: `sample ${name}`, "aria-hidden": "true" }), title);
  return h(
    "ul",
    { class: "legend", "aria-label": "Legend" },
    line("strong", "strong"), line("weak", "weak or unowned: holds nothing"), line("unsure", "unsure: a word that may be a reference"), line("cycle", "part of a cycle"), line("cut", "the edge to cut"),
    h("li", null, h("i", { class: "sample dominator", "aria-hidden": "true" }), "every way goes through it"),
  );
}

