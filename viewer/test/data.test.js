// The payload's reader: what is written is read, and damaged data are refused with a sentence.

import assert from "node:assert/strict";
import { test } from "node:test";
import { DamagedData, columnReader } from "../src/data/columns.js";
import { decodeChunks, inflate } from "../src/data/inflate.js";
import { analyze, narrowedCosts, unreachedComponents } from "../src/data/analysis.js";
import { readTables } from "../src/data/tables.js";
import { stringReader } from "../src/data/strings.js";
import { refusal } from "../src/data/version.js";
import { PROVENANCES, ROOT_KINDS } from "../src/data/model.js";
import { buffersOf } from "../src/data/worker.js";
import { ReportBuilder, encodeColumns, encodeReport } from "./support/encode.js";
import { modelOf } from "./support/model.js";
import { seeded } from "./support/random.js";

function randomReport(seed, options) {
  const random = seeded(seed);
  const report = new ReportBuilder();
  const pick = (count) => Math.floor(random() * count);
  const types = Array.from({ length: 1 + pick(6) }, (_, at) => report.type(`App.Type${at} é </script>`, at % 2 ? "App" : ""));
  const stacks = Array.from({ length: 4 }, () => report.stack(["main", "/a/main.swift", 3, "App", 2], [`f${pick(3)}`], ["malloc", "", 0, "libc", 4]));
  const count = 1 + pick(60);
  for (let at = 0; at < count; at++) {
    report.node({ type: types[pick(types.length)], bytes: pick(5) === 0 ? 2 ** 33 + pick(100) : pick(500), kind: pick(12), flags: pick(10) === 0 ? 2 : 0, generation: pick(4), stack: stacks[pick(4)], gap: pick(64) });
  }
  for (let at = pick(150); at > 0; at--) {
    report.edge(pick(count), pick(count), `field${pick(4)}`, { index: [undefined, "_", pick(9)][pick(3)], strength: pick(6) === 0 ? 1 + pick(3) : 0, provenance: pick(3) });
  }
  for (let at = pick(4); at > 0; at--) report.root(pick(7), `root ${pick(3)}`, pick(count));
  report.earlier = [{ "App.Type0 é </script>": [3, 300] }];
  return { report, finished: report.finish(options) };
}

test("what is written is read", async () => {
  for (let seed = 1; seed <= 60; seed++) {
    for (const hasDominators of [false, true]) {
      const { report, finished } = randomReport(seed, { hasDominators });
      const { summary, chunks } = encodeReport(finished.summary, finished.columns, { chunk: 300, encoding: seed % 3 ? "gzip" : "none" });
      const stages = [];
      const { tables, analysis } = await analyze(summary, decodeChunks(chunks, summary.payload), (stage) => void stages.push(stage));
      assert.deepEqual(analysis.mismatches, [], `seed ${seed}`);
      assert.ok(stages.length > 5);
      const text = stringReader(tables.strings);
      for (const [at, node] of report.nodes.entries()) {
        assert.equal(text(tables.type.name[tables.node.type[at]]), report.strings[report.types[node.type].name]);
        for (const name of ["bytes", "kind", "flags", "generation", "stack"]) assert.equal(tables.node[name][at], node[name], name);
        const held = report.edges.filter((edge) => edge.from === at);
        for (const [place, edge] of held.entries()) {
          const slot = tables.edge.first[at] + place;
          assert.equal(tables.edge.target[slot], edge.to);
          assert.equal(tables.edge.label[slot], edge.label);
          assert.equal(tables.edge.info[slot], edge.info | ((node.flags & 3) === 2 ? 0x80 : 0));
        }
      }
      let end = 0x7f00_0000_0000;
      for (const [at, node] of report.nodes.entries()) {
        assert.equal(tables.node.address[at], end + node.gap);
        end = tables.node.address[at] + node.bytes;
      }
      assert.deepEqual(tables.stack.parent, Uint32Array.from(report.stacks, (stack) => stack.parent));
      assert.deepEqual([...analysis.retained.bytes], [...finished.retained.bytes], `seed ${seed}`);
      assert.deepEqual(analysis.retained.counts, finished.retained.counts);
    }
  }
});

