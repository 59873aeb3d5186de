// WhatIfTests: what weak references would free, and the kinds of references, against brute force.

import GraphKit
import GraphPrimitives
import HeapGraph
import SnapshotDSL
import SnapshotFormat
import Testing

@testable import GraphAnalysis

@Suite struct WhatIfTests {
  /// What a runtime would free: one object without holders after the other, counted anew each time.
  static func freed(byCutting cut: Set<UInt32>, in graph: HeapGraph) -> Set<UInt32> {
    let strong = graph.strong
    func holderCount(of node: UInt32, without freed: Set<UInt32>, _ cut: Set<UInt32>) -> Int {
      var count = 0
      for holder in 0..<UInt32(strong.nodeCount) where !freed.contains(holder) {
        for slot in strong.edges(from: holder)
        where strong.targets[slot] == node && !cut.contains(UInt32(slot)) {
          count += 1
        }
      }
      return count
    }
    let all = (0..<UInt32(graph.nodeCount)).map { holderCount(of: $0, without: [], []) }
    // Retains beyond the references stay; an immortal object stays whatever happens.
    let extra = (0..<graph.nodeCount).map { node -> Int in
      let index = NodeIndex(node)
      if let count = graph.strongCount(of: index) { return max(0, Int(count) - all[node]) }
      return graph.kind(of: index).isCounted ? 1 : 0
    }
    var freed: Set<UInt32> = []
    var isTouched = Set(cut.map { strong.targets[Int($0)] })
    while true {
      let next = (0..<UInt32(graph.nodeCount)).first {
        isTouched.contains($0) && !freed.contains($0)
          && holderCount(of: $0, without: freed, cut) + extra[Int($0)] == 0
      }
      guard let next else { return freed }
      freed.insert(next)
      isTouched.formUnion(strong.successors(of: next))
    }
  }

