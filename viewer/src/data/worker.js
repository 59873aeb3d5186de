// The analysis in a worker of its own, so that the page answers while it runs.

import { DamagedData } from "./columns.js";
import { analyze } from "./analysis.js";

/** What the worker does when the page's script runs in it. */
export function startWorker() {
  const scope = /** @type {any} */ (globalThis);
  scope.onmessage = async (/** @type {MessageEvent} */ event) => {
    try {
      const result = await analyze(event.data.summary, event.data.parts, (stage, done) => {
        scope.postMessage({ stage, done });
      });
      scope.postMessage({ result }, buffersOf(result));
    } catch (error) {
      scope.postMessage(failure(error));
    }
  };
  scope.postMessage({ isStarted: true });
}

/**
 * Reads the payload in a worker, or on this thread where the browser allows none.
 *
 * @param {string} source the page's script, which is the worker's as well
 * @param {any} summary
 * @param {Uint8Array[]} parts are used up
 * @param {(stage: string, done: number) => void} progress
 * @returns {Promise<Awaited<ReturnType<typeof analyze>>>} fails with `DamagedData` where the data are
 */
export function analyzeInWorker(source, summary, parts, progress) {
  const here = () =>
    analyze(summary, parts, async (stage, done) => {
      progress(stage, done);
      await new Promise((resolve) => setTimeout(resolve, 0));
    });
  return new Promise((resolve, reject) => {
    /** @type {Worker} */
    let worker;
    let url = "";
    try {
      url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
      worker = new Worker(url);
    } catch {
      resolve(here());
      return;
    }
    let isRunning = false;
    worker.onmessage = (event) => {
      if (event.data.isStarted) {
        // The parts are given away only now, so that they are still there where the worker doesn't start.
        isRunning = true;
        const about = { columns: summary.columns, payload: summary.payload, snapshots: summary.snapshots, check: summary.check };
        worker.postMessage({ summary: about, parts }, buffersOf(parts));
        parts.length = 0;
        return;
      }
      const { stage, done, result, message, isDamaged } = event.data;
      if (stage !== undefined) progress(stage, done);
      else if (result) resolve(result);
      else reject(isDamaged ? new DamagedData(message) : new Error(message));
      if (stage === undefined) {
        worker.terminate();
        URL.revokeObjectURL(url);
      }
    };
    worker.onerror = (event) => {
      event.preventDefault();
      worker.terminate();
      if (isRunning) reject(new Error(event.message));
      else resolve(here());
    };
  });
}

/** @param {unknown} error */
function failure(error) {
  return {
    message: error instanceof Error ? error.message : String(error),
    isDamaged: error instanceof DamagedData,
  };
}

/**
 * The buffers of all arrays within a value, to hand over rather than to copy.
 *
 * @param {unknown} value
 * @param {Set<ArrayBuffer>} [found]
 */
export function buffersOf(value, found = new Set()) {
  if (ArrayBuffer.isView(value)) found.add(/** @type {ArrayBuffer} */ (value.buffer));
  else if (value && typeof value === "object") for (const part of Object.values(value)) buffersOf(part, found);
  return [...found];
}
