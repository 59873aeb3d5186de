// What a report calls a reference is found again: `--weaken` takes each name that a cut can have.

import GraphAnalysis
import GraphPrimitives
import GraphReport
import HeapGraph
import SnapshotDSL
import SnapshotFormat
import Symbolication
import Testing

@testable import Commands

@Suite struct EdgeSearchTests {
  /// C memory with a stack holds an object at an offset, as does C memory without.
  private static var foreignSnapshot: Snapshot {
    var heap = SnapshotDSL()
    heap.module("/app/App", buildID: "5eed", addresses: 0x5000..<0xA000)
    let hub = heap.object("App.Hub", bytes: 48)
    heap.root(.global, address: 0x5000, to: hub)
    let made = heap.stack(0x8120, 0x8200)
    for (stack, offset) in [(made, "+3200"), (.none, "+8")] {
      let block = heap.node(.block, "malloc block", module: "", bytes: 4_096, stack: stack)
      heap.edge(hub, "buffer", to: block)
      let stamp = heap.object("App.Stamp", bytes: 32)
      heap.edge(block, offset, to: stamp, provenance: .scanned)
    }
    return heap.snapshot()
  }

  static let snapshots: [String: Snapshot] = [
    "calls": Clinic.snapshot(calls: 3), "waiting": Clinic.waitingSnapshot,
    "steps": Clinic.stepSnapshot(4), "foreign": foreignSnapshot,
  ]

  @Test(
    "Each reference is found by the name that reports call it by",
    arguments: snapshots.keys.sorted())
  func roundTrip(_ name: String) throws {
    let snapshot = try #require(Self.snapshots[name])
    let graph = try HeapGraph(snapshot)
    let names = Names(snapshot, symbols: ClinicSymbols())
    let search = EdgeSearch(in: graph, names: names)
    let kinds = edgeKinds(in: graph)
    #expect(!kinds.isEmpty)
    for kind in kinds {
      let text = EdgeName(kind, names: names)
      for asked in [text.title, text.whole] {
        let found = try search.find(asked)
        // A task with its number stands for the tasks that read like it.
        if text.holder == "Task" {
          #expect(!found.effect.slots.isEmpty)
          continue
        }
        #expect(
          Set(found.effect.slots).isSuperset(of: kind.slots),
          "\(asked) finds \(found.kinds.map(\.whole))")
      }
    }
  }
}
