// The page: it reads the summary, shows the shell, opens views as the hash says, and the data's views when they are there.

import { byId, fill, h } from "./dom.js";
import { Shell } from "./shell.js";
import { FindingsView } from "./findings.js";
import { TypesView } from "./types.js";
import { ObjectsView } from "./objects.js";
import { ObjectView } from "./object.js";
import { RetainView } from "./retain.js";
import { MapView } from "./map.js";
import { AllocationsView } from "./allocations.js";
import { TasksView } from "./tasks.js";
import { CompareView } from "./compare.js";
import { decodeChunks } from "../data/inflate.js";
import { DamagedData } from "../data/columns.js";
import { Model } from "../data/model.js";
import { refusal } from "../data/version.js";
import { analyzeInWorker } from "../data/worker.js";
import { parseRoute, routeText } from "../text/route.js";
import { address, count, number } from "../text/format.js";

/**
 * A view of the page.
 *
 * @typedef {object} View
 * @property {string} name as the hash has it
 * @property {string} title
 * @property {boolean} needsData whether it can't open before the payload is read
 * @property {(app: App, place: HTMLElement) => void} show
 * @property {(app: App, event: KeyboardEvent) => boolean} [onKey] whether the key was for it
 */

/** Starts the page. */
export function startPage() {
  let summary;
  try {
    summary = JSON.parse(byId("summary").textContent ?? "");
  } catch {
    summary = null;
  }
  const refused = summary ? refusal(summary) : "the file is incomplete: its summary is cut off";
  if (refused) {
    fill(byId("mg-top"), h("p", { class: "banner bad", role: "alert" }, `This page can't show more: ${refused}.`));
    return;
  }
  new App(summary).start();
}

/** What the views share: the report, and where the reader is in it. */
export class App {
  /** @param {any} summary */
  constructor(summary) {
    this.summary = summary;
    /** @type {Model | null} */
    this._model = null;
    /** What is wrong with the data; empty for nothing. */
    this.problem = "";
    this.route = parseRoute(location.hash);
    /** @type {View[]} */
    this.views = [
      new FindingsView(), new TypesView(), new ObjectsView(), new ObjectView(), new RetainView(true), new RetainView(false),
      new MapView(), new AllocationsView(), new TasksView(), new CompareView(),
    ];
    this.view = this.views[0];
    this.place = h("main", { id: "mg-main", tabindex: -1 });
    this.shell = new Shell(this);
    this.statics = document.getElementById("static");
  }

  /** The report's objects; only for views that need data. */
  get model() {
    if (!this._model) throw new Error("the data are not read yet");
    return this._model;
  }

  get hasModel() {
    return this._model !== null;
  }

  start() {
    byId("mg-view").append(this.place);
    this.shell.show();
    addEventListener("hashchange", () => this.follow());
    addEventListener("keydown", (event) => this.onKey(event));
    this.follow();
    const read = () => this.readData().catch((error) => this.fail(error));
    if (document.readyState === "loading") addEventListener("DOMContentLoaded", () => void read());
    else void read();
  }

  /** The payload out of the page's elements, which go: nothing of it stays behind when it is read. */
  takeParts() {
    const texts = [...document.querySelectorAll("script.data")].map((element) => {
      const text = element.textContent ?? "";
      element.remove();
      return text;
    });
    return decodeChunks(texts, this.summary.payload);
  }

  async readData() {
    const source = byId("mg-app").textContent ?? "";
    const { tables, analysis } = await analyzeInWorker(source, this.summary, this.takeParts(), (stage, done) => this.shell.progress(stage, done));
    this._model = new Model(this.summary, tables, analysis);
    this.shell.progress("", 1);
    if (analysis.mismatches.length > 0) this.shell.mismatch(analysis.mismatches);
    this.render();
    this.setReady();
  }

  /** @param {unknown} error */
  fail(error) {
    const isDamaged = error instanceof DamagedData;
    const reason = error instanceof Error ? error.message : String(error);
    this.problem = isDamaged ? `Incomplete file: ${reason}.` : `The data could not be read: ${reason}.`;
    this.shell.progress("", 1);
    this.shell.banner("bad", `${this.problem} The findings are all here; the other views need the data. Copy the file again, or make it again with memgraph view.`);
    this.render();
    this.setReady();
  }

