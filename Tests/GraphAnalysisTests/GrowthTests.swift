// Tests of Growth and Holding: what holds growth, what goes with some objects.

import GraphKit
import GraphPrimitives
import HeapGraph
import SnapshotDSL
import SnapshotFormat
import Testing

@testable import GraphAnalysis

@Suite struct GrowthTests {
  @Test("A list that a global holds is one finding with all its links")
  func list() throws {
    var heap = SnapshotDSL()
    let links = (0..<5).map { _ in heap.object("App.Link", bytes: 32) }
    heap.root(.global, address: 0x1000, to: links[0])
    for place in 1..<5 { heap.edge(links[place - 1], "next", to: links[place]) }
    let graph = try HeapGraph(heap.snapshot())
    let findings = try abandoned(links.map(heap.index), in: graph).findings
    #expect(findings.count == 1)
    #expect(findings[0].members == links.map(heap.index))
    #expect(findings[0].path?.steps.isEmpty == true)
    #expect(findings[0].retained == Cost(count: 5, bytes: ByteCount(160)))
    #expect(findings[0].cuts.isEmpty, "the variable is the program's to clear")
  }

  @Test("What only other grown objects hold is no finding of its own")
  func victims() throws {
    var heap = SnapshotDSL()
    let hub = heap.object("App.Hub")
    heap.root(.global, address: 0x1000, to: hub)
    let entries = heap.storage()
    heap.edge(hub, "entries", to: entries)
    var targets: [SnapshotDSL.Node] = []
    for place in 0..<3 {
      let record = heap.object("App.Record", bytes: 48)
      let header = heap.object("App.Header", bytes: 16)
      heap.edge(entries, "[\(place)]", to: record)
      heap.edge(record, "header", to: header)
      targets += [record, header]
    }
    let graph = try HeapGraph(heap.snapshot())
    let findings = try abandoned(targets.map(heap.index), in: graph).findings
    #expect(findings.map { graph.typeName(of: $0.representative) } == ["App.Record"])
    #expect(findings[0].members.count == 3)
    #expect(findings[0].retained == Cost(count: 6, bytes: ByteCount(192)))
    let cut = try #require(findings[0].cuts.first)
    #expect(cut.frees == findings[0].retained && cut.advice == .boundContainer)
  }

  @Test("The way that holds most is told, though another is shorter for one")
  func cover() throws {
    var heap = SnapshotDSL()
    let center = heap.object("Foundation.NotificationCenter")
    let registrar = heap.storage()
    heap.edge(center, "registrar", to: registrar)
    heap.root(.global, address: 0x1000, to: center)
    let screens = (0..<4).map { _ in heap.object("App.Screen") }
    for screen in screens {
      let block = heap.closureContext()
      heap.edge(registrar, "[_]", to: block, function: 0x9000)
      heap.edge(block, "capture[0]", to: screen)
    }
    heap.root(.global, address: 0x2000, to: screens[1])
    let graph = try HeapGraph(heap.snapshot())
    let findings = try abandoned(screens.map(heap.index), in: graph).findings
    #expect(findings.count == 1)
    #expect(findings[0].members.count == 4)
    let cut = try #require(findings[0].cuts.first)
    #expect(cut.advice == .removeObserver)
    #expect(cut.frees.count == 3, "a variable holds the fourth")
  }

  @Test("Of many objects all are told, though ways are looked for of some")
  func many() throws {
    var heap = SnapshotDSL()
    let cache = heap.object("App.Cache")
    heap.root(.global, address: 0x1000, to: cache)
    let entries = heap.storage()
    heap.edge(cache, "entries", to: entries)
    let records = (0..<1_234).map { _ in heap.object("App.Record", bytes: 16) }
    for record in records { heap.edge(entries, "[_]", to: record) }
    let graph = try HeapGraph(heap.snapshot())
    let findings = try abandoned(records.map(heap.index), in: graph).findings
    #expect(findings.count == 1)
    #expect(findings.first?.members.count == 1_234)
    #expect(findings.first?.cuts.first?.frees.count == 1_234)
  }

  @Test("An open resource is to be closed")
  func resource() throws {
    var heap = SnapshotDSL()
    let handle = heap.resource("PeerHandle", bytes: 128)
    heap.root(.global, address: 0x1000, to: handle)
    let graph = try HeapGraph(heap.snapshot())
    let findings = try abandoned([heap.index(of: handle)], in: graph).findings
    #expect(findings.first?.cuts.first?.advice == .closeResource)
    #expect(findings.first?.cuts.first?.frees == Cost(count: 1, bytes: ByteCount(128)))
  }

