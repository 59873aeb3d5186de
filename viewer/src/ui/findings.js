// The findings: the page's static part, with buttons that lead from each finding into the graph.

import { h, icon } from "./dom.js";
import { cutText } from "../data/cuts.js";
import { button, copy } from "./widgets.js";
import { stateText, stepText } from "../text/copies.js";
import { bytes, count } from "../text/format.js";

/** The first view. Its content is in the page already; it is made to answer once. */
export class FindingsView {
  name = "findings";
  title = "Findings";
  needsData = false;
  isPrepared = false;

  /** @param {import("./app.js").App} app */
  show(app) {
    if (!this.isPrepared) {
      this.isPrepared = true;
      app.summary.findings.forEach((/** @type {any} */ finding, /** @type {number} */ at) => this.prepare(app, finding, at + 1));
    }
    const { f } = app.route.options;
    for (const element of document.querySelectorAll("li.finding.current")) element.classList.remove("current");
    if (!f) return;
    const element = document.getElementById(`finding-${f}`);
    if (!element) {
      app.shell.say(`This report has no finding ${f}.`);
      return;
    }
    element.classList.add("current");
    element.scrollIntoView({ block: "start" });
  }

  /**
   * @param {import("./app.js").App} app
   * @param {any} finding
   * @param {number} number from 1
   */
  prepare(app, finding, number) {
    const element = document.getElementById(`finding-${number}`);
    if (!element) return;
    element.append(
      h(
        "div",
        { class: "actions" },
        h("a", { class: "button main", href: app.link("retainers", { f: number }) }, finding.cycle ? "Show the cycle" : "Show who retains it"),
        finding.graph.cuts?.some((/** @type {any} */ cut) => cut.edges.length > 0) &&
          h("a", { class: "button", href: app.link("retainers", { f: number, cut: cutText(finding) }) }, icon("cut"), "Try the cut"),
        h("a", { class: "button", href: app.link("objects", { f: number }) }, count(finding.graph.memberCount, "object")),
        button("Copy", () => void copy(app, findingText(finding)), { icon: "copy", tip: "Copy as text" }),
        button("Markdown", () => void copy(app, findingMarkdown(finding)), { icon: "copy", tip: "Copy as Markdown" }),
        button("Link", () => void copy(app, `${location.href.split("#")[0]}${app.link("findings", { f: number })}`), { icon: "link", tip: "Copy a link to this finding" }),
      ),
    );
  }
}

/** @param {any} finding */
function lines(finding) {
  const title = `${count(finding.count, "object")} of ${finding.type}, ${stateText(finding)}, ${bytes(finding.bytes)}; ${bytes(finding.retainedBytes)} would go with ${finding.count === 1 ? "it" : "them"}`;
  /** @type {[string, string][]} */
  const facts = [];
  const chain = (/** @type {any[]} */ steps) =>
    steps.map((step) => (step.root ? step.name : stepText({ type: step.type, field: step.field, notes: notesOf(step), via: step.via ?? "" }))).join(" → ");
  if (finding.cycle) facts.push(["cycle", `${chain(finding.cycle)} → ${finding.cycle[0].type}`]);
  if (finding.path) facts.push(["path", `${chain(finding.path)} → ${finding.type}`]);
  if (finding.cut) facts.push(["cut", `${[finding.cut.edge, ...(finding.cut.together ?? [])].join(" and ")}: ${finding.cut.advice}`]);
  // As the static part tells it: a frame without a line is one that was made by the compiler.
  const site = finding.allocation?.find((/** @type {any} */ frame) => frame.file && frame.line);
  if (site) facts.push(["made", `${site.function} at ${site.file.slice(site.file.lastIndexOf("/") + 1)}:${site.line}`]);
  facts.push(["id", finding.fingerprint]);
  return { title, facts };
}

/** @param {any} step */
function notesOf(step) {
  const notes = step.strength && step.strength !== "strong" ? [step.strength] : [];
  if (step.provenance === "scanned") notes.push("unsure");
  return notes;
}

/** @param {any} finding */
export function findingText(finding) {
  const { title, facts } = lines(finding);
  return `${title}\n${facts.map(([name, text]) => `   ${name.padEnd(5)}  ${text}\n`).join("")}`;
}

/** @param {any} finding */
export function findingMarkdown(finding) {
  const { title, facts } = lines(finding);
  const code = (/** @type {string} */ text) => {
    const ticks = "\x60".repeat(1 + Math.max(0, ...[...text.matchAll(/\x60+/g)].map((match) => match[0].length)));
    return `${ticks}${ticks.length > 1 ? " " : ""}${text}${ticks.length > 1 ? " " : ""}${ticks}`;
  };
  return `**${title.replace(/[\\\x60*_[\]<>]/g, "\\$&")}**\n\n${facts.map(([name, text]) => `- ${name}: ${code(text)}\n`).join("")}`;
}
