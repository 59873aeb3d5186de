// Where memory was allocated, as a tree of calls: from the outermost function, or from the allocating one.

/**
 * A function within a tree of calls.
 */
export class Call {
  /**
   * @param {number} key the same for calls of the same function; negative for what is none
   * @param {string} name
   * @param {Call | null} parent
   */
  constructor(key, name, parent) {
    this.key = key;
    this.name = name;
    this.parent = parent;
    /** The place in the source and the library, where they are known. */
    this.place = "";
    this.module = "";
    this.isOwn = false;
    /** Bytes of the function and all that it called. */
    this.value = 0;
    this.count = 0;
    /** Bytes that it allocated itself. */
    this.own = 0;
    /** How many frames of the runtime are folded below it. */
    this.folded = 0;
    /** @type {Map<number, Call>} */
    this.calls = new Map();
    /** @type {Call[] | null} */
    this._children = null;
  }

  /** Those that cost most first. */
  children() {
    return (this._children ??= [...this.calls.values()].sort((a, b) => b.value - a.value || a.key - b.key));
  }

  /**
   * @param {number} key
   * @param {string} name
   */
  call(key, name) {
    let call = this.calls.get(key);
    if (!call) {
      call = new Call(key, name, this);
      this.calls.set(key, call);
    }
    return call;
  }
}

/**
 * What was allocated by each stack.
 *
 * @param {import("../data/model.js").Model} model
 * @param {((node: number) => boolean) | null} isWanted null for all
 */
export function costsByStack(model, isWanted) {
  const rows = model.tables.stack.frame.length;
  const bytes = new Float64Array(rows);
  const counts = new Float64Array(rows);
  const { stack, bytes: sizes } = model.node;
  for (let node = 0; node < model.nodeCount; node++) {
    if (isWanted && !isWanted(node)) continue;
    bytes[stack[node]] += sizes[node];
    counts[stack[node]]++;
  }
  return { bytes, counts };
}

/**
 * @typedef {object} CallOptions
 * @property {boolean} isFolded whether frames of the runtime and the system are left out
 * @property {boolean} isInverted whether the allocating function is the outermost
 * @property {number} [callersOf] the key of a function: only what calls it, from it outwards
 * @property {number} [calleesOf] the key of a function: only what it calls
 */

/**
 * A tree of calls. Functions are merged by name and file, so recursion and different places in a function are one.
 *
 * Time O(stacks · depth).
 *
 * @param {import("../data/model.js").Model} model
 * @param {{bytes: Float64Array, counts: Float64Array}} costs
 * @param {CallOptions} options
 */
export function callTree(model, costs, options) {
  const root = new Call(-1, "all allocations", null);
  const { parent, frame } = model.tables.stack;
  const frames = frameNames(model);
  let foldedFrames = 0;
  for (let row = 0; row < frame.length; row++) {
    const bytes = costs.bytes[row];
    const count = costs.counts[row];
    if (count === 0) continue;
    /** @type {number[]} */
    let path = [];
    const skipped = new Map();
    let pending = 0;
    for (let at = row; at !== 0; at = parent[at]) {
      const here = frame[at];
      if (options.isFolded && !frames.isOwn(here)) {
        pending++;
        continue;
      }
      path.push(here);
      skipped.set(here, pending);
      pending = 0;
    }
    foldedFrames += pending;
    for (const value of skipped.values()) foldedFrames += value;
    // Innermost first so far.
    if (options.callersOf !== undefined) {
      const start = lastIndexOfKey(path, frames, options.callersOf);
      if (start < 0) continue;
      path = path.slice(start);
    } else if (options.calleesOf !== undefined) {
      const start = lastIndexOfKey(path, frames, options.calleesOf);
      if (start < 0) continue;
      path = path.slice(0, start + 1).reverse();
    } else if (!options.isInverted) {
      path.reverse();
    }
    root.value += bytes;
    root.count += count;
    let call = root;
    if (path.length === 0) {
      call = root.call(-2, row === 0 ? "no stack was recorded" : "the runtime alone");
      call.value += bytes;
      call.count += count;
    }
    for (const here of path) {
      call = call.call(frames.key(here), frames.name(here));
      if (call.count === 0) {
        call.place = frames.place(here);
        call.module = frames.module(here);
        call.isOwn = frames.isOwn(here);
      }
      call.value += bytes;
      call.count += count;
      call.folded = Math.max(call.folded, skipped.get(here) ?? 0);
    }
    call.own += bytes;
  }
  return { root, foldedFrames };
}

/**
 * The outermost call of a function in a path that goes from the inside out.
 *
 * @param {number[]} path
 * @param {ReturnType<typeof frameNames>} frames
 * @param {number} key
 */
function lastIndexOfKey(path, frames, key) {
  for (let at = path.length - 1; at >= 0; at--) if (frames.key(path[at]) === key) return at;
  return -1;
}

/**
 * What frames are called, each made once.
 *
 * @param {import("../data/model.js").Model} model
 */
function frameNames(model) {
  const { frame } = model.tables;
  const keys = new Int32Array(frame.function.length);
  /** @type {Map<string, number>} */
  const numbers = new Map();
  for (let row = 0; row < keys.length; row++) {
    const text = `${frame.function[row]} ${frame.file[row]} ${frame.module[row]}`;
    keys[row] = numbers.get(text) ?? numbers.size;
    numbers.set(text, keys[row]);
  }
  const name = (/** @type {number} */ row) => model.text(frame.function[row]) || "unknown function";
  return {
    name,
    /** @param {number} row */
    key: (row) => keys[row],
    /** @param {number} row */
    isOwn: (row) => (frame.flags[row] & 2) !== 0,
    /** @param {number} row */
    module: (row) => model.text(frame.module[row]),
    /** @param {number} row */
    place: (row) => {
      const file = model.text(frame.file[row]);
      const base = file.slice(file.lastIndexOf("/") + 1);
      return base && frame.line[row] > 0 ? `${base}:${frame.line[row]}` : base;
    },
  };
}

/**
 * Every function with what it and its callees allocated, for the table beside a sandwich. A function that is on a stack
 * more than once counts once. Largest first.
 *
 * @param {import("../data/model.js").Model} model
 * @param {{bytes: Float64Array, counts: Float64Array}} costs
 * @param {boolean} isFolded
 */
export function functionCosts(model, costs, isFolded) {
  const { parent, frame } = model.tables.stack;
  const frames = frameNames(model);
  /** @type {Map<number, Call>} */
  const functions = new Map();
  for (let row = 0; row < frame.length; row++) {
    if (costs.counts[row] === 0) continue;
    const seen = new Set();
    let isFirst = true;
    for (let at = row; at !== 0; at = parent[at]) {
      const here = frame[at];
      if (isFolded && !frames.isOwn(here)) continue;
      const key = frames.key(here);
      let call = functions.get(key);
      if (!call) {
        call = new Call(key, frames.name(here), null);
        call.place = frames.place(here);
        call.module = frames.module(here);
        call.isOwn = frames.isOwn(here);
        functions.set(key, call);
      }
      if (isFirst) call.own += costs.bytes[row];
      isFirst = false;
      if (seen.has(key)) continue;
      seen.add(key);
      call.value += costs.bytes[row];
      call.count += costs.counts[row];
    }
  }
  return [...functions.values()].sort((a, b) => b.value - a.value || a.key - b.key);
}
