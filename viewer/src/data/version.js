// Which data this page reads.

/** The version that docs/viewer-format.md describes. */
export const FORMAT = "memory-graph/view/1";

/**
 * What is wrong with a summary's version; null where the page reads it.
 *
 * @param {any} summary
 * @returns {string | null}
 */
export function refusal(summary) {
  const format = typeof summary?.format === "string" ? summary.format : "";
  const match = /^memory-graph\/view\/(\d+)$/.exec(format);
  if (!match) return `the data are of the kind “${format || "unknown"}”, and this page reads ${FORMAT}`;
  if (format === FORMAT) return null;
  return `the data are ${format}, and this page reads ${FORMAT}: make the report with one version of memgraph`;
}
