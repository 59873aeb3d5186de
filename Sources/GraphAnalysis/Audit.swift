// Audit: reference counts against the references that were found.

internal import GraphKit
package import GraphPrimitives
package import HeapGraph
internal import SnapshotFormat

/// How well the references that were found explain the counts in the objects' headers.
package struct AuditReport: Sendable {
  /// One type's objects.
  package struct Row: Hashable, Sendable {
    /// The type's name.
    package var type: String

    /// Objects with as many retains as strong references and roots that lead to them.
    package var exact: Int

    /// Objects with more retains than that.
    package var unexplained: Int

    /// Objects with fewer: a reference was counted that holds nothing.
    package var overCounted: Int

    /// The retains that nothing explains, and the references beyond the counts, summed up.
    package var unexplainedRetains: Int
    package var surplusReferences: Int
  }

  /// The types with objects that are counted, by name.
  package var rows: [Row]

  /// Reachable objects with more retains than holders, as findings grouped by type: an unbalanced
  /// `passRetained`, a C callback, or a holder that the capture couldn't see.
  package var overRetained: [Finding]

  /// Objects that are counted, and how many of them are explained exactly.
  package var counted: Int
  package var exact: Int
}

/// Compares each object's strong count with the references that lead to it.
///
/// - Throws: `CancellationError` where `cancel` says so.
/// - Complexity: O(*V* + *E*).
package func audit(
  _ graph: HeapGraph, cancel: any CancelSignal = NeverCancelled()
) throws(CancellationError) -> AuditReport {
  let offsets = graph.holders.graph.offsets
  var rowByName: [UInt64: AuditReport.Row] = [:]
  var overRetained: [UInt64: [NodeIndex]] = [:]
  var report = AuditReport(rows: [], overRetained: [], counted: 0, exact: 0)
  for node in graph.nodes {
    guard graph.kind(of: node).isCounted, graph.state(of: node) != .deinited,
      let count = graph.strongCount(of: node)
    else { continue }
    let found = Int(offsets[node.position + 1] - offsets[node.position])
    let key = graph.nameKey(of: node)
    var row =
      rowByName[key]
      ?? AuditReport.Row(
        type: graph.typeName(of: node), exact: 0, unexplained: 0, overCounted: 0,
        unexplainedRetains: 0, surplusReferences: 0)
    report.counted += 1
    if found == Int(count) {
      row.exact += 1
      report.exact += 1
    } else if found < Int(count) {
      row.unexplained += 1
      row.unexplainedRetains += Int(count) - found
      if graph.isReachable[node.position] { overRetained[key, default: []].append(node) }
    } else {
      row.overCounted += 1
      row.surplusReferences += found - Int(count)
    }
    rowByName[key] = row
  }
  report.rows = rowByName.values.sorted { $0.type < $1.type }
  if overRetained.isEmpty { return report }

  let forest = try ShortestPathForest(
    of: graph.strong, from: graph.outside, costByEdge: EdgeCosts.all(in: graph), cancel: cancel)
  let findings = overRetained.values.map { members -> Finding in
    let told = members.first { forest.isReachable($0.rawValue) } ?? members[0]
    let own = graph.cost(of: members)
    return Finding(
      kind: .overRetained, members: members, representative: told, own: own, retained: own,
      cycle: [],
      path: forest.isReachable(told.rawValue)
        ? graph.retainPath(along: forest.path(to: told.rawValue), to: told) : nil,
      cuts: [],
      fingerprint: fingerprint(of: ["overRetained", graph.typeName(of: told)]))
  }
  report.overRetained = sorted(findings, in: graph)
  return report
}
