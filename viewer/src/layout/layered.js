// Where the boxes of a slice go: columns by their distance, as few crossings as are easy to have, near to what they hold.

import { crossings, spread } from "./order.js";

/**
 * @typedef {object} LayerBox
 * @property {number} column 0 for the one that all is about
 * @property {number} height
 *
 * @typedef {object} LayerLink
 * @property {number} from
 * @property {number} to
 */

/** How often all columns are put into order. */
const SWEEPS = 14;

/**
 * The upper edge of each box. Sweeps by barycentres (Sugiyama, Tagawa and Toda, "Methods for visual understanding of
 * hierarchical system structures", 1981), then places by isotonic regression.
 *
 * Time O(sweeps · links log links).
 *
 * @param {LayerBox[]} boxes
 * @param {LayerLink[]} links
 * @param {number} gap least room between two boxes of a column
 * @returns {{tops: number[], height: number, columns: number[][]}} `columns` has the boxes of each, from the top
 */
export function layered(boxes, links, gap) {
  /** @type {number[][]} */
  const columns = [];
  boxes.forEach((box, at) => (columns[box.column] ??= []).push(at));
  for (let at = 0; at < columns.length; at++) columns[at] ??= [];
  /** @type {number[][]} what lies one column nearer or farther */
  const near = boxes.map(() => []);
  /** @type {number[][]} */
  const far = boxes.map(() => []);
  for (const { from, to } of links) {
    const [nearer, farther] = boxes[from].column < boxes[to].column ? [from, to] : [to, from];
    if (boxes[farther].column - boxes[nearer].column !== 1) continue;
    near[farther].push(nearer);
    far[nearer].push(farther);
  }
  const place = new Array(boxes.length).fill(0);
  const settle = () => columns.forEach((column) => column.forEach((box, at) => (place[box] = at)));
  settle();
  const count = () => {
    let sum = 0;
    for (const column of columns) {
      /** @type {[number, number][]} */
      const lines = [];
      for (const box of column) for (const other of near[box]) lines.push([place[box], place[other]]);
      sum += crossings(lines);
    }
    return sum;
  };
  let best = columns.map((column) => [...column]);
  let fewest = count();
  for (let sweep = 0; sweep < SWEEPS && fewest > 0; sweep++) {
    const isOutward = sweep % 2 === 0;
    const neighbours = isOutward ? near : far;
    for (let step = 1; step < columns.length; step++) {
      const column = columns[isOutward ? step : columns.length - 1 - step];
      const middle = (/** @type {number} */ box) => {
        const others = neighbours[box];
        return others.length ? others.reduce((sum, other) => sum + place[other], 0) / others.length : place[box];
      };
      const keys = new Map(column.map((box) => [box, middle(box)]));
      column.sort((a, b) => (keys.get(a) ?? 0) - (keys.get(b) ?? 0) || place[a] - place[b]);
      column.forEach((box, at) => (place[box] = at));
    }
    const now = count();
    if (now < fewest) {
      fewest = now;
      best = columns.map((column) => [...column]);
    }
  }
  best.forEach((column, at) => (columns[at] = column));
  settle();
  return { ...tops(boxes, columns, near, far, gap), columns };
}

/**
 * @param {LayerBox[]} boxes
 * @param {number[][]} columns
 * @param {number[][]} near
 * @param {number[][]} far
 * @param {number} gap
 */
function tops(boxes, columns, near, far, gap) {
  const tops = new Array(boxes.length).fill(0);
  const middle = (/** @type {number} */ box) => tops[box] + boxes[box].height / 2;
  for (let round = 0; round < 6; round++) {
    const isOutward = round % 2 === 0;
    for (let step = 0; step < columns.length; step++) {
      const column = columns[isOutward ? step : columns.length - 1 - step];
      const wanted = column.map((box) => {
        // The last rounds mind both sides, so that long chains become straight.
        const others = round < 2 ? near[box] : [...near[box], ...far[box]];
        if (others.length === 0) return tops[box];
        return others.reduce((sum, other) => sum + middle(other), 0) / others.length - boxes[box].height / 2;
      });
      spread(wanted, column.map((box) => boxes[box].height), gap).forEach((top, at) => (tops[column[at]] = top));
    }
  }
  const least = Math.min(...tops, Infinity);
  let height = 0;
  for (let box = 0; box < boxes.length; box++) {
    tops[box] = Math.round(tops[box] - least);
    height = Math.max(height, tops[box] + boxes[box].height);
  }
  return { tops, height };
}
