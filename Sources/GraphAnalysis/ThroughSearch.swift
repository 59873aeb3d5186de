// ThroughSearch: the cheapest way to each node that takes one of some references.

internal import GraphKit
internal import GraphPrimitives

/// The cheapest way from a source to each node of those that take a wanted edge.
///
/// The graph is searched in two layers: a wanted edge leads from the first into the second, all others stay in
/// their layer, and a node of the second layer is one that such a way has reached. So one search answers for
/// all nodes.
///
/// - Complexity: that of a ``ShortestPathForest`` of twice the graph.
struct ThroughSearch {
  private let _forest: ShortestPathForest
  private let _nodeCount: UInt32

  /// The graph's edge that an edge of the layers is.
  private let _slotByEdge: [UInt32]

  /// - Parameter isWanted: Whether an edge is wanted, by its slot.
  init(
    of graph: CSRGraph, from source: UInt32, costByEdge: [UInt8], isWanted: (Int) -> Bool,
    cancel: any CancelSignal
  ) throws(CancellationError) {
    let count = UInt32(graph.nodeCount)
    var offsets: [UInt32] = [0]
    offsets.reserveCapacity(2 * graph.nodeCount + 1)
    var targets: [UInt32] = []
    var slots: [UInt32] = []
    for node in 0..<count {
      for slot in graph.edges(from: node) {
        targets.append(graph.targets[slot])
        slots.append(UInt32(slot))
        guard isWanted(slot) else { continue }
        targets.append(graph.targets[slot] + count)
        slots.append(UInt32(slot))
      }
      offsets.append(UInt32(targets.count))
    }
    for node in 0..<count {
      for slot in graph.edges(from: node) {
        targets.append(graph.targets[slot] + count)
        slots.append(UInt32(slot))
      }
      offsets.append(UInt32(targets.count))
    }
    _forest = try ShortestPathForest(
      of: CSRGraph(checkedOffsets: offsets, targets: targets), from: source,
      costByEdge: slots.map { costByEdge[Int($0)] }, cancel: cancel)
    _nodeCount = count
    _slotByEdge = slots
  }

  /// The node of the layers that stands for a node that such a way has reached.
  func end(of node: UInt32) -> UInt32 { node + _nodeCount }

  /// What the cheapest such way to a node costs; nil where there is none.
  func cost(to node: UInt32) -> UInt32? {
    _forest.isReachable(end(of: node)) ? _forest.distanceByNode[Int(end(of: node))] : nil
  }

  /// The cheapest such way to a node that has one, as slots of the graph. It may visit a node twice, before the wanted
  /// edge and after.
  ///
  /// - Complexity: O(length of the way).
  func path(to node: UInt32) -> [UInt32] {
    _forest.path(to: end(of: node)).map { _slotByEdge[Int($0)] }
  }

  /// The keys of the ways, nodes as ``end(of:)`` has them.
  func waysAlongTree() -> WaysAlongTree {
    WaysAlongTree(
      parents: _forest.parentByNode,
      slots: _forest.parentEdgeByNode.map { $0 == .absent ? .absent : _slotByEdge[Int($0)] },
      nodeCount: Int(_nodeCount))
  }

  /// Which of the ways visit no node twice.
  func simpleWays() -> SimpleWays { SimpleWays(of: _forest, nodeCount: _nodeCount) }
}

/// Which of the ways of a ``ThroughSearch`` visit no node twice.
///
/// Within a layer none does, so it is enough to know for each node of the second layer whether it lies before the wanted
/// edge as well.
struct SimpleWays {
  private let _forest: ShortestPathForest
  private let _nodeCount: UInt32
  private let _order: AncestorOrder

  /// For each node of the second layer, as far as it is known, the last node of the first layer on its way, and
  /// whether the way is simple.
  private var _lastByNode: [UInt32]
  private var _isSimpleByNode: [Bool]

  init(of forest: ShortestPathForest, nodeCount: UInt32) {
    _forest = forest
    _nodeCount = nodeCount
    _order = AncestorOrder(parentByNode: forest.parentByNode)
    _lastByNode = [UInt32](repeating: .absent, count: Int(nodeCount))
    _isSimpleByNode = [Bool](repeating: false, count: Int(nodeCount))
  }

  /// Whether the way to a node that has one visits no node twice.
  ///
  /// - Complexity: O(nodes on the way that have not been asked for).
  mutating func isSimple(to node: UInt32) -> Bool {
    var pending: [UInt32] = []
    var current = node + _nodeCount
    while current >= _nodeCount, _lastByNode[Int(current - _nodeCount)] == .absent {
      pending.append(current)
      current = _forest.parentByNode[Int(current)]
    }
    while let next = pending.popLast() {
      let parent = _forest.parentByNode[Int(next)]
      let place = Int(next - _nodeCount)
      let isFirst = parent < _nodeCount
      let last = isFirst ? parent : _lastByNode[Int(parent - _nodeCount)]
      _lastByNode[place] = last
      _isSimpleByNode[place] =
        (isFirst || _isSimpleByNode[Int(parent - _nodeCount)])
        && !_order.isAncestor(next - _nodeCount, of: last)
    }
    return _isSimpleByNode[Int(node)]
  }
}
