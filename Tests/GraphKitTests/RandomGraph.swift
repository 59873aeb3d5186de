// RandomGraph: small seeded graphs of the shapes that heaps have, for tests against brute force.

import GraphKit
import GraphPrimitives
import SnapshotDSL
import Testing

/// A small graph with roots, random but for its seed.
struct RandomGraph: CustomStringConvertible {
  /// What the graph looks like.
  enum Shape: String, CaseIterable, Sendable {
    /// A tree of owners whose members refer back up.
    case treeWithBackEdges

    /// Few nodes that nearly all refer to.
    case powerLaw

    /// Many small rings, most of which no root reaches.
    case smallCycles

    /// Nearly all nodes in one component.
    case giantComponent

    /// Nodes that refer to themselves, some twice.
    case selfLoops

    /// No edges, down to no nodes.
    case empty
  }

  /// Fifty seeds of one shape, which one test case runs through; a failure names the seed.
  struct Block: Sendable, CustomTestStringConvertible {
    var shape: Shape
    var seeds: Range<UInt64>

    var testDescription: String { "\(shape.rawValue), seeds \(seeds)" }

    /// The graphs of the block.
    func graphs(atMost limit: Int = 14) -> some Sequence<RandomGraph> {
      seeds.lazy.map { RandomGraph(shape, seed: $0, atMost: limit) }
    }
  }

  /// 500 seeds of each shape.
  static let blocks = Shape.allCases.flatMap { shape in
    stride(from: 0, to: 500, by: 50).map { Block(shape: shape, seeds: $0..<$0 + 50) }
  }

  let shape: Shape
  let seed: UInt64

  var nodeCount: Int
  var edges: [(from: UInt32, to: UInt32)]
  var roots: [UInt32]

  var graph: CSRGraph { CSRGraph(nodeCount: nodeCount, edges: edges) }

  /// The graph in words, for the message of a test that fails.
  var description: String {
    "\(shape.rawValue), seed \(seed): \(nodeCount) nodes, roots \(roots), edges "
      + edges.map { "\($0.from)→\($0.to)" }.joined(separator: " ")
  }

  init(_ shape: Shape, seed: UInt64, atMost limit: Int = 14) {
    var random = SeededGenerator(seed: seed)
    let nodeCount =
      shape == .empty
      ? Int.random(in: 0...3, using: &random) : Int.random(in: 2...limit, using: &random)
    var edges: [(from: UInt32, to: UInt32)] = []
    func node() -> UInt32 { UInt32.random(in: 0..<UInt32(nodeCount), using: &random) }
    switch shape {
    case .treeWithBackEdges:
      for child in 1..<UInt32(nodeCount) {
        edges.append((UInt32.random(in: 0..<child, using: &random), child))
        if Bool.random(using: &random) {
          edges.append((child, UInt32.random(in: 0...child, using: &random)))
        }
      }
    case .powerLaw:
      var popular: [UInt32] = [0]
      for from in 0..<UInt32(nodeCount) {
        for _ in 0..<Int.random(in: 0...3, using: &random) {
          let to = Bool.random(using: &random) ? popular.randomElement(using: &random) ?? 0 : node()
          edges.append((from, to))
          popular.append(to)
        }
      }
    case .smallCycles:
      var first = 0
      while first < nodeCount {
        let last = min(first + Int.random(in: 0...3, using: &random), nodeCount - 1)
        for from in first..<last { edges.append((UInt32(from), UInt32(from + 1))) }
        edges.append((UInt32(last), UInt32(first)))
        if Int.random(in: 0..<3, using: &random) == 0 { edges.append((UInt32(first), node())) }
        first = last + 1
      }
    case .giantComponent:
      for from in 0..<UInt32(nodeCount) { edges.append((from, (from + 1) % UInt32(nodeCount))) }
      for _ in 0..<nodeCount / 2 { edges.append((node(), node())) }
    case .selfLoops:
      for from in 0..<UInt32(nodeCount) {
        for _ in 0..<Int.random(in: 0...2, using: &random) { edges.append((from, from)) }
        if Bool.random(using: &random) { edges.append((from, node())) }
      }
    case .empty: break
    }
    edges.shuffle(using: &random)
    let rootCount = nodeCount == 0 ? 0 : Int.random(in: 0...2, using: &random)
    self.shape = shape
    self.seed = seed
    self.nodeCount = nodeCount
    self.edges = edges
    roots = (0..<rootCount).map { _ in node() }
  }

  /// Which nodes can be reached from some nodes without going through `removed`.
  func reached(from starts: [UInt32], without removed: UInt32? = nil) -> Set<UInt32> {
    var reached = Set(starts.filter { $0 != removed })
    var grew = true
    while grew {
      grew = false
      for edge in edges where edge.to != removed && reached.contains(edge.from) {
        if reached.insert(edge.to).inserted { grew = true }
      }
    }
    return reached
  }
}

/// A signal that fires at once.
struct Cancelled: CancelSignal {
  var isCancelled: Bool { true }
}
