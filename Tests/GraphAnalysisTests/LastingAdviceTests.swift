// LastingAdviceTests: what is advised where no field can simply be weak, and where several holders have to go.

import GraphPrimitives
import HeapGraph
import SnapshotDSL
import SnapshotFormat
import Testing

@testable import GraphAnalysis

@Suite struct LastingAdviceTests {
  private static func leak(_ heap: SnapshotDSL) throws -> (CutProposal, HeapGraph) {
    let graph = try HeapGraph(heap.snapshot())
    return (try #require(try leaks(in: graph).findings.first?.cuts.first), graph)
  }

  private static func held(
    _ heap: SnapshotDSL, _ type: String
  ) throws -> (CutProposal, HeapGraph, [Finding]) {
    let graph = try HeapGraph(heap.snapshot())
    let findings = try abandoned(graph.nodes(ofType: TypePattern(type)), in: graph).findings
    return (try #require(findings.first?.cuts.first), graph, findings)
  }

  @Test("What a superclass of a library's declares is the library's, elements included")
  func inheritedField() throws {
    var heap = SnapshotDSL()
    let (one, other) = (heap.object("App.Load"), heap.object("App.Load"))
    for (from, to) in [(one, other), (other, one)] {
      let list = heap.storage()
      heap.edge(from, "__dependencies", to: list)
      heap.edge(list, "[0]", to: to)
    }
    #expect(try Self.leak(heap).0.advice == .clearField)
    heap.declare("App.Load", "__dependencies", .library)
    #expect(try Self.leak(heap).0.advice == .endLibraryObject)
  }

  @Test("What libdispatch has registered is ended, and its handler captures weakly")
  func dispatchSource() throws {
    var heap = SnapshotDSL()
    let model = heap.object("App.Model")
    let source = heap.node(.block, "dispatch_source", module: "Dispatch")
    let timer = heap.node(.block, "dispatch timer", module: "Dispatch")
    heap.edge(model, "timer", to: source)
    heap.edge(source, "registration", to: timer, provenance: .scanned)
    let context = heap.closureContext()
    heap.edge(timer, "eventHandler", to: context, function: 0x9000, provenance: .scanned)
    heap.edge(context, "capture[0]", to: model)
    #expect(try Self.leak(heap).0.advice == .cancelSource)
    let graph = try HeapGraph(heap.snapshot())
    #expect(
      graph.isLibrarys(
        ReferenceStep(
          node: heap.index(of: source),
          edges: [
            EdgeIndex(graph.edges(of: heap.index(of: source)).lowerBound)
          ])))
    heap.root(.global, address: 0x1000, to: source)
    #expect(try Self.held(heap, "App.Model").0.advice == .cancelSource)
  }

  @Test("Elements of a plain ManagedBuffer stay behind when the buffer goes")
  func plainBuffer() throws {
    for (type, left) in [("Swift.ManagedBuffer<Swift.Int, App.Cell>", 3), ("App.Ring", 0)] {
      var heap = SnapshotDSL()
      let list = heap.storage()
      heap.root(.global, address: 0x1000, to: list)
      let pool = heap.object("App.Pool")
      heap.edge(list, "[0]", to: pool)
      let buffer = heap.object(type)
      heap.edge(pool, "buffer", to: buffer)
      heap.edge(buffer, "header", to: heap.object("App.Header"))
      for place in 0..<3 {
        heap.edge(buffer, "+\(24 + 8 * place)", to: heap.object("App.Cell"), provenance: .scanned)
      }
      let (cut, graph, _) = try Self.held(heap, "App.Pool")
      #expect(cut.leftBehind.count == left && cut.frees.count == 6 - left, "\(type)")
      let slots = try #require(
        edgeKinds(in: graph).first { $0.edges.last.map { graph.label(of: $0).foldedText } == "[_]" }
      ).slots
      #expect(try whatIf(weakening: [CutEffect(slots: slots)], in: graph).leftBehind.count == left)
    }
  }

  @Test("Memory that was given up with objects in it is to be deinitialized")
  func forgottenMemory() throws {
    var heap = SnapshotDSL()
    let block = heap.block()
    for place in 0..<3 {
      heap.edge(
        block, "+\(8 * place)", to: heap.object("App.Cell", strongCount: 1), provenance: .scanned)
    }
    let (cut, graph) = try Self.leak(heap)
    #expect(cut.advice == .deinitializeMemory && graph.kind(of: cut.step.node) == .block)
    #expect(cut.frees.count == 3)
  }

