// AllocationTree: where memory was allocated, as a tree of calls.

package import GraphPrimitives
package import HeapGraph
internal import SnapshotFormat

/// The costs of nodes by allocation stack, as a call tree.
///
/// The tree is the snapshot's own trie of stacks: row 0 is the root, a row's parent is its caller. Where allocations
/// were sampled all costs are estimates from the samples, and what is unknown is only what samples have no stack.
package struct AllocationTree: Sendable {
  /// What was allocated by each row's frame itself.
  package let exclusiveByRow: [Cost]

  /// How many samples each of those is estimated from; empty where none is an estimate.
  package let samplesByRow: [Int]

  /// What was allocated by each row's frame and all that it called.
  package let inclusiveByRow: [Cost]

  /// The rows called from each row that cost anything, those that cost most first.
  package let calleesByRow: [UInt32: [StackIndex]]

  /// What has no stack.
  package var unknown: Cost { exclusiveByRow[0] }

  /// Sums up some nodes.
  ///
  /// - Complexity: O(nodes + rows log rows).
  package init(of nodes: some Sequence<NodeIndex>, in graph: HeapGraph) {
    let parent = graph.snapshot.stacks.parent
    var exclusive: [Cost]
    if graph.snapshot.sampling == nil {
      exclusive = [Cost](repeating: .zero, count: graph.snapshot.stacks.count)
      for node in nodes { exclusive[graph.stack(of: node).position] += graph.cost(of: node) }
      samplesByRow = []
    } else {
      var births = [BirthCost](repeating: .zero, count: graph.snapshot.stacks.count)
      for node in nodes { births[graph.stack(of: node).position] += graph.birthCost(of: node) }
      exclusive = births.map(\.rounded)
      samplesByRow = births.map(\.samples)
    }
    var inclusive = exclusive
    var callees: [UInt32: [StackIndex]] = [:]
    // A caller's row is less than its callees'.
    for row in stride(from: exclusive.count - 1, to: 0, by: -1) where inclusive[row] != .zero {
      inclusive[Int(parent[row])] += inclusive[row]
      callees[parent[row], default: []].append(StackIndex(row))
    }
    exclusiveByRow = exclusive
    inclusiveByRow = inclusive
    calleesByRow = callees.mapValues { rows in
      rows.sorted { left, right in
        let (a, b) = (inclusive[left.position], inclusive[right.position])
        return a.bytes != b.bytes ? a.bytes > b.bytes : left < right
      }
    }
  }

  /// The rows that a row calls, those that cost most first.
  package func callees(of row: StackIndex) -> [StackIndex] { calleesByRow[row.rawValue] ?? [] }
}

extension HeapGraph {
  /// The return addresses of a stack, innermost first.
  package func frames(of stack: StackIndex) -> [UInt64] {
    var frames: [UInt64] = []
    var row = stack.rawValue
    while row != 0 {
      frames.append(snapshot.stacks.pc[Int(row)])
      row = snapshot.stacks.parent[Int(row)]
    }
    return frames
  }
}
