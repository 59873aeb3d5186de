// Words, numbers, filters, hashes and what is copied.

import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeFilter, rootSlots, selectedNodes, sortedNodes } from "../src/data/selection.js";
import { ABSENT } from "../src/graph/csr.js";
import { wayFromRoot } from "../src/layout/steps.js";
import { csvOf, markdownText, stepText, treeText } from "../src/text/copies.js";
import { matches, parseFilter, sizeOf, termText, withoutTerm } from "../src/text/filter.js";
import { address, bytes, clipped, count, number, percent, shortFunction, shortType, signed, signedBytes } from "../src/text/format.js";
import { parseRoute, routeText } from "../src/text/route.js";
import { findingMarkdown, findingText } from "../src/ui/findings.js";
import { wayTexts } from "../src/ui/ways.js";
import { demoReport } from "./support/demo.js";
import { modelOf } from "./support/model.js";
import { seeded } from "./support/random.js";

test("numbers and bytes are written as the command line writes them", () => {
  assert.deepEqual([0, 999, 1000, 1_234_567, -1000].map(number), ["0", "999", "1,000", "1,234,567", "-1,000"]);
  assert.deepEqual([4, 0, -3].map(signed), ["+4", "0", "-3"]);
  assert.deepEqual([0, 1, 840, 1023, 1024, 1434, 102_348, 102_400, 1_048_575, 1_048_576, 2 ** 40, -2048].map(bytes), [
    "0 bytes", "1 byte", "840 bytes", "1023 bytes", "1.0 KB", "1.4 KB", "99.9 KB", "100 KB", "1.0 MB", "1.0 MB", "1.0 TB", "-2.0 KB",
  ]);
  assert.equal(signedBytes(2048), "+2.0 KB");
  assert.equal(count(1, "object"), "1 object");
  assert.equal(count(1200, "box", "boxes"), "1,200 boxes");
  assert.deepEqual([percent(1, 3), percent(0, 3), percent(1, 5000), percent(2, 2), percent(1, 0)], ["33 %", "0 %", "< 0.1 %", "100 %", "0 %"]);
  assert.equal(address(0x7f0012345678), "0x7f0012345678");
});

test("types are shortened without losing what tells them apart", () => {
  const pairs = {
    "App.CallViewController": "CallViewController",
    "Swift.Array<App.Model.Item>": "Array<Item>",
    "closure #1 in App.Screen.body() -> Swift.Int": "closure #1 in body() -> Swift.Int",
    "implicit closure #2 in App.Screen.start(with:)": "implicit closure #2 in start(with:)",
    "C memory": "C memory",
    "(App.A, App.B)": "(App.A, App.B)",
    "method App.Model.handle(_:)": "method handle(_:)",
    "": "",
    "Straße.Größe": "Größe",
  };
  for (const [name, short] of Object.entries(pairs)) assert.equal(shortType(name), short);
});

test("functions lose their module alone", () => {
  const pairs = {
    "App.Screen.start(_:)": "Screen.start(_:)",
    "static App.Main.main()": "static Main.main()",
    "closure #1 in App.Screen.start(_:)": "closure #1 in Screen.start(_:)",
    malloc: "malloc",
    "operator new(unsigned long)": "operator new(unsigned long)",
    "swift::swift_slowAlloc": "swift::swift_slowAlloc",
  };
  for (const [name, short] of Object.entries(pairs)) assert.equal(shortFunction(name), short);
});

test("long texts are cut in the middle, by letters", () => {
  assert.equal(clipped("short", 10), "short");
  assert.equal(clipped("0123456789abc", 8), "01234…bc");
  assert.equal([...clipped("😀".repeat(100), 10)].length, 10);
  assert.ok(!/[\ud800-\udbff](?![\udc00-\udfff])/.test(clipped("😀".repeat(100), 10)));
});

test("a hash leads where it was made", () => {
  const random = seeded(3);
  const letters = ["a", "&", "=", "#", "?", "%", "+", " ", "é", "😀", "\u202e", '"', "<", "/", ":", ">"];
  for (let round = 0; round < 300; round++) {
    const options = {};
    for (let at = Math.floor(random() * 4); at > 0; at--) {
      const text = () => Array.from({ length: 1 + Math.floor(random() * 6) }, () => letters[Math.floor(random() * letters.length)]).join("");
      options[text()] = text();
    }
    const route = parseRoute(routeText("objects", options));
    assert.equal(route.view, "objects");
    assert.deepEqual({ ...route.options }, options);
  }
  assert.deepEqual(parseRoute(""), { view: "findings", options: {} });
  assert.deepEqual(parseRoute("#finding-3"), { view: "findings", options: {} });
  assert.deepEqual({ ...parseRoute("#/map?a=%zz&__proto__=1&b").options }, { a: "%zz", ["__proto__"]: "1", b: "" });
  assert.equal(routeText("types", { q: "type:A size>1k", sort: "", n: 0, x: null }), "#/types?q=type:A+size>1k&n=0");
});

