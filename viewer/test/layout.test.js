// Where things go in pictures: order and places against brute force, sums that stay right, slices that keep what they must.

import assert from "node:assert/strict";
import { test } from "node:test";
import { cutSlots, slotsAlike } from "../src/data/cuts.js";
import { callTree, costsByStack, functionCosts } from "../src/layout/calls.js";
import { draw } from "../src/layout/drawing.js";
import { layered } from "../src/layout/layered.js";
import { crossings, spread } from "../src/layout/order.js";
import { pictureOf } from "../src/layout/picture.js";
import { retainedTree } from "../src/layout/retained.js";
import { SCAN, slice } from "../src/layout/slice.js";
import { cycleThrough, joinedFields, namesOf, stepsAlong, stepsAt, wayFromRoot } from "../src/layout/steps.js";
import { MOST_ROWS, icicle, rectAt, squarified, treemap } from "../src/layout/weighted.js";
import { demoReport } from "./support/demo.js";
import { ReportBuilder } from "./support/encode.js";
import { modelOf } from "./support/model.js";
import { seeded } from "./support/random.js";

/** A report of random objects, storage among them, of which each is called after its number. */
function randomReport(seed, { most = 40, density = 2.2 } = {}) {
  const random = seeded(seed);
  const report = new ReportBuilder();
  const pick = (count) => Math.floor(random() * count);
  const types = Array.from({ length: 5 }, (_, at) => report.type(`App.T${at}`, "App"));
  const count = 2 + pick(most);
  for (let at = 0; at < count; at++) {
    report.node({ type: types[pick(5)], bytes: 16 + pick(100), kind: [1, 1, 1, 4, 3, 2][pick(6)] });
  }
  for (let at = Math.floor(count * density); at > 0; at--) {
    report.edge(pick(count), pick(count), `f${pick(3)}`, { index: [undefined, undefined, pick(5)][pick(3)], strength: pick(8) === 0 ? 1 : 0, provenance: 1 + pick(2) });
  }
  for (let at = pick(4); at >= 0; at--) report.root(pick(7), `root ${pick(3)}`, pick(count));
  return { report, random };
}

test("places are the nearest ones that keep order and distance", () => {
  for (let seed = 1; seed <= 300; seed++) {
    const random = seeded(seed);
    const count = 1 + Math.floor(random() * 9);
    const wanted = Array.from({ length: count }, () => random() * 100);
    const sizes = Array.from({ length: count }, () => 1 + random() * 20);
    const places = spread(wanted, sizes, 3);
    const offsets = sizes.map((_, at) => sizes.slice(0, at).reduce((sum, size) => sum + size + 3, 0));
    const free = wanted.map((value, at) => value - offsets[at]);
    // The isotonic regression is the largest, over all beginnings, of the least, over all ends, of averages.
    const average = (from, to) => free.slice(from, to + 1).reduce((sum, value) => sum + value, 0) / (to - from + 1);
    for (let at = 0; at < count; at++) {
      let best = -Infinity;
      for (let from = 0; from <= at; from++) {
        let least = Infinity;
        for (let to = at; to < count; to++) least = Math.min(least, average(from, to));
        best = Math.max(best, least);
      }
      assert.ok(Math.abs(places[at] - offsets[at] - best) < 1e-9, `seed ${seed}, place ${at}`);
      if (at > 0) assert.ok(places[at] - places[at - 1] >= sizes[at - 1] + 3 - 1e-9);
    }
  }
});

test("crossings are pairs of lines in the wrong order", () => {
  assert.equal(crossings([[0, 1], [1, 0]]), 1);
  assert.equal(crossings([[0, 0], [1, 1], [2, 2]]), 0);
  assert.equal(crossings([[0, 0], [0, 1], [1, 0]]), 1);
  assert.equal(crossings([[0, 2], [1, 1], [2, 0]]), 3);
});

