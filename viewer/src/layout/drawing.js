// A slice as geometry: boxes, lines and labels with their places. Knows no page, so a picture can be made of it as well.

import { linkNotes, linkText } from "./captions.js";
import { layered } from "./layered.js";
import { spread } from "./order.js";
import { shortType } from "../text/format.js";

export const BOX_WIDTH = 200;
const HEIGHTS = { objects: 44, root: 44, gap: 28, more: 28 };
const BOX_GAP = 16;
const ROOT_GAP = 56;
const NARROWEST_GAP = 110;
const WIDEST_GAP = 300;
const MARGIN = 16;
const LANE = 30;

/** Lanes of links back lie side by side up to so many, then over each other. */
const LANE_SIDES = 6;

/**
 * @typedef {object} PlacedBox
 * @property {number} x
 * @property {number} y
 * @property {number} width
 * @property {number} height
 *
 * @typedef {object} PlacedLink
 * @property {string} path as SVG writes it
 * @property {string} arrow the head
 * @property {{x: number, y: number, width: number, height: number} | null} label null for none
 * @property {boolean} isBack whether it leads away from the target
 *
 * @typedef {object} Drawing
 * @property {PlacedBox[]} boxes
 * @property {PlacedLink[]} links
 * @property {number} width
 * @property {number} height
 * @property {number[][]} columns boxes of each column from the top; column 0 is the target's
 */

/**
 * Places a slice: holders left, what they hold right, so the target of "retained by" stands at the right edge.
 *
 * @param {import("./slice.js").Slice} slice
 * @param {boolean} isOutgoing
 * @param {(link: number) => number} [extra] room that a link's label needs besides its text
 * @returns {Drawing}
 */
export function draw(slice, isOutgoing, extra = () => 0) {
  const heights = slice.boxes.map((box) => HEIGHTS[box.kind]);
  const { tops, height, columns } = layered(
    slice.boxes.map((box, at) => ({ column: box.column, height: heights[at] })),
    slice.links,
    BOX_GAP,
  );
  const isForward = slice.links.map(({ from, to }) => {
    const step = slice.boxes[from].column - slice.boxes[to].column;
    return step === (isOutgoing ? -1 : 1);
  });
  // Links back go around the boxes, at both ends as far out as their lanes are.
  const back = isForward.filter((is) => !is).length;
  const side = back > 0 ? laneSide(Math.min(back, LANE_SIDES) - 1) + 4 : MARGIN;
  const xs = columnPlaces(slice, columns.length, isOutgoing, extra, side);
  const boxes = slice.boxes.map((box, at) => ({ x: xs[box.column], y: MARGIN + tops[at], width: BOX_WIDTH, height: heights[at] }));
  const ports = portsOf(slice, boxes);
  /** @type {PlacedLink[]} */
  const links = slice.links.map((_, at) => ({ ...forward(ports[at]), label: null, isBack: false }));
  placeLabels(slice, boxes, links, isForward, ports);
  let lanes = 0;
  slice.links.forEach((link, at) => {
    if (isForward[at]) return;
    const y = MARGIN + height + 24 + lanes * LANE;
    links[at] = backward(boxes[link.from], boxes[link.to], y, lanes);
    lanes++;
  });
  return {
    boxes,
    links,
    width: Math.max(...xs) + BOX_WIDTH + side,
    height: 2 * MARGIN + height + (lanes > 0 ? 24 + lanes * LANE : 0),
    columns,
  };
}

/**
 * Where each column begins: as far from the next as the longest label between them needs.
 *
 * @param {import("./slice.js").Slice} slice
 * @param {number} count
 * @param {boolean} isOutgoing
 * @param {(link: number) => number} extra
 * @param {number} side room beside the first column
 */
function columnPlaces(slice, count, isOutgoing, extra, side) {
  /** @type {number[]} by the farther column */
  const gaps = new Array(count).fill(ROOT_GAP);
  for (const [at, link] of slice.links.entries()) {
    if (!isLabelled(slice, link)) continue;
    const column = Math.max(slice.boxes[link.from].column, slice.boxes[link.to].column);
    if (Math.abs(slice.boxes[link.from].column - slice.boxes[link.to].column) !== 1) continue;
    const letters = Math.max(linkText(link).length + 1, shortType(link.via).length * 0.8);
    const marks = (link.isInCycle ? 44 : 0) + linkNotes(link).length * 14 + extra(at);
    gaps[column] = Math.max(gaps[column], NARROWEST_GAP, Math.min(WIDEST_GAP, letters * 6.2 + marks + 48));
  }
  const xs = [side];
  for (let at = 1; at < count; at++) {
    const gap = isOutgoing ? gaps[at] : gaps[count - at];
    xs.push(Math.round(xs[at - 1] + BOX_WIDTH + gap));
  }
  return isOutgoing ? xs : xs.reverse();
}

