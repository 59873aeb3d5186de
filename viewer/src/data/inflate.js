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
 * A stream of its own is made, since `Blob.stream` fails on `file:` in WebKit's workers.
 *
 * @param {Uint8Array[]} parts
 * @param {PayloadHead} head
 * @returns {Promise<Uint8Array>}
 */
export async function inflate(parts, head) {
  let bytes;
  if (head.encoding === "gzip") {
    const Inflate = /** @type {any} */ (globalThis).DecompressionStream;
    if (!Inflate) throw new DamagedData("this browser cannot inflate gzip; a newer one can");
    const source = new ReadableStream({
      start(controller) {
        for (const part of parts) controller.enqueue(part);
        controller.close();
      },
    });
    try {
      bytes = new Uint8Array(await new Response(source.pipeThrough(new Inflate("gzip"))).arrayBuffer());
    } catch {
      throw new DamagedData("the data are no whole gzip stream");
    }
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
