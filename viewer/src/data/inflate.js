// From the page's data elements to the bytes of the payload.

import { DamagedData } from "./columns.js";

/** @typedef {{encoding: string, bytes: number, rawBytes: number, chunks: number}} PayloadHead */

/**
 * Decodes the texts of the data elements.
 *
 * @param {string[]} texts base64, each a whole number of bytes
 * @param {PayloadHead} head
 * @returns {Uint8Array[]}
 */
export function decodeChunks(texts, head) {
  const fromBase64 = /** @type {any} */ (Uint8Array).fromBase64;
  const parts = texts.map((text) => {
    try {
      return fromBase64 ? fromBase64.call(Uint8Array, text) : Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    } catch {
      throw new DamagedData("part of the data is cut off or no base64");
    }
  });
  const bytes = parts.reduce((sum, part) => sum + part.length, 0);
  if (texts.length !== head.chunks || bytes !== head.bytes) {
    throw new DamagedData(
      `the file has ${bytes} of ${head.bytes} bytes of data, in ${texts.length} of ${head.chunks} parts`,
    );
  }
  return parts;
}

/**
 * The bytes of the payload.
 *
 * A stream of its own is made, since `Blob.stream` fails on `file:` in WebKit's workers. The bytes go to their place as
 * they come, and parts go as they are read, so that there is one copy of either.
 *
 * @param {Uint8Array[]} parts are used up
 * @param {PayloadHead} head
 * @returns {Promise<Uint8Array>}
 */
export async function inflate(parts, head) {
  let bytes;
  if (head.encoding === "gzip") {
    const Inflate = /** @type {any} */ (globalThis).DecompressionStream;
    if (!Inflate) throw new DamagedData("this browser cannot inflate gzip; a newer one can");
    // Deflate shortens to no less than a 1032nd, so a size beyond that is no reason to ask for memory.
    if (head.rawBytes > head.bytes * 1032 + 64) throw new DamagedData("the data cannot be as long as the file says");
    const source = new ReadableStream({
      pull(controller) {
        const part = parts.shift();
        if (part) controller.enqueue(part);
        else controller.close();
      },
    });
    bytes = new Uint8Array(head.rawBytes);
    let filled = 0;
    try {
      const reader = source.pipeThrough(new Inflate("gzip")).getReader();
      for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
        if (filled + value.length <= bytes.length) bytes.set(value, filled);
        filled += value.length;
      }
    } catch {
      throw new DamagedData("the data are no whole gzip stream");
    }
    if (filled !== bytes.length) throw new DamagedData(`the data have ${filled} bytes where ${head.rawBytes} are expected`);
  } else if (head.encoding === "none") {
    bytes = new Uint8Array(head.bytes);
    let at = 0;
    for (const part of parts) {
      bytes.set(part, at);
      at += part.length;
    }
  } else {
    throw new DamagedData(`the data have the unknown encoding ${head.encoding}`);
  }
  if (bytes.length !== head.rawBytes) {
    throw new DamagedData(`the data have ${bytes.length} bytes where ${head.rawBytes} are expected`);
  }
  return bytes;
}