  setReady() {
    const page = /** @type {any} */ (globalThis);
    page.__ready = true;
    page.__perf = { ready: performance.now(), times: this._model?.analysis.times ?? [] };
  }

  /** Opens what the hash says. */
  follow() {
    this.route = parseRoute(location.hash);
    const view = this.views.find((entry) => entry.name === this.route.view);
    this.view = view ?? this.views[0];
    this.render();
    // What had the keyboard is gone with the view before: go on in the new one, not at the top of the page.
    if (document.activeElement === document.body) {
      const content = this.place.hidden ? this.statics : this.place;
      content?.setAttribute("tabindex", "-1");
      content?.focus({ preventScroll: true });
    }
    if (!view) this.shell.say(`There is no view “${this.route.view}” in this report.`);
  }

  render() {
    const isStatic = this.view.name === "findings";
    if (this.statics) this.statics.hidden = !isStatic;
    this.place.hidden = isStatic;
    this.shell.update();
    document.title = isStatic ? this.summary.title : `${this.view.title} · ${this.summary.title}`;
    if (isStatic) {
      this.place.replaceChildren();
      this.view.show(this, this.place);
    } else if (!this.view.needsData || this._model) {
      const began = performance.now();
      this.view.show(this, this.place);
      const page = /** @type {any} */ (globalThis);
      this.tellPart();
      page.__shown = { view: this.view.name, milliseconds: performance.now() - began };
    } else {
      fill(this.place, h("h1", null, this.view.title), h("p", { class: "quiet" }, this.problem || "One moment: the data are being read."));
    }
  }

  /** Says that not everything is in the file, in the views that would look as if it were. */
  tellPart() {
    const { embed, nodes, totals } = this.summary;
    if (embed === "all" || this.view.name === "types" || this.view.name === "compare") return;
    const text = `This file has ${number(nodes)} of ${count(totals.live.count, "object")}: those that are leaked, those of the findings and what holds them. memgraph view --embed all writes all of them.`;
    this.place.querySelector(".heading, h1")?.after(h("p", { class: "banner note" }, text));
  }

  /**
   * The hash of a view; options that the view shares with where the reader is are kept when asked for.
   *
   * @param {string} view
   * @param {Record<string, string | number | undefined | null>} options
   */
  link(view, options = {}) {
    return routeText(view, options);
  }

  /**
   * Goes to a view.
   *
   * @param {string} view
   * @param {Record<string, string | number | undefined | null>} [options]
   */
  go(view, options = {}) {
    location.hash = routeText(view, options);
  }

  /**
   * Changes options of the view without a step in the history.
   *
   * @param {Record<string, string | number | undefined | null>} changes
   */
  adjust(changes) {
    history.replaceState(null, "", routeText(this.route.view, { ...this.route.options, ...changes }));
    this.route = parseRoute(location.hash);
  }

  /**
   * The options of an object.
   *
   * @param {number} node
   */
  objectOptions(node) {
    return { o: address(this.model.node.address[node]) };
  }

  /**
   * The objects that the hash is about: one by address, or those of a finding.
   *
   * @returns {{nodes: number[], finding: any, problem: string}}
   */
  subject() {
    const { o, f } = this.route.options;
    const { findings } = this.summary;
    const finding = f ? findings[Number(f) - 1] : null;
    if (f && !finding) return { nodes: [], finding: null, problem: `This report has no finding ${f}; it has ${findings.length}.` };
    if (o !== undefined) {
      const wanted = /^(0x)?[0-9a-f]+$/i.test(o) ? parseInt(o, 16) : NaN;
      const node = Number.isNaN(wanted) ? -1 : this.model.nodeAt(wanted);
      if (node >= 0) return { nodes: [node], finding, problem: "" };
      const left = this.summary.embed === "leaks" ? " It holds leaked objects and what holds them only; memgraph view --embed all has everything." : "";
      return { nodes: [], finding, problem: Number.isNaN(wanted) ? `“${o}” is no address.` : `This report has no object at ${o}.${left}` };
    }
    if (finding) return { nodes: [finding.graph.representative], finding, problem: "" };
    return { nodes: [], finding: null, problem: "" };
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const isTyping = event.target instanceof HTMLInputElement && event.target.type !== "checkbox";
    if (event.key === "Escape" && this.shell.closeHelp()) return;
    if (isTyping) return;
    if (this.view.onKey?.(this, event) || this.shell.onKey(event)) event.preventDefault();
  }
}
