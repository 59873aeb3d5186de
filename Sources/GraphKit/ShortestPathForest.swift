// ShortestPathForest: the cheapest path to each node where edges cost small whole numbers.

package import GraphPrimitives

/// The cheapest path from one node to each other, where an edge costs 1 to 254 and may be closed.
///
/// Dijkstra's algorithm with a ring of buckets instead of a heap (Dial, "Algorithm 360", CACM 12(11),
/// 1969), which is linear since costs are small. Among equally cheap paths the one that was found
/// first stays, so the result depends on nothing but the graph.
///
/// - Complexity: O(*V* + *E* + *D*) time for a greatest distance *D*, 12 bytes a node.
package struct ShortestPathForest: Sendable {
  /// The cost of an edge that must not be taken.
  package static let closed = UInt8.max

  /// The distance of a node that can't be reached.
  package static let unreachable = UInt32.max

  /// What the cheapest path to each node costs; `unreachable` where there is none.
  package let distanceByNode: [UInt32]

  /// The node before each node; `absent` for the source and for what is unreachable.
  package let parentByNode: [UInt32]

  /// The edge by which each node is reached; `absent` for the source and for what is unreachable.
  package let parentEdgeByNode: [UInt32]

  /// Searches from `source`.
  ///
  /// - Parameter costByEdge: What each edge costs, by slot; at least 1.
  /// - Throws: `CancellationError` where `cancel` says so.
  package init(
    of graph: CSRGraph, from source: UInt32, costByEdge: [UInt8],
    cancel: any CancelSignal = NeverCancelled()
  ) throws(CancellationError) {
    precondition(costByEdge.count == graph.edgeCount, "each edge has a cost")
    var check = CancelCheck(cancel)
    let offsets = graph.offsets
    let targets = graph.targets
    var distance = [UInt32](repeating: Self.unreachable, count: graph.nodeCount)
    var parent = distance
    var parentEdge = distance
    var isFinal = [Bool](repeating: false, count: graph.nodeCount)

    // A node waits in the bucket of its distance modulo 256; no cost reaches round the ring. A node
    // whose distance shrank waits in two buckets, and counts in the first.
    var buckets = [[UInt32]](repeating: [], count: 256)
    distance[Int(source)] = 0
    buckets[0].append(source)
    var waiting = 1
    var current: UInt32 = 0
    while waiting > 0 {
      let bucket = Int(current & 255)
      var position = 0
      while position < buckets[bucket].count {
        try check.step()
        let node = Int(buckets[bucket][position])
        position &+= 1
        if isFinal[node] || distance[node] != current { continue }
        isFinal[node] = true
        var slot = Int(offsets[node])
        let end = Int(offsets[node + 1])
        while slot < end {
          let cost = costByEdge[slot]
          if cost != Self.closed {
            let next = Int(targets[slot])
            let far = current &+ UInt32(cost)
            if far < distance[next] {
              distance[next] = far
              parent[next] = UInt32(truncatingIfNeeded: node)
              parentEdge[next] = UInt32(truncatingIfNeeded: slot)
              buckets[Int(far & 255)].append(UInt32(truncatingIfNeeded: next))
              waiting &+= 1
            }
          }
          slot &+= 1
        }
      }
      waiting &-= position
      buckets[bucket].removeAll(keepingCapacity: true)
      current &+= 1
    }
    distanceByNode = distance
    parentByNode = parent
    parentEdgeByNode = parentEdge
  }

  /// Whether a node can be reached.
  package func isReachable(_ node: UInt32) -> Bool {
    distanceByNode[Int(node)] != Self.unreachable
  }

  /// The edges of the cheapest path to a node, from the source on; empty for the source.
  ///
  /// - Precondition: the node can be reached.
  /// - Complexity: O(length of the path).
  package func path(to node: UInt32) -> [UInt32] {
    precondition(isReachable(node), "there is no path")
    var edges: [UInt32] = []
    var node = node
    while parentEdgeByNode[Int(node)] != .absent {
      edges.append(parentEdgeByNode[Int(node)])
      node = parentByNode[Int(node)]
    }
    edges.reverse()
    return edges
  }
}
