// GrowthStudyTests: growth by place over the marks of made-up programs.

import GraphPrimitives
import HeapGraph
import SnapshotDSL
import SnapshotFormat
import Testing

@testable import GraphAnalysis

@Suite struct GrowthStudyTests {
  /// The values of a study of a program whose memory after each call is as `build` makes it.
  static func values(
    calls: Range<Int>, nonOwners: [FieldPattern] = [], _ build: (inout SnapshotDSL, Int) -> Void
  ) throws -> (values: GrowthReportValues, last: HeapGraph) {
    var study = GrowthStudy(nonOwners: nonOwners)
    var last: HeapGraph?
    for call in calls {
      var heap = SnapshotDSL()
      build(&heap, call)
      let graph = try HeapGraph(heap.snapshot())
      try study.add(graph)
      last = graph
    }
    let graph = try #require(last)
    return (try study.values(last: graph), graph)
  }

  private func way(_ growth: PlaceGrowth, in graph: HeapGraph) -> String {
    growth.finding.path.map { PathsTests.words($0, in: graph) } ?? "leaked"
  }

  @Test("What is found now on one way and now on another grows as all of it does")
  func alternatingWays() throws {
    let onFirst: Set<Int> = [2, 5, 7, 8, 9, 11, 12]
    func study(_ count: @escaping (Int) -> Int) throws -> (GrowthReportValues, HeapGraph) {
      let found = try Self.values(calls: 1..<13) { heap, call in
        let hub = heap.object("App.Hub")
        heap.root(.global, address: 0x1000, to: hub)
        let list = heap.storage()
        heap.edge(hub, onFirst.contains(call) ? "timers" : "commonTimers", to: list)
        for place in 0..<count(call) {
          heap.edge(list, "[\(place)]", to: heap.object("App.Poller", bytes: 48))
        }
      }
      return (found.values, found.last)
    }
    let (values, graph) = try study { $0 }
    let growth = try #require(values.growing.first)
    #expect(values.growing.count == 1 && growth.counts == Array(1...12))
    #expect(way(growth, in: graph) == "global → App.Hub.timers[0] → App.Poller")
    #expect(growth.finding.members.count == 12 && growth.finding.goneCount == 0)
    #expect(try study { min($0, 4) }.0.growing.isEmpty, "a cache that fills up, on two ways")
  }

  @Test("A dictionary that grows is one place: its keys are told with its values")
  func dictionary() throws {
    let (values, graph) = try Self.values(calls: 1..<6) { heap, call in
      let hub = heap.object("App.Hub")
      heap.root(.global, address: 0x1000, to: hub)
      let table = heap.storage("Swift._DictionaryStorage<Swift.String, App.Entry>")
      heap.edge(hub, "entries", to: table)
      for _ in 0..<call {
        let key = heap.object("Swift.__StringStorage", bytes: 40)
        heap.edge(table, "[_].key", to: key)
        heap.edge(table, "[_]", to: heap.object("App.Entry"))
      }
    }
    let growth = try #require(values.growing.first)
    #expect(values.growing.count == 1)
    #expect(way(growth, in: graph) == "global → App.Hub.entries[_] → App.Entry")
    #expect(growth.dragged.map(\.type) == ["Swift.__StringStorage"])
    #expect(growth.finding.cuts.first?.advice == .boundContainer)
  }

  @Test("A list of records grows at the field that holds it; what hangs on them goes with them")
  func records() throws {
    let (values, graph) = try Self.values(calls: 1..<6) { heap, call in
      let hub = heap.object("App.Hub")
      heap.root(.global, address: 0x1000, to: hub)
      let log = heap.storage()
      heap.edge(hub, "log", to: log)
      for place in 0..<call * 2 {
        let record = heap.object("App.Record", bytes: 48)
        heap.edge(log, "[\(place)]", to: record)
        heap.edge(record, "header", to: heap.object("App.Header", bytes: 16))
      }
    }
    #expect(values.settled.isEmpty && values.omittedCount == 0)
    let growth = try #require(values.growing.first)
    #expect(values.growing.count == 1)
    #expect(growth.counts == [2, 4, 6, 8, 10] && growth.isOwn)
    #expect(way(growth, in: graph) == "global → App.Hub.log[0] → App.Record")
    #expect(growth.dragged.map(\.type) == ["App.Header"])
    #expect(growth.dragged.first?.count == 8)
    #expect(growth.increase == Cost(count: 16, bytes: ByteCount(8 * 64)))
    #expect(growth.finding.members.count == 10)
    #expect(growth.finding.cuts.first?.frees.count == 20)
    // The name is the one that a comparison of two marks gives.
    let two = try abandoned(graph.nodes(ofType: TypePattern("Record")), in: graph)
    #expect(two.findings.map(\.fingerprint) == [growth.finding.fingerprint])
  }

  @Test("Objects that are held in two ways are told by the way of the most")
  func twoWays() throws {
    let (values, graph) = try Self.values(calls: 1..<6) { heap, call in
      let hub = heap.object("App.Hub")
      heap.root(.global, address: 0x1000, to: hub)
      let handlers = heap.storage()
      heap.edge(hub, "handlers", to: handlers)
      for place in 0..<call * 2 {
        let handler = heap.closureContext()
        heap.edge(handlers, "[\(place)]", to: handler)
        // The last time one is held otherwise, and nearer.
        let isOdd = call == 5 && place == 0
        var holder = handler
        if !isOdd {
          holder = heap.closureContext()
          heap.edge(handler, "next", to: holder)
        }
        heap.edge(holder, "capture", to: heap.object("App.Screen"))
      }
    }
    let growth = try #require(values.growing.first)
    #expect(values.growing.count == 1)
    #expect(growth.counts == [2, 4, 6, 8, 9])
    #expect(way(growth, in: graph).contains("next"))
  }