/**
 * Whether a link has a label: a root says itself what it is, and what is folded has none.
 *
 * @param {import("./slice.js").Slice} slice
 * @param {import("./slice.js").Link} link
 */
function isLabelled(slice, link) {
  return link.count > 0 && slice.boxes[link.from].kind !== "root";
}

/** @typedef {{x1: number, y1: number, x2: number, y2: number}} Ends */

/**
 * Where each link leaves and reaches its boxes: spread along the sides, in the order of the other ends.
 *
 * @param {import("./slice.js").Slice} slice
 * @param {PlacedBox[]} boxes
 * @returns {Ends[]}
 */
function portsOf(slice, boxes) {
  /** @type {Ends[]} */
  const ends = slice.links.map(({ from, to }) => ({ x1: boxes[from].x + boxes[from].width, y1: 0, x2: boxes[to].x, y2: 0 }));
  boxes.forEach((box, number) => {
    for (const isLeaving of [true, false]) {
      const own = slice.links.map((_, at) => at).filter((at) => (isLeaving ? slice.links[at].from : slice.links[at].to) === number);
      const other = (/** @type {number} */ at) => boxes[isLeaving ? slice.links[at].to : slice.links[at].from];
      own.sort((a, b) => other(a).y - other(b).y || a - b);
      own.forEach((at, place) => {
        const y = box.y + (box.height * (place + 1)) / (own.length + 1);
        if (isLeaving) ends[at].y1 = y;
        else ends[at].y2 = y;
      });
    }
  });
  return ends;
}

/** @param {Ends} ends */
function forward({ x1, y1, x2, y2 }) {
  const bend = Math.max(40, (x2 - x1) / 2);
  return { path: `M${x1} ${r(y1)}C${r(x1 + bend)} ${r(y1)} ${r(x2 - bend)} ${r(y2)} ${x2 - 6} ${r(y2)}`, arrow: arrow(x2, y2) };
}

/**
 * A link back: around below all boxes, so that it crosses none.
 *
 * @param {PlacedBox} from
 * @param {PlacedBox} to
 * @param {number} y
 * @param {number} lane
 * @returns {PlacedLink}
 */
function backward(from, to, y, lane) {
  const out = laneSide(lane % LANE_SIDES);
  const x1 = from.x + from.width;
  const y1 = from.y + from.height - 8;
  const x2 = to.x;
  const y2 = to.y + to.height - 8;
  const path =
    `M${x1} ${r(y1)}h${out - 6}q6 0 6 6V${r(y - 6)}q0 6 -6 6H${r(x2 - out + 6)}q-6 0 -6 -6V${r(y2 + 6)}q0 -6 6 -6h${out - 12}`;
  const middle = (x1 + x2) / 2;
  return { path, arrow: arrow(x2, y2), label: { x: r(middle - (BOX_WIDTH + 40) / 2), y: r(y - 11), width: BOX_WIDTH + 40, height: 22 }, isBack: true };
}

/**
 * How far beside its boxes a lane lies.
 *
 * @param {number} lane
 */
function laneSide(lane) {
  return 12 + lane * 5;
}

/** @param {number} x @param {number} y */
function arrow(x, y) {
  return `M${x - 8} ${r(y - 4)}L${x} ${r(y)}L${x - 8} ${r(y + 4)}Z`;
}

/**
 * Labels in the middle of forward links, moved up or down so that none lies on another.
 *
 * @param {import("./slice.js").Slice} slice
 * @param {PlacedBox[]} boxes
 * @param {PlacedLink[]} links
 * @param {boolean[]} isForward
 * @param {Ends[]} ends
 */
function placeLabels(slice, boxes, links, isForward, ends) {
  /** @type {Map<number, number[]>} */
  const byGap = new Map();
  slice.links.forEach((link, at) => {
    if (!isForward[at] || !isLabelled(slice, link)) return;
    const x = boxes[link.from].x;
    byGap.set(x, [...(byGap.get(x) ?? []), at]);
  });
  for (const group of byGap.values()) {
    const middle = (/** @type {number} */ at) => (ends[at].y1 + ends[at].y2) / 2;
    const height = (/** @type {number} */ at) => (slice.links[at].via ? 34 : 20);
    group.sort((a, b) => middle(a) - middle(b) || a - b);
    const places = spread(group.map((at) => middle(at) - height(at) / 2), group.map(height), 2);
    group.forEach((at, place) => {
      links[at].label = { x: ends[at].x1 + 14, y: r(Math.max(0, places[place])), width: ends[at].x2 - ends[at].x1 - 30, height: height(at) };
    });
  }
}

/** @param {number} value */
function r(value) {
  return Math.round(value * 10) / 10;
}
