// AdviceTests: which edge is advised to be cut, for each kind of mistake, on small heaps.

import GraphPrimitives
import HeapGraph
import SnapshotDSL
import SnapshotFormat
import Testing

@testable import GraphAnalysis

@Suite struct AdviceTests {
  private typealias Advice = CutProposal.Advice

  private static func best(_ heap: SnapshotDSL) throws -> (CutProposal, HeapGraph) {
    let graph = try HeapGraph(heap.snapshot())
    let cut = try #require(try leaks(in: graph).findings.first?.cuts.first)
    return (cut, graph)
  }

  /// The cut for objects that a root reaches.
  private static func best(
    _ heap: SnapshotDSL, keeping type: String
  ) throws -> (CutProposal, HeapGraph, [Finding]) {
    let graph = try HeapGraph(heap.snapshot())
    let findings = try abandoned(graph.nodes(ofType: TypePattern(type)), in: graph).findings
    return (try #require(findings.first?.cuts.first), graph, findings)
  }

  @Test("Who was made by the other refers back, whatever the fields are called")
  func making() throws {
    for turned in [false, true] {
      var heap = SnapshotDSL()
      heap.module("/lib/libswiftCore.so", addresses: 0x8000..<0x8100)
      let owner = heap.stack(0x8001, 0x9100, 0x9200)
      let part = heap.stack(0x8001, 0x9300, 0x9110, 0x9108, 0x9200)
      let one = heap.object("App.One", stack: turned ? part : owner)
      let other = heap.object("App.Other", stack: turned ? owner : part)
      heap.edge(one, "alpha", to: other)
      heap.edge(other, "beta", to: one)
      let (cut, graph) = try Self.best(heap)
      #expect(cut.advice == .makeWeak && cut.reason == .maker)
      #expect(graph.field(of: cut.step) == (turned ? "alpha" : "beta"))
    }
  }

  @Test(
    "Steps of a history that hold the ones before are to be bounded where the history is held, not made weak"
  )
  func history() throws {
    var heap = SnapshotDSL()
    let editor = heap.object("App.Editor")
    heap.root(.global, address: 0x1000, to: editor, label: "App.editor")
    var last = heap.object("App.UndoStep")
    heap.edge(editor, "history", to: last)
    for _ in 0..<10 {
      let earlier = heap.object("App.UndoStep")
      heap.edge(last, "previous", to: earlier)
      last = earlier
    }
    let graph = try HeapGraph(heap.snapshot())
    // Those that grow are behind the first.
    let first = try #require(graph.nodes.first { graph.typeName(of: $0) == "App.UndoStep" })
    let others = graph.nodes.filter { graph.typeName(of: $0) == "App.UndoStep" && $0 != first }
    let cut = try #require(try abandoned(others, in: graph).findings.first?.cuts.first)
    #expect(cut.advice == .boundContainer)
    #expect(graph.field(of: cut.step) == "history")
  }

  @Test(
    "Closures that capture closures are let go where the last of them is held: no weak capture compiles"
  )
  func wrappedClosures() throws {
    var heap = SnapshotDSL()
    let chain = heap.object("App.Middleware")
    heap.root(.global, address: 0x1000, to: chain, label: "App.middleware")
    var last = heap.node(.closureContext, "closure context", module: "")
    heap.edge(chain, "chain", to: last)
    for _ in 0..<5 {
      let wrapped = heap.node(.closureContext, "closure context", module: "")
      heap.edge(last, "capture[0]", to: wrapped)
      last = wrapped
    }
    let graph = try HeapGraph(heap.snapshot())
    let editor = try #require(graph.nodes.first { graph.typeName(of: $0) == "App.Middleware" })
    let edge = try #require(graph.edges(of: editor).first)
    let first = graph.target(of: EdgeIndex(edge))
    let others = graph.nodes.filter { graph.kind(of: $0) == .closureContext && $0 != first }
    let finding = try #require(try abandoned(others, in: graph).findings.first)
    let cut = try #require(finding.cuts.first)
    #expect(cut.advice == .clearField)
    #expect(graph.field(of: cut.step) == "chain")
  }

  @Test("Objects that were made one after the other say nothing about who owns whom")
  func siblings() throws {
    var heap = SnapshotDSL()
    heap.module("/lib/libswiftCore.so", addresses: 0x8000..<0x8100)
    let one = heap.object("App.One", stack: heap.stack(0x8001, 0x9100, 0x9200, 0x9900))
    let other = heap.object("App.Other", stack: heap.stack(0x8001, 0x9300, 0x9210, 0x9900))
    heap.edge(one, "alpha", to: other)
    heap.edge(other, "beta", to: one)
    #expect(try Self.best(heap).0.advice == .clearField)
  }

  @Test("A part of an object that leads back to it is the one to make weak")
  func ownPart() throws {
    var heap = SnapshotDSL()
    let account = heap.object("App.Account")
    let storage = heap.storage()
    let box = heap.box()
    heap.edge(account, "rules", to: storage)
    heap.edge(storage, "[0]", to: box)
    heap.edge(box, "account", to: account)
    let (cut, graph) = try Self.best(heap)
    #expect(cut.advice == .makeWeak && cut.reason == .ownPart)
    #expect(graph.foldedField(of: cut.step) == "rules[_].account")
    #expect(cut.frees.count == 3)
  }

  @Test("An object that is in its own list is taken out of it")
  func ownElement() throws {
    var heap = SnapshotDSL()
    let node = heap.object("App.Node")
    let storage = heap.storage()
    heap.edge(node, "all", to: storage)
    heap.edge(storage, "[0]", to: node)
    #expect(try Self.best(heap).0.advice == .clearField)
  }

  @Test("A closure that calls itself through its variable becomes a local function")
  func recursiveClosure() throws {
    var heap = SnapshotDSL()
    let context = heap.closureContext()
    let box = heap.box()
    heap.edge(context, "capture[0]", to: box)
    heap.edge(box, "value", to: context, function: 0x9000)
    let (cut, _) = try Self.best(heap)
    #expect(cut.advice == .makeLocalFunction && cut.frees.count == 2)
  }

  /// How a task waits, and what is advised.
  struct Wait: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var state = TaskState.suspended
    var storage: String?
    var isKept = true
    var handleCount: UInt32 = 0
    var advice: CutProposal.Advice
  }

