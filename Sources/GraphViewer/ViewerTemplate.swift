// ViewerTemplate: made by scripts/build-viewer from viewer/src. Change that, not this.
// swift-format-ignore-file

/// The page of `memgraph view`, with slots for what it shows.
internal enum ViewerTemplate {
  static let text: StaticString = #"""
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline' blob:; worker-src blob:; style-src 'unsafe-inline'; img-src data: blob:">
<link rel="icon" href="data:,">
<title><!--slot:title--></title>
<style>
body { font: 14px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 80rem; padding: 0 1rem; }
</style>
<script>
document.documentElement.classList.add("js");
try {
const theme = localStorage.getItem("memory-graph-theme");
if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {}
</script>
</head>
<body>
<header id="mg-top"></header>
<!--slot:static-->
<div id="mg-view"></div>
<script type="application/json" id="summary"><!--slot:summary--></script>
<script id="mg-app">
(() => {
"use strict";
class DamagedData extends Error {}
function columnReader(heads, payload) {
const places = new Map();
let start = 0;
for (const head of heads) {
places.set(head.name, { head, start });
start += head.bytes;
}
if (start !== payload.length) {
throw new DamagedData(`the data have ${payload.length} bytes where ${start} are expected`);
}
return {
has: (name) => places.has(name),
rows: (name) => places.get(name)?.head.count ?? 0,
read(name, rows) {
const place = places.get(name);
if (!place) throw new DamagedData(`the column ${name} is missing`);
const { head } = place;
if (rows !== undefined && head.count !== rows) {
throw new DamagedData(`the column ${name} has ${head.count} rows where ${rows} are expected`);
}
const bytes = payload.subarray(place.start, place.start + head.bytes);
const values = decoded(head, bytes);
if (!values) throw new DamagedData(`the column ${name} does not fill its bytes`);
return values;
},
indices(name, rows, limit) {
const values = /** @type {Uint32Array} */ (this.read(name, rows));
for (let at = 0; at < values.length; at++) {
if (values[at] >= limit) throw new DamagedData(`${name} names row ${values[at]} of ${limit}`);
}
return values;
},
};
}
function decoded(head, bytes) {
switch (head.encoding) {
case "bytes":
return bytes.length === head.count ? bytes.slice() : null;
case "u32":
return unsigned32(bytes, head.count);
case "z32": {
const values = unsigned32(bytes, head.count);
if (!values) return null;
const signed = new Int32Array(values.buffer);
for (let at = 0; at < values.length; at++) signed[at] = (values[at] >>> 1) ^ -(values[at] & 1);
return signed;
}
case "u53":
return unsigned53(bytes, head.count);
case "z53": {
const values = unsigned53(bytes, head.count);
if (!values) return null;
for (let at = 0; at < values.length; at++) {
const value = values[at];
values[at] = value % 2 === 1 ? -(value + 1) / 2 : value / 2;
}
return values;
}
default:
throw new DamagedData(`the column ${head.name} has the unknown encoding ${String(head.encoding)}`);
}
}
function unsigned32(bytes, count) {
if (count > bytes.length) return null;
const values = new Uint32Array(count);
const end = bytes.length;
let at = 0;
for (let row = 0; row < count; row++) {
if (at >= end) return null;
let byte = bytes[at++];
let value = byte & 0x7f;
let shift = 7;
while (byte > 0x7f) {
if (at >= end || shift > 28) return null;
byte = bytes[at++];
if (shift === 28 && byte > 0x0f) return null;
value |= (byte & 0x7f) << shift;
shift += 7;
}
values[row] = value;
}
return at === end ? values : null;
}
function unsigned53(bytes, count) {
if (count > bytes.length) return null;
const values = new Float64Array(count);
const end = bytes.length;
let at = 0;
for (let row = 0; row < count; row++) {
if (at >= end) return null;
let byte = bytes[at++];
let value = byte & 0x7f;
let scale = 128;
while (byte > 0x7f) {
if (at >= end || scale > 2 ** 49) return null;
byte = bytes[at++];
value += (byte & 0x7f) * scale;
scale *= 128;
}
if (value > Number.MAX_SAFE_INTEGER) return null;
values[row] = value;
}
return at === end ? values : null;
}
function decodeChunks(texts, head) {
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
async function inflate(parts, head) {
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
function stringTable(lengths, bytes) {
const offsets = new Uint32Array(lengths.length + 1);
let end = 0;
for (let row = 0; row < lengths.length; row++) {
end += lengths[row];
offsets[row + 1] = end;
}
if (end !== bytes.length) throw new DamagedData("the texts do not fill their bytes");
return { offsets, bytes };
}
const decoder = new TextDecoder();
function stringReader(table) {
const known = new Array(table.offsets.length - 1);
return (row) => (known[row] ??= decoder.decode(table.bytes.subarray(table.offsets[row], table.offsets[row + 1])));
}
const ABSENT = 0xffffffff;
const STALE = 0x80;
const HOLDS_MASK = 0x8f;
function turned(graph) {
const { nodeCount, first, target } = graph;
const backFirst = new Uint32Array(nodeCount + 2);
const slots = target.length;
for (let slot = 0; slot < slots; slot++) backFirst[target[slot] + 1]++;
for (let node = 0; node <= nodeCount; node++) backFirst[node + 1] += backFirst[node];
const next = backFirst.slice();
const backSource = new Uint32Array(slots);
const backSlot = new Uint32Array(slots);
for (let node = 0; node <= nodeCount; node++) {
for (let slot = first[node], end = first[node + 1]; slot < end; slot++) {
const place = next[target[slot]]++;
backSource[place] = node;
backSlot[place] = slot;
}
}
return { backFirst, backSource, backSlot };
}
function sourceOf(graph, slot) {
const { first } = graph;
let low = 0;
let high = graph.nodeCount + 1;
while (high - low > 1) {
const middle = (low + high) >>> 1;
if (first[middle] <= slot) low = middle;
else high = middle;
}
return low;
}
function readTables(summary, payload) {
const columns = columnReader(summary.columns, payload);
const nodeCount = columns.rows("node.type");
const edgeCount = columns.rows("edge.target");
const rootCount = columns.rows("root.target");
const stringCount = columns.rows("string.length");
const typeCount = columns.rows("type.name");
const labelCount = columns.rows("label.name");
const frameCount = columns.rows("frame.function");
const stackCount = columns.rows("stack.frame");
const taskCount = columns.rows("task.node");
const reportCount = columns.rows("report.name");
const shots = summary.snapshots.length;
const read = (name, rows) => columns.read(name, rows);
const texts = (name, rows) => columns.indices(name, rows, Math.max(stringCount, 1));
const flags = read("node.flags", nodeCount);
const { bytes, address } = places(read("node.bytes", nodeCount), read("node.gap", nodeCount));
const first = firstRows(read("edge.degree", nodeCount), edgeCount, rootCount);
const edge = references(
first,
read("edge.target", edgeCount),
read("edge.info", edgeCount),
columns.indices("root.target", rootCount, nodeCount),
read("root.info", rootCount),
flags,
);
return {
nodeCount,
strings: stringTable(read("string.length", stringCount), read("string.text", columns.rows("string.text"))),
type: {
name: texts("type.name", typeCount),
module: texts("type.module", typeCount),
report: columns.indices("type.report", typeCount, reportCount),
flags: read("type.flags", typeCount),
},
node: {
type: columns.indices("node.type", nodeCount, typeCount),
bytes,
address,
kind: read("node.kind", nodeCount),
flags,
generation: read("node.generation", nodeCount),
stack: columns.indices("node.stack", nodeCount, stackCount),
strong: read("node.strong", nodeCount),
unowned: read("node.unowned", nodeCount),
weak: read("node.weak", nodeCount),
},
edge: { ...edge, label: columns.indices("edge.label", edgeCount, labelCount) },
label: {
name: texts("label.name", labelCount),
index: read("label.index", labelCount),
via: texts("label.via", labelCount),
},
root: { kind: read("root.kind", rootCount), name: texts("root.name", rootCount), count: rootCount },
entries: columns.indices("entry.node", columns.rows("entry.node"), nodeCount),
frame: {
function: texts("frame.function", frameCount),
file: texts("frame.file", frameCount),
line: read("frame.line", frameCount),
module: texts("frame.module", frameCount),
flags: read("frame.flags", frameCount),
},
stack: {
parent: parents(read("stack.parent", stackCount)),
frame: columns.indices("stack.frame", stackCount, frameCount),
},
task: {
node: columns.indices("task.node", taskCount, nodeCount),
id: read("task.id", taskCount),
info: read("task.info", taskCount),
parent: columns.indices("task.parent", taskCount, taskCount + 1),
stack: columns.indices("task.stack", taskCount, stackCount),
},
report: {
name: texts("report.name", reportCount),
flags: read("report.flags", reportCount),
count: read("report.count", reportCount * shots),
bytes: read("report.bytes", reportCount * shots),
leakedCount: read("report.leakedCount", reportCount),
leakedBytes: read("report.leakedBytes", reportCount),
bornCount: read("report.bornCount", reportCount),
bornBytes: read("report.bornBytes", reportCount),
diedCount: read("report.diedCount", reportCount),
diedBytes: read("report.diedBytes", reportCount),
},
dominator: columns.has("node.dominator") ? dominators(read("node.dominator", nodeCount)) : null,
retainedBytes: columns.has("node.retainedBytes") ? read("node.retainedBytes", nodeCount) : null,
retainedCount: columns.has("node.retainedCount") ? read("node.retainedCount", nodeCount) : null,
};
}
function places(bytes, gaps) {
let end = 0;
let most = 0;
for (let node = 0; node < bytes.length; node++) {
gaps[node] += end;
if (!(gaps[node] >= 0 && gaps[node] <= Number.MAX_SAFE_INTEGER)) throw new DamagedData("node.gap leaves the memory");
if (node > 0 && gaps[node] < gaps[node - 1]) throw new DamagedData("nodes do not ascend by address");
end = gaps[node] + bytes[node];
if (bytes[node] > most) most = bytes[node];
}
return { bytes: most < 2 ** 32 ? Uint32Array.from(bytes) : bytes, address: gaps };
}
function firstRows(degrees, edgeCount, rootCount) {
const first = new Uint32Array(degrees.length + 2);
let sum = 0;
for (let node = 0; node < degrees.length; node++) {
first[node] = sum;
sum += degrees[node];
}
if (sum !== edgeCount) throw new DamagedData(`edge.degree counts ${sum} references of ${edgeCount}`);
first[degrees.length] = sum;
first[degrees.length + 1] = sum + rootCount;
return first;
}
function references(first, deltas, edgeInfo, rootTarget, rootInfo, flags) {
const nodeCount = first.length - 2;
const edgeCount = deltas.length;
const target = new Uint32Array(edgeCount + rootTarget.length);
const info = new Uint8Array(target.length);
info.set(edgeInfo);
info.set(rootInfo, edgeCount);
for (let node = 0; node < nodeCount; node++) {
let value = node;
const isDestroyed = (flags[node] & 3) === 2;
for (let slot = first[node]; slot < first[node + 1]; slot++) {
value += deltas[slot];
if (value < 0 || value >= nodeCount) throw new DamagedData(`edge.target names node ${value} of ${nodeCount}`);
target[slot] = value;
info[slot] = (info[slot] & 0x7f) | (isDestroyed ? STALE : 0);
}
}
target.set(rootTarget, edgeCount);
return { first, target, info };
}
function parents(distances) {
for (let row = 0; row < distances.length; row++) {
if (distances[row] > row || (row > 0 && distances[row] === 0)) throw new DamagedData("stack.parent leaves its table");
distances[row] = row - distances[row];
}
return distances;
}
function dominators(distances) {
const count = distances.length;
const nodes = new Uint32Array(count + 1).fill(count);
for (let node = 0; node < count; node++) {
if (distances[node] === 0) continue;
const dominator = node - distances[node];
if (dominator < 0 || dominator >= count) throw new DamagedData("node.dominator leaves its table");
nodes[node] = dominator;
}
return nodes;
}
function strongComponents(graph) {
const { nodeCount, first, target, info } = graph;
const all = nodeCount + 1;
const component = new Uint32Array(all).fill(ABSENT);
const number = new Uint32Array(all); // from 1; 0 for a node that was not seen yet
const low = new Uint32Array(all);
const cursor = new Uint32Array(all);
const open = new Uint32Array(all);
const path = new Uint32Array(all);
let openCount = 0;
let seenCount = 0;
let count = 0;
for (let start = 0; start < all; start++) {
if (number[start] !== 0) continue;
let depth = 0;
path[0] = start;
number[start] = low[start] = ++seenCount;
cursor[start] = first[start];
open[openCount++] = start;
while (depth >= 0) {
const node = path[depth];
const end = first[node + 1];
let slot = cursor[node];
let child = ABSENT;
while (slot < end) {
const next = target[slot];
if ((info[slot++] & HOLDS_MASK) !== 0) continue;
if (number[next] === 0) {
child = next;
break;
}
if (component[next] === ABSENT && number[next] < low[node]) low[node] = number[next];
}
cursor[node] = slot;
if (child !== ABSENT) {
number[child] = low[child] = ++seenCount;
cursor[child] = first[child];
open[openCount++] = child;
path[++depth] = child;
continue;
}
if (low[node] === number[node]) {
let member;
do {
member = open[--openCount];
component[member] = count;
} while (member !== node);
count++;
}
depth--;
if (depth >= 0 && low[node] < low[path[depth]]) low[path[depth]] = low[node];
}
}
const sizes = new Uint32Array(count);
for (let node = 0; node < all; node++) sizes[component[node]]++;
return { componentByNode: component, count, sizes };
}
const MOST = 63;
function cheapestWays(graph, costBySlot, entries) {
const { nodeCount, first, target, info } = graph;
const cost = new Uint32Array(nodeCount + 1).fill(ABSENT);
const via = new Uint32Array(nodeCount + 1).fill(ABSENT);
const buckets = Array.from({ length: MOST + 1 }, () => /** @type {number[]} */ ([]));
const spread = (sources) => {
let waiting = sources.length;
for (let at = 0; at < sources.length; at++) {
cost[sources[at]] = 0;
buckets[0].push(sources[at]);
}
for (let now = 0; waiting > 0; now++) {
const bucket = buckets[now & MOST];
for (let at = 0; at < bucket.length; at++) {
const node = bucket[at];
waiting--;
if (cost[node] !== now) continue;
for (let slot = first[node], end = first[node + 1]; slot < end; slot++) {
if ((info[slot] & HOLDS_MASK) !== 0) continue;
const next = target[slot];
const sum = now + costBySlot[slot];
if (sum < cost[next]) {
cost[next] = sum;
via[next] = slot;
buckets[sum & MOST].push(next);
waiting++;
}
}
}
bucket.length = 0;
}
};
spread([nodeCount]);
const isReached = new Uint8Array(nodeCount + 1);
for (let node = 0; node <= nodeCount; node++) isReached[node] = cost[node] === ABSENT ? 0 : 1;
spread(entries.filter((node) => !isReached[node]));
return { slotByNode: via, costByNode: cost, isReached };
}
function wayTo(ways, node, sourceOf) {
const slots = [];
for (let slot = ways.slotByNode[node]; slot !== ABSENT; slot = ways.slotByNode[sourceOf(slot)]) slots.push(slot);
return slots.reverse();
}
const KIND = {
block: 0,
object: 1,
closure: 2,
box: 3,
storage: 4,
task: 5,
taskSlab: 6,
sideTable: 7,
cBlock: 8,
coreFoundation: 9,
resource: 10,
runtime: 11,
};
const KIND_NAMES = [
"C memory",
"object",
"closure",
"box",
"storage",
"task",
"task memory",
"side table",
"dispatch block",
"CoreFoundation object",
"resource",
"runtime",
];
function isFolded(kind) {
return kind === KIND.storage || kind === KIND.box || kind === KIND.taskSlab || kind === KIND.sideTable;
}
function isCounted(kind) {
return kind >= KIND.object && kind <= KIND.task;
}
const ROOT_COSTS = [1, 34, 34, 34, 3, 1, 6];
function referenceCosts(tables) {
const { edge, node, label, root, nodeCount } = tables;
const unnamed = new Uint8Array(label.name.length);
for (let row = 0; row < unnamed.length; row++) {
unnamed[row] = label.name[row] === 0 && label.via[row] === 0 && label.index[row] === 0 ? 1 : 0;
}
const costs = new Uint8Array(edge.target.length);
for (let source = 0; source < nodeCount; source++) {
const base = isFolded(node.kind[source]) ? 2 : 16;
for (let slot = edge.first[source]; slot < edge.first[source + 1]; slot++) {
costs[slot] = base + ((edge.info[slot] & 0x70) === 0x20 ? 2 : 0) + unnamed[edge.label[slot]];
}
}
const firstRoot = edge.first[nodeCount];
for (let row = 0; row < root.count; row++) costs[firstRoot + row] = ROOT_COSTS[root.kind[row]] ?? 6;
return costs;
}
function dominatorTree(graph, entries) {
const { nodeCount, first, target, info, backFirst, backSource, backSlot } = graph;
const outside = nodeCount;
const all = nodeCount + 1;
const nodeByNumber = new Uint32Array(all);
const numberByNode = new Uint32Array(all).fill(ABSENT);
const ancestor = new Uint32Array(all);
const cursor = new Uint32Array(all);
let count = 0;
const path = new Uint32Array(all);
const isEntry = new Uint8Array(all);
for (const node of entries) isEntry[node] = 1;
for (let start = -1; start < entries.length + nodeCount && count < all; start++) {
const begin = start < 0 ? outside : start < entries.length ? entries[start] : start - entries.length;
if (numberByNode[begin] !== ABSENT) continue;
isEntry[begin] = 1;
let depth = 0;
path[0] = begin;
numberByNode[begin] = count;
nodeByNumber[count++] = begin;
cursor[begin] = first[begin];
while (depth >= 0) {
const node = path[depth];
const end = first[node + 1];
let slot = cursor[node];
let child = ABSENT;
while (slot < end) {
const next = target[slot];
if ((info[slot++] & HOLDS_MASK) === 0 && numberByNode[next] === ABSENT) {
child = next;
break;
}
}
cursor[node] = slot;
if (child === ABSENT) {
depth--;
continue;
}
numberByNode[child] = count;
ancestor[count] = numberByNode[node];
nodeByNumber[count++] = child;
cursor[child] = first[child];
path[++depth] = child;
}
}
const dominator = ancestor.slice();
const best = cursor; // its work is done
for (let number = 0; number < count; number++) best[number] = number;
const semi = best.slice();
const stack = path;
for (let number = count - 1; number > 0; number--) {
const node = nodeByNumber[number];
let least = isEntry[node] ? 0 : ancestor[number];
for (let place = backFirst[node], end = backFirst[node + 1]; place < end; place++) {
if ((info[backSlot[place]] & HOLDS_MASK) !== 0) continue;
const from = numberByNode[backSource[place]];
if (from > number && ancestor[from] > number) {
let depth = 0;
let walk = from;
do {
stack[depth++] = walk;
walk = ancestor[walk];
} while (ancestor[walk] > number);
let above = walk;
let aboveBest = best[above];
do {
walk = stack[--depth];
ancestor[walk] = ancestor[above];
const own = best[walk];
if (semi[aboveBest] < semi[own]) best[walk] = best[above];
else aboveBest = own;
above = walk;
} while (depth > 0);
}
const candidate = semi[best[from]];
if (candidate < least) least = candidate;
}
semi[number] = least;
}
const dominatorByNode = new Uint32Array(all).fill(outside);
for (let number = 1; number < count; number++) {
const least = semi[number];
let candidate = dominator[number];
while (candidate > least) candidate = dominator[candidate];
dominator[number] = candidate;
dominatorByNode[nodeByNumber[number]] = nodeByNumber[candidate];
}
return { dominatorByNode, order: nodeByNumber };
}
function treeOrder(dominatorByNode) {
const all = dominatorByNode.length;
const waiting = new Uint32Array(all);
for (let node = 0; node < all - 1; node++) waiting[dominatorByNode[node]]++;
const order = new Uint32Array(all);
let filled = all;
let next = all;
for (let node = 0; node < all; node++) if (waiting[node] === 0) order[--filled] = node;
while (next > filled) {
const node = order[--next];
if (node !== all - 1 && --waiting[dominatorByNode[node]] === 0) order[--filled] = dominatorByNode[node];
}
return filled === 0 ? order : null;
}
function retainedSizes(tree, sizes) {
const { dominatorByNode, order } = tree;
const all = order.length;
const bytes = new Float64Array(all);
const counts = new Uint32Array(all).fill(1);
for (let node = 0; node < all - 1; node++) bytes[node] = sizes[node];
counts[all - 1] = 0;
for (let at = all - 1; at > 0; at--) {
const node = order[at];
const above = dominatorByNode[node];
bytes[above] += bytes[node];
counts[above] += counts[node];
}
return { bytes, counts };
}
function dominatedNodes(dominatorByNode, retained) {
const all = dominatorByNode.length;
const outside = all - 1;
const first = new Uint32Array(all + 1);
for (let node = 0; node < outside; node++) first[dominatorByNode[node] + 1]++;
for (let node = 0; node < all; node++) first[node + 1] += first[node];
const next = first.slice();
const child = new Uint32Array(outside);
for (let node = 0; node < outside; node++) child[next[dominatorByNode[node]]++] = node;
for (let node = 0; node < all; node++) {
if (first[node + 1] - first[node] > 1) {
child.subarray(first[node], first[node + 1]).sort((a, b) => retained[b] - retained[a] || a - b);
}
}
return { first, child };
}
const MODULUS = 2 ** 48;
async function analyze(summary, parts, progress) {
const times = [];
let stage = "";
let began = 0;
const enter = async (next, done) => {
const now = performance.now();
if (stage) times.push({ stage, milliseconds: now - began });
stage = next;
began = now;
await progress(next, done);
};
await enter("inflating the data", 0);
const payload = await inflate(parts, summary.payload);
await enter("reading objects and references", 0.1);
const tables = readTables(summary, payload);
await enter("turning references round", 0.25);
const { nodeCount, edge } = tables;
const back = turned({ nodeCount, first: edge.first, target: edge.target });
const graph = { nodeCount, first: edge.first, target: edge.target, info: edge.info, ...back };
await enter("finding cycles", 0.35);
const components = strongComponents(graph);
await enter("finding ways from roots", 0.5);
const ways = cheapestWays(graph, referenceCosts(tables), tables.entries);
await enter("finding dominators", 0.65);
const tree = treeOf(tables, graph);
await enter("adding up retained sizes", 0.9);
const retained = tables.retainedBytes && tables.retainedCount
? given(tables, tables.retainedBytes, tables.retainedCount)
: retainedSizes(tree, tables.node.bytes);
const dominated = dominatedNodes(tree.dominatorByNode, retained.bytes);
await enter("checking", 0.98);
const mismatches = check(summary.check, graph, retained, components);
await enter("", 1);
tables.dominator = tables.retainedBytes = tables.retainedCount = null;
return {
tables,
analysis: {
back,
componentByNode: components.componentByNode,
componentSizes: components.sizes,
ways,
dominatorByNode: tree.dominatorByNode,
dominated,
retained,
mismatches,
times,
},
};
}
function treeOf(tables, graph) {
if (!tables.dominator) return dominatorTree(graph, tables.entries);
const order = treeOrder(tables.dominator);
if (!order) throw new DamagedData("node.dominator is no tree");
return { dominatorByNode: tables.dominator, order };
}
function given(tables, bytes, counts) {
const all = tables.nodeCount + 1;
const retained = { bytes: new Float64Array(all), counts: new Uint32Array(all) };
retained.bytes.set(bytes);
retained.counts.set(counts);
for (let node = 0; node < all - 1; node++) {
if (tables.dominator && tables.dominator[node] !== all - 1) continue;
retained.bytes[all - 1] += bytes[node];
retained.counts[all - 1] += counts[node];
}
return retained;
}
function check(expected, graph, retained, components) {
if (!expected) return [];
const { nodeCount, first, target, info } = graph;
let bytes = 0;
let counts = 0;
for (let node = 0; node < nodeCount; node++) {
bytes = (bytes + (retained.bytes[node] % MODULUS)) % MODULUS;
counts = (counts + retained.counts[node]) % MODULUS;
}
const isCyclic = new Uint8Array(components.count);
let largest = 0;
for (let component = 0; component < components.count; component++) {
if (components.sizes[component] > 1) isCyclic[component] = 1;
}
for (let node = 0; node < nodeCount; node++) {
for (let slot = first[node]; slot < first[node + 1]; slot++) {
if (target[slot] === node && (info[slot] & HOLDS_MASK) === 0) isCyclic[components.componentByNode[node]] = 1;
}
}
let cyclic = 0;
for (let component = 0; component < components.count; component++) {
if (!isCyclic[component]) continue;
cyclic++;
if (components.sizes[component] > largest) largest = components.sizes[component];
}
return [
{ what: "the sum of retained bytes", page: bytes, analyzer: expected.retainedBytesSum },
{ what: "the sum of retained objects", page: counts, analyzer: expected.retainedCountSum },
{ what: "the number of cycles", page: cyclic, analyzer: expected.cyclicComponents },
{ what: "the objects of the largest cycle", page: largest, analyzer: expected.largestComponent },
].filter((figure) => figure.analyzer !== undefined && figure.page !== figure.analyzer);
}
function startWorker() {
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
}
function analyzeInWorker(source, summary, parts, progress) {
const here = () =>
analyze(summary, parts, async (stage, done) => {
progress(stage, done);
await new Promise((resolve) => setTimeout(resolve, 0));
});
return new Promise((resolve, reject) => {
let worker;
let url = "";
try {
url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
worker = new Worker(url);
} catch {
resolve(here());
return;
}
let hasAnswered = false;
worker.onmessage = (event) => {
hasAnswered = true;
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
if (hasAnswered) reject(new Error(event.message));
else resolve(here());
};
worker.postMessage({ summary: { columns: summary.columns, payload: summary.payload, snapshots: summary.snapshots, check: summary.check }, parts });
});
}
function failure(error) {
return {
message: error instanceof Error ? error.message : String(error),
isDamaged: error instanceof DamagedData,
};
}
function buffersOf(value, found = new Set()) {
if (ArrayBuffer.isView(value)) found.add(/** @type {ArrayBuffer} */ (value.buffer));
else if (value && typeof value === "object") for (const part of Object.values(value)) buffersOf(part, found);
return [...found];
}
function h(name, attributes, ...children) {
const element = document.createElement(name);
set(element, attributes);
add(element, children);
return element;
}
function svg(name, attributes, ...children) {
const element = document.createElementNS("http://www.w3.org/2000/svg", name);
set(element, attributes);
add(element, children);
return element;
}
function set(element, attributes) {
for (const [key, value] of Object.entries(attributes ?? {})) {
if (value === null || value === undefined || value === false) continue;
if (typeof value === "function") element.addEventListener(key.slice(2), value);
else element.setAttribute(key, value === true ? "" : String(value));
}
}
function add(element, children) {
for (const child of children) {
if (child === null || child === undefined || child === false) continue;
if (Array.isArray(child)) add(element, child);
else element.append(typeof child === "number" ? String(child) : child);
}
}
function fill(element, ...children) {
element.replaceChildren();
add(element, children);
}
function byId(id) {
const element = document.getElementById(id);
if (!element) throw new Error(`the page has no element ${id}`);
return element;
}
let lastId = 0;
function freshId(name) {
return `mg-${name}-${++lastId}`;
}
function wantsLessMotion() {
return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
function icon(name) {
return svg(
"svg",
{ viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true", class: "icon" },
svg("path", { d: ICONS[name], fill: "none", stroke: "currentColor", "stroke-width": 1.5, "stroke-linecap": "round", "stroke-linejoin": "round" }),
);
}
const ICONS = {
moon: "M13 9.5A5.5 5.5 0 0 1 6.5 3a5.5 5.5 0 1 0 6.5 6.5Z",
sun: "M8 5a3 3 0 1 0 0 6a3 3 0 0 0 0-6ZM8 1v1.4M8 13.6V15M1 8h1.4M13.6 8H15M3 3l1 1M12 12l1 1M13 3l-1 1M4 12l-1 1",
auto: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2ZM8 2v12M8 5l4-1.5M8 8h6M8 11l4 1.5",
help: "M6 6a2 2 0 1 1 2.8 1.8C8.2 8.1 8 8.5 8 9.2M8 11.6v.1M8 1.5a6.5 6.5 0 1 0 0 13a6.5 6.5 0 0 0 0-13Z",
copy: "M6 6V3h7v7h-3M3 6h7v7H3Z",
link: "M6.5 9.5l3-3M7 5l1.5-1.5a2.5 2.5 0 0 1 4 4L11 9M9 11l-1.5 1.5a2.5 2.5 0 0 1-4-4L5 7",
save: "M8 2v8M5 7l3 3l3-3M3 13h10",
cut: "M4.5 10a1.8 1.8 0 1 0 0 3.6a1.8 1.8 0 0 0 0-3.6ZM11.5 10a1.8 1.8 0 1 0 0 3.6a1.8 1.8 0 0 0 0-3.6ZM5.5 10.3L11 2.5M10.5 10.3L5 2.5",
close: "M4 4l8 8M12 4l-8 8",
back: "M10 3L5 8l5 5",
forward: "M6 3l5 5l-5 5",
};
const FORMAT = "memory-graph/view/1";
function refusal(summary) {
const format = typeof summary?.format === "string" ? summary.format : "";
const match = /^memory-graph\/view\/(\d+)$/.exec(format);
if (!match) return `the data are of the kind “${format || "unknown"}”, and this page reads ${FORMAT}`;
if (format === FORMAT) return null;
return `the data are ${format}, and this page reads ${FORMAT}: make the report with one version of memgraph`;
}
function startPage() {
const summary = JSON.parse(byId("summary").textContent ?? "");
const refused = refusal(summary);
fill(byId("mg-top"), h("p", { role: "status" }, refused ?? summary.title));
}
if (typeof document === "undefined") startWorker();
else startPage();
})();
</script>
<!--slot:data-->
</body>
</html>
"""#
}
