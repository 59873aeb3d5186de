// CSRGraph: a directed graph as two columns, and its transpose.

/// A directed graph in compressed sparse row form.
///
/// The successors of node *v* are `targets[offsets[v] ..< offsets[v + 1]]`, in the order in which they
/// were given. Parallel edges and self-loops are kept: two references from one object to another are
/// two edges. An edge is named by its position in `targets`, its *slot*.
///
/// A graph never changes once it is made, so any number of threads may read it.
///
/// - Complexity: O(*V* + *E*) memory: 4 bytes a node and 4 bytes an edge.
package struct CSRGraph: Sendable {
  /// Where each node's successors start; `nodeCount + 1` entries, never decreasing, the last equal to
  /// `edgeCount`.
  package let offsets: [UInt32]

  /// The target of each edge; every entry is less than `nodeCount`.
  package let targets: [UInt32]

  /// Creates a graph from its two columns, checking what the traversals rely on.
  ///
  /// - Throws: ``CSRGraphError`` naming the first entry that breaks an invariant.
  /// - Complexity: O(*V* + *E*).
  package init(offsets: [UInt32], targets: [UInt32]) throws(CSRGraphError) {
    guard let last = offsets.last, offsets.first == 0, Int(last) == targets.count else {
      throw .edgeCountMismatch(offsets: offsets.last.map(Int.init), targets: targets.count)
    }
    for node in 1..<offsets.count where offsets[node] < offsets[node - 1] {
      throw .decreasingOffset(node: node)
    }
    let nodeCount = offsets.count - 1
    for edge in targets.indices where Int(targets[edge]) >= nodeCount {
      throw .targetOutOfRange(edge: edge, target: targets[edge], nodeCount: nodeCount)
    }
    self.init(checkedOffsets: offsets, targets: targets)
  }

  /// Creates a graph from columns whose invariants the caller has established by construction.
  package init(checkedOffsets offsets: [UInt32], targets: [UInt32]) {
    assert(offsets.first == 0 && offsets.last.map(Int.init) == targets.count)
    self.offsets = offsets
    self.targets = targets
  }

  /// Creates a graph from a list of edges; those of a node keep their order.
  ///
  /// - Precondition: every end is less than `nodeCount`.
  /// - Complexity: O(*V* + *E*).
  package init(nodeCount: Int, edges: [(from: UInt32, to: UInt32)]) {
    var offsets = [UInt32](repeating: 0, count: nodeCount + 1)
    for edge in edges {
      precondition(
        Int(edge.from) < nodeCount && Int(edge.to) < nodeCount, "an edge's end is no node")
      offsets[Int(edge.from) + 1] += 1
    }
    for node in 0..<nodeCount { offsets[node + 1] += offsets[node] }
    var next = offsets
    var targets = [UInt32](repeating: 0, count: edges.count)
    for edge in edges {
      targets[Int(next[Int(edge.from)])] = edge.to
      next[Int(edge.from)] += 1
    }
    self.init(checkedOffsets: offsets, targets: targets)
  }

  /// The number of nodes.
  package var nodeCount: Int { offsets.count - 1 }

  /// The number of edges, parallel ones included.
  package var edgeCount: Int { targets.count }

  /// The slots of the edges that leave a node.
  ///
  /// - Precondition: `node` is in the graph.
  /// - Complexity: O(1).
  package func edges(from node: UInt32) -> Range<Int> {
    Int(offsets[Int(node)])..<Int(offsets[Int(node) + 1])
  }

  /// The targets of the edges that leave a node.
  ///
  /// - Precondition: `node` is in the graph.
  /// - Complexity: O(1).
  package func successors(of node: UInt32) -> ArraySlice<UInt32> { targets[edges(from: node)] }

  /// The node that an edge leaves.
  ///
  /// - Complexity: O(log *V*).
  package func source(ofEdge slot: Int) -> UInt32 {
    var low = 0
    var high = nodeCount
    while high - low > 1 {
      let middle = (low + high) / 2
      if Int(offsets[middle]) <= slot { low = middle } else { high = middle }
    }
    return UInt32(low)
  }

  /// The graph with every edge turned round, and which edge each of its edges was.
  ///
  /// The predecessors of a node come in ascending order.
  ///
  /// - Complexity: O(*V* + *E*).
  package func transposed() -> TransposedGraph {
    let nodeCount = self.nodeCount
    let edgeCount = self.edgeCount
    var backOffsets = [UInt32](repeating: 0, count: nodeCount + 1)
    var sources = [UInt32](repeating: 0, count: edgeCount)
    var edges = [UInt32](repeating: 0, count: edgeCount)
    for target in targets { backOffsets[Int(target) + 1] &+= 1 }
    for node in 0..<nodeCount { backOffsets[node + 1] &+= backOffsets[node] }
    var nextByNode = backOffsets
    do {
      // The columns lead to nodes and edges that there are, so no access is checked again.
      let offsets = self.offsets.span
      let targets = self.targets.span
      var next = nextByNode.mutableSpan
      var source = sources.mutableSpan
      var edge = edges.mutableSpan
      for node in 0..<nodeCount {
        var slot = Int(offsets[unchecked: node])
        let end = Int(offsets[unchecked: node &+ 1])
        while slot < end {
          let target = Int(targets[unchecked: slot])
          let place = Int(next[unchecked: target])
          next[unchecked: target] &+= 1
          source[unchecked: place] = UInt32(truncatingIfNeeded: node)
          edge[unchecked: place] = UInt32(truncatingIfNeeded: slot)
          slot &+= 1
        }
      }
    }
    return TransposedGraph(
      graph: CSRGraph(checkedOffsets: backOffsets, targets: sources), edgeBySlot: edges)
  }
}

/// A graph with every edge turned round.
package struct TransposedGraph: Sendable {
  /// The predecessors of each node, in ascending order.
  package let graph: CSRGraph

  /// The slot in the original graph of each edge of `graph`.
  package let edgeBySlot: [UInt32]
}

/// A reason why two columns do not form a graph.
package enum CSRGraphError: Error, Equatable, Sendable {
  case edgeCountMismatch(offsets: Int?, targets: Int)
  case decreasingOffset(node: Int)
  case targetOutOfRange(edge: Int, target: UInt32, nodeCount: Int)
}