test("boxes of a column do not overlap, and columns without need do not cross", () => {
  for (let seed = 1; seed <= 200; seed++) {
    const random = seeded(seed);
    const boxes = Array.from({ length: 1 + Math.floor(random() * 25) }, () => ({ column: Math.floor(random() * 5), height: 20 + Math.floor(random() * 30) }));
    const links = Array.from({ length: Math.floor(random() * 40) }, () => ({ from: Math.floor(random() * boxes.length), to: Math.floor(random() * boxes.length) }));
    const { tops, height, columns } = layered(boxes, links, 10);
    assert.deepEqual([...columns.flat()].sort((a, b) => a - b), boxes.map((_, at) => at));
    for (const column of columns) {
      for (let at = 1; at < column.length; at++) {
        assert.ok(tops[column[at]] - tops[column[at - 1]] >= boxes[column[at - 1]].height + 9, `seed ${seed}`);
      }
    }
    boxes.forEach((box, at) => assert.ok(tops[at] >= 0 && tops[at] + box.height <= height));
  }
  // Two chains that cross in the order they are given need not.
  const boxes = [0, 1, 1, 2, 2].map((column) => ({ column, height: 10 }));
  const { columns } = layered(boxes, [{ from: 1, to: 0 }, { from: 2, to: 0 }, { from: 3, to: 2 }, { from: 4, to: 1 }], 5);
  const place = (box) => columns.find((column) => column.includes(box)).indexOf(box);
  assert.equal(place(1) < place(2), place(4) < place(3));
});

test("a slice has the way from a root, dominators, and only true references", async () => {
  let rooted = 0;
  let cyclic = 0;
  for (let seed = 1; seed <= 150; seed++) {
    const { report, random } = randomReport(seed);
    const model = await modelOf(report);
    const target = Math.floor(random() * model.nodeCount);
    const part = slice(model, [target], { cap: 4 + Math.floor(random() * 30), isWithWeak: seed % 3 === 0 });
    const { boxes, links } = part;
    assert.deepEqual(boxes[0].members, [target]);
    const all = boxes.filter((box) => box.kind === "objects").flatMap((box) => box.members);
    assert.equal(new Set(all).size, all.length, `seed ${seed}: each object is in one box`);
    for (const link of links) {
      if (link.isInCycle) cyclic++;
      if (link.count === 0) continue;
      const from = boxes[link.from];
      const to = boxes[link.to];
      for (let at = 0; at < link.firstSlots.length; at++) {
        const source = model.source(link.firstSlots[at]);
        assert.ok(from.kind === "root" ? from.members.includes(link.firstSlots[at]) : from.members.includes(source), `seed ${seed}: source`);
        assert.ok(to.members.includes(model.graph.target[link.lastSlots[at]]), `seed ${seed}: target`);
        if (seed % 3 !== 0) assert.ok(model.holds(link.lastSlots[at]));
      }
    }
    // Every object of the way, and every dominator that isn't folded, is there.
    const slots = wayFromRoot(model, target);
    if (slots && slots.length > 0 && model.isRoot(slots[0])) {
      rooted++;
      for (const step of stepsAlong(model, slots)) {
        if (step.isRoot) assert.ok(boxes.some((box) => box.kind === "root" && box.members.includes(slots[0])), `seed ${seed}: root`);
        else assert.ok(all.includes(step.node), `seed ${seed}: way`);
      }
      for (let node = model.analysis.dominatorByNode[target]; node !== model.outside; node = model.analysis.dominatorByNode[node]) {
        if (model.isFolded(node)) continue;
        const box = boxes.find((entry) => entry.kind === "objects" && entry.members.includes(node));
        assert.ok(box, `seed ${seed}: dominator`);
        if (box.count === 1) assert.ok(box.isDominator, `seed ${seed}: marked`);
      }
    }
    // Columns are distances.
    for (const [at, box] of boxes.entries()) {
      if (at === 0) continue;
      const nearest = Math.min(...links.filter((link) => link.from === at && link.to !== at).map((link) => boxes[link.to].column));
      assert.equal(box.column, nearest + 1, `seed ${seed}: column`);
    }
  }
  assert.ok(rooted > 60 && cyclic > 30, `${rooted} rooted, ${cyclic} in cycles`);
});

