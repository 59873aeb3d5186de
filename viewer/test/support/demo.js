// A small report like that of a video call that was made three times and left three leaked screens behind.

import { ReportBuilder, escapeText } from "./encode.js";

/** The demo's builder; the report is made by its `finish`. */
export function demoReport() {
  const report = new ReportBuilder();
  const t = {
    screen: report.type("VideoCall.CallViewController", "VideoCall"),
    client: report.type("VideoCall.SignalingClient", "VideoCall"),
    closure: report.type("closure #1 in VideoCall.CallViewController.listenToClient()", "VideoCall"),
    track: report.type("VideoCall.VideoTrack", "VideoCall"),
    hub: report.type("VideoCall.NotificationHub", "VideoCall"),
    cache: report.type("VideoCall.ImageCache", "VideoCall"),
    image: report.type("VideoCall.Image", "VideoCall"),
    array: report.type("Swift._ContiguousArrayStorage<VideoCall.VideoTrack>", "Swift"),
    images: report.type("Swift._DictionaryStorage<Swift.String, VideoCall.Image>", "Swift"),
    data: report.type("C memory", ""),
    task: report.type("Task", ""),
    peer: report.type("PeerConnectionHandle", ""),
  };
  const start = ["static VideoCall.Main.main()", "/app/Sources/main.swift", 12, "VideoCall", 2];
  const hold = ["VideoCall.holdConsultation(_:)", "/app/Sources/Consultation.swift", 8, "VideoCall", 2];
  const init = ["VideoCall.CallViewController.init()", "/app/Sources/CallViewController.swift", 21, "VideoCall", 2];
  const runtime = [["swift_allocObject", "", 0, "libswiftCore.so", 4], ["swift_slowAlloc", "", 0, "libswiftCore.so", 4], ["malloc", "", 0, "libc.so.6", 4]];
  const made = {
    screen: report.stack(["__libc_start_main", "", 0, "libc.so.6"], start, hold, ...runtime),
    client: report.stack(["__libc_start_main", "", 0, "libc.so.6"], start, hold, init, ...runtime),
    tracks: report.stack(["__libc_start_main", "", 0, "libc.so.6"], start, hold, init, ["VideoCall.CallViewController.addTracks()", "/app/Sources/CallViewController.swift", 40, "VideoCall", 2], ["Swift.Array.append(_:)", "", 0, "libswiftCore.so"], ...runtime),
    image: report.stack(["__libc_start_main", "", 0, "libc.so.6"], start, ["VideoCall.ImageCache.load(_:)", "/app/Sources/ImageCache.swift", 9, "VideoCall", 2], ...runtime),
  };
  const hub = report.node({ type: t.hub, stack: made.screen });
  const cache = report.node({ type: t.cache, bytes: 64, stack: made.image });
  const storage = report.node({ type: t.images, kind: 4, bytes: 2048, stack: made.image });
  report.root(0, "static VideoCall.NotificationHub.shared", hub, { provenance: 1 });
  report.edge(hub, cache, "cache");
  report.edge(cache, storage, "images");
  for (let at = 0; at < 24; at++) {
    const image = report.node({ type: t.image, bytes: 96, generation: at % 4, stack: made.image });
    const bytes = report.node({ type: t.data, kind: 0, bytes: 4096 * (1 + (at % 5)), stack: made.image, generation: at % 4 });
    report.edge(storage, image, "", { index: "_" });
    report.edge(image, bytes, "pixels", { provenance: 2 });
    if (at % 6 === 0) report.edge(image, cache, "owner", { strength: 1 });
  }
  const screens = [];
  const edges = { client: [], onChange: [], self: [] };
  for (let call = 1; call <= 3; call++) {
    const screen = report.node({ type: t.screen, bytes: 88, generation: call, stack: made.screen, flags: 8 });
    const client = report.node({ type: t.client, bytes: 64, generation: call, stack: made.client, flags: 8 });
    const closure = report.node({ type: t.closure, kind: 2, bytes: 32, generation: call, stack: made.client, flags: 8 });
    screens.push(screen);
    edges.client.push([screen, client]);
    report.edge(screen, client, "client");
    report.edge(client, closure, "onConnectionChange", { via: "closure #1 in VideoCall.CallViewController.listenToClient()" });
    report.edge(closure, screen, "self");
    report.edge(client, screen, "delegate", { strength: 1 });
    const tracks = report.node({ type: t.array, kind: 4, bytes: 160, generation: call, stack: made.tracks, flags: 8 });
    report.edge(screen, tracks, "tracks");
    for (let at = 0; at < 9; at++) {
      const track = report.node({ type: t.track, bytes: 48, generation: call, stack: made.tracks, flags: 8 });
      report.edge(tracks, track, "", { index: at });
      report.edge(track, screen, "owner", { strength: 2 });
      const buffer = report.node({ type: t.data, kind: 0, bytes: 16384, generation: call, flags: 8 });
      report.edge(track, buffer, "+16", { provenance: 2 });
    }
  }
  const task = report.node({ type: t.task, kind: 5, bytes: 400, generation: 2, stack: made.screen });
  report.root(4, "Task 41", task);
  const live = report.node({ type: t.screen, bytes: 88, generation: 3, stack: made.screen, flags: 8 });
  const peer = report.node({ type: t.peer, kind: 10, bytes: 128 });
  report.root(1, "main thread, in VideoCall.holdConsultation(_:)", peer);
  report.edge(task, live, "frame of VideoCall.CallViewController.watch()", { provenance: 2 });
  report.edge(peer, live, "context", { provenance: 0 });
  report.edge(hub, live, "observers", { index: 0 });
  report.tasks.push({ node: task, id: 41, info: 0, parent: 0, stack: made.client });
  report.earlier = [
    { "VideoCall.CallViewController": [1, 88], "VideoCall.Image": [30, 2880], "C memory": [10, 90_000] },
    { "VideoCall.CallViewController": [2, 176], "VideoCall.SignalingClient": [1, 64], "VideoCall.VideoTrack": [9, 432], "VideoCall.Image": [26, 2496], "C memory": [20, 120_000] },
  ];
  const slot = (from, name) => report.edges.filter((edge) => edge.from < from || (edge.from === from && false)).length + report.edges.filter((edge) => edge.from === from).findIndex((edge) => report.strings[report.labels[edge.label].name] === name);
  const [screen] = screens;
  const [[, client]] = edges.client;
  const closure = client + 1;
  const steps = [
    { type: "VideoCall.CallViewController", field: "client", strength: "strong", provenance: "reflected" },
    { type: "VideoCall.SignalingClient", field: "onConnectionChange", strength: "strong", provenance: "reflected" },
    { type: "closure #1 in VideoCall.CallViewController.listenToClient()", field: "self", strength: "strong", provenance: "reflected" },
  ];
  report.summary = {
    title: "Leaks: 1 group, 66 objects, 443 KB · VideoCall",
    answer: "66 leaked objects in 1 group, 443 KB: VideoCall.CallViewController",
    generations: [0, 1, 2, 3].map((generation) => ({ generation, name: ["start", "call 1", "call 2", "call 3"][generation], count: 10, bytes: 1000 })),
    findings: [
      {
        kind: "leak", fingerprint: "9f2c41d0a7be", type: "VideoCall.CallViewController", count: 3, bytes: 264, retainedBytes: 443_000, module: "VideoCall", cycle: steps,
        cut: { edge: "VideoCall.SignalingClient.onConnectionChange -> closure #1 in VideoCall.CallViewController.listenToClient()", frees: { count: 66, bytes: 443_000 }, advice: "capture [weak self]" },
        allocation: [{ function: "VideoCall.holdConsultation(_:)", file: "/app/Sources/Consultation.swift", line: 8, module: "VideoCall" }], addresses: [],
        graph: {
          representative: screen, members: screens, memberCount: 3,
          cycle: [{ node: screen, edges: [slot(screen, "client")] }, { node: client, edges: [slot(client, "onConnectionChange")] }, { node: closure, edges: [slot(closure, "self")] }],
          cuts: [{ node: client, edges: [slot(client, "onConnectionChange")] }],
        },
      },
    ],
    tasks: [
      {
        state: "suspended", kind: "unstructured", count: 1, cancelled: 0, leaked: 0, own: { count: 1, bytes: 400 }, retained: { count: 1, bytes: 400 }, ids: [41], rows: [0], generations: { "call 2": 1 },
        suspendedIn: { function: "VideoCall.CallViewController.watch()", file: "/app/Sources/CallViewController.swift", line: 55 }, made: { function: "VideoCall.holdConsultation(_:)", file: "/app/Sources/Consultation.swift", line: 8 },
        frames: [{ function: "VideoCall.CallViewController.watch()", file: "/app/Sources/CallViewController.swift", line: 55 }],
      },
    ],
    actors: [{ type: "VideoCall.Recorder", address: "0x7f0000000010", jobs: 2, tasks: [41] }],
  };
  return report;
}

