// PathsTests: who retains an object, in each way that there is.

import GraphKit
import GraphPrimitives
import HeapGraph
import SnapshotDSL
import SnapshotFormat
import Testing

@testable import GraphAnalysis

@Suite struct PathsTests {
  /// A path in words: its root's kind, then `Type.field` for each step, then the target.
  static func words(_ path: RetainPath, in graph: HeapGraph) -> String {
    let steps = path.steps.map { graph.typeName(of: $0.node) + "." + graph.field(of: $0) }
    return
      ([String(describing: graph.kind(of: path.root))] + steps + [graph.typeName(of: path.target)])
      .joined(separator: " → ")
  }

  /// A log that keeps all records in a dictionary and the last two in an array as well.
  static func requestLog() -> SnapshotDSL {
    var heap = SnapshotDSL()
    let log = heap.object("App.RequestLog")
    heap.root(.global, address: 0x1000, to: log)
    let finished = heap.storage("Swift._DictionaryStorage<Swift.Int, App.RequestRecord>")
    let lastFew = heap.storage("Swift._ContiguousArrayStorage<App.RequestRecord>")
    heap.edge(log, "finished", to: finished)
    heap.edge(log, "lastFew", to: lastFew)
    for number in 0..<12 {
      let record = heap.object("App.RequestRecord")
      heap.edge(finished, "[_]", to: record)
      if number >= 10 { heap.edge(lastFew, "[\(number - 10)]", to: record) }
    }
    return heap
  }

  @Test("The way that holds most of the targets comes first, however long")
  func commonestFirst() throws {
    var heap = SnapshotDSL()
    let stray = heap.object("App.Item")
    heap.root(.global, address: 0x1000, to: stray)
    let hub = heap.object("App.Hub")
    let list = heap.object("App.List")
    heap.root(.global, address: 0x2000, to: hub)
    heap.edge(hub, "list", to: list)
    for _ in 0..<3 { heap.edge(list, "item", to: heap.object("App.Item")) }
    let graph = try HeapGraph(heap.snapshot())
    let report = try paths(to: graph.nodes(ofType: TypePattern("Item")), in: graph)
    #expect(report.groups.map(\.targets.count) == [3, 1])
  }