test("what a slice folds is counted, and opens", async () => {
  const report = new ReportBuilder();
  const hub = report.node({ type: report.type("App.Hub", "App") });
  report.root(0, "static App.hub", hub);
  const target = report.node({ type: report.type("App.Target", "App") });
  for (let kind = 0; kind < 20; kind++) {
    for (let at = 0; at < 10; at++) {
      const holder = report.node({ type: report.type(`App.Holder${kind}`, "App") });
      report.edge(holder, target, "target");
      report.edge(hub, holder, `holders${kind}`, { index: at });
    }
  }
  const model = await modelOf(report);
  const part = slice(model, [target]);
  const alike = part.boxes.filter((box) => box.count === 10);
  assert.equal(alike.length, 4, "four groups, each merged");
  const more = part.boxes.find((box) => box.kind === "more");
  assert.equal(more.count, 160);
  const opened = slice(model, [target], { opened: new Map([[target, 8]]) });
  assert.equal(opened.boxes.filter((box) => box.count === 10 && box.kind === "objects").length, 12);
  assert.equal(opened.boxes.find((box) => box.kind === "more").count, 80);
  const all = slice(model, [target], { opened: new Map([[target, 100]]) });
  assert.ok(!all.boxes.some((box) => box.kind === "more"));
  assert.ok(all.links.some((link) => link.field === "holders3[_]" || link.field === "[_].holders3"), all.links.map((link) => link.field).join());
});

test("a hub with 20,000 holders is looked at in part, and says so", async () => {
  const report = new ReportBuilder();
  const target = report.node({ type: report.type("App.Target", "App") });
  const type = report.type("App.Holder", "App");
  for (let at = 0; at < 20_000; at++) report.edge(report.node({ type }), target, "target");
  const model = await modelOf(report);
  const part = slice(model, [target]);
  assert.equal(part.boxes.find((box) => box.kind === "more").count, 4_000);
  assert.equal(part.boxes.find((box) => box.count === SCAN).members.length, SCAN);
  const opened = slice(model, [target], { opened: new Map([[target, 8]]) });
  assert.equal(opened.boxes.find((box) => box.kind === "objects" && box !== opened.boxes[0]).count, 20_000, "who opens what is folded sees all");
  assert.ok(!opened.boxes.some((box) => box.kind === "more"));
});

test("a long way is shown with a gap", async () => {
  const report = new ReportBuilder();
  const type = report.type("App.Link", "App");
  let last = report.node({ type });
  report.root(0, "static App.list", last);
  for (let at = 1; at < 500; at++) {
    const next = report.node({ type });
    report.edge(last, next, "next");
    last = next;
  }
  const model = await modelOf(report);
  const part = slice(model, [last]);
  const gap = part.boxes.find((box) => box.kind === "gap");
  assert.equal(gap.count, 499 - 9 - 2);
  assert.ok(part.boxes.length < 20);
  assert.ok(part.boxes.some((box) => box.kind === "root"));
  const columns = part.boxes.map((box) => box.column);
  assert.equal(new Set(columns).size, part.boxes.length, "one chain");
  const drawing = draw(part, false);
  assert.ok(drawing.boxes.every((box) => Number.isFinite(box.x) && Number.isFinite(box.y)));
});

test("references go the other way, with what retains most first", async () => {
  const model = await modelOf(demoReport());
  const part = slice(model, [0], { isOutgoing: true });
  assert.ok(part.links.every((link) => part.boxes[link.from].column < part.boxes[link.to].column));
  const images = part.boxes.find((box) => box.count === 24 && model.typeName(box.members[0]) === "VideoCall.Image");
  assert.ok(images, "storage is folded");
  assert.ok(part.links.some((link) => link.field === "images[_]" && link.count === 24));
});