  static let waits = [
    Wait(
      testDescription: "for a stream, which cancelling ends",
      storage: "Swift.AsyncStream<Swift.Int>._Storage", advice: .cancelTaskAlone),
    Wait(
      testDescription: "for a throwing stream",
      storage: "Swift.AsyncThrowingStream<Swift.Int, Swift.Error>._Storage",
      advice: .cancelTaskAlone),
    Wait(
      testDescription: "for a continuation that the program keeps", storage: "App.Gate",
      advice: .resumeWaiting),
    Wait(
      testDescription: "for something unknown, held by a handle", storage: "App.Gate",
      handleCount: 1, advice: .cancelTask),
    Wait(
      testDescription: "for nothing: it runs", state: .running, storage: "App.Gate",
      advice: .cancelTask),
    Wait(
      testDescription: "for somebody to take its result", state: .complete, storage: "App.Gate",
      advice: .takeResults),
  ]

  @Test("A task that a root reaches is told by what it waits for", arguments: waits)
  func waitingTask(_ wait: Wait) throws {
    var heap = SnapshotDSL()
    for _ in 0..<3 {
      let holder = heap.object(wait.storage ?? "App.Gate")
      heap.root(.global, address: 0x1000, to: holder)
      let list = heap.storage()
      let task = heap.task(strongCount: 1 + wait.handleCount)
      let model = heap.object("App.Model", strongCount: 1)
      heap.edge(holder, "waiters", to: list)
      heap.edge(list, "[0]", to: task)
      heap.edge(task, "closure", to: model, provenance: .scanned)
      heap.describe(task, id: 1, state: wait.state)
    }
    let (cut, graph, findings) = try Self.best(heap, keeping: "App.Model")
    #expect(cut.advice == wait.advice)
    #expect(graph.kind(of: cut.step.node) == .task)
    #expect(findings.count == 1 && findings[0].members.count == 3)
    // Nothing but what ends the task lets the models go, and that lets them go all.
    #expect(cut.frees.count >= 3)
  }