  @Test("Every container that holds one of the targets shows up, storage folded")
  func bothContainers() throws {
    let graph = try HeapGraph(Self.requestLog().snapshot())
    let records = graph.nodes(ofType: TypePattern("RequestRecord"))
    #expect(records.count == 12)
    let report = try paths(to: records, in: graph)
    #expect(
      report.groups.map { Self.words($0.path, in: graph) } == [
        "global → App.RequestLog.finished[_] → App.RequestRecord",
        "global → App.RequestLog.lastFew[0] → App.RequestRecord",
      ])
    #expect(report.groups.map(\.targets.count) == [12, 2])
    #expect(report.unreachable.isEmpty && !report.isCutOff)
    #expect(Set(report.groups.map(\.fingerprint)).count == 2)
  }

  @Test("Merged, each target counts once")
  func merged() throws {
    let graph = try HeapGraph(Self.requestLog().snapshot())
    let records = graph.nodes(ofType: TypePattern("App.RequestRecord"))
    let report = try paths(to: records, in: graph, options: PathOptions(isMerged: true))
    #expect(report.groups.map(\.targets.count) == [12])
  }

  @Test("Through a field or around it")
  func throughAndAround() throws {
    let graph = try HeapGraph(Self.requestLog().snapshot())
    let records = graph.nodes(ofType: TypePattern("App.RequestRecord"))
    let through = try paths(
      to: records, in: graph, options: PathOptions(through: [FieldPattern("RequestLog.lastFew")]))
    #expect(
      through.groups.map { Self.words($0.path, in: graph) } == [
        "global → App.RequestLog.lastFew[0] → App.RequestRecord"
      ])
    #expect(through.groups.first?.targets.count == 2)
    let around = try paths(
      to: records, in: graph, options: PathOptions(avoid: [FieldPattern("finished")]))
    #expect(
      around.groups.map { Self.words($0.path, in: graph) } == [
        "global → App.RequestLog.lastFew[0] → App.RequestRecord"
      ])
    #expect(around.unreachable.count == 10)
  }

  @Test("Through a field that holds many, each counts", arguments: [false, true])
  func throughMany(isMerged: Bool) throws {
    var heap = SnapshotDSL()
    let hub = heap.object("App.Hub")
    heap.root(.global, address: 0x1000, to: hub)
    for _ in 0..<100 {
      let model = heap.object("App.Model")
      heap.edge(hub, "models", to: model)
      let listener = heap.object("App.Listener")
      heap.edge(hub, "listeners", to: listener)
      heap.edge(listener, "model", to: model)
    }
    let graph = try HeapGraph(heap.snapshot())
    let report = try paths(
      to: graph.nodes(ofType: TypePattern("App.Model")), in: graph,
      options: PathOptions(
        maximum: isMerged ? .max : 5, through: [FieldPattern("listeners")], isMerged: isMerged))
    #expect(report.groups.map(\.targets.count) == [100])
    #expect(
      report.groups.map { Self.words($0.path, in: graph) } == [
        "global → App.Hub.listeners → App.Listener.model → App.Model"
      ])
  }

  @Test(
    "Through a field there is a way where looking at all ways finds one",
    arguments: 0..<500 as Range<UInt64>
  )
  func throughOracle(seed: UInt64) throws {
    let graph = try HeapGraph(RandomHeap.make(seed: seed).snapshot())
    let fields = FieldPattern("next")
    let isThrough = graph.edges(matching: [fields])
    var expected: [NodeIndex: Int] = [:]
    func walk(_ node: UInt32, _ seen: Set<UInt32>, _ isWanted: Bool) {
      for slot in graph.strong.edges(from: node) {
        let next = graph.strong.targets[slot]
        if seen.contains(next) { continue }
        let isWanted =
          isWanted || node != graph.outside && isThrough[Int(graph.rowBySlot[slot])]
        if isWanted { expected[NodeIndex(rawValue: next), default: 0] += 1 }
        walk(next, seen.union([next]), isWanted)
      }
    }
    walk(graph.outside, [graph.outside], false)
    let targets = (0..<UInt32(graph.nodeCount)).map { NodeIndex(rawValue: $0) }
    for isMerged in [false, true] {
      let report = try paths(
        to: targets, in: graph,
        options: PathOptions(maximum: .max, through: [fields], isMerged: isMerged))
      #expect(Set(report.groups.flatMap(\.targets)) == Set(expected.keys))
      for group in report.groups {
        #expect(
          group.path.steps.contains { step in step.edges.contains { isThrough[$0.position] } })
      }
    }
  }

  @Test("Positions in C memory make no difference, those in a named structure do")
  func offsets() throws {
    var heap = SnapshotDSL()
    let table = heap.node(.coreFoundation, "Foundation._NSCFSet")
    heap.root(.global, address: 0x1000, to: table)
    let buckets = heap.block()
    let other = heap.block()
    heap.edge(table, "+48", to: buckets, provenance: .scanned)
    heap.edge(table, "+56", to: other, provenance: .scanned)
    for offset in stride(from: 0, to: 40, by: 8) {
      heap.edge(buckets, "+\(offset)", to: heap.object("App.Ticker"), provenance: .scanned)
    }
    heap.edge(other, "+8", to: heap.object("App.Ticker"), provenance: .scanned)
    let graph = try HeapGraph(heap.snapshot())
    let report = try paths(to: graph.nodes(ofType: TypePattern("Ticker")), in: graph)
    #expect(report.groups.map(\.targets.count) == [5, 1])
    #expect(
      report.groups.map { $0.path.steps.map { graph.foldedField(of: $0) } } == [
        ["+48", "[_]"], ["+56", "[_]"],
      ])
  }

  @Test("The members of a linked list are one step")
  func linkedList() throws {
    var heap = SnapshotDSL()
    var last = heap.resource("Handle")
    heap.root(.global, address: 0x1000, to: last)
    for _ in 0..<5 {
      let next = heap.resource("Handle")
      heap.edge(last, "next", to: next, provenance: .scanned)
      heap.edge(next, "context", to: heap.object("App.Screen"))
      last = next
    }
    let graph = try HeapGraph(heap.snapshot())
    let report = try paths(to: graph.nodes(ofType: TypePattern("Screen")), in: graph)
    #expect(report.groups.map(\.targets.count) == [5])
    #expect(report.groups.first?.path.steps.count == 2)
  }

  @Test("A global is shown rather than a thread's stack, unless it is more than two steps longer")
  func globalsBeforeStacks() throws {
    for detour in 0...3 {
      var heap = SnapshotDSL()
      let target = heap.object("App.Target")
      heap.root(.stack, address: 0x7000, to: target, thread: heap.thread("main"))
      var holder = heap.object("App.Hub")
      heap.root(.global, address: 0x1000, to: holder)
      for _ in 0..<detour {
        let next = heap.object("App.Hop")
        heap.edge(holder, "next", to: next)
        holder = next
      }
      heap.edge(holder, "target", to: target)
      let graph = try HeapGraph(heap.snapshot())
      let report = try paths(to: [heap.index(of: target)], in: graph)
      #expect(report.groups.count == 2)
      let first = try #require(report.groups.first)
      #expect(graph.kind(of: first.path.root) == (detour + 1 <= 2 ? .global : .stack))
    }
  }

  @Test("Among equally long paths those with reflected references come first")
  func reflectedBeforeScanned() throws {
    var heap = SnapshotDSL()
    let target = heap.object("App.Target")
    for (name, provenance) in [("App.A", EdgeProvenance.scanned), ("App.B", .reflected)] {
      let holder = heap.object(name)
      heap.root(.global, address: 0x1000, to: holder)
      heap.edge(holder, "target", to: target, provenance: provenance)
    }
    let graph = try HeapGraph(heap.snapshot())
    let report = try paths(to: [heap.index(of: target)], in: graph)
    #expect(
      report.groups.map { graph.typeName(of: $0.path.steps[0].node) } == ["App.B", "App.A"])
  }

  @Test("A global array: its storage is the first step; a global object has no step")
  func globalStorage() throws {
    var heap = SnapshotDSL()
    let stubs = heap.storage()
    heap.root(.global, address: 0x1000, to: stubs)
    let stub = heap.object("App.Stub")
    heap.edge(stubs, "[0]", to: stub)
    let shared = heap.object("App.Shared")
    heap.root(.global, address: 0x2000, to: shared)
    let graph = try HeapGraph(heap.snapshot())
    let toStub = try #require(try paths(to: [heap.index(of: stub)], in: graph).groups.first)
    #expect(
      toStub.path.steps == [
        ReferenceStep(node: heap.index(of: stubs), edges: [EdgeIndex(0)])
      ])
    let toShared = try #require(try paths(to: [heap.index(of: shared)], in: graph).groups.first)
    #expect(toShared.path.steps.isEmpty)
  }

  @Test("What is leaked has no path, and is said so")
  func unreachable() throws {
    var heap = SnapshotDSL()
    let lost = heap.object("App.Lost", strongCount: 1)
    let graph = try HeapGraph(heap.snapshot())
    let report = try paths(to: [heap.index(of: lost)], in: graph)
    #expect(report.groups.isEmpty)
    #expect(report.unreachable == [heap.index(of: lost)])
  }

  @Test("More ways than asked for: the shortest ones, and a word that there are more")
  func cutOff() throws {
    var heap = SnapshotDSL()
    let target = heap.object("App.Target")
    for number in 0..<9 {
      let holder = heap.object("App.Holder\(number)")
      heap.root(.global, address: 0x1000 + UInt64(number) * 8, to: holder)
      heap.edge(holder, "target", to: target)
    }
    let graph = try HeapGraph(heap.snapshot())
    let report = try paths(
      to: [heap.index(of: target)], in: graph, options: PathOptions(maximum: 3))
    #expect(report.groups.count == 3 && report.isCutOff)
  }

  struct Pattern: Sendable, CustomTestStringConvertible {
    var text: String
    var field: String
    var type: String
    var matches: Bool
    var testDescription: String { "\(text) on \(type).\(field)" }
  }

  static let patterns = [
    Pattern(text: "listeners", field: "listeners[_].handler", type: "App.Hub", matches: true),
    Pattern(text: "Hub.listeners", field: "listeners", type: "App.Hub", matches: true),
    Pattern(text: "App.Hub.listeners", field: "listeners", type: "App.Hub", matches: true),
    Pattern(text: "App.*.listeners", field: "listeners", type: "App.Hub", matches: true),
    Pattern(text: "client.retry", field: "client.retry.handler", type: "App.Hub", matches: true),
    Pattern(text: "list", field: "listeners", type: "App.Hub", matches: false),
    Pattern(text: "Other.listeners", field: "listeners", type: "App.Hub", matches: false),
    Pattern(text: "handler", field: "listeners[_].handler", type: "App.Hub", matches: false),
    Pattern(text: "Cache.items", field: "items", type: "App.Cache<Swift.Int>", matches: true),
  ]

  @Test("Patterns for fields", arguments: patterns)
  func fieldPatterns(pattern: Pattern) {
    #expect(
      FieldPattern(pattern.text).matches(field: pattern.field, type: pattern.type, module: "App")
        == pattern.matches)
  }

  @Test(
    "The first path of a target is one that costs least of all simple paths",
    arguments: 0..<60 as Range<UInt64>)
  func shortest(seed: UInt64) throws {
    let heap = RandomHeap.make(seed: seed)
    let graph = try HeapGraph(heap.snapshot())
    let costs = EdgeCosts.all(in: graph)
    for target in graph.nodes {
      var least = Int.max
      func walk(_ node: UInt32, _ seen: Set<UInt32>, _ cost: Int) {
        if cost >= least { return }
        if node == target.rawValue {
          least = cost
          return
        }
        for slot in graph.strong.edges(from: node)
        where !seen.contains(graph.strong.targets[slot]) {
          let next = graph.strong.targets[slot]
          walk(next, seen.union([next]), cost + Int(costs[slot]))
        }
      }
      walk(graph.outside, [graph.outside], 0)
      let report = try paths(to: [target], in: graph, options: PathOptions(maximum: 3))
      #expect(report.groups.isEmpty == (least == .max))
      guard let path = report.groups.first?.path else { continue }
      // The path's edges follow each other from the root to the target.
      var cost = Int(EdgeCosts.cost(of: graph.kind(of: path.root)))
      var node = graph.target(of: path.root)
      for step in path.steps {
        #expect(step.node == node)
        for edge in step.edges {
          #expect(graph.source(of: edge) == node)
          node = graph.target(of: edge)
          cost += try Int(costs[#require(graph.rowBySlot.firstIndex(of: edge.rawValue))])
        }
      }
      #expect(node == target)
      #expect(cost == least, "seed \(seed), node \(target)")
    }
  }

  @Test(
    "N ways asked for to one object are the N cheapest that differ, of all simple paths",
    arguments: 0..<200 as Range<UInt64>)
  func strict(seed: UInt64) throws {
    let graph = try HeapGraph(RandomHeap.make(seed: seed).snapshot())
    let costs = EdgeCosts.all(in: graph)
    for target in graph.nodes {
      // Two paths that read the same are one way: told apart by words, indices and offsets folded.
      var leastByWay: [String: Int] = [:]
      func walk(_ node: UInt32, _ seen: Set<UInt32>, _ slots: [UInt32], _ cost: Int) {
        if node == target.rawValue {
          let path = graph.retainPath(along: slots, to: target)
          var words = [
            "\(graph.kind(of: path.root)) \(graph.snapshot.roots.address[path.root.position])"
          ]
          var last: [UInt64] = []
          for step in path.steps where graph.key(of: step) != last {
            last = graph.key(of: step)
            words.append("\(last)")
          }
          let way = words.joined(separator: " ")
          leastByWay[way] = min(cost, leastByWay[way] ?? .max)
          return
        }
        for slot in graph.strong.edges(from: node) where !seen.contains(graph.strong.targets[slot])
        {
          let next = graph.strong.targets[slot]
          walk(next, seen.union([next]), slots + [UInt32(slot)], cost + Int(costs[slot]))
        }
      }
      walk(graph.outside, [graph.outside], [], 0)
      for maximum in [1, 2, 3, 5] {
        let report = try paths(
          to: [target], in: graph, options: PathOptions(maximum: maximum, isStrict: true))
        let found = report.groups.map { cost(of: $0.path, in: graph, costs) }
        #expect(
          found == Array(leastByWay.values.sorted().prefix(maximum)),
          "seed \(seed), node \(target), \(maximum) ways")
        #expect(report.isCutOff == (leastByWay.count > maximum))
      }
    }
  }

  /// What a path costs.
  private func cost(of path: RetainPath, in graph: HeapGraph, _ costs: [UInt8]) -> Int {
    var slotByRow: [UInt32: Int] = [:]
    for slot in 0..<graph.firstRootSlot { slotByRow[graph.rowBySlot[slot]] = slot }
    return path.steps.flatMap(\.edges).reduce(Int(EdgeCosts.cost(of: graph.kind(of: path.root)))) {
      $0 + Int(costs[slotByRow[$1.rawValue] ?? 0])
    }
  }

  @Test("A field that owns nothing is a way only where there is no other")
  func nonOwners() throws {
    let graph = try HeapGraph(Self.requestLog().snapshot())
    let records = graph.nodes(ofType: TypePattern("App.RequestRecord"))
    let report = try paths(
      to: records, in: graph,
      options: PathOptions(isMerged: true, nonOwners: [FieldPattern("finished")]))
    #expect(
      report.groups.map { "\($0.targets.count) \(graph.field(of: $0.path.steps[0]))" } == [
        "10 finished[_]", "2 lastFew[0]",
      ])
  }
}
