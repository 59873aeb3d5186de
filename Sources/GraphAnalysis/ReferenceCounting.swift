// ReferenceCounting: what the runtime would free if some references were gone.

internal import GraphKit
internal import GraphPrimitives
internal import HeapGraph
internal import SnapshotFormat

/// Plays out what the runtime does when references go away.
///
/// A node is freed when its last holder goes. It has as many holders as strong references lead to it, or
/// as its strong count says, whichever is more: retains that no reference explains are never released
/// here. A freed node releases what it refers to.
///
/// A value can be asked any number of times; each question starts from the graph as it is.
struct ReferenceCounting {
  let graph: HeapGraph
  private var _holders: [UInt32]
  private var _isFreed: [Bool]

  /// - Complexity: O(*V*).
  init(of graph: HeapGraph) {
    self.graph = graph
    let offsets = graph.holders.graph.offsets
    let counts = graph.snapshot.nodes.strongCount
    var holders = [UInt32](repeating: 0, count: graph.nodeCount + 1)
    for node in 0..<graph.nodeCount {
      let found = offsets[node + 1] - offsets[node]
      let isCounted = NodeKind(rawValue: graph.snapshot.nodes.kind[node])?.isCounted == true
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
  }

  /// The nodes that would be freed if the references in some slots were gone.
  ///
  /// - Parameter slots: Slots of the graph, each once.
  /// - Complexity: O(slots + nodes and edges freed).
  mutating func freed(byCutting slots: some Sequence<UInt32>) -> [UInt32] {
    var freed: [UInt32] = []
    var released: [UInt32] = []
    let cut = Set(slots)
    func isCut(_ slot: Int) -> Bool { cut.contains(UInt32(slot)) }
    func release(_ node: UInt32, _ counting: inout Self) {
      released.append(node)
      counting._holders[Int(node)] -= 1
      if counting._holders[Int(node)] == 0 && !counting._isFreed[Int(node)] {
        counting._isFreed[Int(node)] = true
        freed.append(node)
      }
    }
    for slot in cut.sorted() { release(graph.strong.targets[Int(slot)], &self) }
    var head = 0
    while head < freed.count {
      let node = freed[head]
      head += 1
      for slot in graph.strong.edges(from: node) where !isCut(slot) {
        release(graph.strong.targets[slot], &self)
      }
    }
    for node in released { _holders[Int(node)] += 1 }
    for node in freed { _isFreed[Int(node)] = false }
    return freed
  }

  /// The nodes that would be freed if retains that no reference explains were released as well.
  ///
  /// - Complexity: O(nodes and edges freed).
  mutating func freed(byReleasing nodes: [UInt32]) -> [UInt32] {
    var saved: [(UInt32, UInt32)] = []
    let offsets = graph.holders.graph.offsets
    var orphans: [UInt32] = []
    for node in nodes {
      let found = offsets[Int(node) + 1] - offsets[Int(node)]
      saved.append((node, _holders[Int(node)]))
      _holders[Int(node)] = found
      if found == 0 { orphans.append(node) }
    }
    var freed: [UInt32] = orphans
    var released: [UInt32] = []
    for node in orphans { _isFreed[Int(node)] = true }
    var head = 0
    while head < freed.count {
      let node = freed[head]
      head += 1
      for slot in graph.strong.edges(from: node) {
        let target = graph.strong.targets[slot]
        released.append(target)
        _holders[Int(target)] -= 1
        if _holders[Int(target)] == 0 && !_isFreed[Int(target)] {
          _isFreed[Int(target)] = true
          freed.append(target)
        }
      }
    }
    for node in released { _holders[Int(node)] += 1 }
    for node in freed { _isFreed[Int(node)] = false }
    for (node, count) in saved { _holders[Int(node)] = count }
    return freed
  }
}
