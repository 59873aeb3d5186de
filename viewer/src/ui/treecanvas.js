// Treemaps, icicles and flames on canvas, with an outline beside them that says the same to keyboards and screen readers.

import { fill, h } from "./dom.js";
import { rectAt } from "../layout/weighted.js";
import { bytes, clipped, count, percent } from "../text/format.js";

/**
 * @typedef {import("../layout/weighted.js").Sized & {parent: any}} TreeNode
 *
 * @typedef {object} TreeLook what a view says of its nodes
 * @property {(node: any) => string} label
 * @property {(node: any) => string} short the label where there is little room
 * @property {(node: any) => string} note
 * @property {(node: any) => number} hue a number that is the same for nodes alike; negative for grey
 * @property {(node: any) => boolean} isFound whether a search found it
 * @property {boolean} isSearching
 * @property {(width: number, height: number, root: any) => import("../layout/weighted.js").Rect<any>[]} layout
 * @property {(rects: import("../layout/weighted.js").Rect<any>[]) => number} height
 * @property {(node: any) => void} choose a node was chosen that can't be zoomed into further, or twice
 * @property {string} name of the picture, for screen readers and files
 * @property {boolean} isUpwards whether the root is at the bottom
 */

/** How many rows of the outline are shown of one node. */
const OUTLINE = 30;

export class TreeCanvas {
  /**
   * @param {import("./app.js").App} app
   * @param {any} root
   * @param {TreeLook} look
   */
  constructor(app, root, look) {
    this.app = app;
    this.whole = root;
    this.root = root;
    this.look = look;
    /** @type {import("../layout/weighted.js").Rect<any>[]} */
    this.rects = [];
    this.canvas = h("canvas", { role: "img", "aria-label": `${look.name}; the outline beside it says the same` });
    this.tip = h("div", { class: "tip", hidden: true });
    this.trail = h("p", { class: "trail" });
    this.outline = h("ul", { role: "tree", "aria-label": look.name, class: "outline", onkeydown: (/** @type {KeyboardEvent} */ event) => this.onOutlineKey(event) });
    this.frame = h("div", { class: "canvas" }, this.canvas, this.tip);
    this.element = h("div", { class: "picture" }, h("div", null, this.trail, this.frame), h("div", { class: "side" }, h("h2", null, "Outline"), this.outline));
    this.canvas.addEventListener("mousemove", (event) => this.hover(event));
    this.canvas.addEventListener("mouseleave", () => (this.tip.hidden = true));
    this.canvas.addEventListener("click", (event) => this.click(event));
    new ResizeObserver(() => this.draw()).observe(this.frame);
    this.zoom(root);
  }

  /** @param {any} node */
  zoom(node) {
    this.root = node;
    this.drawTrail();
    this.draw();
    fill(this.outline, this.item(node, 1, true));
    this.outline.querySelector("[role=treeitem]")?.setAttribute("tabindex", "0");
  }

  drawTrail() {
    const parts = [];
    for (let node = this.root; node; node = node.parent) parts.push(node);
    parts.reverse();
    fill(
      this.trail,
      parts.map((node, at) => [at > 0 && h("span", { class: "quiet" }, " › "), node === this.root ? h("b", null, clipped(this.look.label(node), 80)) : h("button", { type: "button", class: "textlink", onclick: () => this.zoom(node) }, clipped(this.look.label(node), 40))]).flat(),
      h("span", { class: "quiet" }, ` ${this.look.note(this.root)}`),
    );
  }

  draw() {
    const width = Math.floor(this.frame.clientWidth);
    if (width < 20) return;
    const began = performance.now();
    const room = innerHeight - Math.max(0, this.frame.getBoundingClientRect().top + scrollY) - 32;
    this.rects = this.look.layout(width, room, this.root);
    const height = Math.max(20, Math.ceil(this.look.height(this.rects)));
    const ratio = Math.min(2, devicePixelRatio || 1);
    if (this.look.isUpwards) for (const rect of this.rects) rect.y = height - rect.y - rect.height;
    this.canvas.width = width * ratio;
    this.canvas.height = height * ratio;
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    const context = this.canvas.getContext("2d");
    if (!context) return;
    context.scale(ratio, ratio);
    this.paint(context);
    const page = /** @type {any} */ (globalThis);
    page.__drawn = { rects: this.rects.length, milliseconds: performance.now() - began };
  }

