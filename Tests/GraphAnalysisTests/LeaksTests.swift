// LeaksTests: leaks told by their causes, on small heaps with the shapes that leaks have in programs.

import GraphPrimitives
import HeapGraph
import SnapshotDSL
import SnapshotFormat
import Testing

@testable import GraphAnalysis

@Suite struct LeaksTests {
  /// The steps of a cycle as `Type.field`.
  static func steps(_ finding: Finding, in graph: HeapGraph) -> [String] {
    finding.cycle.map { graph.typeName(of: $0.node) + "." + graph.field(of: $0) }
  }

  static func report(_ heap: SnapshotDSL) throws -> (LeakReport, HeapGraph) {
    let graph = try HeapGraph(heap.snapshot())
    return (try leaks(in: graph), graph)
  }

  @Test("A strong delegate: one finding, the delegate is the edge to cut")
  func delegateCycle() throws {
    var heap = SnapshotDSL()
    for _ in 0..<3 {
      let message = heap.object("App.InboundMessage", bytes: 48)
      let decoder = heap.object("App.FrameDecoder", bytes: 40)
      heap.edge(message, "decoder", to: decoder)
      heap.edge(decoder, "sink", to: message)
    }
    let (report, graph) = try Self.report(heap)
    #expect(report.findings.count == 1)
    let finding = try #require(report.findings.first)
    #expect(finding.kind == .leak)
    #expect(finding.members.count == 3)
    #expect(finding.own == Cost(count: 3, bytes: ByteCount(3 * 40)))
    #expect(finding.retained == Cost(count: 6, bytes: ByteCount(3 * 88)))
    #expect(
      Self.steps(finding, in: graph) == ["App.FrameDecoder.sink", "App.InboundMessage.decoder"])
    let cut = try #require(finding.cuts.first)
    #expect(graph.field(of: cut.step) == "sink")
    #expect(cut.advice == .makeWeak)
    #expect(cut.frees == Cost(count: 6, bytes: ByteCount(3 * 88)))
    #expect(report.leaked.costByType["App.FrameDecoder"]?.count == 3)
  }

  @Test("What a cut frees are objects that count as live, as the finding's are")
  func runtimesOwn() throws {
    var heap = SnapshotDSL()
    let decoder = heap.object("App.FrameDecoder", bytes: 40)
    let message = heap.object("App.InboundMessage", bytes: 48)
    heap.edge(message, "decoder", to: decoder)
    heap.edge(decoder, "sink", to: message)
    heap.edge(message, "+16", to: heap.node(.runtime, "runtime", module: "", bytes: 64))
    let finding = try #require(try Self.report(heap).0.findings.first)
    #expect(finding.retained == Cost(count: 2, bytes: ByteCount(88)))
    #expect(finding.cuts.map(\.frees).allSatisfy { $0 == finding.retained })
    #expect(!finding.cuts.isEmpty)
  }

  @Test("A method passed as a function: an object that captures itself without a context")
  func methodReference() throws {
    var heap = SnapshotDSL()
    let tap = heap.object("App.SampleTap")
    heap.edge(tap, "onBuffer", to: tap, function: 0x40_1000)
    let (report, graph) = try Self.report(heap)
    let finding = try #require(report.findings.first)
    #expect(Self.steps(finding, in: graph) == ["App.SampleTap.onBuffer"])
    #expect(graph.function(of: finding.cycle[0]) == 0x40_1000)
    #expect(finding.cuts.map(\.advice) == [.captureWeakly])
    #expect(finding.cuts.first?.frees.count == 1)
  }

  @Test("A cycle is told by what the closure captured, not by what keeps the closure")
  func capturedFirst() throws {
    for function: UInt64 in [0, 0x40_3000] {
      var heap = SnapshotDSL()
      let bag = heap.object("App.Bag")
      let entries = heap.storage("Swift._ContiguousArrayStorage<App.Entry>")
      let entry = heap.object("App.Entry")
      let model = heap.object("App.Model")
      heap.edge(model, "bag", to: bag)
      heap.edge(bag, "entries", to: entries)
      heap.edge(entries, "[0]", to: entry)
      if function == 0 {
        let context = heap.closureContext()
        heap.edge(entry, "handler", to: context, function: 0x40_2000)
        heap.edge(context, "capture[0]", to: model)
      } else {
        heap.edge(entry, "handler", to: model, function: function)
      }
      let (report, graph) = try Self.report(heap)
      #expect(report.findings.map { graph.typeName(of: $0.representative) } == ["App.Model"])
      #expect(report.findings.first.map { graph.typeName(of: $0.cycle[0].node) } == "App.Model")
    }
  }

  @Test(
    "A closure with a context: what it captures besides is dragged along, no finding of its own")
  func closureContext() throws {
    var heap = SnapshotDSL()
    let screen = heap.object("App.Screen", bytes: 100)
    let context = heap.closureContext(bytes: 32)
    let queue = heap.object("App.JobQueue", bytes: 24)
    heap.edge(screen, "onRefresh", to: context, function: 0x40_2000)
    heap.edge(context, "capture[0]", to: queue)
    heap.edge(context, "capture[1]", to: screen)
    let (report, graph) = try Self.report(heap)
    #expect(report.findings.count == 1)
    let finding = try #require(report.findings.first)
    #expect(
      Self.steps(finding, in: graph) == [
        "App.Screen.onRefresh", "closure context.capture[1]",
      ])
    #expect(finding.retained == Cost(count: 3, bytes: ByteCount(156)))
    let cut = try #require(finding.cuts.first)
    #expect(cut.advice == .captureWeakly)
    #expect(graph.kind(of: cut.step.node) == .closureContext)
    #expect(report.leaked.costByType["App.JobQueue"]?.count == 1)
  }

  @Test(
    "Containers: storage is folded into the field, the way back from one of many is the one to cut")
  func containers() throws {
    var heap = SnapshotDSL()
    for children in 2...4 {
      let socket = heap.object("App.Socket", bytes: 64)
      let storage = heap.storage("Swift._DictionaryStorage<Swift.String, App.Channel>")
      heap.edge(socket, "channels", to: storage)
      for _ in 0..<children {
        let channel = heap.object("App.Channel")
        heap.edge(storage, "[_]", to: channel)
        heap.edge(channel, "socket", to: socket)
      }
      let top = heap.object("App.TreeNode")
      let list = heap.storage()
      heap.edge(top, "children", to: list)
      for position in 0..<children {
        let child = heap.object("App.TreeNode")
        heap.edge(list, "[\(position)]", to: child)
        heap.edge(child, "parent", to: top)
      }
    }
    let (report, graph) = try Self.report(heap)
    #expect(report.findings.count == 2)
    let sockets = try #require(
      report.findings.first { graph.typeName(of: $0.representative) == "App.Socket" })
    #expect(sockets.members.count == 3)
    #expect(
      Self.steps(sockets, in: graph) == ["App.Socket.channels[_]", "App.Channel.socket"])
    #expect(sockets.cycle[0].edges.count == 2)
    #expect(sockets.cuts.first.map { graph.field(of: $0.step) } == "socket")
    #expect(sockets.cuts.first?.advice == .makeWeak)
    #expect(sockets.cuts.first?.frees.count == 3 + 3 + 9)
    let trees = try #require(
      report.findings.first { graph.typeName(of: $0.representative) == "App.TreeNode" })
    #expect(Self.steps(trees, in: graph)[1] == "App.TreeNode.parent")
    #expect(trees.cuts.first.map { graph.field(of: $0.step) } == "parent")
    #expect(report.leaked.costByType["App.TreeNode"]?.count == 12)
  }

  @Test("Boxes of an indirect enum are folded into the field that holds them")
  func indirectEnum() throws {
    var heap = SnapshotDSL()
    let evaluator = heap.object("App.Evaluator")
    let sum = heap.box()
    let variable = heap.box()
    let inner = heap.box()
    let constant = heap.object("App.Constant")
    heap.edge(evaluator, "tree.sum", to: sum)
    heap.edge(sum, "0.sum", to: inner)
    heap.edge(inner, "1.constant", to: constant)
    heap.edge(sum, "1.variable", to: variable)
    heap.edge(variable, "scope", to: evaluator)
    let (report, graph) = try Self.report(heap)
    let finding = try #require(report.findings.first)
    #expect(Self.steps(finding, in: graph) == ["App.Evaluator.tree.sum.1.variable.scope"])
    #expect(finding.retained.count == 5)
    #expect(finding.cuts.first?.frees.count == 5)
  }

  @Test("A closure that calls itself through a variable: the context is the step, not the box")
  func recursiveClosure() throws {
    var heap = SnapshotDSL()
    let box = heap.box()
    let context = heap.closureContext()
    let ledger = heap.object("App.AttemptLedger")
    heap.edge(box, "attempt", to: context, function: 0x40_3000)
    heap.edge(context, "capture[0]", to: ledger)
    heap.edge(context, "capture[1]", to: box)
    let (report, graph) = try Self.report(heap)
    let finding = try #require(report.findings.first)
    #expect(Self.steps(finding, in: graph) == ["closure context.capture[1].attempt"])
    #expect(finding.retained.count == 3)
    #expect(finding.cuts.first?.frees.count == 3)
    // A variable can't be captured weakly.
    #expect(finding.cuts.first?.advice == .makeLocalFunction)
  }

  @Test("Of two fields the one that is not called like its type is the way back")
  func fieldNamedAfterType() throws {
    var heap = SnapshotDSL()
    let source = heap.object("App.CancelSource")
    let token = heap.object("App.CancelToken")
    heap.edge(source, "token", to: token)
    heap.edge(token, "state.pending", to: source)
    let (report, graph) = try Self.report(heap)
    let cut = try #require(report.findings.first?.cuts.first)
    #expect(graph.field(of: cut.step) == "state.pending")
  }

  @Test("A field that living objects own by is not the one to make weak")
  func ownedElsewhere() throws {
    var heap = SnapshotDSL()
    let first = heap.object("App.First")
    let second = heap.object("App.Second")
    heap.edge(first, "a", to: second)
    heap.edge(second, "b", to: first)
    let living = heap.object("App.First")
    let owned = heap.object("App.Second")
    heap.root(.global, address: 0x1000, to: living)
    heap.edge(living, "a", to: owned)
    let (report, graph) = try Self.report(heap)
    let cut = try #require(report.findings.first?.cuts.first)
    #expect(graph.field(of: cut.step) == "b")
  }

  @Test("Nothing but boxes: each is a step")
  func boxesAlone() throws {
    var heap = SnapshotDSL()
    let first = heap.box()
    let second = heap.box()
    heap.edge(first, "next", to: second)
    heap.edge(second, "next", to: first)
    let (report, graph) = try Self.report(heap)
    let finding = try #require(report.findings.first)
    #expect(Self.steps(finding, in: graph) == ["box.next", "box.next"])
  }

  @Test("Two closures, one inside the other: the inner capture is the one to cut")
  func nestedClosures() throws {
    var heap = SnapshotDSL()
    let call = heap.object("App.UnaryCall")
    let promise = heap.object("App.Promise<Swift.Int>")
    let derived = heap.object("App.Promise<Swift.String>")
    let storage = heap.storage()
    let outer = heap.closureContext()
    heap.edge(call, "ready", to: promise)
    heap.edge(call, "status", to: derived)
    heap.edge(promise, "callbacks", to: storage)
    heap.edge(storage, "[0]", to: outer, function: 0x40_4000)
    let inner = heap.closureContext()
    heap.edge(outer, "capture[0]", to: derived)
    heap.edge(outer, "transform", to: inner, function: 0x40_5000)
    heap.edge(inner, "self", to: call)
    let (report, graph) = try Self.report(heap)
    let finding = try #require(report.findings.first)
    #expect(
      Self.steps(finding, in: graph) == [
        "App.UnaryCall.ready", "App.Promise<Swift.Int>.callbacks[0]", "closure context.transform",
        "closure context.self",
      ])
    #expect(finding.retained.count == 6)
    #expect(finding.cuts.first?.advice == .captureWeakly)
    #expect(finding.cuts.first.map { graph.field(of: $0.step) } == "self")
  }

  @Test("A task that owns the object that holds it, and waits for its stream: cancel it")
  func taskIsland() throws {
    var heap = SnapshotDSL()
    for _ in 0..<4 {
      let feed = heap.object("App.Feed")
      let task = heap.task()
      let slab = heap.node(.taskSlab, "task slab", module: "", bytes: 1024)
      let stream = heap.object("Swift.AsyncStream<Swift.Int>._Storage")
      heap.edge(feed, "worker", to: task)
      heap.edge(feed, "events.storage", to: stream)
      heap.edge(stream, "continuation", to: task, provenance: .scanned)
      heap.edge(task, to: slab)
      heap.edge(slab, to: feed, provenance: .scanned)
    }
    let (report, graph) = try Self.report(heap)
    #expect(report.findings.count == 1)
    let finding = try #require(report.findings.first)
    #expect(finding.members.count == 4)
    #expect(Self.steps(finding, in: graph) == ["App.Feed.worker", "Swift.Task."])
    #expect(finding.retained.count == 16)
    #expect(finding.cuts.first?.advice == .cancelTaskAlone)
    #expect(finding.cuts.first?.frees.count == 16)
  }

  @Test("A block of libdispatch is a step on the way")
  func dispatchBlock() throws {
    var heap = SnapshotDSL()
    let reconnector = heap.object("App.Reconnector")
    let item = heap.object("Dispatch.DispatchWorkItem")
    let block = heap.node(.cBlock, "block", module: "")
    heap.edge(reconnector, "retry", to: item)
    heap.edge(item, "_block", to: block)
    heap.edge(block, to: reconnector, function: 0x40_6000, provenance: .scanned)
    let (report, graph) = try Self.report(heap)
    let finding = try #require(report.findings.first)
    #expect(
      Self.steps(finding, in: graph) == [
        "App.Reconnector.retry", "Dispatch.DispatchWorkItem._block", "block.",
      ])
    #expect(finding.cuts.first?.advice == .captureWeakly)
    #expect(finding.cuts.first?.frees.count == 3)
  }

  @Test("An unbalanced retain: no cycle, the retain is what to balance")
  func unbalancedRetain() throws {
    var heap = SnapshotDSL()
    for _ in 0..<12 {
      let context = heap.object("App.WorkContext", bytes: 24, strongCount: 1)
      let log = heap.object("App.Log", bytes: 16)
      heap.edge(context, "log", to: log)
    }
    let (report, _) = try Self.report(heap)
    #expect(report.findings.count == 1)
    let finding = try #require(report.findings.first)
    #expect(finding.kind == .leak && finding.cycle.isEmpty && finding.members.count == 12)
    let cut = try #require(finding.cuts.first)
    #expect(cut.advice == .balanceRetain && cut.step.edges.isEmpty)
    #expect(cut.frees == Cost(count: 24, bytes: ByteCount(12 * 40)))
    #expect(report.leaked.costByType["App.WorkContext"]?.count == 12)
  }

  @Test(
    "A library's object that retains itself is to be ended, not to be released",
    arguments: ["FoundationNetworking.URLSession", "Dispatch.DispatchWorkItem"])
  func libraryObject(type: String) throws {
    var heap = SnapshotDSL()
    heap.object(type, strongCount: 1)
    let alone = try #require(try Self.report(heap).0.findings.first)
    #expect(alone.cuts.first?.advice == .endLibraryObject)

    heap = SnapshotDSL()
    let session = heap.object(type, strongCount: 2)
    let task = heap.object("App.Download")
    heap.edge(session, "task", to: task)
    heap.edge(task, "session", to: session)
    let cycle = try #require(try Self.report(heap).0.findings.first)
    #expect(cycle.cuts.first?.advice == .endLibraryObject)
  }

  @Test("An ended Timer is Foundation's leak, unless it keeps an object of the program's own")
  func endedTimers() throws {
    var heap = SnapshotDSL()
    let ended = heap.object("Foundation.Timer", strongCount: 1)
    let closure = heap.closureContext()
    heap.edge(ended, "_fire", to: closure)
    let shared = heap.object("Foundation.NSLock")
    heap.edge(ended, "lock", to: shared)
    let (report, _) = try Self.report(heap)
    #expect(report.findings.isEmpty && report.leakedNodes.isEmpty)
    #expect(report.unattributedBlocks.count == 3)

    // Something of the program's own hangs on it, or has it.
    let keeping = heap.object("Foundation.Timer", strongCount: 1)
    let context = heap.closureContext()
    heap.edge(keeping, "_fire", to: context)
    let model = heap.object("App.Model")
    heap.edge(context, "capture[0]", to: model)
    let leaked = heap.object("App.Loop")
    heap.edge(leaked, "self", to: leaked)
    heap.edge(leaked, "lock", to: shared)
    let (more, _) = try Self.report(heap)
    #expect(more.findings.count == 2 && more.unattributedBlocks.count == 2)
    #expect(
      more.leakedNodes
        == [shared, keeping, context, model, leaked].map { heap.index(of: $0) }.sorted())
  }

  @Test("A session that its delegate owns is to be ended: weak it would not live at all")
  func sessionAndDelegate() throws {
    var heap = SnapshotDSL()
    let loader = heap.object("App.Loader")
    let session = heap.object("FoundationNetworking.URLSession")
    heap.edge(loader, "session", to: session)
    heap.edge(session, "delegate", to: loader)
    let (report, graph) = try Self.report(heap)
    let cuts = try #require(report.findings.first).cuts
    #expect(cuts.map(\.advice) == [.endLibraryObject, .makeWeak])
    #expect(graph.typeName(of: try #require(cuts.first).step.node).hasSuffix("URLSession"))

    // The same names in a class of the program's own are its own field.
    heap = SnapshotDSL()
    let own = heap.object("App.Loader")
    let ownSession = heap.object("App.URLSession")
    heap.edge(own, "session", to: ownSession)
    heap.edge(ownSession, "delegate", to: own)
    let ownCuts = try #require(try Self.report(heap).0.findings.first).cuts
    #expect(ownCuts.map(\.advice) == [.makeWeak, .makeWeak])
  }

  @Test("Of library objects that hold each other one is to be ended; an element is not theirs")
  func libraryInside() throws {
    var heap = SnapshotDSL()
    let model = heap.object("App.Model")
    let queue = heap.object("Foundation.OperationQueue")
    let first = heap.object("Foundation.BlockOperation")
    let second = heap.object("Foundation.BlockOperation")
    heap.edge(model, "queue", to: queue)
    heap.edge(queue, "first", to: first)
    heap.edge(queue, "last", to: second)
    for operation in [first, second] {
      heap.edge(operation, "queue", to: queue)
      heap.edge(operation, "work", to: model)
    }
    let held = try #require(try Self.report(heap).0.findings.first)
    let best = try #require(held.cuts.first)
    #expect(best.advice == .endLibraryObject && best.together.isEmpty)

    heap = SnapshotDSL()
    let owner = heap.object("App.Model")
    let list = heap.object("Foundation.NSMutableArray")
    heap.edge(owner, "list", to: list)
    heap.edge(list, "_storage[0]", to: owner)
    let cuts = try #require(try Self.report(heap).0.findings.first).cuts
    #expect(!cuts.contains { $0.advice == .endLibraryObject })
  }

  @Test(
    "Of a library's fields and the program's own capture the capture is told, though it frees less")
  func captureBeforeLibrary() throws {
    for isRetained in [false, true] {
      var heap = SnapshotDSL()
      let model = heap.object("App.Model")
      let timer = heap.object("Foundation.Timer", strongCount: isRetained ? 3 : nil)
      let storage = heap.object("CoreFoundation.CFRunLoopTimer")
      let context = heap.closureContext()
      heap.edge(model, "timer", to: timer)
      heap.edge(timer, "_timerStorage", to: storage)
      heap.edge(storage, "info", to: timer)
      heap.edge(timer, "_fire", to: context, function: 0x9000)
      heap.edge(context, "capture[0]", to: model)
      let (report, graph) = try Self.report(heap)
      let cut = try #require(report.findings.first?.cuts.first)
      #expect(cut.advice == .invalidateTimer && cut.together.isEmpty, "\(cut)")
      #expect(graph.kind(of: cut.step.node) == .closureContext)
    }
  }

  @Test(
    "What is in a collection of Foundation's is taken out, and whoever has the collection never has it weakly",
    arguments: [
      ("Foundation.NSMutableArray", "Foundation.NSMutableArray"),
      ("Foundation.NSMutableDictionary", "Foundation.NSMutableDictionary"),
      // Nothing can be taken out of these.
      ("Foundation.NSDictionary", "App.Model"), ("Foundation.NSError", "App.Model"),
    ])
  func inCollection(type: String, cut: String) throws {
    for isBoxed in [false, true] {
      var heap = SnapshotDSL()
      let model = heap.object("App.Model")
      let list = heap.object(type)
      // Called like a reference back, where that must not matter.
      let field = type.hasSuffix("Error") ? "error" : "container"
      heap.edge(model, field, to: list)
      heap.declare("App.Model", field, .variable)
      // Others own what is in theirs.
      let other = heap.object(type)
      heap.root(.global, address: 0x1000, to: other)
      heap.edge(other, "_storage[0]", to: heap.object("App.Page"))
      if isBoxed {
        let box = heap.object("Foundation.__SwiftValue")
        heap.edge(list, "_storage[0]", to: box)
        heap.edge(box, "value", to: model)
      } else {
        heap.edge(list, "_storage[0]", to: model)
      }
      let (report, graph) = try Self.report(heap)
      let cuts = try #require(report.findings.first).cuts
      let best = try #require(cuts.first)
      #expect(graph.typeName(of: best.step.node) == cut && best.advice == .clearField)
      #expect(!cuts.contains { $0.advice == .makeWeak })
    }
  }

  @Test("The entries of an NSCache are taken out of it")
  func cacheEntries() throws {
    var heap = SnapshotDSL()
    let entry = "Foundation.NSCacheEntry<Foundation.NSString, App.Model>"
    let (first, second) = (heap.object(entry), heap.object(entry))
    heap.edge(first, "nextByCost", to: second)
    heap.edge(second, "prevByCost", to: first)
    #expect(try Self.report(heap).0.findings.first?.cuts.first?.advice == .endLibraryObject)

    heap = SnapshotDSL()
    let model = heap.object("App.Model")
    let cache = heap.object("Foundation.NSCache<Foundation.NSString, App.Model>")
    let only = heap.object(entry)
    heap.edge(model, "cache", to: cache)
    heap.edge(cache, "_head", to: only)
    heap.edge(only, "value", to: model)
    let (report, graph) = try Self.report(heap)
    let best = try #require(report.findings.first?.cuts.first)
    #expect(best.advice == .endLibraryObject && graph.typeName(of: best.step.node) == entry)
  }

  @Test("A cycle that somebody retained besides: the edge and the retain have to go together")
  func retainedCycle() throws {
    var heap = SnapshotDSL()
    let parent = heap.object("App.Parent", strongCount: 2)
    let child = heap.object("App.Child")
    heap.edge(parent, "child", to: child)
    heap.edge(child, "parent", to: parent)
    let (report, graph) = try Self.report(heap)
    let finding = try #require(report.findings.first)
    #expect(finding.cycle.count == 2)
    let best = try #require(finding.cuts.first)
    #expect(best.advice == .balanceRetain && best.step.edges.isEmpty)
    #expect(best.together.map { graph.field(of: $0.step) } == ["parent"])
    #expect(best.frees.count == 2)
  }

  @Test("A resource that was never closed")
  func resource() throws {
    var heap = SnapshotDSL()
    let connection = heap.resource("PeerConnection", bytes: 4_096)
    let screen = heap.object("App.Screen", bytes: 100, strongCount: 1)
    heap.edge(connection, "delegate", to: screen, provenance: .declared)
    let (report, graph) = try Self.report(heap)
    #expect(report.findings.count == 1)
    let finding = try #require(report.findings.first)
    #expect(graph.typeName(of: finding.representative) == "PeerConnection")
    #expect(finding.retained == Cost(count: 2, bytes: ByteCount(4_196)))
    #expect(finding.cuts.map(\.advice) == [.closeResource])
  }

  @Test("Destroyed objects that unowned references keep are zombies, not leaks")
  func zombies() throws {
    var heap = SnapshotDSL()
    let stubs = heap.storage()
    heap.root(.global, address: 0x1000, to: stubs)
    for position in 0..<12 {
      let slab = heap.object(
        "App.Slab", bytes: 1_000_000, strongCount: 0, unownedCount: 1, state: .deinited)
      let stub = heap.object("App.Stub")
      heap.edge(stubs, "[\(position)]", to: stub)
      heap.edge(stub, "slab", to: slab, strength: .unowned)
    }
    let (report, graph) = try Self.report(heap)
    #expect(report.leaked == .empty)
    #expect(report.zombies.costByType["App.Slab"]?.count == 12)
    #expect(report.findings.count == 1)
    let finding = try #require(report.findings.first)
    #expect(finding.kind == .zombie && finding.members.count == 12)
    let path = try #require(finding.path)
    #expect(path.target == finding.representative)
    #expect(graph.field(of: path.steps[0]) == "[0]")
    #expect(path.steps.last.map { graph.typeName(of: $0.node) } == "App.Stub")
  }

  @Test("What living memory holds is no leak, in whatever way it is held")
  func controls() throws {
    var heap = SnapshotDSL()
    // Held by a C block that a global holds, by an object being destroyed, by an immortal one.
    let block = heap.block()
    let inBlock = heap.object("App.Held")
    heap.root(.global, address: 0x1000, to: block)
    heap.edge(block, to: inBlock, provenance: .scanned)
    let dying = heap.object("App.Dying", state: .deiniting)
    let last = heap.object("App.Held")
    heap.edge(dying, "last", to: last)
    let immortal = heap.object("App.Immortal", strongCount: Snapshot.Nodes.uncounted)
    let kept = heap.object("App.Held")
    heap.edge(immortal, "kept", to: kept)
    // C memory that nobody knows the holder of.
    let hidden = heap.block(bytes: 100)
    let more = heap.node(.cBlock, "block", module: "", bytes: 28)
    heap.edge(hidden, to: more, provenance: .scanned)
    heap.node(.runtime, "runtime", module: "", bytes: 5_000)
    let (report, _) = try Self.report(heap)
    #expect(report.findings.isEmpty)
    #expect(report.leaked == .empty)
    #expect(report.unattributedBlocks == Cost(count: 2, bytes: ByteCount(128)))
  }

  @Test(
    "Weak, unowned and unmanaged references hold nothing",
    arguments: [EdgeStrength.weak, .unowned, .unmanaged])
  func notHolding(strength: EdgeStrength) throws {
    var heap = SnapshotDSL()
    let owner = heap.object("App.Owner")
    let child = heap.object("App.Child", strongCount: 1)
    heap.root(.global, address: 0x1000, to: owner)
    heap.edge(owner, "child", to: child, strength: strength)
    heap.root(.stack, address: 0x7000, to: child, strength: strength)
    let (report, _) = try Self.report(heap)
    #expect(report.leaked.costByType == ["App.Child": Cost(count: 1, bytes: ByteCount(32))])
  }

  @Test("C memory goes with what leaked; what two culprits share is retained by both together")
  func dragged() throws {
    var heap = SnapshotDSL()
    let shared = heap.object("App.Settings", bytes: 1_000)
    for _ in 0..<2 {
      let client = heap.object("App.Client", bytes: 10)
      let buffer = heap.block(bytes: 200)
      heap.edge(client, "owner", to: client)
      heap.edge(client, "buffer", to: buffer, provenance: .scanned)
      heap.edge(client, "settings", to: shared)
    }
    let other = heap.object("App.Other", bytes: 1)
    heap.edge(other, "owner", to: other)
    let (report, graph) = try Self.report(heap)
    #expect(report.findings.count == 2)
    #expect(report.findings[0].retained == Cost(count: 5, bytes: ByteCount(1_420)))
    #expect(graph.typeName(of: report.findings[1].representative) == "App.Other")
    #expect(report.leaked.costByType["malloc"]?.bytes == ByteCount(400))

    // Held by both kinds of culprits, the settings go with neither alone.
    heap.edge(other, "settings", to: shared)
    let (both, _) = try Self.report(heap)
    #expect(both.findings.map(\.retained.bytes.rawValue) == [420, 1])
  }

  @Test("Objects that hold each other in two ways: both edges are proposed together")
  func twoWaysRound() throws {
    var heap = SnapshotDSL()
    for _ in 0..<2 {
      let screen = heap.object("App.Screen")
      let client = heap.object("App.Client")
      let track = heap.object("App.Track")
      heap.edge(screen, "client", to: client)
      heap.edge(client, "onChange", to: screen, function: 0x40_7000)
      heap.edge(screen, "track", to: track)
      heap.edge(track, "delegate", to: screen)
    }
    let (report, graph) = try Self.report(heap)
    let finding = try #require(report.findings.first)
    #expect(finding.members.count == 2)
    let best = try #require(finding.cuts.first)
    #expect(best.frees.count == 6)
    let fields = ([best.step] + best.together.map(\.step)).map { graph.field(of: $0) }
    #expect(Set(fields) == ["onChange", "delegate"])
    #expect(best.advice == .captureWeakly || best.advice == .makeWeak)
    #expect(finding.cuts.dropFirst().allSatisfy { $0.frees.count < 6 })
  }

  @Test("A cycle that another one drags along is a culprit too: it would stay behind")
  func cycleBelowCycle() throws {
    var heap = SnapshotDSL()
    for _ in 0..<2 {
      let track = heap.object("App.Track", bytes: 100)
      let renderer = heap.object("App.Renderer", bytes: 200)
      let screen = heap.object("App.Screen", bytes: 1_000)
      let connection = heap.object("App.Connection", bytes: 2_000)
      let title = heap.object("App.Title", bytes: 10)
      let list = heap.storage(bytes: 50)
      heap.edge(track, "renderers", to: list)
      heap.edge(list, "[0]", to: renderer)
      heap.edge(renderer, "track", to: track)
      heap.edge(renderer, "delegate", to: screen)
      heap.edge(screen, "connection", to: connection)
      heap.edge(connection, "delegate", to: screen)
      heap.edge(screen, "title", to: title)
      // A ring inside a library stays behind as well, but is nothing to mend.
      let loop = heap.object("Foundation.RunLoop", bytes: 1)
      heap.edge(screen, "loop", to: loop)
      heap.edge(loop, "self", to: loop)
    }
    let (report, graph) = try Self.report(heap)
    #expect(
      report.findings.map { Self.steps($0, in: graph).joined(separator: " ") } == [
        "App.Connection.delegate App.Screen.connection",
        "App.Track.renderers[0] App.Renderer.track",
      ])
    #expect(report.findings.map(\.retained.bytes.rawValue) == [2 * 3_011, 2 * 350])
    // What its edge frees is told as if what is above it were mended.
    #expect(
      report.findings.map { finding in
        finding.cuts.first.map { graph.field(of: $0.step) } ?? ""
      } == ["delegate", "track"])
    #expect(report.findings.map { $0.cuts.first?.frees.count } == [6, 6])
    #expect(report.findings.allSatisfy { $0.cuts.first?.together.isEmpty == true })
  }

  @Test(
    "Where only registered objects are known, a retain that nothing explains is no leak; a cycle is"
  )
  func partial() throws {
    var heap = SnapshotDSL()
    heap.builder.process.isPartial = true
    heap.object("App.Session", strongCount: 1, name: "Session")
    heap.resource("Handle")
    let first = heap.object("App.Ring", name: "Ring")
    let second = heap.object("App.Ring", name: "Ring")
    heap.edge(first, "next", to: second, provenance: .declared)
    heap.edge(second, "next", to: first, provenance: .declared)
    let (report, graph) = try Self.report(heap)
    #expect(graph.isPartial)
    #expect(report.leaked.costByType.mapValues(\.count) == ["Ring": 2])
  }

  @Test("A name that the program gave counts as the type")
  func registeredName() throws {
    var heap = SnapshotDSL()
    heap.object("App.Handle", strongCount: 1, name: "PeerConnection")
    let (report, _) = try Self.report(heap)
    #expect(report.leaked.costByType.keys.sorted() == ["PeerConnection"])
  }

  @Test("Fingerprints that users keep must not change")
  func keptFingerprints() {
    #expect(fingerprint(of: []) == "15e9a9b5e89b")
    #expect(fingerprint(of: ["leak", "App.Parent.child", "App.Child.parent"]) == "2b0fd6898aca")
    #expect(fingerprint(of: ["ab", "c"]) != fingerprint(of: ["a", "bc"]))
  }

  @Test("A fingerprint is the same however many contexts the optimizer leaves in a closure")
  func optimizedClosures() throws {
    func build(contexts: Int, isBoxed: Bool) throws -> [String] {
      var heap = SnapshotDSL()
      let promise = heap.object("App.Promise")
      let call = heap.object("App.Call")
      heap.edge(call, "ready", to: promise)
      var last = promise
      var field = "callback"
      if isBoxed {
        let box = heap.box()
        heap.edge(last, field, to: box, function: 0x40_1000)
        (last, field) = (box, "value")
      }
      for number in 0..<contexts {
        let context = heap.closureContext()
        heap.edge(last, field, to: context, function: 0x40_2000 + UInt64(number))
        (last, field) = (context, "transform")
      }
      heap.edge(last, field, to: call, function: 0x40_3000)
      return try leaks(in: HeapGraph(heap.snapshot())).findings.map(\.fingerprint)
    }
    let plain = try build(contexts: 2, isBoxed: false)
    #expect(plain.count == 1)
    #expect(try build(contexts: 1, isBoxed: false) == plain)
    #expect(try build(contexts: 1, isBoxed: true) == plain)
    #expect(try build(contexts: 0, isBoxed: false) == plain)
  }

  @Test("A fingerprint follows from types and fields, not from addresses, order or numbers")
  func fingerprints() throws {
    func build(_ count: Int, gap: UInt64, function: UInt64, children: Int) throws -> [String] {
      var heap = SnapshotDSL()
      for number in 0..<count {
        let room = heap.object("App.Room", address: 0x20_0000 + UInt64(number) * gap)
        let storage = heap.storage("Swift._SetStorage<App.Member>")
        heap.edge(room, "members", to: storage)
        for _ in 0..<children {
          let member = heap.object("App.Member")
          heap.edge(storage, "[_]", to: member)
          heap.edge(member, "room", to: room)
        }
        let tap = heap.object("App.Tap")
        heap.edge(tap, "onBuffer", to: tap, function: function)
      }
      return try leaks(in: HeapGraph(heap.snapshot())).findings.map(\.fingerprint).sorted()
    }
    let first = try build(1, gap: 0x10_0000, function: 0x40_1000, children: 2)
    let second = try build(5, gap: 0x40_0000, function: 0x77_1000, children: 3)
    #expect(first == second)
    #expect(Set(first).count == 2)
    #expect(first.allSatisfy { $0.count == 12 && $0.allSatisfy(\.isHexDigit) })
  }
}
