// Makes the page: src/page.html with the style sheet and the script in it, as one Swift file. See scripts/build-viewer.

import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const folder = dirname(fileURLToPath(import.meta.url));
const root = dirname(folder);
const output = join(root, "Sources/GraphViewer/ViewerTemplate.swift");

/** The most that the script may be: a report of a small leak stays small, and the page is quick to start. */
const MOST_BYTES = 120 * 1024;

/** The version that Debian 12 has: another one writes other bytes, and the template would look stale. */
const ESBUILD = "0.17.0";

class BuildError extends Error {}

/**
 * A module or style sheet with all that it imports, as one text.
 *
 * @param {string} entry
 */
function bundled(entry) {
  const options = ["--bundle", "--minify", "--format=iife", "--target=es2022", "--charset=utf8", "--log-level=warning"];
  const run = spawnSync("esbuild", [join("src", entry), ...options], { cwd: folder, encoding: "utf8", maxBuffer: 1 << 26 });
  if (run.error) throw new BuildError("esbuild is missing: apt-get install esbuild");
  if (run.status !== 0 || run.stderr !== "") throw new BuildError(`esbuild: ${run.stderr}`);
  return run.stdout.trimEnd();
}

/** The page with its slots. */
function template() {
  const version = spawnSync("esbuild", ["--version"], { encoding: "utf8" }).stdout?.trim();
  if (version && version !== ESBUILD) throw new BuildError(`esbuild ${version} is here, and the template is made with ${ESBUILD}`);
  const script = bundled("main.js");
  const bytes = Buffer.byteLength(script);
  if (bytes > MOST_BYTES) throw new BuildError(`the script has ${bytes} bytes, more than ${MOST_BYTES}`);
  if (/<\/script|<!--/i.test(script)) throw new BuildError("the script has text in it that ends its element");
  const style = bundled("style.css");
  if (/@import|url\(/.test(style)) throw new BuildError("the style sheet loads something");
  const page = readFileSync(join(folder, "src/page.html"), "utf8").replace("/*style*/", () => style).replace("/*script*/", () => script);
  const slots = [...page.matchAll(/<!--slot:(\w+)-->/g)].map((match) => match[1]);
  if (slots.join() !== "title,static,summary,data") throw new BuildError(`the slots are ${slots.join()}`);
  return { page, bytes };
}

/**
 * The page as a Swift file.
 *
 * @param {string} page
 */
function swiftFile(page) {
  let hashes = "#";
  while (page.includes(`"""${hashes}`) || page.includes(`\\${hashes}`)) hashes += "#";
  return [
    "// ViewerTemplate: made by scripts/build-viewer from viewer/src. Change that, not this.",
    "// swift-format-ignore-file",
    "",
    "/// The page of `memgraph view`, with slots for what it shows.",
    "internal enum ViewerTemplate {",
    `  static let text: StaticString = ${hashes}"""`,
    page.replace(/\n$/, ""),
    `"""${hashes}`,
    "}",
    "",
  ].join("\n");
}

try {
  const argument = process.argv[2] ?? "";
  const { page, bytes } = template();
  const swift = swiftFile(page);
  if (argument === "--print") {
    process.stdout.write(page);
  } else if (argument === "--check") {
    let now = "";
    try {
      now = readFileSync(output, "utf8");
    } catch {}
    if (now !== swift) throw new BuildError(`${relative(root, output)} is stale: run scripts/build-viewer`);
    console.log("build-viewer: the template is up to date");
  } else {
    writeFileSync(output, swift);
    const kilobytes = (/** @type {number} */ size) => `${Math.round(size / 1024)} KB`;
    console.log(`build-viewer: ${relative(root, output)}, ${kilobytes(Buffer.byteLength(page))}, ${kilobytes(bytes)} of it script`);
  }
} catch (error) {
  if (!(error instanceof BuildError)) throw error;
  console.error(`build-viewer: ${error.message}`);
  process.exitCode = 1;
}
