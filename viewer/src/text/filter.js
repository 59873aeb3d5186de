// Filters as people write them: `type:Page size>1k -leaked gen:2 "App.Hub"`.

/**
 * @typedef {object} Term
 * @property {string} key empty for a bare word
 * @property {string} operator `:`, `=`, `>`, `<`, `>=` or `<=`; empty for flags
 * @property {string} value
 * @property {boolean} isNegated
 * @property {string} text as it was written
 * @property {string | null} error what is wrong with it
 * @property {number} amount for sizes and counts
 */

/** What can be written before an operator: what kind of value it takes, and what it means. */
export const KEYS = {
  type: { kind: "text", meaning: "the type's name has it" },
  module: { kind: "text", meaning: "the module is called so" },
  kind: { kind: "text", meaning: "object, closure, box, storage, task, C memory, …" },
  field: { kind: "text", meaning: "it refers to something by such a field" },
  heldby: { kind: "text", meaning: "something refers to it by such a field" },
  root: { kind: "text", meaning: "the root that holds it: its kind or name" },
  stack: { kind: "text", meaning: "a function that was active when it was made" },
  gen: { kind: "text", meaning: "the generation's number or name; also gen>1" },
  size: { kind: "size", meaning: "its own bytes: size>1k" },
  retained: { kind: "size", meaning: "bytes that would go with it: retained>1m" },
  refs: { kind: "amount", meaning: "references to it: refs>3" },
  strong: { kind: "amount", meaning: "its strong count" },
};

/** Words that stand alone. */
export const FLAGS = {
  leaked: "no root reaches it",
  born: "made after the first snapshot",
  own: "of a type of the program's own",
  swift: "Swift objects, closures, boxes, storage and tasks; no C memory",
  destroyed: "destroyed, and kept by unowned references",
};

/**
 * Takes a filter apart. Never fails: what can't be understood is a term with an error.
 *
 * @param {string} text
 * @returns {Term[]}
 */
export function parseFilter(text) {
  const terms = [];
  const pattern = /(-)?(?:([A-Za-z]+)(>=|<=|[:=<>])("(?:[^"\\]|\\.)*"?|[^\s"]*)|("(?:[^"\\]|\\.)*"?|[^\s"]+))/g;
  for (const match of text.matchAll(pattern)) {
    const [written, minus, key = "", operator = "", after, alone] = match;
    const raw = after ?? alone;
    const isQuoted = raw.startsWith('"');
    const value = isQuoted ? raw.slice(1, raw.length > 1 && raw.endsWith('"') ? -1 : undefined).replace(/\\(.)/g, "$1") : raw;
    terms.push(termOf(key.toLowerCase(), operator, value, isQuoted, minus === "-", written));
  }
  return terms;
}

/**
 * @param {string} key
 * @param {string} operator
 * @param {string} value
 * @param {boolean} isQuoted
 * @param {boolean} isNegated
 * @param {string} text
 * @returns {Term}
 */
function termOf(key, operator, value, isQuoted, isNegated, text) {
  /** @type {Term} */
  const term = { key, operator, value, isNegated, text, error: null, amount: NaN };
  if (key === "") {
    if (!isQuoted && Object.hasOwn(FLAGS, value.toLowerCase())) term.key = value.toLowerCase();
    return term;
  }
  const known = Object.hasOwn(KEYS, key) ? KEYS[/** @type {keyof typeof KEYS} */ (key)] : null;
  if (!known) {
    term.error = `there is no “${key}”; there are ${Object.keys(KEYS).join(", ")}`;
  } else if (value === "") {
    term.error = `${key}${operator} lacks a value`;
  } else if (known.kind === "text") {
    if (/[<>]/.test(operator)) {
      term.amount = Number(value);
      if (key !== "gen" || !Number.isInteger(term.amount)) term.error = `${key} can't be compared with ${operator}`;
    }
  } else {
    term.amount = known.kind === "size" ? sizeOf(value) : Number(value);
    if (!(term.amount >= 0)) term.error = `“${value}” is no ${known.kind === "size" ? "size, as 10, 4k or 1.5m are" : "number"}`;
  }
  return term;
}

/**
 * A size in bytes: `10`, `4k`, `1.5MB`; NaN for what is none.
 *
 * @param {string} text
 */
export function sizeOf(text) {
  const match = /^(\d+(?:\.\d+)?|\.\d+)\s*([kmgt]?)(?:i?b|bytes?)?$/i.exec(text);
  if (!match) return NaN;
  return Number(match[1]) * 1024 ** " kmgt".indexOf(match[2].toLowerCase() || " ");
}

/**
 * The text of a filter without one of its terms.
 *
 * @param {Term[]} terms
 * @param {Term} gone
 */
export function withoutTerm(terms, gone) {
  return terms.filter((term) => term !== gone).map((term) => term.text).join(" ");
}

/**
 * A value as a filter takes it: in quotation marks where it has spaces.
 *
 * @param {string} key empty for a bare word
 * @param {string} value
 */
export function termText(key, value) {
  const isPlain = /^[^\s"\\]+$/.test(value) && !(key === "" && (Object.hasOwn(FLAGS, value.toLowerCase()) || /[:<>=]|^-/.test(value)));
  const text = isPlain ? value : `"${value.replace(/["\\]/g, "\\$&")}"`;
  return key === "" ? text : `${key}:${text}`;
}

/**
 * Whether an amount is as a term says; `:` and `=` mean the same.
 *
 * @param {Term} term
 * @param {number} amount
 */
export function compares(term, amount) {
  switch (term.operator) {
    case ">":
      return amount > term.amount;
    case "<":
      return amount < term.amount;
    case ">=":
      return amount >= term.amount;
    case "<=":
      return amount <= term.amount;
    default:
      return amount === term.amount;
  }
}

/**
 * Whether a text is as a term says: has its value in it, or with `=` is it; capitals make no difference.
 *
 * @param {Term} term
 * @param {string} text
 */
export function matches(term, text) {
  const [a, b] = [foldedText(text), foldedText(term.value)];
  const name = b.includes("\x60") ? a : a.replaceAll("\x60", "");
  return term.operator === "=" ? name === b : name.includes(b);
}

/**
 * A text as it is compared: in small letters, and with the spaces that are typed where the compiler writes no-break ones into the
 * name of a raw identifier.
 *
 * @param {string} text
 */
export function foldedText(text) {
  return text.toLowerCase().replaceAll("\u00a0", " ");
}
