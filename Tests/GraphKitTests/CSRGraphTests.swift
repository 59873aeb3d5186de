// CSRGraphTests: columns that are no graph are refused; transposes and subgraphs keep their edges.

import SnapshotDSL
import Testing

@testable import GraphKit

@Suite struct CSRGraphTests {
  struct Malformed: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var offsets: [UInt32]
    var targets: [UInt32]
    var error: CSRGraphError
  }

  static let malformed = [
    Malformed(
      testDescription: "no offsets", offsets: [], targets: [],
      error: .edgeCountMismatch(offsets: nil, targets: 0)),
    Malformed(
      testDescription: "the offsets end before the targets", offsets: [0, 1], targets: [0, 0],
      error: .edgeCountMismatch(offsets: 1, targets: 2)),
    Malformed(
      testDescription: "an offset decreases", offsets: [0, 2, 1, 2], targets: [0, 1],
      error: .decreasingOffset(node: 2)),
    Malformed(
      testDescription: "a target past the last node", offsets: [0, 1], targets: [1],
      error: .targetOutOfRange(edge: 0, target: 1, nodeCount: 1)),
  ]

  @Test("Malformed columns are refused by name", arguments: malformed)
  func refuses(_ malformed: Malformed) {
    #expect(throws: malformed.error) {
      try CSRGraph(offsets: malformed.offsets, targets: malformed.targets)
    }
  }

  @Test("A diamond's top has two successors")
  func diamond() throws {
    // 0 → 1 → 3
    //  ↘︎ 2 ↗︎
    let graph = try CSRGraph(offsets: [0, 2, 3, 4, 4], targets: [1, 2, 3, 3])
    #expect(Array(graph.successors(of: 0)) == [1, 2])
    #expect(Array(graph.successors(of: 3)).isEmpty)
    #expect((0..<4).map { graph.source(ofEdge: $0) } == [0, 0, 1, 2])
    let back = graph.transposed()
    #expect(Array(back.graph.successors(of: 3)) == [1, 2])
    #expect(back.edgeBySlot == [0, 1, 2, 3])
  }

  @Test(
    "A transpose has each edge once, turned round, predecessors ascending",
    arguments: RandomGraph.blocks)
  func transpose(block: RandomGraph.Block) {
    for random in block.graphs() {
      let graph = random.graph
      let back = graph.transposed()
      #expect(Set(back.edgeBySlot).count == graph.edgeCount, "\(random)")
      for node in 0..<UInt32(graph.nodeCount) {
        #expect(Array(back.graph.successors(of: node)) == back.graph.successors(of: node).sorted())
        for slot in back.graph.edges(from: node) {
          let edge = Int(back.edgeBySlot[slot])
          #expect(graph.targets[edge] == node, "\(random)")
          #expect(graph.source(ofEdge: edge) == back.graph.targets[slot], "\(random)")
        }
      }
    }
  }

  @Test(
    "A subgraph has the edges between its nodes that are kept, and leaves the scratch column clean",
    arguments: RandomGraph.blocks)
  func subgraph(block: RandomGraph.Block) {
    for random in block.graphs() {
      var choice = SeededGenerator(seed: random.seed ^ 0xABCD)
      let kept = (0..<UInt32(random.nodeCount)).filter { _ in Bool.random(using: &choice) }
      let graph = random.graph
      var scratch = [UInt32](repeating: .absent, count: random.nodeCount)
      let part = InducedSubgraph(
        of: graph, keeping: kept, localByNode: &scratch, edges: { $0 % 3 != 0 })
      #expect(scratch.allSatisfy { $0 == .absent })
      let wanted = (0..<graph.edgeCount).filter {
        $0 % 3 != 0 && kept.contains(graph.source(ofEdge: $0)) && kept.contains(graph.targets[$0])
      }
      #expect(part.edgeByLocal.sorted() == wanted.map { UInt32($0) }, "\(random)")
      for local in 0..<part.graph.edgeCount {
        let edge = Int(part.edgeByLocal[local])
        #expect(part.nodeByLocal[Int(part.graph.targets[local])] == graph.targets[edge])
        #expect(
          part.nodeByLocal[Int(part.graph.source(ofEdge: local))] == graph.source(ofEdge: edge))
      }
    }
  }
}