  @Test("All entries of C memory that hold objects of one type go together")
  func foreignEntries() throws {
    var heap = SnapshotDSL()
    let hub = heap.object("App.Hub")
    heap.root(.global, address: 0x1000, to: hub)
    let block = heap.block(stack: heap.stack(0x8120))
    heap.edge(hub, "handlers", to: block)
    for place in 0..<3 {
      heap.edge(
        block, "+\(16 * place)", to: heap.object("App.Importer", strongCount: 1),
        provenance: .scanned)
    }
    heap.edge(block, "+64", to: heap.object("App.Log", strongCount: 1), provenance: .scanned)
    let (cut, _, findings) = try Self.held(heap, "App.Importer")
    #expect(findings.count == 1 && findings[0].members.count == 3)
    #expect(cut.advice == .deinitializeMemory && cut.reason == .entry && cut.frees.count == 3)
    let (one, _, _) = try Self.held(heap, "App.Log")
    #expect(one.advice == .deinitializeMemory && one.reason == .none && one.frees.count == 1)
  }

  @Test("Handles of finished tasks are to be taken out of the list that keeps them")
  func finishedTasks() throws {
    var heap = SnapshotDSL()
    let hub = heap.object("App.Hub")
    heap.root(.global, address: 0x1000, to: hub)
    let list = heap.storage()
    heap.edge(hub, "tasks", to: list)
    for place in 0..<4 {
      let task = heap.task(strongCount: 1)
      heap.edge(list, "[\(place)]", to: task)
      heap.describe(task, id: UInt64(place + 1), state: .complete)
    }
    let (cut, graph, _) = try Self.held(heap, "Task")
    #expect(cut.advice == .removeTaskHandles)
    #expect(graph.foldedField(of: cut.step) == "tasks[_]" && cut.frees.count == 4)
  }

  @Test("A list and a retain that hold an object together are told together")
  func listAndRetain() throws {
    var heap = SnapshotDSL()
    let hub = heap.object("App.Hub")
    heap.root(.global, address: 0x1000, to: hub)
    let list = heap.storage()
    heap.edge(hub, "pages", to: list)
    for place in 0..<3 {
      heap.edge(list, "[\(place)]", to: heap.object("App.Page", strongCount: 2))
    }
    let (cut, _, _) = try Self.held(heap, "App.Page")
    #expect(cut.advice == .boundContainer && cut.frees.count == 3)
    #expect(cut.together.map(\.advice) == [.balanceRetain])
  }

