// Clinic: the snapshots that reports are tested with: a program that holds video calls, after each call.

import Foundation
import ReportSchema
import SnapshotDSL
import SnapshotFormat
import Symbolication

@testable import Commands

/// Snapshots of a made-up program, written to a folder, and its names.
///
/// Each call leaks a controller in a cycle through a closure with a context, a tap in a cycle through a
/// method reference, and a job that nobody releases; leaves a record in a cache that a global holds;
/// and a destroyed slab whose memory an unowned reference keeps.
struct Clinic {
  /// Where the snapshots are: `call-1.mgraph`, `call-2.mgraph`, …, `clean.mgraph`.
  let folder: String

  init() throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("clinic-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    self.folder = folder
    for calls in 1...3 {
      try Self.snapshot(calls: calls).write(to: "\(folder)/call-\(calls).mgraph")
    }
    try Self.cleanSnapshot.write(to: "\(folder)/clean.mgraph")
    try Self.waitingSnapshot.write(to: "\(folder)/waiting.mgraph")
    try Self.stringsSnapshot.write(to: "\(folder)/strings.mgraph")
  }

  /// Writes `steps/0.mgraph`, …: a cache that is full at the fourth mark, a queue that grows by one at each
  /// third, and a list that grows at each.
  func writeSteps() throws {
    try FileManager.default.createDirectory(
      atPath: folder + "/steps", withIntermediateDirectories: true)
    for step in 0..<10 {
      try Self.stepSnapshot(step).write(to: "\(folder)/steps/\(step).mgraph")
    }
  }

  /// Writes `sampled-1.mgraph` and `sampled-3.mgraph`: as those of the calls, of a program whose allocations were sampled.
  func writeSampled() throws {
    for calls in [1, 3] {
      try Self.sampledSnapshot(calls: calls).write(to: "\(folder)/sampled-\(calls).mgraph")
    }
  }

