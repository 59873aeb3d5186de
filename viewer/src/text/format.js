// Numbers and names as people read them; the same words and rounding as the command line's reports.

/**
 * A number with its thousands set apart: `1,000,000`.
 *
 * @param {number} value
 */
export function number(value) {
  const text = String(Math.abs(value)).replace(/\B(?=(\d{3})+$)/g, ",");
  return value < 0 ? `-${text}` : text;
}

/**
 * A number with its sign: `+4`, `-1`, `0`.
 *
 * @param {number} value
 */
export function signed(value) {
  return (value > 0 ? "+" : "") + number(value);
}

/**
 * A number and what it counts: `1 object`, `12 objects`.
 *
 * @param {number} value
 * @param {string} noun
 * @param {string} [plural]
 */
export function count(value, noun, plural = `${noun}s`) {
  return `${number(value)} ${value === 1 ? noun : plural}`;
}

/**
 * Bytes with their unit: `840 bytes`, `1.4 KB`, `128 MB`; a KB has 1,024 bytes. Rounded half up.
 *
 * @param {number} value
 */
export function bytes(value) {
  const size = Math.abs(value);
  const sign = value < 0 ? "-" : "";
  if (size < 1024) return `${sign}${size} byte${size === 1 ? "" : "s"}`;
  let unit = 1024;
  for (const name of ["KB", "MB", "GB", "TB", "PB"]) {
    const tenths = Math.floor((size * 10 + unit / 2) / unit);
    if (tenths < 1000) return `${sign}${Math.floor(tenths / 10)}.${tenths % 10} ${name}`;
    const rounded = Math.floor((size + unit / 2) / unit);
    if (rounded < 1024) return `${sign}${rounded} ${name}`;
    unit *= 1024;
  }
  return `${sign}${size} bytes`;
}

/**
 * Bytes with their sign.
 *
 * @param {number} value
 */
export function signedBytes(value) {
  return (value > 0 ? "+" : "") + bytes(value);
}

/**
 * A part of a whole in percent: `3.1 %`, `< 0.1 %`.
 *
 * @param {number} part
 * @param {number} whole
 */
export function percent(part, whole) {
  if (whole <= 0 || part <= 0) return "0 %";
  const value = (part / whole) * 100;
  if (value < 0.1) return "< 0.1 %";
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} %`;
}

/**
 * An address: `0x7f00001234`.
 *
 * @param {number} value
 */
export function address(value) {
  return `0x${value.toString(16)}`;
}

/**
 * A type's name without its module and those of its arguments, for where there is little room; the whole name stands in
 * a title beside it. Closures keep `closure #1 in` and the last part of the function.
 *
 * @param {string} name
 * @returns {string}
 */
export function shortType(name) {
  // Longer ones are cut where they are shown, and taking them apart would take long.
  if (name.length > 1000) return name;
  const closure = /^((?:closure|implicit closure) #\d+ in )(.*)$/s.exec(name);
  if (closure) return closure[1] + shortType(closure[2]);
  const method = /^(method |function )(.*)$/s.exec(name);
  if (method) return method[1] + shortType(method[2]);
  // Parts before a point go, outside of what stands in a function's parentheses.
  const open = name.indexOf("(");
  const head = open < 0 ? name : name.slice(0, open);
  return head.replace(/(?<![\w$])(?:[\p{L}_$][\p{L}\p{N}_$]*\.)+(?=[\p{L}_$(])/gu, "") + (open < 0 ? "" : name.slice(open));
}

/**
 * A function's name without its module: `Screen.start()` for `App.Screen.start()`.
 *
 * @param {string} name
 */
export function shortFunction(name) {
  return name.replace(/^((?:static |closure #\d+ in |implicit closure #\d+ in )*)[\p{L}_][\p{L}\p{N}_]*\.(?=[\p{L}_])/u, "$1");
}

/**
 * A text that is not longer than some characters, cut in the middle.
 *
 * @param {string} text
 * @param {number} most
 */
export function clipped(text, most) {
  const letters = text.length > most ? [...text] : [];
  if (letters.length <= most) return text;
  const head = Math.ceil((most - 1) * 0.6);
  return `${letters.slice(0, head).join("")}…${letters.slice(letters.length - (most - 1 - head)).join("")}`;
}

/**
 * The last part of a file's path.
 *
 * @param {string} path
 */
export function fileName(path) {
  return path.slice(path.lastIndexOf("/") + 1);
}
