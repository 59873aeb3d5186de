// Writes reports to look at: `node viewer/test/support/write.js demo out.html`, `hostile out.html`, or `large NODES out.html`.

import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { encodeReport, pageOf } from "./encode.js";
import { demoReport, staticPart } from "./demo.js";
import { hostileReport } from "./hostile.js";
import { largeReport } from "./large.js";

const [kind, ...rest] = process.argv.slice(2);
const template = execFileSync(new URL("../../../scripts/build-viewer", import.meta.url).pathname, ["--print"], { maxBuffer: 1 << 26 }).toString();
const { summary, columns } = kind === "large" ? largeReport(Number(rest.shift())) : kind === "hostile" ? hostileReport().finish() : demoReport().finish();
const report = encodeReport(summary, columns);
writeFileSync(rest[0], pageOf(template, staticPart(report.summary), report));