/** The static part of a report, in the shape that docs/viewer-format.md gives. */
export function staticPart(summary) {
  const code = (text) => `<code class="type">${escapeText(text)}</code>`;
  const findings = summary.findings.map((finding, at) => {
    const chain = (finding.cycle ?? []).map((step, place) => `<li${place === 1 ? ' class="cut"' : ""}>${code(step.type)} <code class="field">.${escapeText(step.field)}</code></li>`).join("");
    return `<li class="finding ${finding.kind}" id="finding-${at + 1}"><h3>${finding.count} × ${code(finding.type)}, leaked in a cycle</h3><dl>
<dt>cycle</dt><dd><ol class="chain">${chain}<li class="end">back to ${code(finding.type)}</li></ol></dd>
<dt>cut</dt><dd class="cut"><code>${escapeText(finding.cut?.edge ?? "")}</code> frees ${finding.cut?.frees.count} objects: <strong class="advice">${escapeText(finding.cut?.advice ?? "")}</strong></dd>
<dt>made</dt><dd><code>VideoCall.holdConsultation(_:)</code> at Consultation.swift:8</dd></dl></li>`;
  });
  return `<main id="static"><header><h1>${escapeText(summary.answer)}</h1><p class="source">VideoCall, process 4711, mark call 3</p></header>
<section id="findings"><h2>Findings</h2><ol class="findings">${findings.join("\n")}</ol></section>
<section id="growth"><h2>What grew</h2><div class="scroll"><table><thead><tr><th>Type</th><th class="number">Live</th></tr></thead><tbody><tr><td>${code("VideoCall.CallViewController")}</td><td class="number">4</td></tr></tbody></table></div></section>
<section id="capture"><h2>How it was taken</h2><p>By the agent, from a frozen twin.</p></section></main>`;
}
