// What is copied and saved: ways and cycles as text and Markdown, tables as CSV.

/**
 * Rows as CSV (RFC 4180). A text that a spreadsheet would run as a formula gets an apostrophe before it.
 *
 * @param {string[][]} rows
 */
export function csvOf(rows) {
  const cell = (/** @type {string} */ text) => {
    const safe = /^[=+\-@\t\r]/.test(text) && !/^[+-]?[\d.,]+$/.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return rows.map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

/**
 * A step of a way as text: `App.Page.client`, and what there is to say of it.
 *
 * @typedef {object} TextStep
 * @property {string} type
 * @property {string} field
 * @property {string[]} notes `weak`, `unsure`
 * @property {string} via
 */

/**
 * A way as lines, one step each, for an issue or a message.
 *
 * @param {string} title
 * @param {TextStep[]} steps
 * @param {string} end
 */
export function treeText(title, steps, end) {
  const lines = [title];
  [...steps.map(stepText), end].forEach((step, at) => lines.push(`${"  ".repeat(at)}${at > 0 ? "└ " : ""}${step}`));
  return `${lines.join("\n")}\n`;
}

/**
 * The same as Markdown.
 *
 * @param {string} title
 * @param {TextStep[]} steps
 * @param {string} end
 */
export function markdownText(title, steps, end) {
  const body = treeText("", steps, end).trimStart();
  // A fence that is longer than any within the names.
  const longest = Math.max(0, ...[...body.matchAll(/\x60+/g)].map((match) => match[0].length));
  const fence = "\x60".repeat(Math.max(3, longest + 1));
  return `**${title.replace(/[\\\x60*_[\]<>]/g, "\\$&")}**\n\n${fence}\n${body}${fence}\n`;
}

/** @param {TextStep} step */
export function stepText({ type, field, notes, via }) {
  const holder = type.includes(" ") && field !== "" ? `(${type})` : type;
  const note = notes.length ? ` [${notes.join(", ")}]` : "";
  return `${holder}${field === "" ? "" : `.${field}`}${note}${via ? ` → (${via})` : ""}`;
}

/**
 * What a finding says of its objects, in the words of reports.
 *
 * @param {{kind: string, cycle?: unknown}} finding
 */
export function stateText({ kind, cycle }) {
  switch (kind) {
    case "leak":
      return cycle ? "leaked in a cycle" : "leaked";
    case "overRetained":
      return "retained more often than it has holders";
    case "zombie":
      return "destroyed, memory kept by unowned references";
    default:
      return kind;
  }
}