test("figures that differ from the analyzer's are told", async () => {
  const { finished } = randomReport(7);
  for (const name of Object.keys(finished.summary.check)) {
    const other = { ...finished.summary, check: { ...finished.summary.check, [name]: finished.summary.check[name] + 1 } };
    const { summary, chunks } = encodeReport(other, finished.columns);
    const { analysis } = await analyze(summary, decodeChunks(chunks, summary.payload), () => {});
    assert.equal(analysis.mismatches.length, 1, name);
    assert.equal(analysis.mismatches[0].analyzer, analysis.mismatches[0].page + 1);
  }
});

test("what is handed to the page is as narrow as it may be", async () => {
  const isReached = Uint8Array.of(1, 0, 0, 1, 0, 0);
  assert.deepEqual(unreachedComponents(Uint32Array.of(9, 4, 7, 9, 4, 900), isReached), Uint8Array.of(0, 1, 2, 0, 1, 3));
  const many = Uint32Array.from({ length: 70_000 }, (_, node) => node);
  assert.deepEqual(unreachedComponents(many, new Uint8Array(70_000)), many.map((node) => node + 1));
  assert.deepEqual(unreachedComponents(many.slice(0, 300), new Uint8Array(300)), Uint16Array.from({ length: 300 }, (_, node) => node + 1));
  assert.deepEqual(narrowedCosts(Uint32Array.of(0, 65534, 0xffffffff)), Uint16Array.of(0, 65534, 65535));
  assert.deepEqual(narrowedCosts(Uint32Array.of(0, 65535, 0xffffffff)), Uint32Array.of(0, 65535, 0xffffffff));

  const report = new ReportBuilder();
  const type = report.type("App.Page", "App");
  for (let at = 0; at < 3; at++) report.node({ type, bytes: 2 ** 30, kind: 1, flags: 0, generation: 0, stack: 0, gap: 0 });
  const retainedOf = async () => {
    const finished = report.finish();
    const { summary, chunks } = encodeReport(finished.summary, finished.columns);
    const { analysis } = await analyze(summary, decodeChunks(chunks, summary.payload), () => {});
    assert.deepEqual(analysis.mismatches, []);
    assert.equal("backSource" in analysis.back, false);
    return analysis.retained.bytes;
  };
  assert.deepEqual(await retainedOf(), Uint32Array.of(2 ** 30, 2 ** 30, 2 ** 30, 3 * 2 ** 30));
  report.node({ type, bytes: 2 ** 30, kind: 1, flags: 0, generation: 0, stack: 0, gap: 0 });
  assert.deepEqual(await retainedOf(), Float64Array.of(2 ** 30, 2 ** 30, 2 ** 30, 2 ** 30, 2 ** 32));
});

test("damaged data are refused", async () => {
  const { finished } = randomReport(11, { hasDominators: true });
  const { summary, chunks } = encodeReport(finished.summary, finished.columns, { chunk: 300 });
  const attempt = async (changed, texts) => {
    await analyze(changed, decodeChunks(texts, changed.payload), () => {});
  };
  await attempt(summary, chunks);
  await assert.rejects(attempt(summary, chunks.slice(0, -1)), /the file has \d+ of \d+ bytes/);
  await assert.rejects(attempt(summary, [...chunks.slice(0, -1), chunks.at(-1).slice(0, -4)]), DamagedData);
  await assert.rejects(attempt(summary, ["*!", ...chunks.slice(1)]), DamagedData);
  const swapped = [chunks[0].replace(/[A-M]/g, "Z"), ...chunks.slice(1)];
  await assert.rejects(attempt(summary, swapped), DamagedData);
  await assert.rejects(attempt({ ...summary, payload: { ...summary.payload, rawBytes: 1 } }, chunks), /where 1 are expected/);
  await assert.rejects(attempt({ ...summary, payload: { ...summary.payload, encoding: "zstd" } }, chunks), /unknown encoding zstd/);
  for (const column of finished.columns.map(([name]) => name)) {
    if (column.startsWith("node.retained") || column === "node.dominator") continue;
    const fewer = encodeReport(finished.summary, finished.columns.filter(([name]) => name !== column));
    await assert.rejects(attempt(fewer.summary, fewer.chunks), DamagedData, column);
  }
});

