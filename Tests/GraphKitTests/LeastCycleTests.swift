// LeastCycleTests: the least cycle against all cycles, on small random graphs.

import GraphKit
import SnapshotDSL
import Testing

@Suite struct LeastCycleTests {
  /// What the edges of a graph cost and read, few of each so that many cycles are equally good.
  private static func prices(of graph: CSRGraph, seed: UInt64) -> (costs: [UInt8], ranks: [UInt64])
  {
    var random = SeededGenerator(seed: seed &+ 77)
    let costs = graph.targets.map { _ in
      Int.random(in: 0..<12, using: &random) == 0
        ? ShortestPathForest.closed : UInt8.random(in: 1...3, using: &random)
    }
    return (costs, graph.targets.map { _ in UInt64.random(in: 0...2, using: &random) })
  }

  /// The best cycle through some nodes by trying all: its cost, and what its edges cost and read.
  private static func best(
    in graph: CSRGraph, through starts: [UInt32], costs: [UInt8], ranks: [UInt64]
  ) -> (cost: UInt32, reading: [UInt64])? {
    var best: (cost: UInt32, reading: [UInt64])?
    func go(
      _ node: UInt32, _ start: UInt32, _ cost: UInt32, _ reading: [UInt64], _ seen: Set<UInt32>
    ) {
      for slot in graph.edges(from: node) where costs[slot] != ShortestPathForest.closed {
        let next = graph.targets[slot]
        let far = cost + UInt32(costs[slot])
        let read = reading + [UInt64(costs[slot]), ranks[slot]]
        if next == start {
          if let known = best,
            known.cost < far || known.cost == far && !read.lexicographicallyPrecedes(known.reading)
          {
            continue
          }
          best = (far, read)
        } else if !seen.contains(next) {
          go(next, start, far, read, seen.union([next]))
        }
      }
    }
    for start in starts { go(start, start, 0, [], [start]) }
    return best
  }

  @Test("The least cycle is the one that trying all cycles finds", arguments: RandomGraph.blocks)
  func oracle(_ block: RandomGraph.Block) throws {
    for random in block.graphs(atMost: 8) where random.edges.count <= 22 {
      let graph = random.graph
      let (costs, ranks) = Self.prices(of: graph, seed: random.seed)
      var search = LeastCycleSearch(of: graph, costByEdge: costs, rankByEdge: ranks)
      var pick = SeededGenerator(seed: random.seed &+ 5)
      let starts = (0..<UInt32(graph.nodeCount)).filter { _ in Bool.random(using: &pick) }
      let found = try search.cycle(through: starts, precedes: { $0 < $1 })
      let best = Self.best(in: graph, through: starts, costs: costs, ranks: ranks)
      #expect(found?.cost == best?.cost, "\(random)")
      guard let found, let best else { continue }
      let reading = found.slots.flatMap { [UInt64(costs[Int($0)]), ranks[Int($0)]] }
      #expect(reading == best.reading, "\(random)")
      // It is a cycle from its start on.
      var node = found.start
      for slot in found.slots {
        #expect(graph.edges(from: node).contains(Int(slot)), "\(random)")
        node = graph.targets[Int(slot)]
      }
      #expect(node == found.start && starts.contains(found.start), "\(random)")
    }
  }

  @Test("A long list with links both ways takes work in proportion, and is told by two of them")
  func list() throws {
    let count: UInt32 = 20_000
    var edges: [(from: UInt32, to: UInt32)] = []
    for node in 0..<count - 1 { edges += [(node, node + 1), (node + 1, node)] }
    let graph = CSRGraph(nodeCount: Int(count), edges: edges)
    var search = LeastCycleSearch(
      of: graph, costByEdge: [UInt8](repeating: 16, count: edges.count),
      rankByEdge: (0..<edges.count).map { UInt64($0 % 2) })
    let found = try #require(
      try search.cycle(through: Array(0..<count), mostWork: 4 * edges.count, precedes: { $0 < $1 }))
    #expect(found.cost == 32 && found.slots.count == 2)
  }

  @Test("A search that is told to stop throws")
  func cancelled() {
    let edges: [(from: UInt32, to: UInt32)] = (0..<200_000).map { ($0, ($0 + 1) % 200_000) }
    let graph = CSRGraph(nodeCount: edges.count, edges: edges)
    var search = LeastCycleSearch(
      of: graph, costByEdge: [UInt8](repeating: 1, count: edges.count),
      rankByEdge: [UInt64](repeating: 0, count: edges.count))
    #expect(throws: (any Error).self) {
      try search.cycle(through: [0], precedes: { $0 < $1 }, cancel: Cancelled())
    }
  }
}
