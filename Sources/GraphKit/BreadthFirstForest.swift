// BreadthFirstForest: what is reachable from some nodes, and over the fewest edges.

package import GraphPrimitives

/// The nodes that can be reached from some roots, each with an edge by which it is reached first.
///
/// Following `parentEdgeByNode` from a node to a root is a shortest path. Among equally short ones the
/// path comes first whose root was given first and whose edges have lower slots.
///
/// - Complexity: O(*V* + *E*) time, 12 bytes a node.
package struct BreadthFirstForest: Sendable {
  /// The node before each node on its path; the node itself for a root, `absent` for what is unreachable.
  package let parentByNode: [UInt32]

  /// The edge by which each node was reached; `absent` for roots and for what is unreachable.
  package let parentEdgeByNode: [UInt32]

  /// The reachable nodes, nearest first.
  package let order: [UInt32]

  /// Searches from all roots at once.
  ///
  /// - Throws: `CancellationError` where `cancel` says so.
  package init(
    of graph: CSRGraph, from roots: [UInt32], cancel: any CancelSignal = NeverCancelled()
  ) throws(CancellationError) {
    var check = CancelCheck(cancel)
    var parentByNode = [UInt32](repeating: .absent, count: graph.nodeCount)
    var parentEdgeByNode = parentByNode
    var order = [UInt32](repeating: 0, count: graph.nodeCount)
    var tail = 0
    for root in roots where parentByNode[Int(root)] == .absent {
      parentByNode[Int(root)] = root
      order[tail] = root
      tail &+= 1
    }
    do {
      // A graph's columns lead to nodes and edges that there are, so no access is checked again.
      let offsets = graph.offsets.span
      let targets = graph.targets.span
      var parent = parentByNode.mutableSpan
      var parentEdge = parentEdgeByNode.mutableSpan
      var found = order.mutableSpan
      var head = 0
      while head < tail {
        try check.step()
        let node = found[unchecked: head]
        head &+= 1
        var slot = Int(offsets[unchecked: Int(node)])
        let end = Int(offsets[unchecked: Int(node) &+ 1])
        while slot < end {
          let next = targets[unchecked: slot]
          if parent[unchecked: Int(next)] == .absent {
            parent[unchecked: Int(next)] = node
            parentEdge[unchecked: Int(next)] = UInt32(truncatingIfNeeded: slot)
            found[unchecked: tail] = next
            tail &+= 1
          }
          slot &+= 1
        }
      }
    }
    order.removeSubrange(tail...)
    self.parentByNode = parentByNode
    self.parentEdgeByNode = parentEdgeByNode
    self.order = order
  }

  /// Whether a node can be reached.
  package func isReachable(_ node: UInt32) -> Bool { parentByNode[Int(node)] != .absent }
}
