// LeastCycle: the shortest cycle through one of several nodes, chosen by how it reads and never by numbers of nodes.

package import GraphPrimitives

/// Finds the cheapest cycle through one of some nodes; of equally cheap ones the one that reads least.
///
/// How a cycle reads is given by numbers of its edges, so the answer does not depend on how the nodes of the graph are
/// numbered: of the same graph with its nodes in another order a cycle that reads the same is found. Among cycles
/// that read the same an order of nodes decides, as far as it tells them apart.
///
/// From each node a search goes backwards, by the buckets of ``ShortestPathForest``, up to the cost of the best cycle so far.
package struct LeastCycleSearch {
  /// A cycle as its edges, each leaving the node that the one before leads to.
  package struct Cycle: Sendable {
    package var start: UInt32

    /// The edges, as slots of the graph, from `start` on.
    package var slots: [UInt32]

    package var cost: UInt32
  }

  private let _graph: CSRGraph
  private let _back: TransposedGraph
  private let _costByEdge: [UInt8]
  private let _rankByEdge: [UInt64]

  /// The cost of the cheapest edge that leads to each node; `unreachable` for none.
  private let _cheapestInto: [UInt32]

  /// What the way from each node to the start costs, while one is searched from; and the nodes that have one.
  private var _distance: [UInt32]
  private var _touched: [UInt32] = []

  /// What the edge from the start to each node costs.
  private var _closing: [UInt32]

  /// The edges by which ways were found, each with the cost of the way that begins with it.
  private var _found: [(node: UInt32, slot: UInt32, far: UInt32)] = []
  private var _buckets = [[UInt32]](repeating: [], count: 256)

  /// How many edges were looked at.
  private var _work = 0

  /// - Parameters:
  ///   - costByEdge: What each edge costs, by slot: at least 1, or `ShortestPathForest.closed`.
  ///   - rankByEdge: What each edge reads, with the node that it leads to.
  /// - Complexity: O(*V* + *E*).
  package init(of graph: CSRGraph, costByEdge: [UInt8], rankByEdge: [UInt64]) {
    precondition(
      costByEdge.count == graph.edgeCount && rankByEdge.count == graph.edgeCount,
      "each edge has a cost and a rank")
    _graph = graph
    _back = graph.transposed()
    _costByEdge = costByEdge
    _rankByEdge = rankByEdge
    var cheapest = [UInt32](repeating: ShortestPathForest.unreachable, count: graph.nodeCount)
    for slot in graph.targets.indices where costByEdge[slot] != ShortestPathForest.closed {
      let target = Int(graph.targets[slot])
      cheapest[target] = min(cheapest[target], UInt32(costByEdge[slot]))
    }
    _cheapestInto = cheapest
    _distance = [UInt32](repeating: ShortestPathForest.unreachable, count: graph.nodeCount)
    _closing = _distance
  }

  /// The least cycle through one of some nodes; nil where there is none.
  ///
  /// - Parameters:
  ///   - starts: The nodes, in an order that matters only where `mostWork` ends the search early.
  ///   - mostWork: How many edges are looked at before no further node is tried; the first always is.
  ///   - precedes: Which of two nodes comes first where cycles read the same.
  /// - Throws: `CancellationError` where `cancel` says so.
  /// - Complexity: O(*V* + *E*) for the first node, and for each further one what is nearer to it than the best cycle
  ///   is long.
  package mutating func cycle(
    through starts: [UInt32], mostWork: Int = .max, precedes: (UInt32, UInt32) -> Bool,
    cancel: any CancelSignal = NeverCancelled()
  ) throws(CancellationError) -> Cycle? {
    var check = CancelCheck(cancel)
    var best: Cycle?
    var bestReading: [UInt64] = []
    _work = 0
    for start in starts {
      if best != nil && _work > mostWork { break }
      let limit = best?.cost ?? ShortestPathForest.unreachable
      guard let cost = try _cost(from: start, atMost: limit, &check) else {
        _forget()
        continue
      }
      let (reading, slots) = _least(from: start, cost: cost, precedes: precedes)
      _forget()
      let isBetter: Bool
      if let best, best.cost == cost {
        isBetter =
          reading == bestReading
          ? precedes(start, best.start) : reading.lexicographicallyPrecedes(bestReading)
      } else {
        isBetter = true
      }
      if isBetter {
        best = Cycle(start: start, slots: slots, cost: cost)
        bestReading = reading
      }
    }
    return best
  }

  /// What the cheapest cycle through a node costs; nil where it costs more than `limit`.
  private mutating func _cost(
    from start: UInt32, atMost limit: UInt32, _ check: inout CancelCheck
  ) throws(CancellationError) -> UInt32? {
    var least = ShortestPathForest.unreachable
    var cheapestOut = ShortestPathForest.unreachable
    for slot in _graph.edges(from: start) where _costByEdge[slot] != ShortestPathForest.closed {
      let cost = UInt32(_costByEdge[slot])
      let target = Int(_graph.targets[slot])
      cheapestOut = min(cheapestOut, cost)
      if target == Int(start) { least = min(least, cost) }
      _closing[target] = min(_closing[target], cost)
    }
    if cheapestOut == ShortestPathForest.unreachable { return nil }
    // Without a limit nothing is too far.
    func isNear(_ distance: UInt32) -> Bool {
      let far = distance.addingReportingOverflow(cheapestOut)
      return !far.overflow && far.partialValue <= min(limit, least)
    }
    _distance[Int(start)] = 0
    _touched.append(start)
    _buckets[0].append(start)
    var waiting = 1
    var current: UInt32 = 0
    while waiting > 0, isNear(current) {
      let bucket = Int(current & 255)
      var position = 0
      while position < _buckets[bucket].count {
        try check.step()
        let node = _buckets[bucket][position]
        position += 1
        if _distance[Int(node)] != current { continue }
        if node != start, _closing[Int(node)] != ShortestPathForest.unreachable {
          least = min(least, current + _closing[Int(node)])
        }
        let next = current.addingReportingOverflow(_cheapestInto[Int(node)])
        if next.overflow || !isNear(next.partialValue) { continue }
        let places = _back.graph.edges(from: node)
        _work += places.count
        for place in places {
          let slot = _back.edgeBySlot[place]
          let cost = _costByEdge[Int(slot)]
          if cost == ShortestPathForest.closed { continue }
          let holder = _back.graph.targets[place]
          let far = current + UInt32(cost)
          if far > _distance[Int(holder)] { continue }
          if far < _distance[Int(holder)] {
            if _distance[Int(holder)] == ShortestPathForest.unreachable { _touched.append(holder) }
            _distance[Int(holder)] = far
            _buckets[Int(far & 255)].append(holder)
            waiting += 1
          }
          _found.append((holder, slot, far))
        }
      }
      waiting -= position
      _buckets[bucket].removeAll(keepingCapacity: true)
      current += 1
    }
    if waiting > 0 {
      for bucket in _buckets.indices where !_buckets[bucket].isEmpty {
        _buckets[bucket].removeAll(keepingCapacity: true)
      }
    }
    for target in _graph.successors(of: start) {
      _closing[Int(target)] = ShortestPathForest.unreachable
    }
    return least <= limit && least != ShortestPathForest.unreachable ? least : nil
  }

  /// Makes ready for the next node.
  private mutating func _forget() {
    for node in _touched { _distance[Int(node)] = ShortestPathForest.unreachable }
    _touched.removeAll(keepingCapacity: true)
    _found.removeAll(keepingCapacity: true)
  }

  /// Of the cheapest cycles through a node the one that reads least: what its edges read, and its edges.
  ///
  /// All nodes to which a way that reads the same leads are followed at once.
  private func _least(
    from start: UInt32, cost: UInt32, precedes: (UInt32, UInt32) -> Bool
  ) -> (reading: [UInt64], slots: [UInt32]) {
    var tight: [UInt32: [UInt32]] = [:]
    for found in _found where found.far == _distance[Int(found.node)] {
      tight[found.node, default: []].append(found.slot)
    }
    tight[start] = _graph.edges(from: start).filter { slot in
      let target = _graph.targets[slot]
      let rest = _distance[Int(target)]
      return _costByEdge[slot] != ShortestPathForest.closed
        && rest != ShortestPathForest.unreachable && rest + UInt32(_costByEdge[slot]) == cost
    }.map { UInt32($0) }
    var layers: [[(node: UInt32, slot: UInt32)]] = []
    var reading: [UInt64] = []
    var front = [start]
    var left = cost
    while left > 0 {
      var best: (cost: UInt8, rank: UInt64)?
      var chosen: [(node: UInt32, slot: UInt32)] = []
      for node in front {
        for slot in tight[node] ?? [] {
          let key = (cost: _costByEdge[Int(slot)], rank: _rankByEdge[Int(slot)])
          if let best, key > best { continue }
          if let known = best, key == known {
            chosen.append((node, slot))
          } else {
            best = key
            chosen = [(node, slot)]
          }
        }
      }
      guard let best else { break }
      layers.append(chosen)
      reading += [UInt64(best.cost), best.rank]
      left -= UInt32(best.cost)
      front = Set(chosen.map { _graph.targets[Int($0.slot)] }).sorted()
    }
    // Back along one of them.
    var slots: [UInt32] = []
    var end = start
    for layer in layers.reversed() {
      let into = layer.filter { _graph.targets[Int($0.slot)] == end }
      guard let first = into.first else { break }
      let least = into.dropFirst().reduce(first) {
        $0.node != $1.node && precedes($1.node, $0.node) ? $1 : $0
      }
      slots.append(least.slot)
      end = least.node
    }
    return (reading, slots.reversed())
  }
}
