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

  /// C memory of three sizes that one function asked for, each with an object at its start.
  private static var rawSnapshot: Snapshot {
    var heap = SnapshotDSL()
    heap.module("/app/App", buildID: "5eed", addresses: 0x5000..<0xA000)
    let hub = heap.object("App.Hub", bytes: 48)
    heap.root(.global, address: 0x5000, to: hub)
    let made = heap.stack(0x8120, 0x8200)
    for size in [8, 16, 48] as [UInt64] {
      let block = heap.node(.block, "malloc block", module: "", bytes: size, stack: made)
      heap.edge(hub, "raw", to: block)
      let stamp = heap.object("App.Stamp\(size)", bytes: 32)
      heap.edge(block, "+0", to: stamp, provenance: .scanned)
    }
    return heap.snapshot()
  }

  @Test(
    "A word of C memory is found by the name of its own block, not by that of another",
    arguments: [8, 16, 48])
  func rawMemory(size: Int) throws {
    let snapshot = Self.rawSnapshot
    let graph = try HeapGraph(snapshot)
    let names = Names(snapshot, symbols: ClinicSymbols())
    let block = try #require(
      graph.nodes.first { graph.kind(of: $0) == .block && snapshot.nodes.bytes($0) == UInt64(size) }
    )
    let found = try EdgeSearch(in: graph, names: names).find(
      "(\(names.typeName(of: block))).+0 -> App.Stamp\(size)")
    let stamp = try #require(graph.nodes(ofType: TypePattern("App.Stamp\(size)")).first)
    #expect(found.effect.slots == graph.slots(to: stamp))
  }

  @Test("A registered resource is found by its name: whatever keeps it goes when it is closed")
  func resource() throws {
    var heap = SnapshotDSL()
    let table = heap.node(.block, "malloc block", module: "", bytes: 64)
    heap.root(.global, address: 0x5000, to: table)
    let screen = heap.object("App.Screen")
    for place in 0..<2 {
      let handle = heap.resource("Connection")
      heap.edge(table, "+\(place * 8)", to: handle, provenance: .scanned)
      heap.edge(handle, "context", to: screen)
    }
    let snapshot = heap.snapshot()
    let graph = try HeapGraph(snapshot)
    let search = EdgeSearch(in: graph, names: Names(snapshot, symbols: ClinicSymbols()))
    let handles = graph.nodes.filter { graph.kind(of: $0) == .resource }
    for asked in ["Connection", "Connection -> Connection"] {
      let found = try search.find(asked)
      #expect(found.effect.slots == handles.flatMap { graph.slots(to: $0) }.sorted(), "\(asked)")
      #expect(
        try whatIf(weakening: [found.effect], in: graph).freed.costByType["App.Screen"]?.count == 1)
    }
  }

  @Test("The unowned reference that keeps a destroyed object is found: weak it lets the memory go")
  func zombie() throws {
    var heap = SnapshotDSL()
    let stubs = heap.storage()
    heap.root(.global, address: 0x5000, to: stubs)
    for place in 0..<3 {
      let slab = heap.object(
        "App.Slab", bytes: 100, strongCount: 0, unownedCount: 1, state: .deinited)
      let stub = heap.object("App.Stub")
      heap.edge(stubs, "[\(place)]", to: stub)
      heap.edge(stub, "slab", to: slab, strength: .unowned)
    }
    let snapshot = heap.snapshot()
    let graph = try HeapGraph(snapshot)
    let names = Names(snapshot, symbols: ClinicSymbols())
    let search = EdgeSearch(in: graph, names: names)
    let finding = try #require(try leaks(in: graph).findings.first)
    #expect(finding.cuts.first?.frees == Cost(count: 3, bytes: ByteCount(300)))
    for asked in ["App.Stub.slab", "App.Stub.slab -> App.Slab"] {
      let found = try search.find(asked)
      #expect(found.effect.unowned.count == 3, "\(asked)")
      let answer = try whatIf(weakening: [found.effect], in: graph)
      #expect(answer.freedDestroyed == Cost(count: 3, bytes: ByteCount(300)))
      #expect(answer.freed.total == answer.freedDestroyed)
      #expect(answer.freedAlone == [answer.freedDestroyed])
    }
  }

  /// A task that runs, and two that wait, each with a closure's context; and what those hold, held elsewhere too.
  private static var taskSnapshot: Snapshot {
    var heap = SnapshotDSL()
    heap.module("/app/App", buildID: "5eed", addresses: 0x5000..<0xA000)
    let hub = heap.object("App.Hub", bytes: 48)
    heap.root(.global, address: 0x5000, to: hub)
    let model = heap.object("App.Model", bytes: 96)
    heap.edge(hub, "model", to: model)
    for id in [1, 19, 20] as [UInt64] {
      let task = heap.task("Task", bytes: 352)
      heap.edge(hub, "tasks[_]", to: task)
      let context = heap.closureContext()
      heap.edge(task, "closure", to: context)
      heap.edge(context, "capture[0]", to: id == 1 ? hub : model)
      heap.describe(
        task, id: id, state: id == 1 ? .running : .suspended, frames: id == 1 ? [] : [0x8130])
    }
    return heap.snapshot()
  }

  @Test("A pasted task is answered by its own name, and with what it is to be cut together with")
  func pastedTogether() throws {
    let snapshot = Self.taskSnapshot
    let graph = try HeapGraph(snapshot)
    let names = Names(snapshot, symbols: ClinicSymbols())
    let search = EdgeSearch(in: graph, names: names)
    let waiting = try #require(graph.nodes.first { names.task($0)?.id == 19 })
    let shown = try #require(names.task(waiting)).shown
    let found = try search.find("\(shown).closure")
    #expect(found.kinds.map(\.title) == ["\(shown).closure"])
    let running = try #require(graph.nodes.first { names.task($0)?.id == 1 })
    #expect(names.task(running)?.shown != shown)

    let (task, field) = ("\(shown).closure", "App.Hub.model")
    for pasted in ["\(task) and \(field)", "\(task) and \(field) together", "\(field) and \(task)"]
    {
      let parts = search.parts(of: pasted)
      #expect(Set(parts) == [task, field], "\(pasted)")
      let effects = try parts.map { try search.find($0).effect }
      let freed = try whatIf(weakening: effects, in: graph).freed.costByType
      #expect(freed["App.Model"]?.count == 1, "\(pasted)")
    }
    // Its title alone is enough, and a number that no task has is none.
    let alone = try search.find("Task 19")
    #expect(alone.effect.released.sorted() == (try search.find("\(shown).closure")).effect.released)
    #expect(alone.kinds.map(\.title) == [shown])
    #expect(throws: CommandError.self) { try search.find("Task 77") }
    // What is no name is not dropped.
    let unknown = search.parts(of: "\(task) and App.Hub.nothing")
    #expect(throws: CommandError.self) { try unknown.map { try search.find($0) } }
    #expect(search.parts(of: task) == [task] && search.parts(of: field) == [field])
  }
}
