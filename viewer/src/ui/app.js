// The page: it reads the summary, shows the shell, and opens the views when the data are there.

import { byId, fill, h } from "./dom.js";
import { refusal } from "../data/version.js";

/** Starts the page. */
export function startPage() {
  const summary = JSON.parse(byId("summary").textContent ?? "");
  const refused = refusal(summary);
  fill(byId("mg-top"), h("p", { role: "status" }, refused ?? summary.title));
}
