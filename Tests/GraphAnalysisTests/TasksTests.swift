// TasksTests: groups of tasks, what they keep together, the queues of actors, children without a count.

import GraphPrimitives
import HeapGraph
import SnapshotDSL
import SnapshotFormat
import Testing

@testable import GraphAnalysis

@Suite struct TasksTests {
  @Test(
    "What some nodes retain together is what can't be reached without any of them",
    arguments: 0..<200 as Range<UInt64>)
  func retainedByAll(seed: UInt64) throws {
    let heap = RandomHeap.make(seed: seed)
    let graph = try HeapGraph(heap.snapshot())
    let sizes = try RetainedSizes(of: graph)
    var random = SeededGenerator(seed: seed)
    let reachable = graph.nodes.filter { graph.isReachable[$0.position] }
    let chosen = reachable.filter { _ in Bool.random(using: &random) }
    // By brute force: what is reached from roots and leaked memory around the chosen ones.
    let lost = graph.nodes.filter { !graph.isReachable[$0.position] }
    var pending = (0..<graph.snapshot.roots.count).map {
      NodeIndex(rawValue: graph.snapshot.roots.target[$0])
    }
    pending += lost
    var met: Set<NodeIndex> = []
    while let node = pending.popLast() {
      if chosen.contains(node) || !met.insert(node).inserted { continue }
      for row in graph.edges(of: node) where graph.info(of: EdgeIndex(row)).isStrong {
        pending.append(graph.target(of: EdgeIndex(row)))
      }
    }
    let gone = reachable.filter { !met.contains($0) }
    #expect(sizes.retained(byAll: chosen, in: graph) == graph.cost(of: gone), "seed \(seed)")
  }

  @Test("Tasks are grouped by what they have in common, those that keep most first")
  func groups() throws {
    var heap = SnapshotDSL()
    let hub = heap.object("App.Hub")
    heap.root(.global, address: 0x1000, to: hub)
    for number in 1...3 {
      let task = heap.task(bytes: 100)
      let model = heap.object("App.Model", bytes: number == 3 ? 5_000 : 10)
      if number > 1 { heap.edge(hub, "tasks[_]", to: task) }
      heap.edge(task, "frame", to: model)
      heap.describe(task, id: UInt64(10 - number), frames: [number == 3 ? 0x2000 : 0x3000])
    }
    let graph = try HeapGraph(heap.snapshot())
    let groups = taskGroups(
      of: [0, 1, 2], in: graph, sizes: try RetainedSizes(of: graph)
    ) { graph.snapshot.tasks.suspendedAt[$0] }
    #expect(groups.map(\.tasks) == [[2], [1, 0]])
    #expect(groups[0].retained == Cost(count: 2, bytes: ByteCount(5_100)))
    #expect(groups[1].own == Cost(count: 2, bytes: ByteCount(200)))
    #expect(groups.map(\.leakedCount) == [0, 1])
  }

  @Test("An actor's queue goes on from job to job, and a property of that name is none")
  func queues() throws {
    var heap = SnapshotDSL()
    let dock = heap.object("App.Dock")
    heap.root(.global, address: 0x1000, to: dock)
    let jobs = (0..<3).map { _ in heap.task() }
    heap.edge(dock, "queue", to: jobs[2], provenance: .scanned)
    heap.edge(jobs[2], "queue", to: jobs[0], provenance: .scanned)
    heap.edge(jobs[0], "queue", to: jobs[1], provenance: .scanned)
    // Damaged: the list leads back into itself.
    heap.edge(jobs[1], "queue", to: jobs[2], provenance: .scanned)
    let other = heap.object("App.Player")
    heap.root(.global, address: 0x1008, to: other)
    heap.edge(other, "queue", to: heap.task())
    let queues = actorQueues(in: try HeapGraph(heap.snapshot()))
    #expect(queues.map(\.actor) == [heap.index(of: dock)])
    #expect(queues.first?.jobs == [jobs[2], jobs[0], jobs[1]].map { heap.index(of: $0) })
  }

  @Test("A child of async let is held by its parent alone: without a count it is not immortal")
  func children() throws {
    var heap = SnapshotDSL()
    let parent = heap.task(strongCount: 1)
    let child = heap.node(.task, "Task", strongCount: Snapshot.Nodes.uncounted)
    let parcel = heap.object("App.Parcel")
    heap.edge(parent, "child", to: child)
    heap.edge(child, "parent", to: parent)
    heap.edge(child, "frame", to: parcel)
    let place = heap.describe(parent, id: 1)
    heap.describe(child, id: 2, kind: .asyncLet, parent: place)
    let graph = try HeapGraph(heap.snapshot())
    #expect(graph.nodes.allSatisfy { !graph.isReachable[$0.position] })
    let findings = try leaks(in: graph).findings
    #expect(findings.count == 1)
    #expect(findings.first?.retained.count == 3)
  }
}