  @Test("Of many objects each is told once, with its own way, and what is not told is counted")
  func manyToldExactly() throws {
    var heap = SnapshotDSL()
    let hub = heap.object("App.Hub")
    heap.root(.global, address: 0x1000, to: hub)
    var records: [SnapshotDSL.Node] = []
    for place in 0..<300 {
      let record = heap.object("App.Record", bytes: 64)
      // The first and the last fifty are held by another field than those between.
      heap.edge(hub, place < 50 || place >= 250 ? "recent" : "archive", to: record)
      records.append(record)
    }
    let graph = try HeapGraph(heap.snapshot())
    let targets = records.map(heap.index)
    let growth = try abandoned(targets, in: graph)
    #expect(growth.findings.map(\.members.count) == [200, 100])
    #expect(Set(growth.findings.flatMap(\.members)) == Set(targets))
    #expect(growth.omittedCount == 0)

    let cut = try abandoned(targets, in: graph, maximum: 1)
    #expect(cut.findings.map(\.members.count) == [200])
    #expect(cut.omittedCount == 1)
    #expect(cut.omitted == Cost(count: 100, bytes: ByteCount(6400)))
  }

  @Test(
    "Every target has a finding, or goes with those that have one",
    arguments: 0..<200 as Range<UInt64>)
  func random(_ seed: UInt64) throws {
    let graph = try HeapGraph(RandomHeap.make(seed: seed).snapshot())
    let targets = graph.nodes.filter {
      graph.isReachable[$0.position] && graph.kind(of: $0) == .object && $0.rawValue % 2 == 0
    }
    let findings = try abandoned(targets, in: graph).findings
    let told = findings.flatMap(\.members)
    #expect(Set(told).count == told.count, "no object is told twice")
    #expect(Set(told).isSubset(of: targets))
    // Without the objects told of, no other target may be reached that is not held another way.
    for finding in findings {
      #expect(finding.members.contains(finding.representative))
      #expect(finding.own == graph.cost(of: finding.members))
      #expect(finding.retained.bytes >= finding.own.bytes)
    }
    if !targets.isEmpty { #expect(!findings.isEmpty) }
  }
}

@Suite struct HoldingTests {
  /// What can be reached from some nodes without entering others, by the most naive means.
  private func reach(
    _ sources: Set<UInt32>, without wall: Set<UInt32>, in graph: HeapGraph
  ) -> Set<UInt32> {
    var found = sources.subtracting(wall)
    while true {
      let next = found.union(found.flatMap { graph.strong.successors(of: $0) }).subtracting(wall)
      if next == found { return found }
      found = next
    }
  }

  @Test(
    "What goes with some objects is what they lead to and nothing else does",
    arguments: 0..<300 as Range<UInt64>)
  func costGoingWith(_ seed: UInt64) throws {
    let graph = try HeapGraph(RandomHeap.make(seed: seed).snapshot())
    var random = SeededGenerator(seed: seed &+ 1_000)
    let nodes = graph.nodes.filter { _ in Bool.random(using: &random) }.prefix(3)
    let others = graph.nodes.filter { node in
      !nodes.contains(node) && Int.random(in: 0..<4, using: &random) == 0
    }
    let members = Set(nodes.map(\.rawValue))
    let kept = reach(Set(others.map(\.rawValue) + [graph.outside]), without: members, in: graph)
    let going = reach(members, without: kept, in: graph)
    let cost = graph.cost(goingWith: Array(nodes), others: others)
    #expect(cost == graph.cost(of: going.map { NodeIndex(rawValue: $0) }))
  }

  @Test("A finding told in part has the figures of that part")
  func keeping() throws {
    var heap = SnapshotDSL()
    var parents: [SnapshotDSL.Node] = []
    for _ in 0..<3 {
      let parent = heap.object("App.Parent", bytes: 40)
      let child = heap.object("App.Child", bytes: 24)
      heap.edge(parent, "child", to: child)
      heap.edge(child, "parent", to: parent)
      parents.append(parent)
    }
    let graph = try HeapGraph(heap.snapshot())
    let whole = try leaks(in: graph).findings
    #expect(whole.count == 1 && whole[0].members.count == 3)
    let wanted = Set(whole[0].members.prefix(2))
    let part = whole.keeping(in: graph) { wanted.contains($0) }
    #expect(part.count == 1)
    #expect(part[0].members == Array(whole[0].members.prefix(2)))
    #expect(part[0].own.count == 2)
    #expect(part[0].retained == Cost(count: 4, bytes: ByteCount(128)))
    #expect(part[0].cuts.first?.frees == part[0].retained)
    #expect(part[0].cycle == whole[0].cycle && part[0].fingerprint == whole[0].fingerprint)
    #expect(whole.keeping(in: graph) { _ in true } == whole)
    #expect(whole.keeping(in: graph) { _ in false }.isEmpty)
  }
}
