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

  /// The cheapest such way to a node, as slots of the graph; nil where there is none. It may visit a node
  /// twice, before the wanted edge and after.
  ///
  /// - Complexity: O(length of the way).
  func path(to node: UInt32) -> (cost: UInt32, slots: [UInt32])? {
    let end = node + _nodeCount
    guard _forest.isReachable(end) else { return nil }
    return (
      _forest.distanceByNode[Int(end)], _forest.path(to: end).map { _slotByEdge[Int($0)] }
    )
  }
}
