// DominatedGroupsTests: the folded dominator tree against the removal of nodes.

import GraphKit
import GraphPrimitives
import HeapGraph
import SnapshotDSL
import SnapshotFormat
import Testing

@testable import GraphAnalysis

@Suite struct DominatedGroupsTests {
  /// What would not be reached any more from outside, or from leaked memory, without some nodes.
  static func retained(by nodes: Set<UInt32>, in graph: HeapGraph) throws -> Cost {
    let sizes = try RetainedSizes(of: graph)
    // Where the tree is entered: roots, and what of the rest nothing but itself leads to.
    var entries = graph.strong.successors(of: graph.outside).map { $0 }
    entries += graph.nodes.map(\.rawValue).filter { node in
      !graph.isReachable[Int(node)] && sizes.dominator(of: NodeIndex(rawValue: node)) == nil
    }
    var kept: Set<UInt32> = []
    var pending = entries.filter { !nodes.contains($0) }
    while let node = pending.popLast() {
      guard kept.insert(node).inserted else { continue }
      pending += graph.strong.successors(of: node).filter { !nodes.contains($0) }
    }
    var gone = nodes
    pending = Array(nodes)
    while let node = pending.popLast() {
      for next in graph.strong.successors(of: node) where !kept.contains(next) {
        if gone.insert(next).inserted { pending.append(next) }
      }
    }
    return graph.cost(of: gone.subtracting(kept).union(nodes).map { NodeIndex(rawValue: $0) })
  }

  @Test("A hub, its list and its links: fields in words, the links as one line")
  func list() throws {
    var heap = SnapshotDSL()
    let hub = heap.object("App.Hub", bytes: 100)
    heap.root(.global, address: 0x1000, to: hub)
    var (holder, field) = (hub, "first")
    for _ in 0..<50 {
      let link = heap.object("App.Link", bytes: 10)
      heap.edge(holder, field, to: link)
      (holder, field) = (link, "next")
    }
    let graph = try HeapGraph(heap.snapshot())
    let tree = try DominatedGroups(of: graph, sizes: try RetainedSizes(of: graph))
    #expect(tree.groups.map(\.own.count) == [1, 1, 49])
    #expect(tree.groups.map(\.retained.bytes.rawValue) == [600, 500, 490])
    #expect(tree.tops == [0] && tree.groups[0].children == [1] && tree.groups[1].parent == 0)
  }

