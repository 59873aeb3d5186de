// InducedSubgraph: some nodes of a graph with the edges between them, numbered afresh.

/// Some nodes of a graph and the edges between them, as a graph of its own.
///
/// - Complexity: O(*V* of the whole graph, to find numbers) once, else O(nodes and edges kept).
package struct InducedSubgraph: Sendable {
  package let graph: CSRGraph

  /// The node in the whole graph that each node stands for, in the order that was given.
  package let nodeByLocal: [UInt32]

  /// The slot in the whole graph of each edge.
  package let edgeByLocal: [UInt32]

  /// Takes a graph that is known to be part of another one.
  package init(graph: CSRGraph, nodeByLocal: [UInt32], edgeByLocal: [UInt32]) {
    precondition(
      nodeByLocal.count == graph.nodeCount && edgeByLocal.count == graph.edgeCount,
      "each node and each edge stands for one")
    self.graph = graph
    self.nodeByLocal = nodeByLocal
    self.edgeByLocal = edgeByLocal
  }

  /// Keeps `nodes` of `whole` and the edges between them for which `isKept` holds.
  ///
  /// - Parameters:
  ///   - nodes: The nodes to keep, each once.
  ///   - localByNode: A column as long as the whole graph has nodes, `absent` throughout; it is left
  ///     so, and can be used again.
  ///   - isKept: Whether an edge, by its slot in the whole graph, is kept.
  package init(
    of whole: CSRGraph, keeping nodes: [UInt32], localByNode: inout [UInt32],
    edges isKept: (UInt32) -> Bool = { _ in true }
  ) {
    for (local, node) in nodes.enumerated() {
      localByNode[Int(node)] = UInt32(truncatingIfNeeded: local)
    }
    var offsets: [UInt32] = [0]
    offsets.reserveCapacity(nodes.count + 1)
    var targets: [UInt32] = []
    var edges: [UInt32] = []
    for node in nodes {
      for slot in whole.edges(from: node) {
        let local = localByNode[Int(whole.targets[slot])]
        if local != .absent && isKept(UInt32(truncatingIfNeeded: slot)) {
          targets.append(local)
          edges.append(UInt32(truncatingIfNeeded: slot))
        }
      }
      offsets.append(UInt32(truncatingIfNeeded: targets.count))
    }
    for node in nodes { localByNode[Int(node)] = .absent }
    graph = CSRGraph(checkedOffsets: offsets, targets: targets)
    nodeByLocal = nodes
    edgeByLocal = edges
  }
}