test("storage is folded into the field that holds it", async () => {
  const report = new ReportBuilder();
  const page = report.node({ type: report.type("App.Page", "App") });
  const storage = report.node({ type: report.type("Array storage", ""), kind: 4 });
  const box = report.node({ type: report.type("Box", ""), kind: 3 });
  const hub = report.node({ type: report.type("App.Hub", "App") });
  const loose = report.node({ type: report.type("Array storage", ""), kind: 4 });
  report.edge(hub, storage, "pages");
  report.edge(storage, box, "", { index: 3, provenance: 2 });
  report.edge(box, page, "value", { strength: 2 });
  report.edge(loose, page, "", { index: 7 });
  report.edge(box, box, "value");
  const model = await modelOf(report);
  const steps = stepsAt(model, page, { isWithWeak: true });
  const told = steps.map((step) => [step.node, namesOf(model, step).field, namesOf(model, step).folded, step.strength, step.provenance]);
  assert.deepEqual(told, [
    [hub, "pages[3].value", "pages[_].value", 2, 2],
    [box, "value.value", "value.value", 2, 1],
    [loose, "[7]", "[_]", 0, 1],
  ].filter(([node]) => told.some((entry) => entry[0] === node)));
  assert.deepEqual(stepsAt(model, page, {}).map((step) => step.node), [loose]);
  assert.equal(joinedFields(["channels", "[2].handler", "", "x"]), "channels[2].handler.x");
});

test("paths of labels have the same number where they are the same, and no other", async () => {
  const { report } = randomReport(3, { most: 20 });
  const model = await modelOf(report);
  const random = seeded(9);
  const labels = model.labelAlike.length;
  const roots = model.tables.strings.offsets.length;
  /** @type {Map<string, number>} */
  const known = new Map();
  const all = new Set(Array.from({ length: Math.max(labels, roots) }, (_, row) => row));
  for (let round = 0; round < 3_000; round++) {
    const isRoot = random() < 0.3;
    const rows = Array.from({ length: 2 + Math.floor(random() * 3) }, (_, at) => Math.floor(random() * (isRoot && at === 0 ? roots : labels)));
    let key = isRoot ? -1 - rows[0] : rows[0];
    let text = `${isRoot} ${rows[0]}`;
    for (const row of rows.slice(1)) {
      key = model.pathKey(key, row);
      text += ` ${row}`;
      assert.equal(known.get(text) ?? key, key, text);
      if (!known.has(text)) assert.ok(!all.has(key), `${text} has the number of another path`);
      known.set(text, key);
      all.add(key);
    }
  }
  assert.ok(known.size > 100, `${known.size}`);
});

test("a way avoids what is cut, and there is none where nothing is left", async () => {
  for (let seed = 1; seed <= 150; seed++) {
    const { report, random } = randomReport(seed);
    const model = await modelOf(report);
    const { first, target } = model.graph;
    const cut = new Set();
    for (let slot = 0; slot < target.length; slot++) if (random() < 0.3) cut.add(slot);
    const reached = new Set([model.outside]);
    for (const node of reached) {
      for (let slot = first[node]; slot < first[node + 1]; slot++) if (model.holds(slot) && !cut.has(slot)) reached.add(target[slot]);
    }
    for (let node = 0; node < model.nodeCount; node++) {
      if (!model.ways.isReached[node]) continue;
      const slots = wayFromRoot(model, node, cut);
      assert.equal(slots !== null, reached.has(node), `seed ${seed}, node ${node}`);
      if (!slots) continue;
      assert.ok(model.isRoot(slots[0]));
      assert.equal(target[slots[slots.length - 1]], node);
      slots.forEach((slot, at) => {
        assert.ok(!cut.has(slot) && model.holds(slot));
        if (at > 0) assert.equal(model.source(slot), target[slots[at - 1]]);
      });
    }
  }
});

test("a cycle is the shortest one through a node", async () => {
  let found = 0;
  for (let seed = 1; seed <= 150; seed++) {
    const { report } = randomReport(seed, { most: 15 });
    const model = await modelOf(report);
    const { first, target } = model.graph;
    for (let node = 0; node < model.nodeCount; node++) {
      // Breadth first from the node's targets, by definition.
      let level = new Set([node]);
      let length = Infinity;
      for (let depth = 1; depth <= model.nodeCount && length === Infinity; depth++) {
        const next = new Set();
        for (const at of level) for (let slot = first[at]; slot < first[at + 1]; slot++) if (model.holds(slot)) next.add(target[slot]);
        if (next.has(node)) length = depth;
        level = next;
      }
      const slots = cycleThrough(model, node);
      assert.equal(slots?.length ?? Infinity, length, `seed ${seed}, node ${node}`);
      if (!slots) continue;
      found++;
      slots.forEach((slot, at) => assert.equal(model.source(slot), at === 0 ? node : target[slots[at - 1]]));
      assert.equal(target[slots[slots.length - 1]], node);
    }
  }
  assert.ok(found > 300);
});

