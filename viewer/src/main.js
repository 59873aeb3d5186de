// Where the script begins: in the page, and again in the page's worker.

import { startWorker } from "./data/worker.js";
import { startPage } from "./ui/app.js";

if (typeof document === "undefined") startWorker();
else startPage();
