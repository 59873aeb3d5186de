// Turnover: how many objects have gone from where others are held.

package import GraphPrimitives
package import HeapGraph
internal import SnapshotFormat

/// Counts for each finding what was held in the same way at an earlier mark and has gone since.
///
/// The way is compared by its fingerprint. Where a finding is the only one of its type all objects of the type
/// that have gone count as held in that way: of an object with more ways than one each snapshot may tell another.
///
/// - Parameters:
///   - died: Nodes of the earlier graph that have gone.
///   - nonOwners: References that explain a life only where nothing else does.
///   - findings: Findings of the later graph.
/// - Throws: `CancellationError` where `cancel` says so.
/// - Complexity: that of `abandoned(_:in:maximum:nonOwners:cancel:)` for objects of the findings' types, where any
///   has gone.
package func countGone(
  from died: [NodeIndex], in earlier: HeapGraph, nonOwners: [FieldPattern] = [],
  for findings: inout [Finding], in graph: HeapGraph, cancel: any CancelSignal = NeverCancelled()
) throws(CancellationError) {
  var findingsByType: [String: Int] = [:]
  for finding in findings {
    findingsByType[graph.typeName(of: finding.representative), default: 0] += 1
  }
  var gone: [String: [NodeIndex]] = [:]
  for node in died where earlier.isReachable[node.position] {
    let type = earlier.typeName(of: node)
    if findingsByType[type] != nil { gone[type, default: []].append(node) }
  }
  let shared = gone.filter { findingsByType[$0.key] ?? 0 > 1 }.values.joined()
  var countByFingerprint: [String: Int] = [:]
  let ways = try abandoned(
    shared.sorted(), in: earlier, maximum: .max, nonOwners: nonOwners, cancel: cancel)
  for way in ways.findings { countByFingerprint[way.fingerprint, default: 0] += way.members.count }
  for place in findings.indices {
    let type = graph.typeName(of: findings[place].representative)
    findings[place].goneCount =
      findingsByType[type] == 1
      ? gone[type]?.count ?? 0 : countByFingerprint[findings[place].fingerprint] ?? 0
  }
}
