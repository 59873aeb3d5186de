// Tests of snapshots to give away: what says whose they are is gone, the graph is the same.

import Foundation
import GraphPrimitives
import SnapshotDSL
import SnapshotFormat
import Testing

@Suite struct SnapshotStripTests {
  /// The words that may not be in a stripped file; each stands somewhere in the original.
  private static let paths = ["/home/anna", "secret-customer"]
  private static let names = [
    "Clinic", "Patient", "billing", "payments-hub", "admission", "night-worker", "libClinic",
    "ab12cd", "patient.record",
  ]

  private func original() -> Snapshot {
    var heap = SnapshotDSL()
    heap.module("/home/anna/secret-customer/Clinic", buildID: "ab12cd", addresses: 0x1000..<0x2000)
    heap.module("/home/anna/lib/libClinic.so", buildID: "", addresses: 0x3000..<0x4000)
    heap.builder.process.executable = "/home/anna/secret-customer/Clinic"
    heap.builder.process.mark = "admission"
    let thread = heap.thread("night-worker")
    heap.mark("admission", generation: 1)
    heap.builder.note("Clinic has no reflection metadata")
    let stack = heap.stack(0x1010, 0x1020)
    let hub = heap.object("Clinic.Patient", generation: 1, stack: stack, name: "payments-hub")
    let other = heap.object("Swift.Array<Clinic.Patient>")
    heap.edge(hub, "billing[3]", to: other)
    heap.edge(hub, "capture[1].patient.record", to: other)
    heap.edge(other, "billing", to: hub, strength: .weak)
    heap.root(.stack, address: 0x7FFF_0000, to: hub, pc: 0x1015, thread: thread)
    return heap.snapshot()
  }

  private func text(_ snapshot: Snapshot) -> String {
    String(decoding: snapshot.serialized(), as: UTF8.self)
  }

  @Test("Without paths, names stay")
  func paths() throws {
    let before = original()
    let snapshot = before.stripped(ofNames: false)
    try snapshot.validate()
    for word in Self.paths {
      #expect(text(before).contains(word))
      #expect(!text(snapshot).contains(word), "\(word)")
    }
    for word in Self.names where word != "patient.record" {
      #expect(text(snapshot).contains(word), "\(word)")
    }
    #expect(snapshot.process.executable == "Clinic")
    #expect(snapshot.modules.map(\.path) == ["Clinic", "libClinic.so"])
    #expect(snapshot.modules.map(\.buildID) == ["ab12cd", ""])
  }

  @Test("Without names, the graph and what reports go by stay")
  func names() throws {
    let before = original()
    let snapshot = before.stripped(ofNames: true)
    try snapshot.validate()
    let read = try Snapshot(bytes: snapshot.serialized())
    for word in Self.paths + Self.names { #expect(!text(snapshot).contains(word), "\(word)") }
    #expect(Array(read.nodes.address) == Array(before.nodes.address))
    #expect(Array(read.nodes.type) == Array(before.nodes.type))
    #expect(Array(read.nodes.strongCount) == Array(before.nodes.strongCount))
    #expect(Array(read.edges.target) == Array(before.edges.target))
    #expect(Array(read.edges.info) == Array(before.edges.info))
    #expect(Array(read.edges.label) == Array(before.edges.label))
    #expect(Array(read.labels.index) == Array(before.labels.index))
    #expect(Array(read.roots.address) == Array(before.roots.address))
    #expect(Array(read.stacks.pc) == Array(before.stacks.pc))
    let captures = read.labels.name.indices.filter { read.isCapture(label: $0) }
    #expect(captures.count == 1)
    let types = read.types.name.map { read.strings[$0] }.filter { !$0.isEmpty }
    #expect(types.count == Set(types).count && types.allSatisfy { $0.hasPrefix("Type") })
    #expect(read.process.mark == "mark-1" && read.marks.map(\.name) == ["mark-1"])
    #expect(read.diagnostics.map(\.count) == [1])
  }

  @Test("Of any snapshot a valid one comes out", arguments: 0..<50 as Range<UInt64>)
  func random(seed: UInt64) throws {
    let before = randomBuilder(seed: seed).finish()
    for ofNames in [false, true] {
      let snapshot = before.stripped(ofNames: ofNames)
      try snapshot.validate()
      #expect(try Snapshot(bytes: snapshot.serialized()).textDump() == snapshot.textDump())
    }
  }
}