  @Test("A side table goes with its object only where no weak reference elsewhere keeps it")
  func sideTables() throws {
    var heap = SnapshotDSL()
    let hub = heap.object("App.Hub")
    heap.root(.global, address: 0x1000, to: hub)
    func screen(weakIn holder: SnapshotDSL.Node?) -> SnapshotDSL.Node {
      let screen = heap.object("App.Screen", bytes: 100, weakCount: 1)
      let table = heap.node(.sideTable, "weak reference side table", module: "", bytes: 10)
      let part = heap.object("App.Part", bytes: 1)
      heap.edge(hub, "screens", to: screen)
      heap.edge(screen, "side table", to: table)
      heap.edge(screen, "part", to: part)
      heap.edge(holder ?? part, "screen", to: screen, strength: .weak)
      return screen
    }
    let outer = screen(weakIn: hub)
    let inner = screen(weakIn: nil)
    let graph = try HeapGraph(heap.snapshot())
    let sizes = try RetainedSizes(of: graph)
    // By the hub, which stays, and by a part, which goes.
    #expect(sizes.retained(by: heap.index(of: outer)) == Cost(count: 2, bytes: ByteCount(101)))
    #expect(sizes.retained(by: heap.index(of: inner)) == Cost(count: 3, bytes: ByteCount(111)))
    for node in [outer, inner] {
      let slots = graph.holders.graph.edges(from: heap.index(of: node).rawValue).map {
        graph.holders.edgeBySlot[$0]
      }
      #expect(
        try whatIf(weakening: [CutEffect(slots: slots)], in: graph).freed.total
          == sizes.retained(by: heap.index(of: node)))
    }
  }

  @Test("Rings that leaked are one group, by whichever of their objects memory begins")
  func rings() throws {
    var heap = SnapshotDSL()
    for number in 0..<9 {
      // Now one lies first, now the other.
      let first = heap.object(number % 2 == 0 ? "App.Pool" : "App.Worker")
      let second = heap.object(number % 2 == 0 ? "App.Worker" : "App.Pool")
      let (pool, worker) = number % 2 == 0 ? (first, second) : (second, first)
      heap.edge(pool, "worker", to: worker)
      heap.edge(worker, "pool", to: pool)
    }
    let graph = try HeapGraph(heap.snapshot())
    let tree = try DominatedGroups(of: graph, sizes: try RetainedSizes(of: graph))
    let finding = try #require(try leaks(in: graph).findings.first)
    #expect(tree.tops.count == 1 && finding.members.count == 9)
    let top = tree.groups[tree.tops[0]]
    #expect(top.own.count == 9 && top.retained == finding.retained && top.hold == .leaked)
    #expect(graph.typeName(of: top.representative) == graph.typeName(of: finding.representative))
  }

  @Test("What two hold is freed by neither; it stands beside them")
  func shared() throws {
    var heap = SnapshotDSL()
    let hub = heap.object("App.Hub", bytes: 1)
    heap.root(.global, address: 0x1000, to: hub)
    let shared = heap.object("App.Shared", bytes: 100)
    for name in ["App.A", "App.B"] {
      let holder = heap.object(name, bytes: 10)
      heap.edge(hub, "part", to: holder)
      heap.edge(holder, "shared", to: shared)
    }
    let lost = heap.object("App.Lost", bytes: 7)
    heap.edge(lost, "me", to: lost)
    let graph = try HeapGraph(heap.snapshot())
    let tree = try DominatedGroups(of: graph, sizes: try RetainedSizes(of: graph))
    func group(_ type: String) throws -> DominatedGroup {
      try #require(tree.groups.first { graph.typeName(of: $0.representative) == type })
    }
    #expect(try group("App.Shared").hold == .several)
    #expect(try group("App.Shared").parent == tree.tops[0])
    #expect(try group("App.Lost").hold == .leaked)
    #expect(try group("App.Hub").retained == Cost(count: 4, bytes: ByteCount(121)))
    let asked = graph.nodes(ofType: TypePattern("App.A"))
    let part = try DominatedGroups(of: graph, sizes: try RetainedSizes(of: graph), asked: asked)
    #expect(part.groups.count == 1 && part.groups[0].hold == .asked)
  }

  @Test(
    "Groups have each object once, and retain what is not reached without their members",
    arguments: 0..<500 as Range<UInt64>)
  func random(seed: UInt64) throws {
    let graph = try HeapGraph(RandomHeap.make(seed: seed).snapshot())
    let sizes = try RetainedSizes(of: graph)
    let tree = try DominatedGroups(of: graph, sizes: sizes)
    #expect(
      tree.groups.reduce(.zero) { $0 + $1.own } == graph.cost(of: graph.nodes), "seed \(seed)")
    #expect(
      tree.tops.reduce(.zero) { $0 + tree.groups[$1].retained } == graph.cost(of: graph.nodes))
    for group in tree.groups {
      // Two children may overlap where a folded group stands below one of them once more.
      for child in group.children {
        #expect(group.retained.bytes >= tree.groups[child].retained.bytes, "seed \(seed)")
      }
    }
    // One node asked for: its line is its retained size.
    for node in graph.nodes {
      let part = try DominatedGroups(of: graph, sizes: sizes, asked: [node])
      let top = try #require(part.tops.first)
      #expect(part.tops.count == 1)
      #expect(part.groups[top].retained == sizes.retained(by: node))
      #expect(
        try Self.retained(by: [node.rawValue], in: graph) == sizes.retained(by: node),
        "node \(node) of seed \(seed)")
    }
  }
}