test("filters are taken apart and put together", () => {
  const terms = parseFilter('type:Page size>=1.5k -leaked gen:"call 2" "two words" word -kind=box retained<2MB');
  assert.deepEqual(terms.map(({ key, operator, value, isNegated, error }) => [key, operator, value, isNegated, error]), [
    ["type", ":", "Page", false, null],
    ["size", ">=", "1.5k", false, null],
    ["leaked", "", "leaked", true, null],
    ["gen", ":", "call 2", false, null],
    ["", "", "two words", false, null],
    ["", "", "word", false, null],
    ["kind", "=", "box", true, null],
    ["retained", "<", "2MB", false, null],
  ]);
  assert.deepEqual([terms[1].amount, terms[7].amount], [1536, 2 * 1024 * 1024]);
  assert.equal(withoutTerm(terms, terms[1]), 'type:Page -leaked gen:"call 2" "two words" word -kind=box retained<2MB');
  const errors = parseFilter("colour:red size:big size> type>3 gen>x refs:-1");
  assert.ok(errors.every((term) => term.error !== null), errors.map((term) => term.error).join("; "));
  assert.match(errors[0].error, /there is no “colour”; there are type, /);
  assert.equal(parseFilter('"leaked"')[0].key, "", "a quoted flag is a word");
  assert.deepEqual(parseFilter('"open').map((term) => term.value), ["open"]);
  assert.deepEqual(parseFilter("   "), []);
  for (const value of ["App.Page", "two words", 'a"b\\c', "leaked", "-x", "a:b", "é😀"]) {
    for (const key of ["", "type"]) {
      const [term, ...rest] = parseFilter(termText(key, value));
      assert.deepEqual([term.key, term.value, term.isNegated, term.error, rest.length], [key, value, false, null, 0], value);
    }
  }
  assert.deepEqual(["10", "4k", "1.5M", "2 GB", "1kib", ".5k", "x", "", "1.2.3", "k"].map(sizeOf), [10, 4096, 1572864, 2147483648, 1024, 512, NaN, NaN, NaN, NaN]);
});

test("a raw identifier is found as it is typed, with backticks or without", () => {
  const name = "App.\x60a\u00a0screen of calls\x60";
  const isFound = (/** @type {string} */ value, operator = ":") => matches({ ...parseFilter(`type:"${value}"`)[0], operator }, name);
  for (const value of ["a screen", "A Screen OF", "App.a screen", "\x60a screen", "\x60a\u00a0screen of calls\x60"]) assert.ok(isFound(value), value);
  for (const value of ["ascreen", "screen\x60"]) assert.ok(!isFound(value), value);
  assert.ok(isFound("App.a screen of calls", "=") && isFound(name, "="));
});

test("no text breaks the filter", () => {
  const random = seeded(8);
  const parts = ['"', "\\", ":", ">", "<=", "-", "size", "type", "gen", " ", "1k", "é", "\u0000", "leaked", "="];
  for (let round = 0; round < 2000; round++) {
    const text = Array.from({ length: Math.floor(random() * 12) }, () => parts[Math.floor(random() * parts.length)]).join("");
    for (const term of parseFilter(text)) assert.equal(typeof term.value, "string");
  }
});

test("a filter leaves the objects that are as it says", async () => {
  const model = await modelOf(demoReport());
  const expected = {
    "type=VideoCall.CallViewController": (node) => model.typeName(node) === "VideoCall.CallViewController",
    track: (node) => /track/i.test(model.typeName(node)),
    "-track": (node) => !/track/i.test(model.typeName(node)),
    "module:videocall kind:object": (node) => model.moduleName(node) === "VideoCall" && model.node.kind[node] === 1,
    "size>100": (node) => model.node.bytes[node] > 100,
    "retained>=100k": (node) => model.retained.bytes[node] >= 102_400,
    "refs:11": (node) => model.graph.backFirst[node + 1] - model.graph.backFirst[node] === 11,
    leaked: (node) => model.isLeaked(node),
    "-leaked own": (node) => !model.isLeaked(node) && model.isOwn(node),
    'gen:"call 2"': (node) => model.node.generation[node] === 2,
    "gen>1": (node) => model.node.generation[node] > 1,
    "gen:3": (node) => model.node.generation[node] === 3,
    "field:client": (node) => model.typeName(node) === "VideoCall.CallViewController" && model.isLeaked(node),
    "heldby:client": (node) => model.typeName(node) === "VideoCall.SignalingClient",
    "stack:addTracks": (node) => model.frames(model.node.stack[node]).some((frame) => frame.function.includes("addTracks")),
    "strong:1 swift": (node) => model.node.strong[node] === 2 && model.node.kind[node] >= 1 && model.node.kind[node] <= 5,
    "root:NotificationHub": (node) => {
      const slots = wayFromRoot(model, node);
      return slots !== null && slots.length > 0 && model.isRoot(slots[0]) && model.rootName(slots[0]).includes("NotificationHub");
    },
    "colour:red": () => true,
    "": () => true,
  };
  for (const [text, isWanted] of Object.entries(expected)) {
    const nodes = [...Array(model.nodeCount).keys()].filter(isWanted);
    assert.deepEqual([...selectedNodes(model, nodeFilter(model, parseFilter(text)))], nodes, text);
    if (text !== "") assert.ok(nodes.length > 0, `${text} finds something`);
  }
  const roots = rootSlots(model);
  for (let node = 0; node < model.nodeCount; node++) {
    const slots = wayFromRoot(model, node);
    const root = slots && slots.length > 0 && model.isRoot(slots[0]) ? slots[0] : ABSENT;
    assert.equal(roots[node], root);
  }
});

