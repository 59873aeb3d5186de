// The payload's columns: bytes to arrays of numbers. docs/viewer-format.md is what this reads.

/** Says that the data are damaged or cut off; the message is for the reader of the page. */
export class DamagedData extends Error {}

/**
 * @typedef {object} ColumnHead
 * @property {string} name
 * @property {"bytes" | "u32" | "u53" | "z32" | "z53"} encoding
 * @property {number} count rows
 * @property {number} bytes bytes in the payload
 */

/** @typedef {Uint8Array | Uint32Array | Int32Array | Float64Array} Column */

/**
 * Splits the payload into its columns, each decoded when it is asked for, so that only one at a time takes twice the
 * memory. Columns that nobody asks for are never decoded.
 *
 * @param {ColumnHead[]} heads in the order in which the columns lie in the payload
 * @param {Uint8Array} payload
 */
export function columnReader(heads, payload) {
  /** @type {Map<string, {head: ColumnHead, start: number}>} */
  const places = new Map();
  let start = 0;
  for (const head of heads) {
    places.set(head.name, { head, start });
    start += head.bytes;
  }
  if (start !== payload.length) {
    throw new DamagedData(`the data have ${payload.length} bytes where ${start} are expected`);
  }
  return {
    /** @param {string} name */
    has: (name) => places.has(name),

    /** @param {string} name */
    rows: (name) => places.get(name)?.head.count ?? 0,

    /**
     * The values of a column.
     *
     * @param {string} name
     * @param {number} [rows] how many there must be
     * @returns {Column}
     */
    read(name, rows) {
      const { head, bytes } = this.bytesOf(name, rows);
      const values = decoded(head, bytes);
      if (!values) throw new DamagedData(`the column ${name} does not fill its bytes`);
      return values;
    },

    /**
     * A column as it lies in the payload.
     *
     * @param {string} name
     * @param {number} [rows] how many there must be
     */
    bytesOf(name, rows) {
      const place = places.get(name);
      if (!place) throw new DamagedData(`the column ${name} is missing`);
      const { head } = place;
      if (rows !== undefined && head.count !== rows) {
        throw new DamagedData(`the column ${name} has ${head.count} rows where ${rows} are expected`);
      }
      return { head, bytes: payload.subarray(place.start, place.start + head.bytes) };
    },

    /**
     * The values of a column of 32-bit numbers, in an array that takes no more memory than they need.
     *
     * @param {string} name
     * @param {number} rows how many there must be
     * @param {number} [limit] each is less than this
     * @returns {Uint8Array | Uint16Array | Uint32Array}
     */
    narrow(name, rows, limit = Infinity) {
      const { head, bytes } = this.bytesOf(name, rows);
      if (head.encoding === "bytes" && bytes.length === rows) return bytes.slice();
      const values = head.encoding === "u32" ? narrow32(bytes, rows, limit) : null;
      if (typeof values === "number") throw new DamagedData(`${name} names row ${values} of ${limit}`);
      if (!values) throw new DamagedData(`the column ${name} does not fill its bytes`);
      return values;
    },

    /**
     * A column whose values are rows of a table.
     *
     * @param {string} name
     * @param {number} rows how many values there must be
     * @param {number} limit each is less than this
     */
    indices(name, rows, limit) {
      const values = /** @type {Uint32Array} */ (this.read(name, rows));
      for (let at = 0; at < values.length; at++) {
        if (values[at] >= limit) throw new DamagedData(`${name} names row ${values[at]} of ${limit}`);
      }
      return values;
    },
  };
}

/**
 * @param {ColumnHead} head
 * @param {Uint8Array} bytes
 * @returns {Column | null} null where the values don't fill the bytes
 */
