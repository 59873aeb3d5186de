// Making elements. Texts of the report become text nodes and attributes only, never markup.

/**
 * @typedef {string | number | Node | null | undefined | false | any[]} Child
 * @typedef {Record<string, any>} Attributes
 */

/**
 * An element. Attributes that are functions are listeners (`onclick`), `class` and the rest are attributes; those that
 * are null, undefined or false are left out.
 *
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Attributes | null} [attributes]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function h(name, attributes, ...children) {
  const element = document.createElement(name);
  set(element, attributes);
  add(element, children);
  return element;
}

/**
 * An SVG element.
 *
 * @param {string} name
 * @param {Attributes | null} [attributes]
 * @param {...Child} children
 * @returns {SVGElement}
 */
export function svg(name, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  set(element, attributes);
  add(element, children);
  return element;
}

/**
 * Gives an element attributes, as `h` does; those that are null, undefined or false go where it had them.
 *
 * @param {Element} element
 * @param {Attributes | null | undefined} attributes
 */
export function set(element, attributes) {
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) element.removeAttribute(key);
    else if (typeof value === "function") element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : String(value));
  }
}

/**
 * Writes the text that an element ends with, which is there already.
 *
 * @param {Element} element
 * @param {string} text
 */
export function write(element, text) {
  const last = /** @type {Text} */ (element.lastChild);
  if (last.data !== text) last.data = text;
}

/** @param {Element} element @param {Child[]} children */
function add(element, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) add(element, child);
    else element.append(typeof child === "number" ? String(child) : child);
  }
}

/**
 * Replaces what is in an element. What is in it already and comes at its place stays where it is: a browser lays out anew
 * what was taken out and put back.
 *
 * @param {Element} element
 * @param {...Child} children
 */
export function fill(element, ...children) {
  /** @type {(string | Node)[]} */
  const wanted = children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
  const staying = new Set(wanted);
  for (const child of [...element.childNodes]) if (!staying.has(child)) child.remove();
  let next = element.firstChild;
  for (const child of wanted) {
    if (child === next) next = next.nextSibling;
    else element.insertBefore(child instanceof Node ? child : document.createTextNode(String(child)), next);
  }
}

/**
 * The element with an id, which must be there.
 *
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no element ${id}`);
  return element;
}

/** Names for things that refer to each other by id. */
let lastId = 0;

/** @param {string} name */
export function freshId(name) {
  return `mg-${name}-${++lastId}`;
}

/**
 * Draws an icon; they are drawn so that no font has to have them.
 *
 * @param {keyof typeof ICONS} name
 */
export function icon(name) {
  return svg(
    "svg",
    { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true", class: "icon" },
    svg("path", { d: ICONS[name], fill: "none", stroke: "currentColor", "stroke-width": 1.5, "stroke-linecap": "round", "stroke-linejoin": "round" }),
  );
}

const ICONS = {
  moon: "M13 9.5A5.5 5.5 0 0 1 6.5 3a5.5 5.5 0 1 0 6.5 6.5Z",
  sun: "M8 5a3 3 0 1 0 0 6a3 3 0 0 0 0-6ZM8 1v1.4M8 13.6V15M1 8h1.4M13.6 8H15M3 3l1 1M12 12l1 1M13 3l-1 1M4 12l-1 1",
  auto: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2ZM8 2v12M8 5l4-1.5M8 8h6M8 11l4 1.5",
  help: "M6 6a2 2 0 1 1 2.8 1.8C8.2 8.1 8 8.5 8 9.2M8 11.6v.1M8 1.5a6.5 6.5 0 1 0 0 13a6.5 6.5 0 0 0 0-13Z",
  copy: "M6 6V3h7v7h-3M3 6h7v7H3Z",
  link: "M6.5 9.5l3-3M7 5l1.5-1.5a2.5 2.5 0 0 1 4 4L11 9M9 11l-1.5 1.5a2.5 2.5 0 0 1-4-4L5 7",
  save: "M8 2v8M5 7l3 3l3-3M3 13h10",
  cut: "M4.5 10a1.8 1.8 0 1 0 0 3.6a1.8 1.8 0 0 0 0-3.6ZM11.5 10a1.8 1.8 0 1 0 0 3.6a1.8 1.8 0 0 0 0-3.6ZM5.5 10.3L11 2.5M10.5 10.3L5 2.5",
  close: "M4 4l8 8M12 4l-8 8",
  back: "M10 3L5 8l5 5",
  forward: "M6 3l5 5l-5 5",
};
