// ObjectDetail: what one object refers to, and what refers to it.

package import GraphPrimitives
package import HeapGraph
internal import SnapshotFormat

/// One reference to or from a node.
package enum Retainer: Hashable, Sendable {
  /// Another node's reference, of any strength.
  case edge(EdgeIndex)

  /// A reference from outside the heap.
  case root(RootIndex)
}

extension HeapGraph {
  /// The references that leave a node, of every strength, in the order of its memory.
  package func references(of node: NodeIndex) -> [EdgeIndex] {
    edges(of: node).map { EdgeIndex($0) }
  }

  /// Everything that refers to a node, of every strength: roots first, then edges in order of address.
  ///
  /// - Complexity: O(*E* + roots).
  package func retainers(of node: NodeIndex) -> [Retainer] {
    var found: [Retainer] = []
    for row in 0..<snapshot.roots.count where snapshot.roots.target[row] == node.rawValue {
      found.append(.root(RootIndex(row)))
    }
    snapshot.edges.target.withUnsafeBufferPointer { targets in
      for row in targets.indices where targets[row] == node.rawValue {
        found.append(.edge(EdgeIndex(row)))
      }
    }
    return found
  }
}
