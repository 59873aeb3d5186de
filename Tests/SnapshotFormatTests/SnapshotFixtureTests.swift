// Tests that files of every released format version are still read as what they were.

import Foundation
import GraphPrimitives
import SnapshotDSL
import SnapshotFormat
import Testing

@Suite struct SnapshotFixtureTests {
  /// A program that forgot a screen, with something in every table.
  static func fixture() -> Snapshot {
    var heap = SnapshotDSL()
    heap.module(
      "/app/App", buildID: "9f2c41d0a7be", bias: 0x40_0000, addresses: 0x40_0000..<0x48_0000)
    heap.module("/usr/lib/libswiftCore.so", addresses: 0x7F00_0000_0000..<0x7F00_0080_0000)
    let main = heap.thread("App", stackPointer: 0x7FFF_FFFF_E000, pc: 0x40_1234)
    heap.mark("launch", generation: 0)
    heap.mark("call 1", generation: 1)
    heap.builder.note("a type without reflection data was scanned word by word", count: 3)
    heap.builder.process.memory = ["resident": 12_582_912, "liveSwift": 4_096, "liveOther": 65_536]
    let start = heap.stack(0x40_1100, 0x40_1000)
    let hub = heap.object("App.Hub", bytes: 64, name: "hub")
    let list = heap.storage(bytes: 96)
    let screen = heap.object(
      "App.CallScreen", bytes: 480, generation: 1, weakCount: 1, stack: start)
    let client = heap.object("App.Client<Swift.Int>", bytes: 48, generation: 1, stack: start)
    let context = heap.closureContext(generation: 1)
    let box = heap.box()
    let task = heap.task(generation: 1)
    let encoder = heap.resource("EncoderSession", bytes: 6 << 30, generation: 1)
    let buffer = heap.block(bytes: 1_000)
    heap.object("App.Ghost", unownedCount: 2, state: .deinited)
    heap.edge(hub, "listeners", to: list)
    heap.edge(list, "[0].owner", to: screen)
    heap.edge(list, "[_]", to: client)
    heap.edge(screen, "client", to: client)
    heap.edge(client, "onChange", to: context, function: 0x40_2000)
    heap.edge(context, "capture[0]", to: screen)
    heap.edge(context, to: box)
    heap.edge(box, "value", to: hub, strength: .unowned)
    heap.edge(client, "delegate", to: screen, strength: .weak)
    heap.edge(task, "run", to: screen, provenance: .scanned)
    heap.edge(screen, "encoder", to: encoder, provenance: .declared)
    heap.edge(encoder, to: buffer, strength: .unmanaged, provenance: .scanned)
    heap.root(.global, address: 0x47_0010, to: hub, label: "shared", provenance: .reflected)
    heap.root(.stack, address: 0x7FFF_FFFF_E010, to: task, pc: 0x40_1240, thread: main)
    heap.root(.register, to: buffer, pc: 0x40_1234, thread: main, label: "rbx")
    return heap.snapshot()
  }

  /// The same with what version 1.1 added: tasks.
  static func fixtureWithTasks() -> Snapshot {
    var heap = SnapshotDSL()
    let hub = heap.object("App.Hub", bytes: 64)
    let task = heap.task()
    let slab = heap.node(.taskSlab, "Task slab", module: "", bytes: 1_000)
    heap.root(.global, address: 0x47_0010, to: hub)
    heap.edge(hub, "run", to: task)
    heap.edge(task, "slab", to: slab)
    heap.edge(slab, "frame", to: hub, function: 0x40_3000, provenance: .scanned)
    let parent = heap.describe(
      task, id: 41, isCancelled: true, frames: [0x40_3001, 0x40_4001])
    heap.describe(
      slab, id: 42, state: .enqueued, kind: .asyncLet, offset: 320, parent: parent,
      frames: [0x40_5001])
    return heap.snapshot()
  }

  /// What version 1.2 added: how full strings and collections are.
  static func fixtureWithStorage() -> Snapshot {
    var heap = SnapshotDSL()
    let hub = heap.object("App.Hub", bytes: 64)
    let list = heap.storage(bytes: 1_056)
    heap.root(.global, address: 0x47_0010, to: hub)
    heap.edge(hub, "names", to: list)
    heap.fill(list, count: 2, of: 64)
    for index in 0..<2 {
      let name = heap.storage("Swift.__StringStorage", bytes: 64)
      heap.edge(list, "[\(index)]", to: name)
      heap.fill(name, count: 20, of: 31, text: 1)
    }
    return heap.snapshot()
  }

