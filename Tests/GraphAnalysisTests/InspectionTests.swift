// InspectionTests: audit, cycles, retained sizes, single objects and allocation trees on small heaps.

import GraphKit
import GraphPrimitives
import HeapGraph
import SnapshotDSL
import SnapshotFormat
import Testing

@testable import GraphAnalysis

@Suite struct InspectionTests {
  @Test("The audit tells exact, unexplained and over-counted apart, by type")
  func auditCounts() throws {
    var heap = SnapshotDSL()
    let hub = heap.object("App.Hub")
    heap.root(.global, address: 0x1000, to: hub)
    let exact = heap.object("App.Item")
    let over = heap.object("App.Item", strongCount: 3)
    let surplus = heap.object("App.Item", strongCount: 1)
    heap.edge(hub, "a", to: exact)
    heap.edge(hub, "b", to: over)
    heap.edge(hub, "c", to: surplus)
    heap.edge(hub, "d", to: surplus, provenance: .scanned)
    let lost = heap.object("App.Lost", strongCount: 1)
    _ = lost
    let graph = try HeapGraph(heap.snapshot())
    let report = try audit(graph)
    #expect(report.counted == 5 && report.exact == 2)
    let items = try #require(report.rows.first { $0.type == "App.Item" })
    #expect(
      items
        == AuditReport.Row(
          type: "App.Item", exact: 1, unexplained: 1, overCounted: 1, unexplainedRetains: 2,
          surplusReferences: 1))
    // What is unreachable is a leak, not over-retained.
    #expect(report.overRetained.count == 1)
    let finding = try #require(report.overRetained.first)
    #expect(finding.kind == .overRetained && finding.members == [heap.index(of: over)])
    #expect(finding.path?.steps.count == 1)
  }

  @Test("A declared edge beside the word that it stands for is no edge too many")
  func auditOfDeclaredEdges() throws {
    var heap = SnapshotDSL()
    let handle = heap.resource("Handle")
    let block = heap.block()
    heap.root(.declared, to: handle)
    heap.root(.global, address: 0x1000, to: block)
    let receiver = heap.object("App.Receiver", strongCount: 1)
    heap.edge(handle, "receiver", to: receiver, provenance: .declared)
    heap.edge(block, "+24", to: receiver, provenance: .scanned)
    let other = heap.object("App.Receiver", strongCount: 1)
    heap.edge(handle, "other", to: other, provenance: .declared)
    let report = try audit(HeapGraph(heap.snapshot()))
    #expect(report.counted == 2 && report.exact == 2)
  }

  @Test("The audit counts unowned and weak references, and finds zombies")
  func auditOfOtherReferences() throws {
    var heap = SnapshotDSL()
    let hub = heap.object("App.Hub", unownedCount: 2, weakCount: 1)
    heap.root(.global, address: 0x1000, to: hub)
    let item = heap.object("App.Item")
    heap.edge(hub, "item", to: item)
    heap.edge(item, "hub", to: hub, strength: .unowned)
    heap.edge(item, "delegate", to: hub, strength: .weak)
    let ghost = heap.object("App.Ghost", strongCount: 0, unownedCount: 1, state: .deinited)
    heap.edge(item, "ghost", to: ghost, strength: .unowned)
    let report = try audit(HeapGraph(heap.snapshot()))
    #expect(report.unowned == AuditReport.References(counted: 2, found: 1))
    #expect(report.weak == AuditReport.References(counted: 1, found: 1))
    #expect(report.rows.first { $0.type == "App.Hub" }?.unexplainedUnowned == 1)
    #expect(report.zombies.map(\.members) == [[heap.index(of: ghost)]])
  }

  @Test("All cycles: the leaked ones first, the reachable ones with what is held from outside")
  func allCycles() throws {
    var heap = SnapshotDSL()
    for _ in 0..<3 {
      let ticker = heap.object("App.Ticker", bytes: 100)
      let timer = heap.object("Foundation.Timer", bytes: 50)
      heap.edge(ticker, "timer", to: timer)
      heap.edge(timer, "_fire", to: ticker, function: 0x40_1000)
      heap.root(.global, address: 0x1000, to: timer)
    }
    let lost = heap.object("App.Lost", bytes: 10)
    heap.edge(lost, "owner", to: lost)
    let single = heap.object("App.Single")
    heap.root(.global, address: 0x2000, to: single)
    let graph = try HeapGraph(heap.snapshot())
    let groups = try cycles(in: graph)
    #expect(groups.map(\.isReachable) == [false, true])
    #expect(groups[0].members == [heap.index(of: lost)])
    #expect(groups[1].members.count == 3)
    #expect(groups[1].cost == Cost(count: 6, bytes: ByteCount(450)))
    #expect(graph.typeName(of: groups[1].cycle[0].node) == "App.Ticker")
    let capture = try #require(groups[1].cuts.first { $0.advice == .invalidateTimer })
    // Without the timer's capture the ticker goes; the timer is held by the global.
    #expect(capture.frees.count == 3)
    #expect(groups[0].fingerprint == (try leaks(in: graph)).findings.first?.fingerprint)
  }

  @Test(
    "A retained size is what can't be reached without the node", arguments: 0..<200 as Range<UInt64>
  )
  func retainedSizes(seed: UInt64) throws {
    let snapshot = RandomHeap.make(seed: seed).snapshot()
    let graph = try HeapGraph(snapshot)
    let sizes = try RetainedSizes(of: graph)
    for node in graph.nodes {
      let retained = sizes.retained(by: node)
      #expect(retained.count >= 1 && retained.bytes >= graph.size(of: node))
      guard graph.isReachable[node.position] else { continue }
      // What is leaked holds what it refers to, as roots do.
      var reached: Set<UInt32> = []
      let lost = graph.nodes.filter { !graph.isReachable[$0.position] }.map(\.rawValue)
      var queue = (0..<snapshot.roots.count).map { snapshot.roots.target[$0] } + lost
      while let next = queue.popLast() {
        if next == node.rawValue || !reached.insert(next).inserted { continue }
        queue += graph.strong.successors(of: next)
      }
      let all = LeakedPartTests.reached(
        from: (0..<snapshot.roots.count).map { NodeIndex(rawValue: snapshot.roots.target[$0]) },
        in: snapshot)
      let gone = all.subtracting(reached).map { NodeIndex(rawValue: $0) }
      #expect(retained == graph.cost(of: gone), "seed \(seed), node \(node)")
    }
  }

  @Test("An object's retainers are roots and edges of every strength")
  func retainersAndReferences() throws {
    var heap = SnapshotDSL()
    let hub = heap.object("App.Hub")
    let screen = heap.object("App.Screen")
    let child = heap.object("App.Child")
    heap.root(.global, address: 0x1000, to: screen)
    heap.edge(hub, "screen", to: screen)
    heap.edge(child, "parent", to: screen, strength: .weak)
    heap.edge(screen, "child", to: child)
    heap.edge(screen, "hub", to: hub, strength: .unowned)
    let graph = try HeapGraph(heap.snapshot())
    let retainers = graph.retainers(of: heap.index(of: screen))
    #expect(retainers.count == 3)
    #expect(retainers.first == .root(RootIndex(0)))
    let edges = retainers.compactMap { retainer -> EdgeIndex? in
      if case .edge(let edge) = retainer { edge } else { nil }
    }
    #expect(edges.map { graph.source(of: $0) } == [heap.index(of: hub), heap.index(of: child)])
    #expect(edges.map { graph.info(of: $0).strength } == [.strong, .weak])
    let references = graph.references(of: heap.index(of: screen))
    #expect(references.map { graph.label(of: $0).text } == ["child", "hub"])
  }

  @Test("A call tree sums up what its callees allocated")
  func allocationTree() throws {
    var heap = SnapshotDSL()
    let first = heap.stack(0x30, 0x20, 0x10)
    let second = heap.stack(0x40, 0x20, 0x10)
    let outer = heap.stack(0x10)
    heap.object("App.A", bytes: 10, strongCount: 1, stack: first)
    heap.object("App.A", bytes: 100, strongCount: 1, stack: second)
    heap.object("App.B", bytes: 1_000, strongCount: 1, stack: outer)
    heap.object("App.C", bytes: 5, strongCount: 1)
    let graph = try HeapGraph(heap.snapshot())
    let tree = AllocationTree(of: graph.nodes, in: graph)
    #expect(tree.unknown == Cost(count: 1, bytes: ByteCount(5)))
    #expect(tree.inclusiveByRow[0] == Cost(count: 4, bytes: ByteCount(1_115)))
    #expect(tree.inclusiveByRow[outer.position] == Cost(count: 3, bytes: ByteCount(1_110)))
    #expect(tree.exclusiveByRow[outer.position] == Cost(count: 1, bytes: ByteCount(1_000)))
    #expect(tree.callees(of: .none) == [outer])
    let middle = try #require(tree.callees(of: outer).first)
    #expect(tree.callees(of: middle) == [second, first])
    #expect(graph.frames(of: first) == [0x30, 0x20, 0x10])
  }

  @Test("Totals: live is all but the destroyed and the runtime's own")
  func totalsOfAll() throws {
    var heap = SnapshotDSL()
    let hub = heap.object("App.Hub", bytes: 10)
    heap.root(.global, address: 0x1000, to: hub)
    heap.object("App.Lost", bytes: 20, strongCount: 1)
    heap.object("App.Gone", bytes: 40, strongCount: 0, state: .deinited)
    heap.node(.runtime, "runtime", module: "", bytes: 80)
    let graph = try HeapGraph(heap.snapshot())
    let all = try totals(of: graph)
    #expect(all.live.total == Cost(count: 2, bytes: ByteCount(30)))
    #expect(all.leaked.costByType == ["App.Lost": Cost(count: 1, bytes: ByteCount(20))])
  }
}