test("an ignored field is that of all objects of the type", async () => {
  const model = await modelOf(demoReport());
  const client = model.tables.edge;
  const slots = [...client.label.keys()].filter((slot) => model.field(slot) === "client");
  assert.equal(slots.length, 3);
  assert.deepEqual(slotsAlike(model, slots[1]), slots);
  assert.deepEqual([...cutSlots(model, `k${slots[0]}`)], slots);
  assert.deepEqual([...cutSlots(model, `${slots[0]},${slots[2]},x,-1,99999999,k`)], [slots[0], slots[2]]);
  const freed = model.freed(slots);
  assert.equal(freed.count, 66);
  const elements = [...client.label.keys()].filter((slot) => model.foldedField(slot) === "[_]" && model.typeName(model.source(slot)).includes("VideoTrack"));
  assert.equal(slotsAlike(model, elements[0]).length, 27);
});

test("no line leaves the picture, whichever way the links lead", async () => {
  let back = 0;
  for (let seed = 1; seed <= 200; seed++) {
    const { report } = randomReport(seed, { most: 20 });
    const model = await modelOf(report);
    for (const isOutgoing of [false, true]) {
      const drawing = draw(slice(model, [0], { isOutgoing }), isOutgoing);
      for (const link of drawing.links) {
        if (link.isBack) back++;
        for (const [x, y] of corners(link.path)) {
          assert.ok(x >= 1 && x <= drawing.width - 1 && y >= 0 && y <= drawing.height, `seed ${seed}: ${x} ${y} of ${drawing.width} ${drawing.height} in ${link.path}`);
        }
      }
    }
  }
  assert.ok(back > 300, `${back}`);
});

/** The points of an SVG path of the commands that drawings have. */
function* corners(path) {
  let [x, y] = [0, 0];
  for (const [, command, rest] of path.matchAll(/([A-Za-z])([^A-Za-z]*)/g)) {
    const numbers = (rest.match(/-?[\d.]+/g) ?? []).map(Number);
    const isRelative = command === command.toLowerCase();
    if (command.toUpperCase() === "H") x = numbers[0] + (isRelative ? x : 0);
    else if (command === "V") y = numbers[0];
    else [x, y] = [numbers.at(-2) + (isRelative ? x : 0), numbers.at(-1) + (isRelative ? y : 0)];
    assert.ok(Number.isFinite(x) && Number.isFinite(y), path);
    yield [x, y];
  }
}

test("the picture is well-formed whatever names are", async () => {
  const report = new ReportBuilder();
  const name = `</text><script>"&'\u0000\u202e𝒳${"W".repeat(4096)}`;
  const page = report.node({ type: report.type(name, "App") });
  report.root(0, name, page);
  const other = report.node({ type: report.type("App.Other", "App") });
  report.edge(page, other, name, { via: name });
  report.edge(other, page, "back");
  const model = await modelOf(report);
  const part = slice(model, [other]);
  const drawing = draw(part, false);
  const picture = pictureOf(model, part, drawing, () => "#000");
  assert.ok(!/<script|\u0000/.test(picture));
  assert.ok(picture.length < 20_000);
  const marked = pictureOf(model, part, drawing, (color) => `#${color}`, part.links.map((link) => link.field === "back"));
  assert.match(marked, /stroke="#cut" stroke-width="3.2"/);
  assert.match(marked, />cut: back</);
  const tags = picture.match(/<\/?[a-z]+[^<>]*>/g);
  assert.equal(tags.filter((tag) => tag.startsWith("<text")).length, tags.filter((tag) => tag === "</text>").length);
  assert.equal(picture.replace(/<\/?[a-z]+[^<>]*>/g, "").includes("<"), false);
});

// Pictures of trees.

class Tree {
  constructor(own, parts) {
    this.parts = parts.sort((a, b) => b.value - a.value);
    this.value = own + parts.reduce((sum, part) => sum + part.value, 0);
  }
  children() {
    return this.parts;
  }
}