function decoded(head, bytes) {
  switch (head.encoding) {
    case "bytes":
      return bytes.length === head.count ? bytes.slice() : null;
    case "u32":
      return unsigned32(bytes, head.count);
    case "z32": {
      const values = unsigned32(bytes, head.count);
      if (!values) return null;
      const signed = new Int32Array(values.buffer);
      for (let at = 0; at < values.length; at++) signed[at] = (values[at] >>> 1) ^ -(values[at] & 1);
      return signed;
    }
    case "u53":
      return unsigned53(bytes, head.count);
    case "z53": {
      const values = unsigned53(bytes, head.count);
      if (!values) return null;
      for (let at = 0; at < values.length; at++) {
        const value = values[at];
        values[at] = value % 2 === 1 ? -(value + 1) / 2 : value / 2;
      }
      return values;
    }
    default:
      throw new DamagedData(`the column ${head.name} has the unknown encoding ${String(head.encoding)}`);
  }
}

/**
 * @param {Uint8Array} bytes
 * @param {number} count
 */
function unsigned32(bytes, count) {
  if (count > bytes.length) return null;
  const values = new Uint32Array(count);
  return fill32(bytes, 0, values, count) === bytes.length ? values : null;
}

/**
 * Decodes some values.
 *
 * @param {Uint8Array} bytes
 * @param {number} at where the first one starts
 * @param {Uint32Array} values
 * @param {number} count
 * @returns {number} where the next one starts; -1 where a value is cut off or has more than 32 bits
 */
function fill32(bytes, at, values, count) {
  const end = bytes.length;
  for (let row = 0; row < count; row++) {
    if (at >= end) return -1;
    let byte = bytes[at++];
    let value = byte & 0x7f;
    let shift = 7;
    while (byte > 0x7f) {
      if (at >= end || shift > 28) return -1;
      byte = bytes[at++];
      if (shift === 28 && byte > 0x0f) return -1;
      value |= (byte & 0x7f) << shift;
      shift += 7;
    }
    values[row] = value;
  }
  return at;
}

/** How many values are decoded before it is known how much room they take. */
const BLOCK = 1 << 16;

/**
 * @param {Uint8Array} bytes
 * @param {number} count
 * @param {number} limit each is less than this
 * @returns {Uint8Array | Uint16Array | Uint32Array | number | null} a number is a value beyond the limit
 */
function narrow32(bytes, count, limit) {
  if (count > bytes.length) return null;
  const block = new Uint32Array(Math.min(count, BLOCK));
  /** @type {Uint8Array | Uint16Array | Uint32Array} */
  let values = new Uint8Array(count);
  let most = 0;
  let at = 0;
  for (let row = 0; row < count; row += BLOCK) {
    const rows = Math.min(BLOCK, count - row);
    const read = fill32(bytes, at, block, rows);
    if (read < 0) return null;
    at = read;
    for (let place = 0; place < rows; place++) if (block[place] > most) most = block[place];
    if (most >= limit) return most;
    if (most >= 65536 ? values.BYTES_PER_ELEMENT < 4 : most >= 256 && values.BYTES_PER_ELEMENT < 2) {
      const wider = most < 65536 ? new Uint16Array(count) : new Uint32Array(count);
      wider.set(values.subarray(0, row));
      values = wider;
    }
    values.set(rows === block.length ? block : block.subarray(0, rows), row);
  }
  return at === bytes.length ? values : null;
}

/**
 * @param {Uint8Array} bytes
 * @param {number} count
 */
function unsigned53(bytes, count) {
  if (count > bytes.length) return null;
  const values = new Float64Array(count);
  const end = bytes.length;
  let at = 0;
  for (let row = 0; row < count; row++) {
    if (at >= end) return null;
    let byte = bytes[at++];
    let value = byte & 0x7f;
    let scale = 128;
    while (byte > 0x7f) {
      if (at >= end || scale > 2 ** 49) return null;
      byte = bytes[at++];
      value += (byte & 0x7f) * scale;
      scale *= 128;
    }
    if (value > Number.MAX_SAFE_INTEGER) return null;
    values[row] = value;
  }
  return at === end ? values : null;
}
