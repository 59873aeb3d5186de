// What stands around the views: navigation, search, the switch of colours, progress and messages.

import { byId, fill, h, icon } from "./dom.js";
import { showHelp } from "./help.js";
import { SearchBox } from "./search.js";
import { number } from "../text/format.js";

/** The views in the navigation, in the order of their number keys. */
const NAVIGATION = [
  ["findings", "Findings"],
  ["types", "Types"],
  ["objects", "Objects"],
  ["retainers", "Retained by"],
  ["map", "Memory map"],
  ["allocations", "Allocations"],
  ["tasks", "Tasks"],
  ["compare", "Compare"],
];

const THEMES = ["auto", "light", "dark"];

export class Shell {
  /** @param {import("./app.js").App} app */
  constructor(app) {
    this.app = app;
    this.search = new SearchBox(app);
    this.nav = h("nav", { "aria-label": "Views" });
    this.line = h("div", { class: "progress", "aria-hidden": "true" });
    this.status = h("p", { class: "status", role: "status" });
    this.messages = h("div", { class: "messages" });
    this.themeButton = h("button", { type: "button", class: "plain", onclick: () => this.nextTheme() });
    /** @type {HTMLDialogElement | null} */
    this.help = null;
    /** The entry that the navigation shows as where the reader is. */
    this.current = "";
  }

  show() {
    const { snapshots } = this.app.summary;
    const last = snapshots[snapshots.length - 1];
    const name = last.executable.slice(last.executable.lastIndexOf("/") + 1);
    fill(
      byId("mg-top"),
      h("a", { class: "skip", href: "#mg-main", onclick: (/** @type {Event} */ event) => this.skip(event) }, "Skip to the content"),
      h(
        "div",
        { class: "bar" },
        h("a", { class: "brand", href: "#/findings", title: last.path }, h("b", null, name), h("span", null, last.title)),
        this.search.element,
        h("div", { class: "tools" }, this.themeButton, h("button", { type: "button", class: "plain", "aria-label": "Help", title: "Help (?)", onclick: () => this.openHelp() }, icon("help"))),
      ),
      this.nav,
      this.line,
    );
    byId("mg-top").after(this.messages);
    document.body.append(this.status);
    this.setTheme(document.documentElement.dataset.theme ?? "auto");
  }

  /** Shows which view is open. */
  update() {
    const { app } = this;
    const { findings, snapshots, tasks } = app.summary;
    const { o, f } = app.route.options;
    const isAbout = { o, f };
    const current = app.view.name === "references" ? "retainers" : app.view.name === "object" ? "objects" : app.view.name;
    // The entries stay, and only what changes is written: this runs at each click.
    if (this.nav.childElementCount === 0) {
      const entries = NAVIGATION.filter(([name]) => (name !== "compare" || snapshots.length > 1) && (name !== "tasks" || tasks.length > 0));
      for (const [name, title] of entries) {
        this.nav.append(h("a", { href: app.link(name), "data-view": name }, title, name === "findings" && h("span", { class: "count" }, number(findings.length))));
      }
    }
    for (const entry of this.nav.querySelectorAll("a")) {
      const name = entry.dataset.view ?? "";
      if (name === "retainers") entry.setAttribute("href", app.link(name, isAbout));
      const isCurrent = name === current;
      if (entry.hasAttribute("aria-current") !== isCurrent) isCurrent ? entry.setAttribute("aria-current", "page") : entry.removeAttribute("aria-current");
    }
    // Scrolling makes the browser lay out the page at once, so only for another view.
    if (current !== this.current) this.nav.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
    this.current = current;
    this.search.update();
  }

  /**
   * Shows how far the reading is; at 1 it is done.
   *
   * @param {string} stage
   * @param {number} done
   */
  progress(stage, done) {
    this.line.style.width = done >= 1 ? "0" : `${Math.max(3, done * 100)}%`;
    this.say(done >= 1 ? "" : `${stage} … ${Math.round(done * 100)} %`, done < 1);
  }

  /**
   * Says something in passing.
   *
   * @param {string} text
   * @param {boolean} [isLasting]
   */
  say(text, isLasting = false) {
    this.status.textContent = text;
    clearTimeout(this.timer);
    if (text && !isLasting) this.timer = setTimeout(() => (this.status.textContent = ""), 4000);
  }

  /**
   * Shows a message that stays.
   *
   * @param {"bad" | "note"} kind
   * @param {string} text
   */
  banner(kind, text) {
    this.messages.append(h("p", { class: `banner ${kind}`, role: kind === "bad" ? "alert" : null }, text));
  }

  /** @param {{what: string, page: number, analyzer: number}[]} figures */
  mismatch(figures) {
    const told = figures.map(({ what, page, analyzer }) => `${what} is ${number(page)} here and ${number(analyzer)} there`);
    this.banner("bad", `This page and the analyzer disagree: ${told.join("; ")}. Trust neither, and report it.`);
  }

  nextTheme() {
    const now = document.documentElement.dataset.theme ?? "auto";
    const next = THEMES[(THEMES.indexOf(now) + 1) % THEMES.length];
    this.setTheme(next);
    try {
      localStorage.setItem("memory-graph-theme", next);
    } catch {}
    // Pictures on canvas have their colours in them.
    this.app.render();
  }

  /** @param {string} theme */
  setTheme(theme) {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    const icons = /** @type {const} */ ({ auto: "auto", light: "sun", dark: "moon" });
    fill(this.themeButton, icon(icons[/** @type {"auto"} */ (theme)]));
    this.themeButton.setAttribute("aria-label", `Colours: ${theme}`);
    this.themeButton.title = `Colours: ${theme} (t)`;
  }

  /** @param {Event} event */
  skip(event) {
    event.preventDefault();
    const place = this.app.place.hidden ? this.app.statics : this.app.place;
    place?.setAttribute("tabindex", "-1");
    place?.focus();
  }

  openHelp() {
    this.help = showHelp(this.app);
  }

  closeHelp() {
    if (!this.help?.open) return false;
    this.help.close();
    return true;
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    switch (event.key) {
      case "/":
        this.search.focus();
        return true;
      case "?":
        this.openHelp();
        return true;
      case "t":
        this.nextTheme();
        return true;
      case "[":
        history.back();
        return true;
      case "]":
        history.forward();
        return true;
      default: {
        const link = /^[1-9]$/.test(event.key) ? this.nav.children[Number(event.key) - 1] : null;
        if (!(link instanceof HTMLAnchorElement)) return false;
        location.hash = link.hash;
        return true;
      }
    }
  }
}
