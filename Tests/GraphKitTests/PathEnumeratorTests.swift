// PathEnumeratorTests: the paths to a node, in order, against all simple paths.

import Testing

@testable import GraphKit

@Suite struct PathEnumeratorTests {
  @Test(
    "All simple paths come out once each, cheapest first",
    arguments: RandomGraph.blocks)
  func allPaths(block: RandomGraph.Block) throws {
    for random in block.graphs(atMost: 7) {
      guard random.nodeCount > 0 else { continue }
      let graph = random.graph
      let costs = SearchTests.costs(of: graph, seed: random.seed)
      let source = random.roots.first ?? 0
      let target = UInt32(random.seed) % UInt32(random.nodeCount)

      var wanted: Set<[UInt32]> = []
      func walk(_ node: UInt32, _ seen: Set<UInt32>, _ path: [UInt32]) {
        if node == target {
          wanted.insert(path)
          return
        }
        for slot in graph.edges(from: node)
        where costs[slot] != ShortestPathForest.closed && !seen.contains(graph.targets[slot]) {
          let next = graph.targets[slot]
          walk(next, seen.union([next]), path + [UInt32(slot)])
        }
      }
      walk(source, [source], [])

      var paths = PathEnumerator(
        transposed: graph.transposed(), costByEdge: costs,
        forest: try ShortestPathForest(of: graph, from: source, costByEdge: costs), target: target,
        limits: .none)
      var found: [[UInt32]] = []
      var last: UInt32 = 0
      while let (cost, edges) = paths.next() {
        #expect(cost >= last, "\(random)")
        #expect(edges.reduce(0) { $0 + UInt32(costs[Int($1)]) } == cost, "\(random)")
        last = cost
        found.append(edges)
      }
      #expect(Set(found).count == found.count, "a path came out twice: \(random)")
      #expect(Set(found) == wanted, "from \(source) to \(target) in \(random)")
    }
  }

  @Test("Limits end a search that would go on for ever")
  func limits() throws {
    // 20 diamonds in a row have a million paths.
    var edges: [(from: UInt32, to: UInt32)] = []
    for number in 0..<20 as Range<UInt32> {
      let top = number * 3
      edges += [(top, top + 1), (top, top + 2), (top + 1, top + 3), (top + 2, top + 3)]
    }
    let graph = CSRGraph(nodeCount: 61, edges: edges)
    let costs = [UInt8](repeating: 1, count: graph.edgeCount)
    var paths = PathEnumerator(
      transposed: graph.transposed(), costByEdge: costs,
      forest: try ShortestPathForest(of: graph, from: 0, costByEdge: costs), target: 60,
      limits: PathEnumerator.Limits(paths: 100, sidetracks: 1_000, visitsPerNode: 16))
    var count = 0
    while paths.next() != nil { count += 1 }
    #expect(count > 20 && count <= 100)
  }
}