  /// Writes `known.json`: of the third call's leaks the first is known, of the second the time is over; a third
  /// entry is of nothing that there is. Only `add` takes others in.
  func writeKnown() throws {
    let text = call(["leaks", "call-3.mgraph", "--format", "json"]).output
    let found = try JSON(parsing: text)["findings"].elements.compactMap(\.["fingerprint"].string)
    func entry(_ name: String, _ until: String) -> String {
      #"{"fingerprint": "\#(name)", "reason": "the vendor's"\#(until)}"#
    }
    let entries = [
      entry(found[0], #", "until": "2026-12-31""#), entry(found[1], #", "until": "2026-01-31""#),
      entry("0123456789ab", ""),
    ]
    try #"{"known": [\#(entries.joined(separator: ",\n"))]}"#
      .write(toFile: folder + "/known.json", atomically: true, encoding: .utf8)
  }

  func remove() { try? FileManager.default.removeItem(atPath: folder) }

  /// Runs `memgraph` (or `graphdiff`) with names and without the folder's own path in what it prints.
  func call(
    _ words: [String], of tool: Tool = .memgraph,
    environment: [String: String] = ["LANG": "C.UTF-8", "SOURCE_DATE_EPOCH": "1790000000"],
    columns: Int? = nil
  ) -> Call {
    let words = words.map { word in
      (word.hasSuffix(".mgraph") || word.hasSuffix(".json")) && !word.hasPrefix("/")
        ? "\(folder)/\(word)" : word
    }
    var call = Call(
      words, of: tool, environment: environment, terminalColumns: columns,
      symbolizer: { _, _ in ClinicSymbols() })
    call.output = call.output.replacingOccurrences(of: folder, with: "marks")
    call.errors = call.errors.replacingOccurrences(of: folder, with: "marks")
    return call
  }

  /// The state after some calls.
  static func snapshot(calls: Int) -> Snapshot {
    var heap = SnapshotDSL()
    heap.module("/app/App", buildID: "5eed", addresses: 0x5000..<0xA000)
    let main = heap.thread("App", id: 4711)
    let worker = heap.thread("pool", id: 4712)
    let made = heap.stack(0x8001, 0x8110, 0x8200)
    let madeBelow = heap.stack(0x8001, 0x8111, 0x8200)
    let logged = heap.stack(0x8001, 0x8120, 0x8200)

    let hub = heap.object("App.Hub", bytes: 48, stack: logged)
    let listeners = heap.storage(
      "Swift._ContiguousArrayStorage<App.Listener>", bytes: 128, stack: logged)
    heap.root(.global, address: 0x5000, to: hub)
    heap.edge(hub, "listeners", to: listeners)
    let delegate = heap.object("App.AppDelegate", bytes: 96, weakCount: 1)
    heap.root(.stack, address: 0x7FFF_0000_0010, to: delegate, pc: 0x8200, thread: main)
    heap.edge(hub, "delegate", to: delegate, strength: .weak)
    let waiting = heap.task(bytes: 320)
    heap.root(.task, to: waiting, pc: 0x8130)
    heap.root(.register, to: waiting, pc: 0x8130, thread: worker, label: "rbx")
    let cache = heap.object("App.Cache", bytes: 64, stack: logged)
    let entries = heap.storage("Swift._DictionaryStorage<Swift.String, App.Record>", bytes: 512)
    heap.root(.global, address: 0x5010, to: cache)
    heap.edge(cache, "entries", to: entries)
    let codec = heap.resource("CodecSession", bytes: 8_192)
    heap.root(.declared, to: codec)
    let names = heap.storage("Swift._ContiguousArrayStorage<App.Record>", bytes: 64)
    heap.root(.global, address: 0x5020, to: names)
    heap.block(bytes: 48)

    for call in 1...calls {
      let generation = UInt16(call - 1)
      let controller = heap.object(
        "App.CallViewController", bytes: 480, generation: generation, stack: made)
      let client = heap.object("App.RTCClient", bytes: 160, generation: generation, stack: made)
      let handler = heap.closureContext(bytes: 40, generation: generation, stack: made)
      let frames = heap.storage(
        "Swift._ContiguousArrayStorage<App.Frame>", bytes: 96, generation: generation)
      heap.edge(controller, "client", to: client)
      heap.edge(controller, "frames", to: frames)
      heap.edge(client, "onConnectionChange", to: handler, function: 0x9000)
      heap.edge(handler, "capture[0]", to: controller)
      for place in 0..<2 {
        let frame = heap.object("App.Frame", bytes: 1_024, generation: generation, stack: made)
        heap.edge(frames, "[\(place)]", to: frame)
      }
      let tap = heap.object("App.SampleTap", bytes: 40, generation: generation, stack: madeBelow)
      heap.edge(tap, "onBuffer", to: tap, function: 0x9100)
      heap.object(
        "App.Job", bytes: 24, generation: generation, strongCount: 1, stack: logged)
      let record = heap.object("App.Record", bytes: 80, generation: generation, stack: logged)
      heap.edge(entries, "[_]", to: record)
      if call == 1 { heap.edge(names, "[0]", to: record) }
      let slab = heap.object(
        "App.Slab", bytes: 4_096, generation: generation, strongCount: 0, unownedCount: 1,
        state: .deinited, stack: logged)
      heap.edge(record, "slab", to: slab, strength: .unowned)
      heap.mark("call-\(call)", generation: generation)
    }
    heap.builder.process.memory = [
      "resident": 12_345_678, "liveSwift": 20_480, "liveOther": 48, "untouched": 4_096,
      "heapSlack": 99_000, "pools": 65_536, "mappedFiles": 11_000_000, "stacks": 132_000,
      "agent": 1_032_710, "pauseNanoseconds": 240_499,
    ]
    heap.builder.note("a thread did not stop; its registers are unknown")
    return heap.snapshot()
  }

  /// The same of a program whose allocations were sampled: of each third block it is known when and where it was born.
  static func sampledSnapshot(calls: Int) -> Snapshot {
    var snapshot = snapshot(calls: calls)
    let nodes = snapshot.nodes
    let isSample = (0..<nodes.count).map { nodes.address[$0] / 16 % 3 == 0 }
    snapshot.nodes.stack = Column(
      nodes.stack.enumerated().map { isSample[$0.offset] ? $0.element : 0 })
    snapshot.nodes.generation = Column(
      nodes.generation.enumerated().map { isSample[$0.offset] ? $0.element : 0 })
    let rows = (0..<nodes.count).filter { isSample[$0] }
    snapshot.sampling = Snapshot.Sampling(
      interval: 256, node: Column(rows.map { UInt32($0) }),
      bytes: Column(rows.map { nodes.bytes($0) }))
    return snapshot
  }

  /// The state at one of the steps.
  static func stepSnapshot(_ step: Int) -> Snapshot {
    var heap = SnapshotDSL()
    heap.module("/app/App", buildID: "5eed", addresses: 0x5000..<0xA000)
    let hub = heap.object("App.Hub", bytes: 48)
    heap.root(.global, address: 0x5000, to: hub)
    func fill(_ field: String, _ type: String, _ count: Int) {
      let storage = heap.storage(bytes: 256)
      heap.edge(hub, field, to: storage)
      for place in 0..<count {
        let object = heap.object(type, bytes: 40)
        heap.edge(storage, "[\(place)]", to: object)
        heap.edge(object, "header", to: heap.object("App.Header", bytes: 16))
      }
    }
    fill("cache", "App.Entry", min(step, 4) * 2)
    fill("queue", "App.Job", step / 3)
    fill("log", "App.Line", step + 1)
    for mark in 0...step { heap.mark("step \(mark)", generation: UInt16(mark)) }
    return heap.snapshot()
  }

  /// A program with the same name again and again, and a list that was longer once.
  static var stringsSnapshot: Snapshot {
    var heap = SnapshotDSL()
    let cache = heap.object("App.Cache", bytes: 64)
    let records = heap.storage("Swift._ContiguousArrayStorage<App.Record>", bytes: 8_224)
    heap.root(.global, address: 0x5010, to: cache)
    heap.edge(cache, "entries", to: records)
    heap.fill(records, count: 40, of: 1_024)
    for place in 0..<40 {
      let record = heap.object("App.Record", bytes: 80)
      let name = heap.storage("Swift.__StringStorage", bytes: 96)
      heap.edge(records, "[\(place)]", to: record)
      heap.edge(record, "name", to: name)
      heap.fill(name, count: 60, of: 63, text: place % 10 == 0 ? 2 : 1)
    }
    return heap.snapshot()
  }

  /// A program that holds everything that it has.
  static var cleanSnapshot: Snapshot {
    var heap = SnapshotDSL()
    let hub = heap.object("App.Hub", bytes: 48)
    heap.root(.global, address: 0x5000, to: hub)
    let model = heap.object("App.Model", bytes: 32)
    heap.edge(hub, "model", to: model)
    heap.builder.process.stackMode = "none"
    return heap.snapshot()
  }
}

extension Clinic {
  /// A program whose tasks wait: for a stream that a hub feeds, for a child, for an actor, for nobody.
  static var waitingSnapshot: Snapshot {
    var heap = SnapshotDSL()
    heap.module("/app/App", buildID: "5eed", addresses: 0x5000..<0xA000)
    let started = heap.stack(0x8001, 0x8110, 0x8200)
    let logged = heap.stack(0x8001, 0x8120, 0x8200)
    let hub = heap.object("App.Hub", bytes: 48)
    let key = heap.object("TaskLocal<App.Trace>", bytes: 32)
    heap.root(.global, address: 0x5000, to: hub)
    heap.root(.global, address: 0x5010, to: key)
    for call in 1...3 {
      let generation = UInt16(call - 1)
      let task = heap.task("Task", bytes: 352, generation: generation, stack: started)
      let slab = heap.node(
        .taskSlab, "Task slab", module: "", bytes: 1_000, generation: generation, stack: started)
      let model = heap.object("App.Model", bytes: 96, generation: generation)
      heap.edge(hub, "sinks[_]", to: task)
      heap.edge(task, "slab", to: slab, provenance: .scanned)
      heap.edge(slab, "frame", to: model, function: 0x812F, provenance: .scanned)
      heap.describe(
        task, id: UInt64(40 + call), isCancelled: call == 1, frames: [0x8130, 0x8110])
      if call == 2 {
        let trace = heap.object("App.Trace", bytes: 64, generation: generation)
        heap.edge(
          slab, "task-local", to: trace, function: key.address, provenance: .scanned)
        let child = heap.node(
          .task, "Task", module: "", bytes: 600, generation: generation, stack: started)
        let parcel = heap.object("App.Parcel", bytes: 160, generation: generation)
        heap.edge(slab, "child", to: child)
        heap.edge(child, "frame", to: parcel, function: 0x810F, provenance: .scanned)
        heap.describe(
          child, id: 50, kind: .asyncLet, parent: task.address, frames: [0x8120])
      }
      heap.mark("call-\(call)", generation: generation)
    }
    let actor = heap.object("App.Dock", bytes: 112)
    heap.edge(hub, "dock", to: actor)
    let first = heap.task("Task", bytes: 352, generation: 2, stack: logged)
    let second = heap.task("Task", bytes: 352, generation: 2, stack: logged)
    heap.edge(actor, "queue", to: first, provenance: .scanned)
    heap.edge(first, "queue", to: second, provenance: .scanned)
    heap.describe(first, id: 60, state: .enqueued, frames: [0x8120])
    heap.describe(second, id: 61, state: .enqueued, frames: [0x8120])
    let session = heap.object("App.Session", bytes: 64, strongCount: 3, stack: logged)
    heap.edge(hub, "session", to: session)
    // Somebody dropped the continuation that this one waits for.
    let island = heap.task("Task", bytes: 352, generation: 1, strongCount: 1, stack: logged)
    let feed = heap.object("App.Feed", bytes: 80, generation: 1)
    heap.edge(island, "closure", to: feed, provenance: .scanned)
    heap.edge(feed, "reader", to: island)
    heap.describe(island, id: 70, frames: [0x8130])
    return heap.snapshot()
  }
}

/// The names of the clinic's code.
final class ClinicSymbols: Symbolizing {
  func frames(atReturnAddress address: UInt64) -> [SourceFrame] {
    func frame(_ name: String, _ line: Int?, inlined: Bool = false) -> SourceFrame {
      SourceFrame(
        function: name, file: line.map { _ in "/src/App/Call.swift" }, line: line, module: "App",
        isInlined: inlined)
    }
    switch address {
    case 0x8001:
      return [
        SourceFrame(
          function: "swift_allocObject", file: nil, line: nil, module: "libswiftCore.so",
          isInlined: false)
      ]
    case 0x8110:
      return [frame("App.makeScreen()", 21, inlined: true), frame("App.startCall()", 17)]
    case 0x8111: return [frame("App.startCall()", 19)]
    case 0x8120: return [frame("App.Log.add(_:)", 88)]
    case 0x8130: return [frame("App.Poller.poll()", 9)]
    case 0x8200: return [frame("main", 3)]
    default:
      return [
        SourceFrame(
          function: "0x" + String(address, radix: 16), file: nil, line: nil, module: nil,
          isInlined: false)
      ]
    }
  }

  func closure(at function: UInt64) -> ClosureName {
    function == 0x9100
      ? ClosureName(
        kind: .methodReference, name: "App.SampleTap.handle(_:in:)", file: "/src/App/Tap.swift",
        line: 7, module: "App")
      : ClosureName(
        kind: .closure, name: "closure #1 in App.CallViewController.viewDidLoad()",
        file: "/src/App/Call.swift", line: 42, module: "App")
  }

  func captureNames(of function: UInt64, in context: ContextSize?) -> [String] {
    function == 0x9000 ? ["self"] : []
  }

  var diagnostics: [String: Int] { [:] }

  func variable(at address: UInt64) -> (name: String, offset: UInt64, module: String)? {
    switch address {
    case 0x5000: ("static App.Hub.shared", 0, "App")
    case 0x5010: ("App.cache", 0, "App")
    case 0x5020: ("App.pinned", 0, "App")
    default: nil
    }
  }
}
