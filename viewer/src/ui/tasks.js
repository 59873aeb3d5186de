// Tasks: where they wait, who made them, what they keep alive; and actors that jobs wait for.

import { h } from "./dom.js";
import { bytesText, heading, typeText } from "./widgets.js";
import { address, bytes, count, fileName, number } from "../text/format.js";

export class TasksView {
  name = "tasks";
  title = "Tasks";
  needsData = true;

  /**
   * @param {import("./app.js").App} app
   * @param {HTMLElement} place
   */
  show(app, place) {
    const { tasks, actors } = app.summary;
    const all = tasks.reduce((/** @type {number} */ sum, /** @type {any} */ group) => sum + group.count, 0);
    heading(place, "Tasks");
    if (tasks.length === 0) {
      place.append(h("p", { class: "quiet" }, "No task was alive, or none could be read."));
      return;
    }
    place.append(h("p", { class: "quiet" }, `${count(all, "task")} in ${count(tasks.length, "group")}: made in the same way and waiting in the same place.`));
    place.append(h("ol", { class: "cards" }, tasks.map((/** @type {any} */ group) => card(app, group))));
    if (actors.length > 0) {
      place.append(
        h("h2", null, "Actors with jobs that wait"),
        h(
          "div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Actors" },
          h("table", null, h("thead", null, h("tr", null, h("th", null, "Actor"), h("th", null, "Address"), h("th", { class: "number" }, "Jobs"), h("th", null, "Tasks"))),
            h("tbody", null, actors.map((/** @type {any} */ actor) =>
              h("tr", null, h("td", null, typeText(actor.type)), h("td", null, h("a", { href: app.link("object", { o: actor.address }) }, h("code", null, actor.address))), h("td", { class: "number" }, number(actor.jobs)), h("td", null, actor.tasks.map(number).join(", ")))))),
        ),
      );
    }
  }
}

/**
 * @param {import("./app.js").App} app
 * @param {any} group
 */
function card(app, group) {
  const { model } = app;
  const kinds = /** @type {Record<string, string>} */ ({ unstructured: "unstructured", asyncLet: "async let", groupChild: "child of a group" });
  const place = (/** @type {any} */ frame) => (frame ? [h("code", null, frame.function), frame.file && h("span", { class: "quiet" }, ` ${fileName(frame.file)}${frame.line ? `:${frame.line}` : ""}`)] : h("span", { class: "quiet" }, "unknown"));
  const nodes = [...new Set((group.rows ?? []).map((/** @type {number} */ row) => model.tables.task.node[row]))].slice(0, 12);
  return h(
    "li",
    { class: "card" },
    h("h2", null, `${number(group.count)} × ${group.state}`, h("span", { class: "badge" }, kinds[group.kind] ?? group.kind), group.cancelled > 0 && h("span", { class: "badge" }, `${number(group.cancelled)} cancelled`), group.leaked > 0 && h("span", { class: "badge leaked" }, `${number(group.leaked)} leaked`)),
    h(
      "dl",
      null,
      h("dt", null, "waits in"), h("dd", null, place(group.suspendedIn)),
      h("dt", null, "made by"), h("dd", null, place(group.made)),
      h("dt", null, "own"), h("dd", null, bytesText(group.own.bytes)),
      h("dt", null, "retains"), h("dd", null, `${bytes(group.retained.bytes)} in ${count(group.retained.count, "object")}`),
      group.generations && [h("dt", null, "born"), h("dd", null, Object.entries(group.generations).map(([name, value]) => `${number(/** @type {number} */ (value))} in ${name}`).join(", "))],
      nodes.length > 0 && [h("dt", null, "tasks"), h("dd", { class: "wrap" }, nodes.map((node, at) => [at > 0 && " ", h("a", { href: app.link("retainers", app.objectOptions(/** @type {number} */ (node))) }, h("code", null, address(model.node.address[/** @type {number} */ (node)])))]).flat(), group.count > nodes.length && h("span", { class: "quiet" }, ` and ${number(group.count - nodes.length)} more`))],
    ),
    group.frames?.length > 0 && h("details", null, h("summary", null, count(group.frames.length, "frame")), h("ol", { class: "stack" }, group.frames.map((/** @type {any} */ frame) => h("li", null, place(frame))))),
  );
}