  @Test("A retain goes for all objects of the type: what a cut frees is what whatif says of it")
  func retainOfSome() throws {
    var heap = SnapshotDSL()
    let hub = heap.object("App.Hub")
    heap.root(.global, address: 0x1000, to: hub)
    let list = heap.storage()
    heap.edge(hub, "pages", to: list)
    var pages: [SnapshotDSL.Node] = []
    for place in 0..<5 {
      pages.append(heap.object("App.Page", strongCount: 2))
      heap.edge(list, "[\(place)]", to: pages[place])
    }
    // One that is leaked for the same reason.
    heap.object("App.Page", strongCount: 1)
    let graph = try HeapGraph(heap.snapshot())
    // Of the objects on the list three were born between two marks.
    let found = try abandoned(pages.prefix(3).map(heap.index), in: graph).findings
    let cut = try #require(found.first?.cuts.first)
    #expect(cut.together.map(\.advice) == [.balanceRetain])
    let kind = try #require(
      edgeKinds(in: graph).first {
        EdgeLabel.joined($0.edges.map { graph.label(of: $0).foldedText }) == "pages[_]"
      })
    let retains = try unexplainedRetains(in: graph) { graph.typeName(of: $0) == "App.Page" }
    let answer = try whatIf(
      weakening: [CutEffect(slots: kind.slots), unexplainedEffect(of: retains, in: graph)],
      in: graph)
    #expect(cut.frees.count == 5 && answer.freedReachable == cut.frees)
    #expect(answer.freedLeaked.count == 1)
  }

  @Test("A closure that no root reaches any more holds as well, and has to go with the first")
  func holderWithoutRoot() throws {
    var heap = SnapshotDSL()
    let center = heap.object("Foundation.NotificationCenter")
    heap.root(.global, address: 0x1000, to: center)
    let model = heap.object("App.Model")
    // A Timer of Foundation's retains itself.
    let timer = heap.object("Foundation.Timer", strongCount: 1)
    for (holder, function) in [(center, UInt64(0x9000)), (timer, 0x9100)] {
      let context = heap.closureContext()
      heap.edge(holder, "block", to: context, function: function)
      heap.edge(context, "capture[0]", to: model)
    }
    let (cut, _, _) = try Self.held(heap, "App.Model")
    #expect(cut.advice == .removeObserver)
    #expect(cut.together.map(\.advice) == [.invalidateTimer] && cut.frees.count == 1)
  }

  @Test("Where nothing is freed it is said what else holds the objects")
  func otherHolders() throws {
    var heap = SnapshotDSL()
    let owner = heap.object("App.Owner")
    heap.root(.global, address: 0x1000, to: owner)
    let page = heap.object("App.Page")
    heap.edge(owner, "page", to: page)
    // More holders than are proposed together.
    for number in 0..<8 {
      let other = heap.object("App.Other\(number)")
      heap.root(.global, address: 0x2000 + UInt64(number) * 8, to: other)
      heap.edge(other, "page", to: page)
    }
    let (cut, _, _) = try Self.held(heap, "App.Page")
    #expect(cut.frees.count == 0 && cut.together.isEmpty && cut.otherHolders.count == 8)
  }

  @Test("One closure's capture is cut in all closures of that place, whatever library holds them")
  func captureKinds() throws {
    var heap = SnapshotDSL()
    for (number, type) in ["Foundation.FileHandle", "Dispatch.DispatchWorkItem"].enumerated() {
      let holder = heap.object(type)
      heap.root(.global, address: 0x1000 + UInt64(number) * 8, to: holder)
      heap.edge(holder, "handler", to: heap.object("App.Reader"), function: 0x9000)
    }
    let (cut, _, findings) = try Self.held(heap, "App.Reader")
    #expect(findings.count == 1 && cut.frees.count == 2)
  }

  @Test("Lists of closures and tasks that became longer are told, new objects' own lists are not")
  func grownLists() throws {
    func heap(_ count: Int) throws -> (HeapGraph, [NodeIndex]) {
      var heap = SnapshotDSL()
      let hub = heap.object("App.Hub")
      heap.root(.global, address: 0x1000, to: hub)
      let list = heap.storage(bytes: 512)
      heap.edge(hub, "handlers", to: list)
      var elements = (0..<count).map { place in
        let box = heap.box()
        heap.edge(list, "[\(place)]", to: box, function: 0x9000)
        return box
      }
      let screen = heap.object("App.Screen")
      heap.root(.global, address: 0x2000, to: screen)
      let own = heap.storage()
      heap.edge(screen, "lines", to: own)
      let line = heap.box()
      heap.edge(own, "[0]", to: line)
      elements += [line]
      if count > 2 { elements += [screen] }
      return (try HeapGraph(heap.snapshot()), elements.map { heap.index(of: $0) })
    }
    let (first, _) = try heap(2)
    let (last, born) = try heap(5)
    let grown = elementsOfGrownLists(from: first, to: last, born: born, besides: [])
    #expect(grown == Array(born[..<5]))
    #expect(elementsOfGrownLists(from: last, to: last, born: born, besides: []).isEmpty)
  }

  @Test("Growth is told by the program's own objects, not by what a library holds them by")
  func growthHeads() throws {
    let (values, graph) = try GrowthStudyTests.values(calls: 1..<5) { heap, call in
      let hub = heap.object("App.Hub")
      heap.root(.global, address: 0x1000, to: hub)
      let list = heap.storage(bytes: 512)
      heap.edge(hub, "continuations", to: list)
      for place in 0..<call {
        let storage = heap.object("Swift.AsyncStream<App.Post>._Storage")
        heap.edge(list, "[\(place)]", to: storage)
        let context = heap.closureContext()
        heap.edge(storage, "onTermination", to: context, function: 0x9000)
        heap.edge(context, "capture[0]", to: heap.object("App.Feed"))
      }
    }
    let growth = try #require(values.growing.first)
    #expect(values.growing.count == 1 && growth.counts == [1, 2, 3, 4])
    #expect(graph.typeName(of: growth.finding.representative) == "App.Feed")
    #expect(growth.dragged.map(\.type).contains("Swift.AsyncStream<App.Post>._Storage"))
  }

  @Test("Ways are counted alike with --through and without")
  func countsOfWays() throws {
    var heap = SnapshotDSL()
    let (hub, cache) = (heap.object("App.Hub"), heap.object("App.Cache"))
    heap.root(.global, address: 0x1000, to: hub)
    heap.root(.global, address: 0x2000, to: cache)
    let (direct, deep) = (heap.storage(bytes: 512), heap.storage(bytes: 512))
    heap.edge(hub, "items", to: direct)
    let shelf = heap.object("App.Shelf")
    heap.edge(cache, "shelf", to: shelf)
    heap.edge(shelf, "slots", to: deep)
    for place in 0..<5 {
      let item = heap.object("App.Item")
      heap.edge(direct, "[\(place)]", to: item)
      let wrap = heap.object("App.Wrap")
      heap.edge(deep, "[\(place)]", to: wrap)
      heap.edge(wrap, "item", to: item)
    }
    let graph = try HeapGraph(heap.snapshot())
    let items = graph.nodes(ofType: TypePattern("App.Item"))
    let all = try paths(to: items, in: graph, options: PathOptions(maximum: 5))
    let through = try paths(
      to: items, in: graph, options: PathOptions(maximum: 5, through: [FieldPattern("slots")]))
    #expect(all.groups.map(\.targets.count) == [5, 5])
    #expect(through.groups.map(\.targets.count) == [5])
  }
}
