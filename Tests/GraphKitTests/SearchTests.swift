// SearchTests: breadth-first, depth-first and cheapest paths against brute force.

import GraphPrimitives
import SnapshotDSL
import Testing

@testable import GraphKit

@Suite struct SearchTests {
  @Test(
    "Breadth-first search reaches what can be reached, over the fewest edges",
    arguments: RandomGraph.blocks)
  func breadthFirst(block: RandomGraph.Block) throws {
    for random in block.graphs() {
      let graph = random.graph
      let forest = try BreadthFirstForest(of: graph, from: random.roots)
      #expect(Set(forest.order) == random.reached(from: random.roots), "\(random)")
      #expect(forest.order.count == Set(forest.order).count)

      var distance: [UInt32: Int] = [:]
      for root in random.roots { distance[root] = 0 }
      for _ in 0..<random.nodeCount {
        for edge in random.edges {
          if let far = distance[edge.from], far + 1 < distance[edge.to, default: .max] {
            distance[edge.to] = far + 1
          }
        }
      }
      for node in forest.order {
        var length = 0
        var walk = node
        while forest.parentEdgeByNode[Int(walk)] != .absent {
          let edge = Int(forest.parentEdgeByNode[Int(walk)])
          #expect(graph.targets[edge] == walk)
          #expect(graph.source(ofEdge: edge) == forest.parentByNode[Int(walk)])
          walk = forest.parentByNode[Int(walk)]
          length += 1
        }
        #expect(random.roots.contains(walk))
        #expect(distance[node] == length, "node \(node) of \(random)")
      }
    }
  }

  /// Random costs for a graph's edges, one in eight closed.
  static func costs(of graph: CSRGraph, seed: UInt64) -> [UInt8] {
    var random = SeededGenerator(seed: seed &* 77)
    return (0..<graph.edgeCount).map { _ in
      Int.random(in: 0..<8, using: &random) == 0
        ? ShortestPathForest.closed
        : UInt8.random(in: 1...(seed % 2 == 0 ? 4 : 254), using: &random)
    }
  }

  @Test(
    "Cheapest paths cost what relaxing every edge again and again says",
    arguments: RandomGraph.blocks)
  func cheapest(block: RandomGraph.Block) throws {
    for random in block.graphs() {
      guard random.nodeCount > 0 else { continue }
      let graph = random.graph
      let costs = Self.costs(of: graph, seed: random.seed)
      let source = random.roots.first ?? 0
      let forest = try ShortestPathForest(of: graph, from: source, costByEdge: costs)
      var distance = [Int](repeating: .max, count: random.nodeCount)
      distance[Int(source)] = 0
      for _ in 0..<random.nodeCount {
        for slot in 0..<graph.edgeCount where costs[slot] != ShortestPathForest.closed {
          let from = Int(graph.source(ofEdge: slot))
          let to = Int(graph.targets[slot])
          if distance[from] != .max {
            distance[to] = min(distance[to], distance[from] + Int(costs[slot]))
          }
        }
      }
      for node in 0..<UInt32(random.nodeCount) {
        #expect(forest.isReachable(node) == (distance[Int(node)] != .max), "\(random)")
        guard forest.isReachable(node) else { continue }
        #expect(Int(forest.distanceByNode[Int(node)]) == distance[Int(node)], "\(random)")
        let path = forest.path(to: node)
        #expect(path.reduce(0) { $0 + Int(costs[Int($1)]) } == distance[Int(node)])
        var walk = source
        for edge in path {
          #expect(graph.source(ofEdge: Int(edge)) == walk)
          walk = graph.targets[Int(edge)]
        }
        #expect(walk == node)
      }
    }
  }

  @Test(
    "Depth-first search enters and leaves as the recursive one does",
    arguments: RandomGraph.blocks)
  func depthFirst(block: RandomGraph.Block) throws {
    for random in block.graphs() {
      let graph = random.graph
      let order = try DepthFirstOrder(of: graph, from: random.roots)
      var preorder: [UInt32] = []
      var postorder: [UInt32] = []
      var treeRoots: [UInt32] = []
      func visit(_ node: UInt32, from parent: UInt32) {
        if preorder.contains(node) { return }
        if parent == .absent { treeRoots.append(node) }
        preorder.append(node)
        #expect(order.parentByNode[Int(node)] == parent, "\(random)")
        for next in graph.successors(of: node) { visit(next, from: node) }
        postorder.append(node)
      }
      for root in random.roots { visit(root, from: .absent) }
      #expect(order.preorder == preorder, "\(random)")
      #expect(order.postorder == postorder, "\(random)")
      #expect(order.treeRoots == treeRoots, "\(random)")
      for (number, node) in preorder.enumerated() {
        #expect(order.numberByNode[Int(node)] == UInt32(number))
      }
    }
  }

  @Test("A chain of a million nodes needs no recursion")
  func chain() throws {
    let count = 1_000_000
    // A doubly linked list: each node refers to the next and to the one before.
    var offsets: [UInt32] = [0]
    var targets: [UInt32] = []
    for node in 0..<UInt32(count) {
      if node + 1 < count { targets.append(node + 1) }
      if node > 0 { targets.append(node - 1) }
      offsets.append(UInt32(targets.count))
    }
    let graph = CSRGraph(checkedOffsets: offsets, targets: targets)
    #expect(try BreadthFirstForest(of: graph, from: [0]).order.count == count)
    #expect(try DepthFirstOrder(of: graph, from: [0]).postorder.first == UInt32(count - 1))
    #expect(try StrongComponents(of: graph).count == 1)
    let costs = [UInt8](repeating: 16, count: graph.edgeCount)
    let forest = try ShortestPathForest(of: graph, from: 0, costByEdge: costs)
    #expect(forest.distanceByNode[count - 1] == UInt32(16 * (count - 1)))
    let tree = try DominatorTree(
      of: graph, predecessors: graph.transposed().graph, roots: [0])
    #expect(tree.dominatorByNode[count - 1] == UInt32(count - 2))
    let retained = tree.retained(sizeByNode: [UInt64](repeating: 1, count: count))
    #expect(retained[0] == UInt64(count))
  }

  @Test("Cancelled work ends with an error")
  func cancelled() {
    let graph = CSRGraph(nodeCount: 2, edges: [(0, 1)])
    #expect(throws: CancellationError.self) {
      try BreadthFirstForest(of: graph, from: [0], cancel: Cancelled())
    }
    #expect(throws: CancellationError.self) {
      try DepthFirstOrder(of: graph, from: [0], cancel: Cancelled())
    }
    #expect(throws: CancellationError.self) { try StrongComponents(of: graph, cancel: Cancelled()) }
    #expect(throws: CancellationError.self) {
      try ShortestPathForest(of: graph, from: 0, costByEdge: [1], cancel: Cancelled())
    }
    #expect(throws: CancellationError.self) {
      try DominatorTree(
        of: graph, predecessors: graph.transposed().graph, roots: [0], cancel: Cancelled())
    }
  }
}
