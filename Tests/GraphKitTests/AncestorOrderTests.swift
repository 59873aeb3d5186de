// AncestorOrderTests: which nodes lie above which, against walking up.

import GraphPrimitives
import Testing

@testable import GraphKit

@Suite struct AncestorOrderTests {
  @Test("As walking up says", arguments: RandomGraph.blocks)
  func walkingUp(block: RandomGraph.Block) throws {
    for random in block.graphs(atMost: 40) {
      guard random.nodeCount > 0 else { continue }
      let graph = random.graph
      let forest = try ShortestPathForest(
        of: graph, from: random.roots.first ?? 0,
        costByEdge: SearchTests.costs(of: graph, seed: random.seed))
      let order = AncestorOrder(parentByNode: forest.parentByNode)
      for node in 0..<UInt32(random.nodeCount) {
        var above: Set<UInt32> = [node]
        var current = node
        while forest.parentByNode[Int(current)] != .absent {
          current = forest.parentByNode[Int(current)]
          above.insert(current)
        }
        for other in 0..<UInt32(random.nodeCount) {
          #expect(order.isAncestor(other, of: node) == above.contains(other), "\(random)")
        }
      }
    }
  }

  @Test("A chain of a million nodes needs no deep stack")
  func chain() {
    let count: UInt32 = 1_000_000
    let order = AncestorOrder(parentByNode: (0..<count).map { $0 == 0 ? .absent : $0 - 1 })
    #expect(order.isAncestor(0, of: count - 1) && !order.isAncestor(count - 1, of: 0))
  }
}