test("no damage of the payload passes unseen or breaks the reader", () => {
  const { finished } = randomReport(13);
  const { heads, payload } = encodeColumns(finished.columns);
  const random = seeded(5);
  let refused = 0;
  for (let round = 0; round < 3_000; round++) {
    const bytes = Uint8Array.from(payload);
    for (let flips = 1 + Math.floor(random() * 3); flips > 0; flips--) bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256);
    try {
      const tables = readTables({ ...finished.summary, columns: heads }, bytes);
      for (const target of tables.edge.target) assert.ok(target < tables.nodeCount);
      for (const label of tables.edge.label) assert.ok(label < tables.label.name.length);
    } catch (error) {
      assert.ok(error instanceof DamagedData, String(error));
      refused++;
    }
  }
  assert.ok(refused > 500, `${refused} refused`);
});

test("numbers at the ends of their ranges", () => {
  const values = {
    u32: [0, 127, 128, 2 ** 31, 2 ** 32 - 1],
    u53: [0, 2 ** 32, 2 ** 53 - 1],
    z32: [0, -1, 1, 2 ** 31 - 1, -(2 ** 31)],
    z53: [0, -1, 1, 2 ** 52 - 1, -(2 ** 52 - 1)],
  };
  for (const [encoding, list] of Object.entries(values)) {
    const { heads, payload } = encodeColumns([["a", encoding, list]]);
    assert.deepEqual([...columnReader(heads, payload).read("a")], list, encoding);
    assert.throws(() => columnReader([{ ...heads[0], count: list.length + 1 }], payload).read("a"), DamagedData);
    assert.throws(() => columnReader([{ ...heads[0], count: list.length - 1 }], payload).read("a"), DamagedData);
  }
  const tooLarge = [{ name: "a", encoding: "u32", count: 1, bytes: 5 }];
  assert.throws(() => columnReader(tooLarge, Uint8Array.of(255, 255, 255, 255, 31)).read("a"), DamagedData);
  assert.throws(() => columnReader([{ ...tooLarge[0], bytes: 6 }], Uint8Array.of(255, 255, 255, 255, 255, 1)).read("a"), DamagedData);
  const tooLong = [{ name: "a", encoding: "u53", count: 1, bytes: 8 }];
  assert.throws(() => columnReader(tooLong, Uint8Array.of(255, 255, 255, 255, 255, 255, 255, 127)).read("a"), DamagedData);
});

test("a newer version is refused by name", () => {
  assert.equal(refusal({ format: "memory-graph/view/1" }), null);
  assert.match(refusal({ format: "memory-graph/view/2" }), /are memory-graph\/view\/2, and this page reads memory-graph\/view\/1/);
  for (const other of [null, {}, { format: 1 }, { format: "memory-graph/report/1" }]) assert.match(refusal(other), /this page reads/);
});

test("all buffers are handed over, each once", () => {
  const shared = new Uint8Array(8);
  assert.equal(buffersOf({ a: shared, b: [new Float64Array(1), shared.subarray(2)], c: null, d: 4, e: "x" }).length, 2);
});

test("gzip is inflated from parts", async () => {
  const { finished } = randomReport(3);
  const { payload } = encodeColumns(finished.columns);
  const { summary, chunks } = encodeReport(finished.summary, finished.columns, { chunk: 30 });
  assert.deepEqual(Buffer.from(await inflate(decodeChunks(chunks, summary.payload), summary.payload)), payload);
});

test("a variable that holds an object is not unsure, a word of a stack is", async () => {
  const report = new ReportBuilder();
  const type = report.type("App.Session", "App");
  for (let kind = 0; kind < ROOT_KINDS.length; kind++) report.root(kind, `root ${kind}`, report.node({ type }));
  const model = await modelOf(report);
  const unsure = ROOT_KINDS.filter((_, at) => PROVENANCES[model.provenance(model.firstRoot + at)] === "unsure");
  assert.deepEqual(unsure, ["stack", "register", "thread-local", "mapped memory"]);
});