  /// What version 1.3 added: how fields are declared.
  static func fixtureWithFields() -> Snapshot {
    var heap = SnapshotDSL()
    let hub = heap.object("App.Hub", bytes: 64)
    let page = heap.object("App.Page", bytes: 32)
    heap.root(.global, address: 0x47_0010, to: hub)
    heap.edge(hub, "state.open", to: page)
    heap.edge(page, "hub", to: hub)
    heap.declare("App.Hub", "state.open", .payload)
    heap.declare("App.Page", "hub", .constant)
    return heap.snapshot()
  }

  /// What version 1.4 added: that allocations were sampled, and which are samples.
  static func fixtureWithSamples() -> Snapshot {
    var heap = SnapshotDSL()
    let start = heap.stack(0x40_1100, 0x40_1000)
    let hub = heap.object("App.Hub", bytes: 64)
    let page = heap.object("App.Page", bytes: 4_096, generation: 1, stack: start)
    heap.root(.global, address: 0x47_0010, to: hub)
    heap.edge(hub, "page", to: page)
    heap.mark("launch", generation: 0)
    var snapshot = heap.snapshot()
    snapshot.sampling = Snapshot.Sampling(
      interval: 524_288, node: Column([heap.index(of: page).rawValue]), bytes: Column([4_090]))
    return snapshot
  }

  @Test("A snapshot of format 1.0 is read as it was written")
  func version1() throws {
    let file = Self.folder.appending(path: "v1.mgraph")
    let text = Self.folder.appending(path: "v1.txt")
    let read = try Snapshot(contentsOf: file.path(percentEncoded: false))
    #expect(try read.textDump() == String(contentsOf: text, encoding: .utf8))
    #expect(read.textDump() == Self.fixture().textDump())
  }

  @Test("A snapshot of format 1.1 is read as it was written")
  func version1_1() throws {
    let file = Self.folder.appending(path: "v1.1.mgraph")
    let text = Self.folder.appending(path: "v1.1.txt")
    let read = try Snapshot(contentsOf: file.path(percentEncoded: false))
    #expect(try read.textDump() == String(contentsOf: text, encoding: .utf8))
    #expect(read.textDump() == Self.fixtureWithTasks().textDump())
  }

  @Test("A snapshot of format 1.2 is read as it was written")
  func version1_2() throws {
    let file = Self.folder.appending(path: "v1.2.mgraph")
    let text = Self.folder.appending(path: "v1.2.txt")
    let read = try Snapshot(contentsOf: file.path(percentEncoded: false))
    #expect(try read.textDump() == String(contentsOf: text, encoding: .utf8))
    #expect(read.textDump() == Self.fixtureWithStorage().textDump())
  }

  @Test("A snapshot of format 1.3 is read as it was written")
  func version1_3() throws {
    let file = Self.folder.appending(path: "v1.3.mgraph")
    let text = Self.folder.appending(path: "v1.3.txt")
    let read = try Snapshot(contentsOf: file.path(percentEncoded: false))
    #expect(try read.textDump() == String(contentsOf: text, encoding: .utf8))
    #expect(read.textDump() == Self.fixtureWithFields().textDump())
  }

  @Test("A snapshot of format 1.4 is read as it was written, and still written so")
  func version1_4() throws {
    let snapshot = Self.fixtureWithSamples()
    let file = Self.folder.appending(path: "v1.4.mgraph")
    let text = Self.folder.appending(path: "v1.4.txt")
    if ProcessInfo.processInfo.environment["RECORD_FIXTURES"] == "1" {
      try snapshot.write(to: file.path(percentEncoded: false))
      try snapshot.textDump().write(to: text, atomically: true, encoding: .utf8)
      Issue.record("recorded \(file.lastPathComponent) and \(text.lastPathComponent)")
      return
    }
    let read = try Snapshot(contentsOf: file.path(percentEncoded: false))
    #expect(try read.textDump() == String(contentsOf: text, encoding: .utf8))
    #expect(try [UInt8](Data(contentsOf: file)) == snapshot.serialized())
  }

  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "Fixtures")
}
