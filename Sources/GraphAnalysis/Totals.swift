// Totals: the figures that stand in every report.

package import GraphPrimitives
package import HeapGraph
internal import SnapshotFormat

/// What is live and what of it is leaked, by type.
package struct Totals: Hashable, Sendable {
  /// Everything that is neither destroyed nor the runtime's own, what is leaked included.
  package var live: Histogram

  /// What no root reaches; see `leaks(in:cancel:)`.
  package var leaked: Histogram

  package init(live: Histogram, leaked: Histogram) {
    self.live = live
    self.leaked = leaked
  }
}

/// The totals of a snapshot.
///
/// - Throws: `CancellationError` where `cancel` says so.
/// - Complexity: O(*V* + *E*).
package func totals(
  of graph: HeapGraph, cancel: any CancelSignal = NeverCancelled()
) throws(CancellationError) -> Totals {
  let part = try LeakedPart(of: graph, cancel: cancel)
  return Totals(
    live: histogram(of: liveNodes(of: graph), in: graph),
    leaked: histogram(of: part.nodes.lazy.map { NodeIndex(rawValue: $0) }, in: graph))
}
