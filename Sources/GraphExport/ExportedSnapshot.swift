// ExportedSnapshot: a snapshot with what formats ask of it, each analysis made when first asked for.

package import GraphAnalysis
internal import GraphPrimitives
package import GraphReport
package import HeapGraph
internal import SnapshotFormat

/// A snapshot that is being exported.
///
/// Not thread-safe, as its names are not.
package final class ExportedSnapshot {
  package let input: ReportInput
  package let graph: HeapGraph
  package let names: Names
  private var _leaks: LeakReport?
  private var _sizes: RetainedSizes?
  private var _ahead: Background<(leaks: LeakReport, sizes: RetainedSizes)>?

  package init(input: ReportInput, graph: HeapGraph, names: Names) {
    self.input = input
    self.graph = graph
    self.names = names
  }

  /// Starts the analyses on a thread of their own: for who has something else to do before it asks.
  package func analyseAhead() {
    _ahead = Background { [graph] in
      (try GraphAnalysis.leaks(in: graph), try RetainedSizes(of: graph))
    }
  }

  private func _takeAhead() throws {
    guard let ahead = _ahead else { return }
    _ahead = nil
    let made = try ahead.value()
    _leaks = made.leaks
    _sizes = made.sizes
  }

  /// What is leaked; found when first asked for.
  package func leaks() throws -> LeakReport {
    try _takeAhead()
    if let known = _leaks { return known }
    let found = try GraphAnalysis.leaks(in: graph)
    _leaks = found
    return found
  }

  /// What each object retains; found when first asked for.
  package func sizes() throws -> RetainedSizes {
    try _takeAhead()
    if let known = _sizes { return known }
    let found = try RetainedSizes(of: graph)
    _sizes = found
    return found
  }

  /// A number that an object has in every snapshot of its run, and no other object of the run: address and generation of
  /// birth. Fits into 63 bits; never 0 for an object.
  ///
  /// User addresses have 47 bits, generations 16.
  func identity(of node: NodeIndex) -> UInt64 {
    (graph.snapshot.nodes.address[node.position] << 16
      | UInt64(graph.snapshot.nodes.generation[node.position])) & UInt64(Int64.max)
  }

  /// The strong references of destroyed objects hold nothing; all others do.
  func holds(_ edge: EdgeIndex, from node: NodeIndex) -> Bool {
    graph.info(of: edge).isStrong && graph.state(of: node) != .deinited
  }
}
