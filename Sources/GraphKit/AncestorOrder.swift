// AncestorOrder: which nodes of a forest lie on the way to which.

/// Answers whether a node of a forest is an ancestor of another.
///
/// - Complexity: O(*V*) to make; 8 bytes a node.
package struct AncestorOrder: Sendable {
  /// For each node when a walk through the forest comes to it, and when it has seen all below it.
  private let _firstByNode: [UInt32]
  private let _endByNode: [UInt32]

  /// - Parameter parentByNode: The node above each; `absent` for those without one. No node is above itself.
  package init(parentByNode: [UInt32]) {
    let count = parentByNode.count
    var offsets = [UInt32](repeating: 0, count: count + 2)
    for parent in parentByNode where parent != .absent { offsets[Int(parent) + 2] += 1 }
    for node in 0..<count { offsets[node + 2] += offsets[node + 1] }
    var children = [UInt32](repeating: 0, count: Int(offsets[count + 1]))
    for (node, parent) in parentByNode.enumerated() where parent != .absent {
      children[Int(offsets[Int(parent) + 1])] = UInt32(node)
      offsets[Int(parent) + 1] += 1
    }
    var first = [UInt32](repeating: 0, count: count)
    var end = first
    var time: UInt32 = 0
    var pending: [UInt32] = []
    var next = offsets
    for root in 0..<count where parentByNode[root] == .absent {
      first[root] = time
      time += 1
      pending.append(UInt32(root))
      while let node = pending.last.map({ Int($0) }) {
        if next[node] < offsets[node + 1] {
          let child = children[Int(next[node])]
          next[node] += 1
          first[Int(child)] = time
          time += 1
          pending.append(child)
        } else {
          end[node] = time
          pending.removeLast()
        }
      }
    }
    _firstByNode = first
    _endByNode = end
  }

  /// Whether a node lies on the way from the forest's root to another, or is that one.
  package func isAncestor(_ node: UInt32, of other: UInt32) -> Bool {
    _firstByNode[Int(node)] <= _firstByNode[Int(other)]
      && _firstByNode[Int(other)] < _endByNode[Int(node)]
  }
}