  @Test(
    "A continuation that is kept is to be resumed, not to be removed: the task, and what stands for it"
  )
  func keptContinuation() throws {
    for type in ["Task", "Swift.CheckedContinuationCanary"] {
      var heap = SnapshotDSL()
      let board = heap.object("App.Switchboard")
      heap.root(.global, address: 0x1000, to: board)
      let waiting = heap.storage()
      heap.edge(board, "waiting", to: waiting)
      for number in 1...3 as ClosedRange<UInt64> {
        let canary = heap.object("Swift.CheckedContinuationCanary")
        let task = heap.task(strongCount: 1)
        heap.edge(waiting, "[_]", to: canary)
        heap.edge(canary, "continuation", to: task)
        heap.describe(task, id: number, state: .suspended)
      }
      let (cut, _, _) = try Self.best(heap, keeping: type)
      #expect(cut.advice == .resumeWaiting, "\(type)")
    }
  }

  @Test("An island of a task and its owner: cancelling ends the stream that only the owner feeds")
  func island() throws {
    var heap = SnapshotDSL()
    let meter = heap.object("App.Meter", strongCount: 1)
    let stream = heap.object("Swift.AsyncStream<Swift.Int>._Storage", strongCount: 2)
    let list = heap.storage(strongCount: 1)
    let task = heap.task(strongCount: 2)
    heap.edge(meter, "stream", to: stream)
    heap.edge(meter, "reader", to: task)
    heap.edge(stream, "state", to: list)
    heap.edge(list, "[0]", to: task)
    heap.edge(task, "closure", to: meter, provenance: .scanned)
    heap.edge(task, "frame", to: stream, provenance: .scanned)
    heap.describe(task, id: 1)
    let (cut, _) = try Self.best(heap)
    #expect(cut.advice == .cancelTaskAlone)
    #expect(cut.together.isEmpty)
    #expect(cut.frees.count == 4)
  }

  @Test("A leaked task with a handle but without a continuation is one that nobody can resume")
  func droppedContinuation() throws {
    var heap = SnapshotDSL()
    let owner = heap.object("App.Owner", strongCount: 1)
    let task = heap.task(strongCount: 2)
    heap.edge(owner, "task", to: task)
    heap.edge(task, "closure", to: owner, provenance: .scanned)
    heap.describe(task, id: 1)
    let (cut, _) = try Self.best(heap)
    #expect(cut.advice == .resumeContinuation && cut.frees.count == 2)
  }

  @Test("A list of handlers is told by the list, whether the closures have contexts or not")
  func handlers() throws {
    for hasContext in [false, true] {
      var heap = SnapshotDSL()
      let hub = heap.object("App.Hub")
      heap.root(.global, address: 0x1000, to: hub)
      let list = heap.storage(bytes: 128)
      heap.edge(hub, "handlers", to: list)
      for place in 0..<4 {
        let screen = heap.object("App.Screen")
        if hasContext {
          let context = heap.closureContext()
          heap.edge(list, "[\(place)]", to: context, function: 0x9000)
          heap.edge(context, "capture[0]", to: screen)
        } else {
          heap.edge(list, "[\(place)]", to: screen, function: 0x9000)
        }
      }
      let (cut, graph, _) = try Self.best(heap, keeping: "App.Screen")
      #expect(cut.advice == .removeHandler)
      #expect(graph.foldedField(of: cut.step) == "handlers[_]")
      #expect(cut.frees.count == (hasContext ? 8 : 4))
    }
  }

  @Test("A closure in a field of something that lives longer is to capture weakly")
  func storedClosure() throws {
    var heap = SnapshotDSL()
    let hub = heap.object("App.Hub")
    heap.root(.global, address: 0x1000, to: hub)
    heap.edge(hub, "onChange", to: heap.object("App.Screen"), function: 0x9000)
    #expect(try Self.best(heap, keeping: "App.Screen").0.advice == .captureWeakly)
  }

  @Test("A list in a local variable of a running task is to be bounded; the task need not end")
  func localList() throws {
    var heap = SnapshotDSL()
    let task = heap.task(strongCount: 2)
    heap.root(.threadLocal, address: 0x1000, to: task)
    let list = heap.storage("Swift._ContiguousArrayStorage<App.Screen>")
    heap.edge(task, "slab", to: list, provenance: .scanned)
    for place in 0..<4 { heap.edge(list, "[\(place)]", to: heap.object("App.Screen")) }
    heap.describe(task, id: 1, state: .running)
    let (cut, graph, _) = try Self.best(heap, keeping: "App.Screen")
    #expect(cut.advice == .boundContainer)
    #expect(graph.kind(of: cut.step.node) == .task && cut.frees.count == 4)
  }

