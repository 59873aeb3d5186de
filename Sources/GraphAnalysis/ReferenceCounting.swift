// ReferenceCounting: what the runtime would free if some references were gone.

internal import GraphKit
internal import GraphPrimitives
internal import HeapGraph
internal import SnapshotFormat

/// Plays out what the runtime does when references go away.
///
/// A node is freed when its last holder goes. It has as many holders as strong references lead to it, or
/// as its strong count says, whichever is more: retains that no reference explains are never released
/// here. A freed node releases what it refers to, but for the elements of a plain `ManagedBuffer`, which
/// only a subclass with a `deinit` can release.
///
/// A value can be asked any number of times; each question starts from the graph as it is.
struct ReferenceCounting {
  let graph: HeapGraph
  private var _holders: [UInt32]
  private var _isFreed: [Bool]

  /// For each type whether instances keep what they refer to when they are destroyed.
  private let _isPlainBuffer: [Bool]

  /// - Complexity: O(*V*).
  init(of graph: HeapGraph) {
    self.graph = graph
    let offsets = graph.holders.graph.offsets
    let counts = graph.snapshot.nodes.strongCount
    var holders = [UInt32](repeating: 0, count: graph.nodeCount + 1)
    for node in 0..<graph.nodeCount {
      let found = offsets[node + 1] - offsets[node]
      let isCounted =
        NodeKind(rawValue: graph.snapshot.nodes.kind[node])?.isCounted == true
        && !graph.asyncLetChildren.contains(UInt32(node))
      let count = counts[node]
      // Immortal objects are never freed.
      if isCounted {
        holders[node] = max(found, count)
      } else {
        holders[node] = count == Snapshot.Nodes.uncounted ? found : max(found, count)
      }
    }
    _holders = holders
    _isFreed = [Bool](repeating: false, count: graph.nodeCount + 1)
    _isPlainBuffer = (0..<graph.snapshot.types.count).map {
      graph.name(of: TypeIndex($0)).hasPrefix("Swift.ManagedBuffer<")
    }
  }

  /// Whether a node keeps a reference when it is destroyed: an element of a plain `ManagedBuffer`, which is a
  /// word behind the header.
  private func _outlives(_ slot: Int, of node: UInt32) -> Bool {
    guard _isPlainBuffer[Int(graph.snapshot.nodes.type[Int(node)])], slot < graph.firstRootSlot
    else { return false }
    return graph.label(of: EdgeIndex(rawValue: graph.rowBySlot[slot])).name.hasPrefix("+")
  }

  /// The objects that stay behind in the elements of plain `ManagedBuffer`s that are among some freed nodes.
  func leftBehind(byFreeing freed: [UInt32]) -> [UInt32] {
    let isFreed = Set(freed)
    return freed.flatMap { node in
      graph.strong.edges(from: node).filter { _outlives($0, of: node) }.map {
        graph.strong.targets[$0]
      }
    }.filter { !isFreed.contains($0) }
  }

  /// Whether a node has retains that no reference explains.
  func isOverRetained(_ node: UInt32) -> Bool { _holders[Int(node)] > _found(node) }

  /// The nodes that would be freed if some references were gone.
  ///
  /// - Parameters:
  ///   - slots: Slots of the graph.
  ///   - overRetained: Nodes whose unexplained retains are released as well.
  /// - Complexity: O(slots + nodes and edges freed).
  mutating func freed(
    byCutting slots: some Sequence<UInt32>, releasing overRetained: [UInt32] = []
  ) -> [UInt32] {
    var freed: [UInt32] = []
    var saved: [(node: UInt32, holders: UInt32)] = []
    let cut = Set(slots)
    func release(_ node: UInt32, to holders: UInt32, _ counting: inout Self) {
      saved.append((node, counting._holders[Int(node)]))
      counting._holders[Int(node)] = holders
      if holders == 0 && !counting._isFreed[Int(node)] {
        counting._isFreed[Int(node)] = true
        freed.append(node)
      }
    }
    for node in overRetained { release(node, to: _found(node), &self) }
    for slot in cut.sorted() {
      let target = graph.strong.targets[Int(slot)]
      release(target, to: _holders[Int(target)] - 1, &self)
    }
    var head = 0
    while head < freed.count {
      let node = freed[head]
      head += 1
      let edges = graph.strong.edges(from: node)
      for slot in edges where !cut.contains(UInt32(slot)) && !_outlives(slot, of: node) {
        let target = graph.strong.targets[slot]
        release(target, to: _holders[Int(target)] - 1, &self)
      }
    }
    for (node, holders) in saved.reversed() { _holders[Int(node)] = holders }
    for node in freed { _isFreed[Int(node)] = false }
    return freed
  }

  /// The number of strong references to a node.
  private func _found(_ node: UInt32) -> UInt32 {
    let offsets = graph.holders.graph.offsets
    return offsets[Int(node) + 1] - offsets[Int(node)]
  }
}
