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

  /// What grows where a log of the program's has a list with some elements at each mark.
  private static func lists(
    _ lengths: [UInt64], type: String = "Swift._ContiguousArrayStorage<Swift.Int>",
    _ element: (inout SnapshotDSL) -> SnapshotDSL.Node? = { _ in nil }
  ) throws -> [PlaceGrowth] {
    try values(calls: 0..<lengths.count) { heap, call in
      let log = heap.object("App.Log")
      heap.root(.global, address: 0x1000, to: log)
      let list = heap.storage(type)
      heap.edge(log, "lines", to: list)
      heap.fill(list, count: lengths[call], of: 1 << 20)
      for place in 0..<min(lengths[call], 50) {
        if let node = element(&heap) { heap.edge(list, "[\(place)]", to: node) }
      }
    }.values.growing
  }

  @Test("A list that becomes longer grows by its elements, whatever it is of")
  func listOfNumbers() throws {
    let growth = try #require(try Self.lists([1, 3, 6, 8, 11]).first)
    #expect(growth.counts == [1, 3, 6, 8, 11] && growth.isOwn)
    #expect(growth.length?.numbers == [1, 3, 6, 8, 11] && growth.length?.isText == false)
    #expect(growth.finding.cuts.isEmpty && growth.finding.path != nil)
    let texts = try Self.lists([1, 3, 6, 8, 11]) { $0.storage("Swift.__StringStorage") }
    #expect(texts.map(\.length?.numbers) == [[1, 3, 6, 8, 11]])
    // Texts can be removed: what that frees is told.
    #expect(texts.first?.finding.cuts.first?.frees.count == 11)
  }

  @Test("At eight marks the steps may differ")
  func listOfRequests() throws {
    let lengths: [UInt64] = [1, 5, 6, 30, 34, 90, 91, 120]
    #expect(try Self.lists(lengths).map(\.length?.numbers) == [lengths.map { Int($0) }])
    #expect(try Self.lists(Array(lengths.prefix(6))).isEmpty)
  }

  @Test(
    "A list whose contents are others each time is none that becomes longer",
    arguments: [
      [5, 5, 5, 5, 5], [1, 2, 9, 3, 12], [1, 2, 4, 4, 4, 4, 4, 4], [4, 4, 4, 9], [1, 9, 20],
      [9, 8, 7, 6], [10, 20, 30, 40],
      // Filled by chance up to a bound, replaced by something else, drained by chance.
      [5, 7, 9, 9, 10], [4, 6, 8, 9, 9], [13, 18, 19, 20, 20], [15, 43, 87, 171, 180],
      [23, 27, 27, 28, 31], [0, 0, 4, 5, 6], [330, 468, 471, 472, 482, 492, 502, 505, 505],
    ] as [[UInt64]])
  func listThatChanges(lengths: [UInt64]) throws {
    #expect(try Self.lists(lengths).isEmpty)
  }

  @Test(
    "Texts that a variable's set holds grow where there are more each time, and not where others come and go",
    arguments: [([10, 20, 30, 41, 50], true), ([42, 32, 46, 136, 170], false)] as [([Int], Bool)])
  func textsOfAVariable(counts: [Int], isTold: Bool) throws {
    let growing = try Self.values(calls: 0..<counts.count) { heap, call in
      heap.module("/app/App", addresses: 0x1000..<0x2000)
      let set = heap.storage("Swift._SetStorage<Swift.String>")
      heap.root(.global, address: 0x1000, to: set, label: "App.tags")
      for place in 0..<counts[call] {
        heap.edge(set, "[\(place)]", to: heap.storage("Swift.__StringStorage"))
      }
    }.values.growing
    #expect(growing.contains(where: \.isOwn) == isTold)
  }

  @Test("A list of the program's objects is told by them")
  func listOfObjects() throws {
    let growing = try Self.lists([1, 2, 4, 9, 12]) { $0.object("App.Line") }
    #expect(growing.map(\.counts) == [[1, 2, 4, 9, 12]])
    #expect(growing.allSatisfy { $0.length == nil })
  }

  @Test("A text grows by bytes, and not where a number in it has a digit more")
  func text() throws {
    let storage = "Swift.__StringStorage"
    let growth = try #require(try Self.lists([40, 80, 120, 160, 220], type: storage).first)
    #expect(growth.length?.numbers == [40, 80, 120, 160, 220] && growth.length?.isText == true)
    #expect(try Self.lists([40, 41, 42, 43, 44], type: storage).isEmpty)
    #expect(try Self.lists([1_866, 1_884, 1_896, 1_907, 1_922], type: storage).isEmpty)
  }

  @Test("A library's list is none of the program's")
  func listOfALibrary() throws {
    let growing = try Self.values(calls: 1..<6) { heap, call in
      let center = heap.object("Foundation.NotificationCenter")
      heap.root(.global, address: 0x1000, to: center)
      let list = heap.storage("Swift._ContiguousArrayStorage<Swift.Int>")
      heap.edge(center, "registrar", to: list)
      heap.fill(list, count: UInt64(call * 3), of: 1 << 20)
    }.values.growing
    #expect(growing.isEmpty)
  }

  @Test("Containers that are longer at the second of two marks, and those that aren't told")
  func lengthened() throws {
    func graph(_ lines: UInt64) throws -> HeapGraph {
      var heap = SnapshotDSL()
      let log = heap.object("App.Log")
      heap.root(.global, address: 0x1000, to: log)
      for (field, count) in [("lines", lines), ("kept", 7), ("shrinks", 100 - lines)] {
        let list = heap.storage("Swift._ContiguousArrayStorage<Swift.Int>")
        heap.edge(log, field, to: list)
        heap.fill(list, count: count, of: 1 << 20)
      }
      let screens = heap.storage()
      heap.edge(log, "screens", to: screens)
      heap.fill(screens, count: lines, of: 1 << 20)
      heap.edge(screens, "[0]", to: heap.object("App.Screen"))
      let center = heap.object("Foundation.NotificationCenter")
      heap.root(.global, address: 0x2000, to: center)
      let library = heap.storage("Swift._ContiguousArrayStorage<Swift.Int>")
      heap.edge(center, "registrar", to: library)
      heap.fill(library, count: lines, of: 1 << 20)
      return try HeapGraph(heap.snapshot())
    }
    let last = try graph(30)
    let found = try lengthenedContainers(from: try graph(10), to: last, born: [])
    #expect(found.map { [$0.before, $0.now] } == [[10, 30]])
    #expect(
      found.map { PathsTests.words($0.path, in: last) } == [
        "global → App.Log.lines → Swift._ContiguousArrayStorage<Swift.Int>"
      ])
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