  /** @param {CanvasRenderingContext2D} context */
  paint(context) {
    const style = getComputedStyle(document.documentElement);
    const color = (/** @type {string} */ name) => style.getPropertyValue(`--${name}`).trim();
    const isDark = color("scheme") === "dark";
    const isForced = matchMedia("(forced-colors: active)").matches;
    const [text, page, border, quiet] = ["text", "page", "border", "quiet"].map(color);
    context.textBaseline = "middle";
    context.font = "12px system-ui, sans-serif";
    for (const rect of this.rects) {
      const { node, x, y, width, height } = rect;
      const isFaded = this.look.isSearching && !rect.rest && !this.look.isFound(node);
      context.fillStyle = isForced ? page : rect.rest ? page : fillColor(this.look.hue(node), rect.depth, isDark, isFaded, page);
      context.fillRect(x, y, width, height);
      if (width > 3 && height > 3) {
        context.strokeStyle = border;
        context.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
      }
      if (width < 34 || height < 12) continue;
      const label = rect.rest ? `${count(rect.rest.count, "smaller", "smaller")}: ${bytes(rect.rest.value)}` : this.look.short(node);
      context.fillStyle = rect.rest || isFaded ? quiet : text;
      context.save();
      context.beginPath();
      context.rect(x + 3, y, width - 6, height);
      context.clip();
      context.fillText(clipped(label, Math.max(3, Math.floor((width - 8) / 5.6))), x + 4, y + Math.min(height, 18) / 2 + 0.5);
      context.restore();
    }
  }

  /** @param {MouseEvent} event */
  at(event) {
    const frame = this.canvas.getBoundingClientRect();
    return rectAt(this.rects, event.clientX - frame.left, event.clientY - frame.top);
  }

  /** @param {MouseEvent} event */
  hover(event) {
    const rect = this.at(event);
    this.tip.hidden = !rect;
    if (!rect) return;
    const { node, rest } = rect;
    fill(
      this.tip,
      h("b", null, rest ? `${count(rest.count, "smaller part")} of ${clipped(this.look.label(node), 200)}` : clipped(this.look.label(node), 300)),
      h("span", null, rest ? bytes(rest.value) : this.look.note(node)),
      h("span", { class: "quiet" }, `${percent(rest ? rest.value : node.value, this.root.value)} of what is shown`),
    );
    const frame = this.frame.getBoundingClientRect();
    const x = Math.min(event.clientX - frame.left + 14, frame.width - this.tip.offsetWidth - 4);
    this.tip.style.left = `${Math.max(0, x)}px`;
    this.tip.style.top = `${event.clientY - frame.top + 16}px`;
  }

  /** @param {MouseEvent} event */
  click(event) {
    const rect = this.at(event);
    if (rect) this.choose(rect.node);
  }

  /** @param {any} node */
  choose(node) {
    if (node === this.root || node.children().length === 0) this.look.choose(node);
    else this.zoom(node);
  }

  zoomOut() {
    if (!this.root.parent) return false;
    this.zoom(this.root.parent);
    return true;
  }

  // The outline: the same tree, as rows that open.