function randomTree(random, depth) {
  const count = depth > 0 ? Math.floor(random() * 6) : 0;
  return new Tree(count === 0 ? 1 + Math.floor(random() * 100) : Math.floor(random() * 20), Array.from({ length: count }, () => randomTree(random, depth - 1)));
}

test("an icicle of a long list has as many rows as a browser draws, and the rest in the last", () => {
  let list = new Tree(1, []);
  for (let length = 1; length < 5000; length++) list = new Tree(1, [list]);
  const rects = icicle(list, 500, 16, 1);
  assert.equal(rects.length, MOST_ROWS);
  assert.equal(Math.max(...rects.map((rect) => rect.y)), (MOST_ROWS - 1) * 16);
  const last = rects.find((rect) => rect.rest);
  assert.deepEqual(last.rest, { count: 1, value: 5000 - (MOST_ROWS - 1) });
});

test("an icicle's bars lie under their parents, and what is left out is summed up", () => {
  for (let seed = 1; seed <= 100; seed++) {
    const root = randomTree(seeded(seed), 5);
    for (const least of [0, 3]) {
      const rects = icicle(root, 500, 10, least);
      assert.ok(Math.abs(rects[0].width - 500) < 1e-6);
      const places = new Map(rects.filter((rect) => !rect.rest).map((rect) => [rect.node, rect]));
      for (const [node, rect] of places) {
        let at = rect.x;
        const shown = node.parts.filter((part) => places.has(part));
        for (const part of shown) {
          const inner = places.get(part);
          assert.ok(Math.abs(inner.x - at) < 1e-6 && inner.y === rect.y + 10, `seed ${seed}`);
          at += inner.width;
        }
        const rest = rects.find((entry) => entry.rest && entry.node === node);
        if (rest) {
          assert.equal(rest.rest.count, node.parts.length - shown.length);
          assert.equal(rest.rest.value, node.parts.slice(shown.length).reduce((sum, part) => sum + part.value, 0));
          assert.ok(Math.abs(rest.x - at) < 1e-6);
          at += rest.width;
        }
        assert.ok(at <= rect.x + rect.width + 1e-6);
      }
      if (least === 0) {
        const count = (node) => 1 + node.parts.reduce((sum, part) => sum + count(part), 0);
        assert.equal(places.size, count(root));
      }
    }
  }
});

test("a treemap's rectangles fill their parent without overlap, as large as they are", () => {
  for (let seed = 1; seed <= 200; seed++) {
    const random = seeded(seed);
    const values = Array.from({ length: 1 + Math.floor(random() * 12) }, () => 1 + Math.floor(random() * 1000)).sort((a, b) => b - a);
    const own = random() < 0.5 ? 0 : Math.floor(random() * 500);
    const area = { x: 10, y: 20, width: 50 + random() * 500, height: 50 + random() * 300 };
    const places = squarified(values, own, area);
    const total = values.reduce((sum, value) => sum + value, own);
    const share = (area.width * area.height) / total;
    places.forEach((place, at) => {
      assert.ok(Math.abs(place.width * place.height - values[at] * share) < 1e-6 * area.width * area.height, `seed ${seed}: area`);
      assert.ok(place.x >= area.x - 1e-6 && place.y >= area.y - 1e-6 && place.x + place.width <= area.x + area.width + 1e-6 && place.y + place.height <= area.y + area.height + 1e-6);
      for (const other of places.slice(0, at)) {
        const across = Math.min(place.x + place.width, other.x + other.width) - Math.max(place.x, other.x);
        const down = Math.min(place.y + place.height, other.y + other.height) - Math.max(place.y, other.y);
        assert.ok(across < 1e-6 || down < 1e-6, `seed ${seed}: overlap`);
      }
    });
    const root = randomTree(random, 4);
    const rects = treemap(root, { x: 0, y: 0, width: 800, height: 500 }, 4);
    for (const rect of rects) assert.ok(rect.width >= 0 && rect.height >= 0 && rect.x + rect.width <= 800.001 && rect.y + rect.height <= 500.001);
    const inner = rects.find((rect) => rect.depth === 1);
    if (inner) assert.ok(rectAt(rects, inner.x + inner.width / 2, inner.y + 1).depth >= 1);
  }
  assert.equal(rectAt([], 1, 1), null);
  assert.deepEqual(icicle(new Tree(0, []), 100, 10, 1), []);
});

