// Trees whose nodes have a size, as pictures: treemap and icicle. What is too small to be seen is summed up, not lost.

/**
 * @typedef {object} Sized a node of such a tree
 * @property {number} value at least the sum of its children's
 * @property {() => Sized[]} children largest first
 */

/**
 * @template {Sized} Node
 * @typedef {object} Rect
 * @property {Node} node of what is summed up: the node that it is part of
 * @property {number} depth 0 for the root
 * @property {number} x
 * @property {number} y
 * @property {number} width
 * @property {number} height
 * @property {{count: number, value: number} | null} rest what is summed up
 */

/** How many rows an icicle has at most: browsers draw no picture of a list's 50,000. What lies deeper comes by zooming in. */
export const MOST_ROWS = 200;

/**
 * A tree as rows of bars, each under its parent, as wide as it is large. In the last of `MOST_ROWS` stands what lies deeper, summed up.
 *
 * Time O(rectangles that are drawn).
 *
 * @template {Sized} Node
 * @param {Node} root
 * @param {number} width
 * @param {number} rowHeight
 * @param {number} least the width below which nothing is drawn
 * @returns {Rect<Node>[]} parents before children
 */
export function icicle(root, width, rowHeight, least) {
  /** @type {Rect<Node>[]} */
  const rects = [];
  if (!(root.value > 0)) return rects;
  const scale = width / root.value;
  /** @type {{node: Node, x: number, depth: number}[]} */
  const stack = [{ node: root, x: 0, depth: 0 }];
  for (let entry = stack.pop(); entry; entry = stack.pop()) {
    const { node, x, depth } = entry;
    rects.push({ node, depth, x, y: depth * rowHeight, width: node.value * scale, height: rowHeight, rest: null });
    const children = /** @type {Node[]} */ (node.children());
    let at = x;
    const shown = [];
    const isLast = depth + 2 >= MOST_ROWS;
    for (let place = 0; place < children.length; place++) {
      const child = children[place];
      if (child.value * scale < least || isLast) {
        const rest = restOf(children, place);
        if (rest.value * scale >= least) {
          rects.push({ node, depth: depth + 1, x: at, y: (depth + 1) * rowHeight, width: rest.value * scale, height: rowHeight, rest });
        }
        break;
      }
      shown.push({ node: child, x: at, depth: depth + 1 });
      at += child.value * scale;
    }
    stack.push(...shown.reverse());
  }
  return rects;
}

/**
 * @param {Sized[]} children
 * @param {number} from
 */
function restOf(children, from) {
  let value = 0;
  for (let place = from; place < children.length; place++) value += children[place].value;
  return { count: children.length - from, value };
}

/** The room for a name above a node's parts, and around them. */
const HEAD = 16;
const EDGE = 2;

/**
 * A tree as rectangles within rectangles, each as large as it is: Bruls, Huizing and van Wijk, "Squarified treemaps", 2000.
 *
 * What a node has beside its children stays free within it. Time O(rectangles that are drawn, and their siblings).
 *
 * @template {Sized} Node
 * @param {Node} root
 * @param {{x: number, y: number, width: number, height: number}} area
 * @param {number} least sides below this are not drawn
 * @param {number} [deepest] how many levels below the root
 * @returns {Rect<Node>[]} parents before children
 */
export function treemap(root, area, least, deepest = 12) {
  /** @type {Rect<Node>[]} */
  const rects = [];
  if (!(root.value > 0)) return rects;
  /** @param {Node} node @param {{x: number, y: number, width: number, height: number}} place @param {number} depth */
  const visit = (node, place, depth) => {
    rects.push({ node, depth, ...place, rest: null });
    if (depth >= deepest) return;
    const inner = {
      x: place.x + EDGE,
      y: place.y + HEAD,
      width: place.width - 2 * EDGE,
      height: place.height - HEAD - EDGE,
    };
    if (inner.width < 2 * least || inner.height < 2 * least) return;
    const children = /** @type {Node[]} */ (node.children());
    const scale = (inner.width * inner.height) / node.value;
    /** @type {{node: Node, value: number, rest: {count: number, value: number} | null}[]} */
    const parts = [];
    for (let at = 0; at < children.length; at++) {
      if (children[at].value * scale < least * least) {
        const rest = restOf(children, at);
        if (rest.value > 0) parts.push({ node, value: rest.value, rest });
        break;
      }
      parts.push({ node: children[at], value: children[at].value, rest: null });
    }
    const own = node.value - parts.reduce((sum, part) => sum + part.value, 0);
    parts.sort((a, b) => b.value - a.value);
    const places = squarified(parts.map((part) => part.value), own, inner);
    parts.forEach((part, at) => {
      if (part.rest) rects.push({ node, depth: depth + 1, ...places[at], rest: part.rest });
      else visit(part.node, places[at], depth + 1);
    });
  };
  visit(root, area, 0);
  return rects;
}

/**
 * Divides an area among values, rows along its shorter side, so that no rectangle is longer than it must be.
 *
 * @param {number[]} values largest first
 * @param {number} own what of the area stays free at the end
 * @param {{x: number, y: number, width: number, height: number}} area
 */
export function squarified(values, own, area) {
  /** @type {{x: number, y: number, width: number, height: number}[]} */
  const places = [];
  let { x, y, width, height } = area;
  const total = values.reduce((sum, value) => sum + value, own);
  const scale = total > 0 ? (width * height) / total : 0;
  let start = 0;
  while (start < values.length) {
    const side = Math.min(width, height);
    let sum = values[start] * scale;
    const largest = sum;
    let worst = worstOf(side, sum, largest, largest);
    let end = start + 1;
    while (end < values.length) {
      const value = values[end] * scale;
      const next = worstOf(side, sum + value, largest, value);
      if (next > worst) break;
      worst = next;
      sum += value;
      end++;
    }
    const thickness = side > 0 ? sum / side : 0;
    let along = 0;
    for (let at = start; at < end; at++) {
      const length = thickness > 0 ? (values[at] * scale) / thickness : 0;
      places.push(
        width <= height
          ? { x: x + along, y, width: length, height: thickness }
          : { x, y: y + along, width: thickness, height: length },
      );
      along += length;
    }
    if (width <= height) {
      y += thickness;
      height -= thickness;
    } else {
      x += thickness;
      width -= thickness;
    }
    start = end;
  }
  return places;
}

/**
 * How much longer than wide the worst of a row's rectangles is.
 *
 * @param {number} side
 * @param {number} sum
 * @param {number} most
 * @param {number} least
 */
function worstOf(side, sum, most, least) {
  return Math.max((side * side * most) / (sum * sum), (sum * sum) / (side * side * least));
}

/**
 * The rectangle at a point, the innermost one. Time O(rectangles).
 *
 * @template {Sized} Node
 * @param {Rect<Node>[]} rects
 * @param {number} x
 * @param {number} y
 * @returns {Rect<Node> | null}
 */
export function rectAt(rects, x, y) {
  for (let at = rects.length - 1; at >= 0; at--) {
    const rect = rects[at];
    if (x >= rect.x && y >= rect.y && x < rect.x + rect.width && y < rect.y + rect.height) return rect;
  }
  return null;
}