  @Test("A cache that is full is set apart, a queue that grows by one in ten calls is not")
  func cacheAndQueue() throws {
    let (values, graph) = try Self.values(calls: 0..<40) { heap, call in
      let hub = heap.object("App.Hub")
      heap.root(.global, address: 0x1000, to: hub)
      let cache = heap.storage()
      heap.edge(hub, "cache", to: cache)
      for _ in 0..<min(call, 8) { heap.edge(cache, "[_]", to: heap.object("App.Entry")) }
      let queue = heap.storage()
      heap.edge(hub, "queue", to: queue)
      for place in 0..<call / 10 { heap.edge(queue, "[\(place)]", to: heap.object("App.Job")) }
    }
    #expect(values.growing.map { way($0, in: graph) } == ["global → App.Hub.queue[0] → App.Job"])
    #expect(values.settled.map { way($0, in: graph) } == ["global → App.Hub.cache[_] → App.Entry"])
  }

  @Test("The links of a list are one place, and so are the nodes of a tree")
  func recursive() throws {
    let (values, _) = try Self.values(calls: 1..<5) { heap, call in
      let list = heap.object("App.List")
      heap.root(.global, address: 0x1000, to: list)
      var (holder, field) = (list, "first")
      for _ in 0..<call * 3 {
        let link = heap.object("App.Link")
        heap.edge(holder, field, to: link)
        (holder, field) = (link, "next")
      }
      var nodes = [heap.object("App.Node")]
      heap.root(.global, address: 0x2000, to: nodes[0])
      for number in 1..<(1 << call) {
        let node = heap.object("App.Node")
        heap.edge(nodes[(number - 1) / 2], number % 2 == 1 ? "left" : "right", to: node)
        nodes.append(node)
      }
    }
    // The first link is held by another field than the others; a tree's nodes by two.
    #expect(values.growing.count == 3)
    #expect(values.growing.map(\.counts).contains([2, 5, 8, 11]))
    #expect(values.growing.reduce(0) { $0 + $1.increase.count } == 9 + 14)
  }

  @Test("A leak that is made anew each time grows, with its cycle")
  func leaked() throws {
    let (values, _) = try Self.values(calls: 1..<5) { heap, call in
      for _ in 0..<call {
        let parent = heap.object("App.Parent", bytes: 64)
        let child = heap.object("App.Child", bytes: 32)
        heap.edge(parent, "child", to: child)
        heap.edge(child, "parent", to: parent)
        heap.edge(parent, "data", to: heap.object("App.Data", bytes: 100))
      }
    }
    let growth = try #require(values.growing.first)
    #expect(values.growing.count == 1)
    #expect(growth.finding.kind == .leak && !growth.finding.cycle.isEmpty)
    #expect(growth.counts == [1, 2, 3, 4])
    // One of the cycle's two types is the one that it is told by.
    #expect(growth.dragged.map(\.count) == [3, 3])
    #expect(growth.dragged.map(\.type).contains("App.Data"))
  }

  @Test("What grows within Swift's own libraries alone is not the program's")
  func libraries() throws {
    let (values, _) = try Self.values(calls: 1..<5) { heap, call in
      heap.module("/lib/libFoundation.so", addresses: 0x1000..<0x2000)
      heap.module("/app/App", addresses: 0x5000..<0x6000)
      for (address, type) in [(UInt64(0x1000), "Foundation.Cache"), (0x5000, "Foundation.Table")] {
        let holder = heap.object(type)
        heap.root(.global, address: address, to: holder)
        for place in 0..<call {
          heap.edge(holder, "[\(place)]", to: heap.object("Foundation.Entry"))
        }
      }
    }
    // A variable of the program's own executable makes what it holds the program's.
    #expect(values.growing.map(\.isOwn) == [true, false])
    #expect(values.findings.count == 1)
  }

  @Test("A field that owns nothing is no explanation while there is another")
  func nonOwners() throws {
    func build(_ heap: inout SnapshotDSL, _ call: Int) {
      let cache = heap.object("App.Cache")
      heap.root(.global, address: 0x1000, to: cache)
      let hub = heap.object("App.Hub")
      heap.root(.global, address: 0x2000, to: hub)
      let box = heap.object("App.Registry")
      heap.edge(hub, "registry", to: box)
      for place in 0..<call {
        let item = heap.object("App.Item")
        heap.edge(cache, "entries[\(place)]", to: item)
        heap.edge(box, "items[\(place)]", to: item)
      }
    }
    let (plain, graph) = try Self.values(calls: 1..<4, build)
    #expect(way(plain.growing[0], in: graph).contains("App.Cache.entries"))
    let (told, other) = try Self.values(
      calls: 1..<4, nonOwners: [FieldPattern("App.Cache.entries*")], build)
    #expect(way(told.growing[0], in: other).contains("App.Registry.items"))
  }

  @Test(
    "Each object has one place, and places add up to what is reachable or leaked",
    arguments: 0..<200 as Range<UInt64>)
  func random(seed: UInt64) throws {
    let graph = try HeapGraph(RandomHeap.make(seed: seed).snapshot())
    var study = GrowthStudy()
    // From nothing to the heap: all of it grew.
    try study.add(HeapGraph(SnapshotDSL().snapshot()))
    try study.add(graph)
    let values = try study.values(last: graph, countsAll: true, maximum: .max)
    let total = values.growing.reduce(Cost.zero) { $0 + $1.increase }
    let leaked = try leaks(in: graph)
    let reachable = graph.nodes.filter { graph.isReachable[$0.position] && graph.isAlive($0) }
    #expect(total == graph.cost(of: reachable) + leaked.leaked.total, "seed \(seed)")
    #expect(values.settled.isEmpty)
  }
}
