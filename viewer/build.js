// Makes the page: src/page.html with the style sheets and all modules in it, as one Swift file. See scripts/build-viewer.

import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { fileURLToPath } from "node:url";

const folder = dirname(fileURLToPath(import.meta.url));
const root = dirname(folder);
const output = join(root, "Sources/GraphViewer/ViewerTemplate.swift");

/** The most that all scripts may be: a report of a small leak stays small, and the page is quick to start. */
const MOST_BYTES = 120 * 1024;

class BuildError extends Error {}

/**
 * The modules that a file needs, each after those that it imports itself.
 *
 * @param {string} entry
 * @returns {{path: string, text: string}[]}
 */
function modulesOf(entry) {
  /** @type {Map<string, string>} */
  const done = new Map();
  /** @param {string} path @param {string[]} above */
  const visit = (path, above) => {
    if (above.includes(path)) throw new BuildError(`modules import each other: ${[...above, path].map(short).join(", ")}`);
    if (done.has(path)) return;
    const text = readFileSync(path, "utf8");
    for (const match of text.matchAll(/^import \{([^}]*)\} from "([^"]+)";$/gm)) {
      if (/\bas\b/.test(match[1])) throw new BuildError(`${short(path)}: an import under another name can't be joined`);
      visit(normalize(join(dirname(path), match[2])), [...above, path]);
    }
    done.set(path, text);
  };
  visit(entry, []);
  return [...done].map(([path, text]) => ({ path, text }));
}

/** @param {string} path */
function short(path) {
  return relative(root, path);
}

/**
 * A module's text as part of one script: without imports, exports, comments and indentation.
 *
 * @param {string} path
 * @param {string} text
 */
function joined(path, text) {
  let body = text.replace(/^import \{[^}]*\} from "[^"]+";\n/gm, "").replace(/^export /gm, "");
  if (/^(import|export)\b/m.test(body)) throw new BuildError(`${short(path)}: a form of import or export that can't be joined`);
  body = body.replace(/^\s*\/\*\*[\s\S]*?\*\/\n/gm, "").replace(/^\s*\/\/.*\n/gm, "");
  const lines = body.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  for (const line of lines) {
    if ((line.match(/`/g) ?? []).length % 2 !== 0) throw new BuildError(`${short(path)}: a text of several lines: ${line}`);
  }
  return lines.join("\n");
}

/** All modules as one script. */
function script() {
  const modules = modulesOf(join(folder, "src/main.js"));
  /** @type {Map<string, string>} */
  const owners = new Map();
  for (const { path, text } of modules) {
    for (const match of text.matchAll(/^(?:export )?(?:async )?(?:function\*?|const|let|class) (\w+)/gm)) {
      const other = owners.get(match[1]);
      if (other) throw new BuildError(`${short(path)} and ${short(other)} both define ${match[1]}`);
      owners.set(match[1], path);
    }
  }
  const parts = modules.map(({ path, text }) => joined(path, text));
  const whole = `(() => {\n"use strict";\n${parts.join("\n")}\n})();`;
  const bytes = Buffer.byteLength(whole);
  if (bytes > MOST_BYTES) throw new BuildError(`the scripts have ${bytes} bytes, more than ${MOST_BYTES}`);
  if (/<\/script|<!--/i.test(whole)) throw new BuildError("the scripts have text in them that ends their element");
  return whole;
}

/** All style sheets as one. */
function style() {
  const main = join(folder, "src/style.css");
  const text = readFileSync(main, "utf8").replace(/^@import "([^"]+)";$/gm, (_, name) => readFileSync(join(folder, "src", name), "utf8"));
  if (/@import|url\((?!["']?data:)/.test(text)) throw new BuildError("a style sheet loads something");
  return text.replace(/\/\*[\s\S]*?\*\//g, "").split("\n").map((line) => line.trim()).filter((line) => line !== "").join("\n");
}

/** The page with its slots. */
export function template() {
  const page = readFileSync(join(folder, "src/page.html"), "utf8");
  const text = page
    .replace(/^\s*<!--!.*-->\n/gm, "")
    .replace("/*style*/", () => style())
    .replace("/*script*/", () => script());
  const slots = [...text.matchAll(/<!--slot:(\w+)-->/g)].map((match) => match[1]);
  if (slots.join() !== "title,static,summary,data") throw new BuildError(`the slots are ${slots.join()}`);
  return text;
}

/** @param {string} text */
function swiftFile(text) {
  let hashes = "#";
  while (text.includes(`"""${hashes}`) || text.includes(`\\${hashes}`)) hashes += "#";
  return [
    "// ViewerTemplate: made by scripts/build-viewer from viewer/src. Change that, not this.",
    "// swift-format-ignore-file",
    "",
    "/// The page of `memgraph view`, with slots for what it shows.",
    "internal enum ViewerTemplate {",
    `  static let text: StaticString = ${hashes}"""`,
    text.replace(/\n$/, ""),
    `"""${hashes}`,
    "}",
    "",
  ].join("\n");
}

try {
  const argument = process.argv[2] ?? "";
  const page = template();
  const swift = swiftFile(page);
  if (argument === "--print") {
    process.stdout.write(page);
  } else if (argument === "--check") {
    let now = "";
    try {
      now = readFileSync(output, "utf8");
    } catch {}
    if (now !== swift) throw new BuildError(`${short(output)} is stale: run scripts/build-viewer`);
    console.log("build-viewer: the template is up to date");
  } else {
    writeFileSync(output, swift);
    console.log(`build-viewer: ${short(output)}, ${Math.round(Buffer.byteLength(script()) / 1024)} KB of scripts, ${Math.round(Buffer.byteLength(page) / 1024)} KB in all`);
  }
} catch (error) {
  if (!(error instanceof BuildError)) throw error;
  console.error(`build-viewer: ${error.message}`);
  process.exitCode = 1;
}
