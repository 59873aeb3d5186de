// Placing things along a line so that each is near where it wants to be and none overlap.

/**
 * The positions nearest to the wanted ones, in the sense of least squares, that keep the order and the distances.
 *
 * Pool adjacent violators: Ayer and others, "An empirical distribution function for sampling with incomplete
 * information", 1955. Time O(n).
 *
 * @param {number[]} wanted where each starts best
 * @param {number[]} sizes
 * @param {number} gap least room between two
 * @returns {number[]} where each starts
 */
export function spread(wanted, sizes, gap) {
  /** @type {{sum: number, count: number}[]} */
  const blocks = [];
  const offsets = [];
  let offset = 0;
  for (let at = 0; at < wanted.length; at++) {
    offsets.push(offset);
    let block = { sum: wanted[at] - offset, count: 1 };
    for (let last = blocks.at(-1); last && last.sum / last.count >= block.sum / block.count; last = blocks.at(-1)) {
      blocks.pop();
      block = { sum: last.sum + block.sum, count: last.count + block.count };
    }
    blocks.push(block);
    offset += sizes[at] + gap;
  }
  const places = [];
  for (const block of blocks) {
    for (let left = block.count; left > 0; left--) places.push(block.sum / block.count + offsets[places.length]);
  }
  return places;
}

/**
 * How many pairs of lines between two columns cross. Time O(n²).
 *
 * @param {[number, number][]} lines the places of both ends
 */
export function crossings(lines) {
  let count = 0;
  for (let a = 0; a < lines.length; a++) {
    for (let b = a + 1; b < lines.length; b++) {
      if ((lines[a][0] - lines[b][0]) * (lines[a][1] - lines[b][1]) < 0) count++;
    }
  }
  return count;
}
