// StrongComponentsTests: components against mutual reachability.

import Testing

@testable import GraphKit

@Suite struct StrongComponentsTests {
  @Test(
    "Two nodes share a component where each reaches the other",
    arguments: RandomGraph.blocks)
  func components(block: RandomGraph.Block) throws {
    for random in block.graphs() {
      let graph = random.graph
      let components = try StrongComponents(of: graph)
      let reached = (0..<UInt32(random.nodeCount)).map { random.reached(from: [$0]) }
      for left in 0..<random.nodeCount {
        for right in 0..<random.nodeCount {
          let isMutual =
            reached[left].contains(UInt32(right)) && reached[right].contains(UInt32(left))
          #expect(
            (components.componentByNode[left] == components.componentByNode[right]) == isMutual,
            "nodes \(left) and \(right) of \(random)")
        }
      }
      // Numbers are in reverse topological order.
      for edge in random.edges {
        #expect(
          components.componentByNode[Int(edge.to)] <= components.componentByNode[Int(edge.from)],
          "\(random)")
      }
      #expect(components.members.sorted() == (0..<UInt32(random.nodeCount)).map { $0 })
      for number in 0..<UInt32(components.count) {
        let members = Array(components.members(of: number))
        #expect(members == members.sorted() && !members.isEmpty)
        #expect(members.allSatisfy { components.componentByNode[Int($0)] == number })
        let isCyclic = random.edges.contains { $0.from == members[0] && $0.to == members[0] }
        #expect(components.isCyclic(number, in: graph) == (members.count > 1 || isCyclic))
      }
    }
  }

  @Test(
    "The condensation has each edge between components once; sources have none that leads to them",
    arguments: RandomGraph.blocks)
  func condensation(block: RandomGraph.Block) throws {
    for random in block.graphs() {
      struct Edge: Hashable {
        var from: UInt32
        var to: UInt32
      }
      let graph = random.graph
      let components = try StrongComponents(of: graph)
      var wanted: Set<Edge> = []
      for edge in random.edges {
        let from = components.componentByNode[Int(edge.from)]
        let to = components.componentByNode[Int(edge.to)]
        if from != to { wanted.insert(Edge(from: from, to: to)) }
      }
      let acyclic = components.condensation(of: graph)
      let found = (0..<acyclic.edgeCount).map {
        Edge(from: acyclic.source(ofEdge: $0), to: acyclic.targets[$0])
      }
      #expect(found.count == wanted.count && Set(found) == wanted, "\(random)")
      let entered = Set(wanted.map(\.to))
      #expect(
        components.sources(in: graph)
          == (0..<UInt32(components.count)).filter { !entered.contains($0) }, "\(random)")
    }
  }
}
