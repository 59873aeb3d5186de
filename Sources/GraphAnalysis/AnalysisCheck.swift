// AnalysisCheck: figures by which another program's analysis of the same graph can be held against this one.

internal import GraphKit
package import GraphPrimitives
package import HeapGraph

/// Figures by which another program's analysis of the same graph can be held against this one.
///
/// Each depends on every node or edge that holds, so that an analysis that differs anywhere differs here.
package struct AnalysisCheck: Hashable, Sendable {
  /// The sums are taken modulo this, so that a program whose numbers are doubles can add up exactly.
  package static let modulus: UInt64 = 1 << 48

  /// The sum of all nodes' retained bytes, modulo ``modulus``.
  package let retainedBytesSum: UInt64

  /// The sum of all nodes' retained counts, modulo ``modulus``.
  package let retainedCountSum: UInt64

  /// The strongly connected components with a cycle: of more than one node, or of one that holds itself.
  package let cyclicComponents: Int

  /// The number of nodes of the largest of those; 0 for none.
  package let largestComponent: Int

  /// Sums up an analysis.
  ///
  /// - Throws: `CancellationError` where `cancel` says so.
  /// - Complexity: O(*V* + *E*).
  package init(
    of graph: HeapGraph, sizes: RetainedSizes, cancel: any CancelSignal = NeverCancelled()
  ) throws(CancellationError) {
    var bytes: UInt64 = 0
    var count: UInt64 = 0
    for node in graph.nodes {
      let retained = sizes.retained(by: node)
      bytes = (bytes + UInt64(retained.bytes.rawValue)) % Self.modulus
      count = (count + UInt64(retained.count)) % Self.modulus
    }
    retainedBytesSum = bytes
    retainedCountSum = count
    let components = try StrongComponents(of: graph.strong, cancel: cancel)
    var cyclic = 0
    var largest = 0
    for component in 0..<UInt32(components.count)
    where components.isCyclic(component, in: graph.strong) {
      cyclic += 1
      largest = max(largest, components.members(of: component).count)
    }
    cyclicComponents = cyclic
    largestComponent = largest
  }
}
