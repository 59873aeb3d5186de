// DominatorTreeTests: dominators against the removal of nodes, and against a second algorithm.

import SnapshotDSL
import Testing

@testable import GraphKit

@Suite struct DominatorTreeTests {
  @Test(
    "A node dominates what can't be reached without it; the nearest is the immediate one",
    arguments: RandomGraph.blocks)
  func dominators(block: RandomGraph.Block) throws {
    for random in block.graphs() {
      let graph = random.graph
      let tree = try DominatorTree(
        of: graph, predecessors: graph.transposed().graph, roots: random.roots)

      // The unreachable part is entered once for each component that nothing unreachable leads to.
      let reached = random.reached(from: random.roots)
      let rest = (0..<UInt32(random.nodeCount)).filter { !reached.contains($0) }
      #expect(tree.unreachableEntries.allSatisfy { !reached.contains($0) })
      for entry in tree.unreachableEntries {
        let below = random.reached(from: [entry])
        for node in rest where random.reached(from: [node]).contains(entry) {
          #expect(below.contains(node), "\(node) leads to entry \(entry) of \(random)")
        }
        for other in tree.unreachableEntries where other != entry {
          #expect(!below.contains(other), "entry \(entry) leads to \(other) in \(random)")
        }
      }
      let starts = random.roots + tree.unreachableEntries
      #expect(random.reached(from: starts).count == random.nodeCount, "\(random)")

      let withoutNode = (0..<UInt32(random.nodeCount)).map {
        random.reached(from: starts, without: $0)
      }
      func dominates(_ above: UInt32, _ below: UInt32) -> Bool {
        above != below && !withoutNode[Int(above)].contains(below)
      }
      for node in 0..<UInt32(random.nodeCount) {
        let all = (0..<UInt32(random.nodeCount)).filter { dominates($0, node) }
        let nearest =
          all.first { one in all.allSatisfy { $0 == one || dominates($0, one) } }
          ?? tree.virtualRoot
        #expect(tree.dominatorByNode[Int(node)] == nearest, "node \(node) of \(random)")
      }

      // Retained is what can't be reached any more, and the node itself.
      let sizes = (0..<random.nodeCount).map { UInt64(1) << UInt64($0) }
      let retained = tree.retained(sizeByNode: sizes)
      for node in 0..<UInt32(random.nodeCount) {
        let gone = (0..<UInt32(random.nodeCount)).filter { $0 == node || dominates(node, $0) }
        #expect(retained[Int(node)] == gone.reduce(0) { $0 + sizes[Int($1)] }, "\(random)")
      }

      // The children are the same tree, from above.
      let children = tree.children()
      #expect(children.edgeCount == random.nodeCount)
      for slot in 0..<children.edgeCount {
        #expect(
          tree.dominatorByNode[Int(children.targets[slot])] == children.source(ofEdge: slot))
      }
      // The order has each node after its dominator.
      var place = [Int](repeating: 0, count: random.nodeCount)
      for (position, node) in tree.order.enumerated() { place[Int(node)] = position }
      for node in 0..<random.nodeCount where tree.dominatorByNode[node] != tree.virtualRoot {
        #expect(place[Int(tree.dominatorByNode[node])] < place[node])
      }
    }
  }

  @Test(
    "A second algorithm agrees on graphs of thousands of nodes",
    arguments: RandomGraph.Shape.allCases, 0..<3 as Range<UInt64>)
  func secondAlgorithm(shape: RandomGraph.Shape, seed: UInt64) throws {
    let random = RandomGraph(shape, seed: seed, atMost: 3_000)
    let graph = random.graph
    let back = graph.transposed().graph
    let tree = try DominatorTree(of: graph, predecessors: back, roots: random.roots)
    let other = lengauerTarjan(
      graph, predecessors: back, roots: random.roots + tree.unreachableEntries)
    #expect(tree.dominatorByNode == other)
  }
}

/// The immediate dominators by the simple form of Lengauer and Tarjan, "A fast algorithm for finding
/// dominators in a flowgraph", TOPLAS 1(1), 1979: buckets and path compression, no nearest common
/// ancestors.
func lengauerTarjan(_ graph: CSRGraph, predecessors: CSRGraph, roots: [UInt32]) -> [UInt32] {
  let root = graph.nodeCount
  let count = graph.nodeCount + 1
  func successors(_ node: Int) -> [Int] {
    node == root ? roots.map { Int($0) } : graph.successors(of: UInt32(node)).map { Int($0) }
  }
  var number = [Int](repeating: -1, count: count)
  var parent = [Int](repeating: -1, count: count)
  var vertex: [Int] = []
  var path: [(node: Int, next: ArraySlice<Int>)] = []
  func enter(_ node: Int) {
    number[node] = vertex.count
    vertex.append(node)
    path.append((node, successors(node)[...]))
  }
  enter(root)
  while let node = path.last?.node {
    guard let next = path[path.count - 1].next.popFirst() else {
      path.removeLast()
      continue
    }
    if number[next] < 0 {
      parent[next] = node
      enter(next)
    }
  }

  var semi = number
  var ancestor = [Int](repeating: -1, count: count)
  var label = Array(0..<count)
  var bucket = [[Int]](repeating: [], count: count)
  var dominator = [Int](repeating: root, count: count)
  func evaluate(_ node: Int) -> Int {
    if ancestor[node] < 0 { return node }
    var chain = [node]
    while ancestor[ancestor[chain[chain.count - 1]]] >= 0 {
      chain.append(ancestor[chain[chain.count - 1]])
    }
    for walk in chain.reversed() where ancestor[ancestor[walk]] >= 0 {
      if semi[label[ancestor[walk]]] < semi[label[walk]] { label[walk] = label[ancestor[walk]] }
      ancestor[walk] = ancestor[ancestor[walk]]
    }
    return label[node]
  }
  let isRoot = Set(roots.map { Int($0) })
  for node in vertex.dropFirst().reversed() {
    var before = predecessors.successors(of: UInt32(node)).map { Int($0) }
    if isRoot.contains(node) { before.append(root) }
    for from in before where number[from] >= 0 {
      semi[node] = min(semi[node], semi[evaluate(from)])
    }
    bucket[vertex[semi[node]]].append(node)
    ancestor[node] = parent[node]
    for other in bucket[parent[node]] {
      let least = evaluate(other)
      dominator[other] = semi[least] < semi[other] ? least : parent[node]
    }
    bucket[parent[node]] = []
  }
  for node in vertex.dropFirst() where dominator[node] != vertex[semi[node]] {
    dominator[node] = dominator[dominator[node]]
  }
  return dominator.dropLast().map { UInt32($0) }
}
