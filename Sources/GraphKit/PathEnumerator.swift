// PathEnumerator: the paths from a source to one node, cheapest first, as many as are asked for.

/// Enumerates the simple paths from the source of a `ShortestPathForest` to one node, cheapest first.
///
/// A path that isn't the cheapest leaves the forest at some edges, its *sidetracks*; what a sidetrack
/// adds to the cost is known from the forest's distances, so paths come out in order without a search of
/// the graph for each (Eppstein, "Finding the k shortest paths", SIAM J. Comput. 28(2), 1998). Paths
/// that visit a node twice are passed over.
///
/// - Complexity: O(*L* + *d*) for each path looked at, for its length *L* and the in-degrees *d* along it,
///   times a logarithm of the number of paths waiting.
package struct PathEnumerator {
  /// How much work an enumerator does before it says that there are no more paths.
  package struct Limits: Sendable {
    /// How many paths may be looked at, those that visit a node twice included.
    package var paths: Int

    /// How many sidetracks may be waiting.
    package var sidetracks: Int

    /// How often paths may leave the forest at one edge's source; what lies below is the same each time.
    package var visitsPerNode: Int

    /// How many nodes all paths that were looked at may have together, once there is one.
    package var nodes: Int

    package init(
      paths: Int = 2_000, sidetracks: Int = 400_000, visitsPerNode: Int = 16, nodes: Int = 1 << 21
    ) {
      self.paths = paths
      self.sidetracks = sidetracks
      self.visitsPerNode = visitsPerNode
      self.nodes = nodes
    }

    /// No limit: all simple paths.
    package static let none = Limits(
      paths: .max, sidetracks: .max, visitsPerNode: .max, nodes: .max)
  }

  /// A path as the last sidetrack on the way up from the target, and the rest of them.
  private struct Candidate {
    var cost: UInt32

    /// The candidate without the last sidetrack; -1 for the cheapest path.
    var base: Int

    /// The last sidetrack's edge and its ends; for the cheapest path no edge, and it starts at the target.
    var edge: UInt32
    var source: UInt32
    var target: UInt32
  }

  private let _transposed: TransposedGraph
  private let _costByEdge: [UInt8]
  private let _forest: ShortestPathForest
  private let _target: UInt32
  private let _limits: Limits
  private var _candidates: [Candidate] = []
  private var _heap: [Int] = []
  private var _looked = 0
  private var _nodes = 0
  private var _visits: [UInt32: Int] = [:]

  /// Prepares the paths to `target`.
  ///
  /// - Parameters:
  ///   - transposed: The transpose of the graph that the forest is of.
  ///   - costByEdge: The costs with which the forest was made.
  package init(
    transposed: TransposedGraph, costByEdge: [UInt8], forest: ShortestPathForest, target: UInt32,
    limits: Limits = Limits()
  ) {
    _transposed = transposed
    _costByEdge = costByEdge
    _forest = forest
    _target = target
    _limits = limits
    if forest.isReachable(target) {
      _push(
        Candidate(
          cost: forest.distanceByNode[Int(target)], base: -1, edge: .absent, source: target,
          target: .absent))
    }
  }

  /// The next path: its cost and its edges from the source on; nil where there is none left.
  package mutating func next() -> (cost: UInt32, edges: [UInt32])? {
    while let position = _pop() {
      guard _looked < _limits.paths, _nodes < _limits.nodes else { return nil }
      _looked += 1
      let candidate = _candidates[position]
      if candidate.edge != .absent {
        let visits = _visits[candidate.source, default: 0]
        if visits >= _limits.visitsPerNode { continue }
        _visits[candidate.source] = visits + 1
      }
      if let edges = _expand(position) { return (candidate.cost, edges) }
    }
    return nil
  }

  /// Walks a path up from the target, pushes those that leave it further up than it left the forest
  /// last, and returns its edges where it is simple.
  private mutating func _expand(_ position: Int) -> [UInt32]? {
    let candidate = _candidates[position]
    var sidetracks: [Candidate] = []
    var walk = candidate
    while walk.edge != .absent {
      sidetracks.append(walk)
      walk = _candidates[walk.base]
    }

    var edges: [UInt32] = []
    var seen: Set<UInt32> = []
    var node = _target
    defer { _nodes += seen.count }
    // Down to the last sidetrack the path is fixed, and known to be simple.
    while let sidetrack = sidetracks.last {
      seen.insert(node)
      if sidetrack.target == node {
        edges.append(sidetrack.edge)
        node = sidetrack.source
        sidetracks.removeLast()
      } else {
        edges.append(_forest.parentEdgeByNode[Int(node)])
        node = _forest.parentByNode[Int(node)]
      }
    }
    // From there on it follows the forest, and may leave it anywhere.
    while true {
      guard seen.insert(node).inserted else { return nil }
      let taken = _forest.parentEdgeByNode[Int(node)]
      for place in _transposed.graph.edges(from: node) {
        let edge = _transposed.edgeBySlot[place]
        let from = _transposed.graph.targets[place]
        let cost = _costByEdge[Int(edge)]
        if edge == taken || cost == ShortestPathForest.closed || !_forest.isReachable(from)
          || seen.contains(from) || _heap.count >= _limits.sidetracks
        {
          continue
        }
        let added =
          _forest.distanceByNode[Int(from)] + UInt32(cost) - _forest.distanceByNode[Int(node)]
        _push(
          Candidate(
            cost: candidate.cost + added, base: position, edge: edge, source: from, target: node))
      }
      if taken == .absent { break }
      edges.append(taken)
      node = _forest.parentByNode[Int(node)]
    }
    edges.reverse()
    return edges
  }

  /// Adds a candidate to the binary heap of those that wait.
  private mutating func _push(_ candidate: Candidate) {
    _candidates.append(candidate)
    _heap.append(_candidates.count - 1)
    var child = _heap.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard _isBefore(_heap[child], _heap[parent]) else { break }
      _heap.swapAt(child, parent)
      child = parent
    }
  }

  /// Takes the cheapest candidate from the heap.
  private mutating func _pop() -> Int? {
    guard let first = _heap.first, let last = _heap.popLast() else { return nil }
    guard !_heap.isEmpty else { return first }
    _heap[0] = last
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2]
      where child < _heap.count && _isBefore(_heap[child], _heap[least]) {
        least = child
      }
      guard least != parent else { return first }
      _heap.swapAt(parent, least)
      parent = least
    }
  }

  /// Whether a candidate comes out before another: cheaper, or as cheap and found earlier.
  private func _isBefore(_ left: Int, _ right: Int) -> Bool {
    let (leftCost, rightCost) = (_candidates[left].cost, _candidates[right].cost)
    return leftCost != rightCost ? leftCost < rightCost : left < right
  }
}