test("nodes are sorted, equal ones by their number", () => {
  const random = seeded(4);
  for (const most of [5, 1000, 2 ** 50]) {
    const values = Array.from({ length: 500 }, () => Math.floor(random() * most));
    const nodes = Uint32Array.from({ length: 400 }, (_, at) => at + 50);
    for (const isDown of [false, true]) {
      const expected = [...nodes].sort((a, b) => (isDown ? values[b] - values[a] : values[a] - values[b]) || a - b);
      assert.deepEqual([...sortedNodes(nodes, (node) => values[node], isDown)], expected, `${most}`);
    }
  }
  assert.deepEqual([...sortedNodes(new Uint32Array(0), () => 0, true)], []);
});

test("ways are copied as text and Markdown", async () => {
  const model = await modelOf(demoReport());
  const [screen] = [...Array(model.nodeCount).keys()].filter((node) => model.isLeaked(node) && model.typeName(node) === "VideoCall.CallViewController");
  const { title, steps, end, isCycle } = wayTexts(model, screen);
  assert.ok(isCycle);
  assert.match(title, /^VideoCall\.CallViewController at 0x7f[0-9a-f]+, leaked in a cycle: retains 145 KB in 22 objects$/);
  assert.equal(
    [...steps.map(stepText), end].join(" → "),
    "VideoCall.CallViewController.client → VideoCall.SignalingClient.onConnectionChange → (closure #1 in VideoCall.CallViewController.listenToClient()) → (closure #1 in VideoCall.CallViewController.listenToClient()).self → VideoCall.CallViewController",
  );
  assert.equal(treeText("T", steps.slice(0, 1), "End"), "T\nVideoCall.CallViewController.client\n  └ End\n");
  const fenced = markdownText("a_b*", [{ type: "x ```` y", field: "f", notes: ["weak", "unsure"], via: "" }], "End");
  assert.equal(fenced, "**a\\_b\\***\n\n`````\n(x ```` y).f [weak, unsure]\n  └ End\n`````\n");
  const image = [...Array(model.nodeCount).keys()].find((node) => model.typeName(node) === "VideoCall.Image");
  const held = wayTexts(model, image);
  assert.equal([...held.steps.map(stepText), held.end].join(" → "), "static VideoCall.NotificationHub.shared → VideoCall.NotificationHub.cache → VideoCall.ImageCache.images[_] → VideoCall.Image");
});

test("a finding is copied as text and Markdown", () => {
  const [finding] = demoReport().summary.findings;
  assert.equal(
    findingText(finding),
    `3 objects of VideoCall.CallViewController, leaked in a cycle, 264 bytes; 433 KB would go with them
   cycle  VideoCall.CallViewController.client → VideoCall.SignalingClient.onConnectionChange → (closure #1 in VideoCall.CallViewController.listenToClient()).self → VideoCall.CallViewController
   cut    VideoCall.SignalingClient.onConnectionChange -> closure #1 in VideoCall.CallViewController.listenToClient(): capture [weak self]
   made   VideoCall.holdConsultation(_:) at Consultation.swift:8
   id     9f2c41d0a7be
`,
  );
  for (const [kind, words] of [["leak", "leaked"], ["abandoned", "abandoned"], ["overRetained", "retained more often than it has holders"], ["zombie", "destroyed, memory kept by unowned references"]]) {
    assert.ok(findingText({ ...finding, cycle: undefined, kind }).includes(` of VideoCall.CallViewController, ${words}, 264 bytes;`), kind);
  }
  const text = findingMarkdown({ ...finding, type: "a`b``c", cycle: undefined, path: [{ root: "global", name: "x`y" }] });
  assert.ok(text.startsWith("**3 objects of a\\`b\\`\\`c"), text);
  assert.ok(text.includes("- path: ``` x`y → a`b``c ```"), text);
});

test("CSV keeps its cells, and no cell is a formula", () => {
  assert.equal(csvOf([["a", 'b"c', "d,e", "f\ng"], ["=1+1", "-5", "+1,000", "@x", "-x"]]), 'a,"b""c","d,e","f\ng"\r\n\'=1+1,-5,"+1,000",\'@x,\'-x\r\n');
});