  @Test("Each kind of reference frees what one release after the other would", arguments: 0..<300)
  func kindsAgainstBruteForce(seed: Int) throws {
    let heap = RandomHeap.make(seed: UInt64(seed), hasExtraRetains: seed % 3 == 0)
    let graph = try HeapGraph(heap.snapshot())
    let kinds = edgeKinds(in: graph)
    for kind in kinds {
      let answer = try whatIf(weakening: [CutEffect(slots: kind.slots)], in: graph)
      let expected = Self.freed(byCutting: Set(kind.slots), in: graph)
      #expect(
        answer.freed.total == graph.cost(of: expected.sorted().map { NodeIndex(rawValue: $0) }),
        "seed \(seed)")
      #expect(answer.freedLeaked + answer.freedReachable == answer.freed.total)
    }
    // Together two kinds free at least what each frees alone.
    if kinds.count > 1 {
      let both = try whatIf(
        weakening: [CutEffect(slots: kinds[0].slots), CutEffect(slots: kinds[1].slots)], in: graph)
      #expect(both.freedAlone.allSatisfy { $0.count <= both.freed.total.count })
      let leaked = try leaks(in: graph).leaked.total
      #expect(
        both.stillLeaked.total + both.freedLeaked - both.stillLeaked.total == both.freedLeaked)
      #expect(both.stillLeaked.total.count <= leaked.count)
    }
  }

  @Test("Every strong reference of an object is in a kind, with those that read like it")
  func kindsAreComplete() throws {
    for seed in 0..<200 as Range<UInt64> {
      let graph = try HeapGraph(RandomHeap.make(seed: seed).snapshot())
      let kinds = edgeKinds(in: graph)
      let sorted = Set(kinds.flatMap(\.slots))
      for node in graph.nodes where !graph.kind(of: node).isFolded {
        for slot in graph.strong.edges(from: node.rawValue) {
          #expect(sorted.contains(UInt32(slot)), "seed \(seed)")
        }
      }
      for kind in kinds {
        #expect(Set(kind.slots).count == kind.slots.count, "seed \(seed)")
        let last = kind.edges.last
        for slot in kind.slots {
          guard case .edge(let edge) = graph.reference(atSlot: slot), let last else { continue }
          #expect(graph.labelKey(of: edge) == graph.labelKey(of: last), "seed \(seed)")
        }
      }
    }
  }

  @Test("Storage is folded: the array is one kind, its elements another, in this field only")
  func folded() throws {
    var heap = SnapshotDSL()
    for _ in 0..<2 {
      let socket = heap.object("App.Socket")
      heap.root(.global, address: 0x1000, to: socket)
      for field in ["channels", "peers"] {
        let storage = heap.storage()
        heap.edge(socket, field, to: storage)
        for place in 0..<3 { heap.edge(storage, "[\(place)]", to: heap.object("App.Channel")) }
      }
    }
    let graph = try HeapGraph(heap.snapshot())
    let kinds = edgeKinds(in: graph).filter { !$0.edges.isEmpty }
    let names = kinds.map { EdgeLabel.joined($0.edges.map { graph.label(of: $0).foldedText }) }
    #expect(names == ["channels", "channels[_]", "peers", "peers[_]"])
    #expect(kinds.map(\.slots.count) == [2, 6, 2, 6])
    let freed = try whatIf(weakening: [CutEffect(slots: kinds[1].slots)], in: graph).freed
    #expect(freed.costByType.mapValues(\.count) == ["App.Channel": 6])
    let withStorage = try whatIf(weakening: [CutEffect(slots: kinds[0].slots)], in: graph).freed
    #expect(withStorage.total.count == 8)
  }

  @Test("A side table outlives its object while a weak reference is left, and is no leak then")
  func sideTables() throws {
    var heap = SnapshotDSL()
    let owner = heap.object("App.Owner")
    let observer = heap.object("App.Observer")
    heap.root(.global, address: 0x1000, to: owner)
    heap.root(.global, address: 0x2000, to: observer)
    // Of one model all weak references go with it; another has an observer that stays, a third one that nobody found.
    for (place, isWatched) in [false, true, false].enumerated() {
      let unfound: UInt32 = place == 2 ? 1 : 0
      let model = heap.object("App.Model", weakCount: (isWatched ? 2 : 1) + unfound)
      let table = heap.node(.sideTable, "weak reference side table", module: "")
      let part = heap.object("App.Part")
      heap.edge(owner, "model", to: model)
      heap.edge(model, "part", to: part)
      heap.edge(model, "side table", to: table)
      heap.edge(part, "owner", to: model, strength: .weak)
      if isWatched { heap.edge(observer, "model", to: model, strength: .weak) }
    }
    // And a leak that is watched.
    let leak = heap.object("App.Leak", weakCount: 1)
    heap.edge(leak, "self", to: leak)
    heap.edge(
      leak, "side table", to: heap.node(.sideTable, "weak reference side table", module: ""))
    heap.edge(observer, "leak", to: leak, strength: .weak)
    let graph = try HeapGraph(heap.snapshot())
    func answer(_ name: String) throws -> WhatIfAnswer {
      let kind = try #require(
        edgeKinds(in: graph).first { $0.edges.first.map { graph.label(of: $0).name } == name })
      return try whatIf(weakening: [CutEffect(slots: kind.slots)], in: graph)
    }
    #expect(
      try answer("model").freed.costByType.mapValues(\.count)
        == ["App.Model": 3, "App.Part": 3, "weak reference side table": 1])
    let ofLeak = try answer("self")
    #expect(ofLeak.freed.costByType.mapValues(\.count) == ["App.Leak": 1])
    #expect(ofLeak.stillLeaked == .empty)
    #expect(ofLeak.otherHolders.isEmpty)
  }

  @Test("What is held by something else as well stays, and who holds it is said")
  func otherHolders() throws {
    var heap = SnapshotDSL()
    let owner = heap.object("App.Owner")
    let cache = heap.object("App.Cache")
    let page = heap.object("App.Page", strongCount: 3)
    heap.root(.global, address: 0x1000, to: owner)
    heap.root(.global, address: 0x2000, to: cache)
    heap.edge(owner, "page", to: page)
    heap.edge(cache, "latest", to: page)
    let graph = try HeapGraph(heap.snapshot())
    let kind = try #require(
      edgeKinds(in: graph).first { $0.edges.first.map { graph.label(of: $0).name } == "page" })
    let answer = try whatIf(weakening: [CutEffect(slots: kind.slots)], in: graph)
    #expect(answer.freed == .empty)
    #expect(answer.otherHolders.count == 2)
    guard case .reference(let step)? = answer.otherHolders.first?.holder,
      case .unexplainedRetain? = answer.otherHolders.last?.holder
    else {
      Issue.record("a field and a retain hold the page")
      return
    }
    #expect(graph.typeName(of: step.node) == "App.Cache")
  }
}
