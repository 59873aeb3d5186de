// A report as views see it.

import { analyze } from "../../src/data/analysis.js";
import { decodeChunks } from "../../src/data/inflate.js";
import { Model } from "../../src/data/model.js";
import { encodeReport } from "./encode.js";

/** The model of a builder's report, by way of its bytes. */
export async function modelOf(report) {
  const { summary: whole, columns } = report.finish();
  const { summary, chunks } = encodeReport(whole, columns);
  const { tables, analysis } = await analyze(summary, decodeChunks(chunks, summary.payload), () => {});
  return new Model(summary, tables, analysis);
}