  @Test("A cache behind one task is to be bounded; of a task for each object the tasks are to end")
  func cacheBehindTask() throws {
    for state in [TaskState.running, .suspended] {
      var heap = SnapshotDSL()
      let task = heap.task(strongCount: 2)
      heap.root(.threadLocal, address: 0x1000, to: task)
      let server = heap.object("App.Server")
      heap.edge(task, "slab", to: server, provenance: .scanned)
      let entries = heap.storage(bytes: 512)
      heap.edge(server, "entries", to: entries)
      for _ in 0..<6 { heap.edge(entries, "[_]", to: heap.object("App.Response")) }
      heap.describe(task, id: 1, state: state)
      let (cut, graph, _) = try Self.best(heap, keeping: "App.Response")
      #expect(cut.advice == .boundContainer && cut.frees.count == 6, "\(state)")
      #expect(graph.typeName(of: cut.step.node) == "App.Server")
    }

    var heap = SnapshotDSL()
    for number in 1...6 {
      let task = heap.task(strongCount: 2)
      heap.root(.threadLocal, address: 0x1000 * UInt64(number), to: task)
      let model = heap.object("App.Model")
      heap.edge(task, "slab", to: model, provenance: .scanned)
      let entries = heap.storage(bytes: 64)
      heap.edge(model, "entries", to: entries)
      heap.edge(entries, "[_]", to: heap.object("App.Response"))
      heap.describe(task, id: UInt64(number), state: .running)
    }
    let (cut, graph, _) = try Self.best(heap, keeping: "App.Response")
    #expect(cut.advice == .cancelTask && graph.kind(of: cut.step.node) == .task)
  }

  @Test("What only becomes longer is to be bounded, be it a dictionary or an array")
  func containers() throws {
    for label in ["[_]", "[0]"] {
      var heap = SnapshotDSL()
      let log = heap.object("App.Log")
      heap.root(.global, address: 0x1000, to: log)
      let storage = heap.storage()
      heap.edge(log, "finished", to: storage)
      heap.edge(storage, label, to: heap.object("App.Record"))
      let (cut, graph, _) = try Self.best(heap, keeping: "App.Record")
      #expect(cut.advice == .boundContainer)
      #expect(graph.foldedField(of: cut.step) == "finished[_]")
    }
  }

  @Test("A delegate that a root holds is to be weak")
  func reachableDelegate() throws {
    var heap = SnapshotDSL()
    let hub = heap.object("App.Hub")
    heap.root(.global, address: 0x1000, to: hub)
    heap.edge(hub, "delegate", to: heap.object("App.Screen"))
    #expect(try Self.best(heap, keeping: "App.Screen").0.advice == .makeWeak)
  }

  @Test("An open resource goes with all that it keeps when it is closed")
  func resource() throws {
    var heap = SnapshotDSL()
    let table = heap.block()
    heap.root(.global, address: 0x1000, to: table)
    let handle = heap.resource("Handle")
    let receiver = heap.object("App.Receiver")
    let screen = heap.object("App.Screen")
    heap.edge(table, "+0", to: handle, provenance: .scanned)
    heap.edge(handle, "context", to: receiver, provenance: .declared)
    heap.edge(receiver, "onEvent", to: screen, function: 0x9000)
    heap.edge(screen, "connection", to: handle, provenance: .declared)
    let (cut, graph, _) = try Self.best(heap, keeping: "App.Screen")
    #expect(cut.advice == .closeResource)
    #expect(graph.typeName(of: cut.step.node) == "Handle")
    #expect(cut.frees.count == 3)
  }