  /**
   * @param {any} node
   * @param {number} level
   * @param {boolean} isOpen
   * @returns {HTMLLIElement}
   */
  item(node, level, isOpen) {
    const children = node.children();
    const canOpen = children.length > 0;
    const item = h(
      "li",
      {
        role: "treeitem", "aria-level": level, tabindex: -1, "aria-expanded": canOpen ? String(isOpen) : null,
        onclick: (/** @type {Event} */ event) => {
          event.stopPropagation();
          this.toggle(item, node, level);
          item.focus();
        },
        ondblclick: (/** @type {Event} */ event) => {
          event.stopPropagation();
          this.choose(node);
        },
      },
      h("span", { class: "line" }, h("i", { class: "meter", "aria-hidden": "true", style: `width:${(node.value / Math.max(1, this.whole.value)) * 100}%` }), h("bdi", null, clipped(this.look.label(node), 160)), h("small", null, `${bytes(node.value)}, ${percent(node.value, this.whole.value)}`)),
    );
    /** @type {any} */ (item).node = node;
    if (canOpen && isOpen) item.append(this.group(node, level));
    return item;
  }

  /** @param {any} node @param {number} level */
  group(node, level) {
    const children = node.children();
    const list = h("ul", { role: "group" }, children.slice(0, OUTLINE).map((/** @type {any} */ child) => this.item(child, level + 1, false)));
    const rest = children.length - OUTLINE;
    if (rest > 0) {
      const value = children.slice(OUTLINE).reduce((/** @type {number} */ sum, /** @type {any} */ child) => sum + child.value, 0);
      list.append(h("li", { role: "treeitem", "aria-level": level + 1, tabindex: -1, class: "quiet" }, h("span", { class: "line" }, `${count(rest, "smaller one", "smaller ones")}`, h("small", null, bytes(value)))));
    }
    return list;
  }

  /** @param {HTMLElement} item @param {any} node @param {number} level @param {boolean} [isOpen] */
  toggle(item, node, level, isOpen = item.getAttribute("aria-expanded") !== "true") {
    if (!node || node.children().length === 0) return;
    item.setAttribute("aria-expanded", String(isOpen));
    item.querySelector(":scope > ul")?.remove();
    if (isOpen) item.append(this.group(node, level));
  }

  /** @param {KeyboardEvent} event */
  onOutlineKey(event) {
    const item = /** @type {HTMLElement | null} */ (event.target instanceof Element ? event.target.closest("[role=treeitem]") : null);
    if (!item) return;
    const items = /** @type {HTMLElement[]} */ ([...this.outline.querySelectorAll("[role=treeitem]")]);
    const at = items.indexOf(item);
    const { node } = /** @type {any} */ (item);
    const level = Number(item.getAttribute("aria-level"));
    const isOpen = item.getAttribute("aria-expanded") === "true";
    const focus = (/** @type {Element | null | undefined} */ next) => {
      if (!(next instanceof HTMLElement)) return;
      item.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    };
    switch (event.key) {
      case "ArrowDown":
        focus(items[at + 1]);
        break;
      case "ArrowUp":
        focus(items[at - 1]);
        break;
      case "Home":
        focus(items[0]);
        break;
      case "End":
        focus(items[items.length - 1]);
        break;
      case "ArrowRight":
        if (isOpen) focus(item.querySelector(":scope > ul > li"));
        else this.toggle(item, node, level, true);
        break;
      case "ArrowLeft":
        if (isOpen) this.toggle(item, node, level, false);
        else focus(item.parentElement?.closest("[role=treeitem]"));
        break;
      case "Enter":
        if (node) {
          this.choose(node);
          focus(this.outline.querySelector("[role=treeitem]"));
        }
        break;
      default:
        return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  /** The picture as a PNG file. */
  toBlob() {
    return new Promise((/** @type {(blob: Blob | null) => void} */ resolve) => this.canvas.toBlob(resolve));
  }
}

/**
 * @param {number} hue
 * @param {number} depth
 * @param {boolean} isDark
 * @param {boolean} isFaded
 * @param {string} page
 */
function fillColor(hue, depth, isDark, isFaded, page) {
  if (isFaded) return page;
  const light = isDark ? 26 + (depth % 3) * 3 : 86 - (depth % 3) * 3;
  if (hue < 0) return `hsl(220 8% ${light}%)`;
  return `hsl(${(hue * 47 + 200) % 360} ${isDark ? 32 : 52}% ${light}%)`;
}
