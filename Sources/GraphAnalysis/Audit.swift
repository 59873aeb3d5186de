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

    /// The unowned and weak references that the objects count and that were not found.
    package var unexplainedUnowned = 0
    package var unexplainedWeak = 0
  }

  /// The types with objects that are counted, by name.
  package var rows: [Row]

  /// Reachable objects with more retains than holders, as findings grouped by type: an unbalanced
  /// `passRetained`, a C callback, or a holder that the capture couldn't see.
  package var overRetained: [Finding]

  /// Destroyed objects whose memory unowned references keep, as findings grouped by type.
  package var zombies: [Finding] = []

  /// Objects that are counted, and how many of them are explained exactly.
  package var counted: Int
  package var exact: Int

  /// All unowned and weak references that the objects count, and how many of them were found.
  package var unowned = References()
  package var weak = References()

  /// References that take no strong count.
  package struct References: Hashable, Sendable {
    /// How many the headers and side tables say that there are.
    package var counted = 0

    /// How many of those were found.
    package var found = 0
  }
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
  let (unownedEdges, weakEdges, declaredEdges) = referencesBesideCounts(in: graph)
  for node in graph.nodes {
    guard graph.kind(of: node).isCounted, graph.state(of: node) != .deinited,
      let count = graph.strongCount(of: node)
    else { continue }
    var found = Int(offsets[node.position + 1] - offsets[node.position])
    // A declared edge may say of a C library what the scan of its memory has found as well.
    if found > Int(count), let declared = declaredEdges[node.rawValue] {
      found = max(Int(count), found - declared)
    }
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
    let unowned = Int(graph.snapshot.nodes.unownedCount[node.position])
    let foundUnowned = min(unowned, unownedEdges[node.rawValue] ?? 0)
    report.unowned.counted += unowned
    report.unowned.found += foundUnowned
    row.unexplainedUnowned += unowned - foundUnowned
    let weak = Int(graph.snapshot.nodes.weakCount[node.position])
    let foundWeak = min(weak, weakEdges[node.rawValue] ?? 0)
    report.weak.counted += weak
    report.weak.found += foundWeak
    row.unexplainedWeak += weak - foundWeak
    rowByName[key] = row
  }
  report.rows = rowByName.values.sorted { $0.type < $1.type }
  report.zombies = try zombieFindings(
    graph.nodes.filter { graph.state(of: $0) == .deinited }, in: graph, cancel: cancel)
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

/// How many unowned, weak and declared references lead to the nodes that have any.
private func referencesBesideCounts(
  in graph: HeapGraph
) -> (unowned: [UInt32: Int], weak: [UInt32: Int], declared: [UInt32: Int]) {
  var unowned: [UInt32: Int] = [:]
  var weak: [UInt32: Int] = [:]
  var declared: [UInt32: Int] = [:]
  let edges = graph.snapshot.edges
  for row in 0..<edges.count {
    let info = EdgeInfo(rawValue: edges.info[row])
    if info.isStrong {
      if info.provenance == .declared { declared[edges.target[row], default: 0] += 1 }
      continue
    }
    switch info.strength {
    case .unowned: unowned[edges.target[row], default: 0] += 1
    case .weak: weak[edges.target[row], default: 0] += 1
    case .strong, .unmanaged: break
    }
  }
  let roots = graph.snapshot.roots
  for row in 0..<roots.count {
    switch EdgeInfo(rawValue: roots.info[row]).strength {
    case .unowned: unowned[roots.target[row], default: 0] += 1
    case .weak: weak[roots.target[row], default: 0] += 1
    case .strong, .unmanaged: break
    }
  }
  return (unowned, weak, declared)
}
