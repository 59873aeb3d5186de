// Where in the report the reader is, as the text behind the page's `#`.

/**
 * @typedef {object} Route
 * @property {string} view
 * @property {Record<string, string>} options
 */

/**
 * Reads a hash: `#/retainers?o=0x7f00&cut=12`. What is no such text leads to the findings.
 *
 * @param {string} hash
 * @returns {Route}
 */
export function parseRoute(hash) {
  const match = /^#?\/([a-z]+)(?:\?(.*))?$/s.exec(hash);
  if (!match) return { view: "findings", options: {} };
  /** @type {Record<string, string>} */
  const options = Object.create(null);
  for (const part of (match[2] ?? "").split("&")) {
    if (part === "") continue;
    const equals = part.indexOf("=");
    const [name, value] = equals < 0 ? [part, ""] : [part.slice(0, equals), part.slice(equals + 1)];
    options[unescapedText(name)] = unescapedText(value);
  }
  return { view: match[1], options };
}

/** @param {string} text */
function unescapedText(text) {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}

/**
 * The hash of a route; options in their order, those without a value left out.
 *
 * @param {string} view
 * @param {Record<string, string | number | undefined | null>} [options]
 */
export function routeText(view, options = {}) {
  const parts = [];
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || value === null || value === "") continue;
    // These may stand in a hash as they are and are easier to read so.
    const text = encodeURIComponent(String(value)).replace(/%(3A|2C|3E|3C|3D|2F)/g, (code) => decodeURIComponent(code));
    parts.push(`${encodeURIComponent(name)}=${text.replaceAll("%20", "+")}`);
  }
  return `#/${view}${parts.length ? `?${parts.join("&")}` : ""}`;
}
