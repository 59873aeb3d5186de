// The string table.

import { DamagedData } from "./columns.js";

/** @typedef {{offsets: Uint32Array, bytes: Uint8Array}} StringTable */

/**
 * @param {Uint32Array} lengths
 * @param {Uint8Array} bytes
 * @returns {StringTable}
 */
export function stringTable(lengths, bytes) {
  const offsets = new Uint32Array(lengths.length + 1);
  let end = 0;
  for (let row = 0; row < lengths.length; row++) {
    end += lengths[row];
    offsets[row + 1] = end;
  }
  if (end !== bytes.length) throw new DamagedData("the texts do not fill their bytes");
  return { offsets, bytes };
}

const decoder = new TextDecoder();

/**
 * A function that gives the texts of a table, each decoded once.
 *
 * @param {StringTable} table
 */
export function stringReader(table) {
  /** @type {(string | undefined)[]} */
  const known = new Array(table.offsets.length - 1);
  /** @param {number} row */
  return (row) => (known[row] ??= decoder.decode(table.bytes.subarray(table.offsets[row], table.offsets[row + 1])));
}