test("retained memory by type adds up to that of the objects", async () => {
  for (let seed = 1; seed <= 60; seed++) {
    const { report } = randomReport(seed);
    const model = await modelOf(report);
    const total = model.node.bytes.reduce((sum, size) => sum + size, 0);
    for (const isMerged of [true, false]) {
      const seen = new Set();
      const walk = (group) => {
        const inner = group.children().reduce((sum, child) => sum + walk(child), 0);
        assert.equal(group.value, inner + group.own, `seed ${seed}`);
        for (const member of group.members) if (member !== model.outside) seen.add(member);
        return group.value;
      };
      const root = retainedTree(model, isMerged);
      assert.equal(walk(root), total);
      assert.equal(seen.size, model.nodeCount, "every object once");
      assert.equal(root.objects, model.nodeCount);
    }
  }
});

test("what a type retains counts nested objects once", async () => {
  for (let seed = 1; seed <= 60; seed++) {
    const { report } = randomReport(seed);
    const model = await modelOf(report);
    const { dominatorByNode } = model.analysis;
    const expected = new Array(model.tables.report.name.length).fill(0);
    for (let node = 0; node < model.nodeCount; node++) {
      const row = model.reportRow(node);
      let isNested = false;
      for (let above = dominatorByNode[node]; above !== model.outside; above = dominatorByNode[above]) if (model.reportRow(above) === row) isNested = true;
      if (!isNested) expected[row] += model.retained.bytes[node];
    }
    assert.deepEqual([...model.analysis.retainedByReport], expected, `seed ${seed}`);
  }
});

test("trees of calls have every byte once, whichever way they stand", async () => {
  const report = new ReportBuilder();
  const random = seeded(9);
  const frames = Array.from({ length: 8 }, (_, at) => [`f${at}`, at % 3 ? "/a/f.swift" : "", at, "App", at % 3 ? 2 : 0]);
  const type = report.type("App.T", "App");
  for (let at = 0; at < 200; at++) {
    const stack = random() < 0.1 ? 0 : report.stack(...Array.from({ length: 1 + Math.floor(random() * 6) }, () => frames[Math.floor(random() * 8)]));
    report.node({ type, bytes: 16 + Math.floor(random() * 99), stack });
  }
  const model = await modelOf(report);
  const total = report.nodes.reduce((sum, node) => sum + node.bytes, 0);
  const costs = costsByStack(model, null);
  for (const isFolded of [true, false]) {
    for (const isInverted of [true, false]) {
      const { root } = callTree(model, costs, { isFolded, isInverted });
      assert.equal(root.value, total);
      const walk = (call) => {
        assert.equal(call.value, call.own + call.children().reduce((sum, child) => sum + walk(child), 0));
        return call.value;
      };
      walk(root);
    }
    // A function's share: every stack that it is on, once.
    for (const call of functionCosts(model, costs, isFolded)) {
      const name = call.name;
      const on = report.nodes.filter((node) => model.frames(node.stack).some((frame) => frame.function === name && (!isFolded || frame.isOwn)));
      assert.equal(call.value, on.reduce((sum, node) => sum + node.bytes, 0), name);
      assert.equal(call.count, on.length);
      const callers = callTree(model, costs, { isFolded, isInverted: false, callersOf: call.key }).root;
      const callees = callTree(model, costs, { isFolded, isInverted: false, calleesOf: call.key }).root;
      for (const side of [callers, callees]) {
        assert.equal(side.value, call.value);
        assert.deepEqual(side.children().map((child) => child.name), [name]);
      }
    }
  }
  const folded = callTree(model, costs, { isFolded: true, isInverted: false });
  assert.ok(folded.foldedFrames > 0);
  assert.equal(callTree(model, costs, { isFolded: false, isInverted: false }).foldedFrames, 0);
  const filtered = costsByStack(model, (node) => node < 10);
  assert.equal(filtered.counts.reduce((sum, count) => sum + count, 0), 10);
});