  @Test("A zombie is told with the unowned reference that keeps its memory")
  func zombie() throws {
    var heap = SnapshotDSL()
    let stub = heap.object("App.Stub")
    heap.root(.global, address: 0x1000, to: stub)
    let slab = heap.object(
      "App.Slab", bytes: 4_096, strongCount: 0, unownedCount: 1, state: .deinited)
    heap.edge(stub, "slab", to: slab, strength: .unowned)
    let (cut, graph) = try Self.best(heap)
    #expect(cut.advice == .makeWeakNotUnowned)
    #expect(graph.field(of: cut.step) == "slab" && cut.frees.bytes == ByteCount(4_096))
  }

  @Test("Ways that begin at different threads are one finding")
  func threads() throws {
    var heap = SnapshotDSL()
    for number in 0..<3 {
      let thread = heap.thread("pool", id: UInt32(5_000 + number))
      heap.root(
        .stack, address: 0x7FFF_0000_0000 + UInt64(number) * 0x1000,
        to: heap.object("App.Diver"), pc: 0x8000, thread: thread)
    }
    let graph = try HeapGraph(heap.snapshot())
    let findings = try abandoned(graph.nodes(ofType: TypePattern("Diver")), in: graph).findings
    #expect(findings.count == 1 && findings.first?.members.count == 3)
  }

  @Test("One closure that is held in several ways is one finding")
  func oneClosure() throws {
    var heap = SnapshotDSL()
    var ids: Set<String> = []
    for hops in 0..<3 {
      var last = heap.block()
      heap.root(.global, address: 0x1000 + UInt64(hops) * 8, to: last)
      for _ in 0..<hops {
        let next = heap.block()
        heap.edge(last, "next", to: next, provenance: .scanned)
        last = next
      }
      heap.edge(last, "+8", to: heap.object("App.Reader"), function: 0x9000, provenance: .scanned)
      let graph = try HeapGraph(heap.snapshot())
      let findings = try abandoned(graph.nodes(ofType: TypePattern("Reader")), in: graph).findings
      #expect(findings.count == 1 && findings.first?.members.count == hops + 1)
      #expect(findings.first?.cuts.first?.frees.count == hops + 1)
      ids.formUnion(findings.map(\.fingerprint))
    }
    #expect(ids.count == 1, "how C memory is chained is no part of it")
  }

  // MARK: - Fingerprints

  @Test("Generic arguments are no part of a fingerprint, nor are contexts, indices and arrows")
  func normalised() throws {
    #expect(
      HeapGraph.withoutGenericArguments("App.Box<(Swift.Int) -> App.A<Swift.Int>>.Node")
        == "App.Box<_>.Node")
    #expect(HeapGraph.withoutGenericArguments("App.Plain") == "App.Plain")
    func id(_ type: String, hasContext: Bool) throws -> String {
      var heap = SnapshotDSL()
      let promise = heap.object(type)
      let storage = heap.storage("Swift._ContiguousArrayStorage<(\(type)) -> ()>")
      heap.edge(promise, "callbacks", to: storage)
      if hasContext {
        let context = heap.closureContext()
        heap.edge(storage, "[3]", to: context, function: 0x9000)
        heap.edge(context, "capture[0]", to: promise)
      } else {
        heap.edge(storage, "[0]", to: promise, function: 0x9100)
      }
      let graph = try HeapGraph(heap.snapshot())
      return try #require(try leaks(in: graph).findings.first).fingerprint
    }
    let one = try id("App.Promise<Swift.Int>", hasContext: true)
    #expect(try id("App.Promise<Swift.String>", hasContext: false) == one)
    #expect(try id("App.Other<Swift.String>", hasContext: false) != one)
  }

  @Test("Tasks that wait for themselves differ by what they hold")
  func tasksDiffer() throws {
    func id(holding type: String) throws -> String {
      var heap = SnapshotDSL()
      let task = heap.task(strongCount: 2)
      heap.edge(task, "frame", to: task, provenance: .scanned)
      let context = heap.closureContext()
      heap.edge(task, "closure", to: context, provenance: .scanned)
      heap.edge(context, "capture[0]", to: heap.object(type))
      heap.describe(task, id: 1)
      let graph = try HeapGraph(heap.snapshot())
      return try #require(try leaks(in: graph).findings.first).fingerprint
    }
    #expect(try id(holding: "App.Letter") != id(holding: "App.Parcel"))
    #expect(try id(holding: "App.Letter") == id(holding: "App.Letter"))
  }
}
