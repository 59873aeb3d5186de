// Growth: what holds reachable objects that were born between two marks.

internal import GraphKit
package import GraphPrimitives
package import HeapGraph
internal import SnapshotFormat

/// Finds what holds objects that are still alive and should perhaps not be.
///
/// For each type the ways that hold most of its objects are told, few ways for all of them rather than the
/// shortest of each. A type whose objects are held by other objects of `targets` only is no finding of
/// its own: it goes with those. Objects that hold others of their type, as in a list, are one finding.
///
/// - Parameter targets: Reachable nodes.
/// - Returns: Findings of kind `abandoned`, those with the largest retained size first.
/// - Throws: `CancellationError` where `cancel` says so.
/// - Complexity: that of `paths(to:in:options:cancel:)`, and O(*V* + *E*) for each finding.
package func abandoned(
  _ targets: [NodeIndex], in graph: HeapGraph, cancel: any CancelSignal = NeverCancelled()
) throws(CancellationError) -> [Finding] {
  if targets.isEmpty { return [] }
  let found = try paths(
    to: targets, in: graph, options: PathOptions(maximum: 10_000, looksFurther: false),
    cancel: cancel)
  let isTarget = Set(targets)
  var groupsByType: [UInt64: [PathGroup]] = [:]
  for group in found.groups {
    groupsByType[graph.nameKey(of: group.path.target), default: []].append(group)
  }
  var cutting = ReferenceCounting(of: graph)
  var findings: [Finding] = []
  for (type, groups) in groupsByType.sorted(by: { $0.key < $1.key }) {
    if cancel.isCancelled { throw CancellationError() }
    // By what a way leads through: no other target, targets of the same type, or other ones.
    var direct: [PathGroup] = []
    var within: [PathGroup] = []
    for group in groups {
      let through = group.path.steps.map(\.node).filter {
        isTarget.contains($0) && $0 != group.path.target
      }
      if through.isEmpty {
        direct.append(group)
      } else if through.allSatisfy({ graph.nameKey(of: $0) == type }) {
        within.append(group)
      }
    }
    var cover = _cover(direct)
    guard !cover.isEmpty else { continue }
    for group in within {
      let known = cover.reduce(into: Set<NodeIndex>()) { $0.formUnion($1.members) }
      cover[0].members.formUnion(group.targets.filter { !known.contains($0) })
    }
    for (group, members) in cover {
      let members = members.sorted()
      findings.append(
        Finding(
          kind: .abandoned, members: members, representative: group.path.target,
          own: graph.cost(of: members), retained: graph.cost(goingWith: members), cycle: [],
          path: group.path,
          cuts: _cut(of: group.path, members: members, in: graph, counting: &cutting).map { [$0] }
            ?? [],
          fingerprint: group.fingerprint))
    }
  }
  return sorted(findings, in: graph)
}

/// Few groups that together have all targets: the one with most that are still missing, again and again.
private func _cover(_ groups: [PathGroup]) -> [(group: PathGroup, members: Set<NodeIndex>)] {
  var missing = groups.reduce(into: Set<NodeIndex>()) { $0.formUnion($1.targets) }
  var cover: [(group: PathGroup, members: Set<NodeIndex>)] = []
  while !missing.isEmpty {
    var best: (group: PathGroup, members: Set<NodeIndex>)?
    // Of equal ones the first has the shortest path.
    for group in groups {
      let members = missing.intersection(group.targets)
      if members.count > best?.members.count ?? 0 { best = (group, members) }
    }
    guard let best else { break }
    missing.subtract(best.members)
    cover.append(best)
  }
  return cover
}

/// The edge of a path that a change of the source can cut, and what that frees alone. A resource that a
/// variable holds itself is to be closed; nil for an object that one does.
private func _cut(
  of path: RetainPath, members: [NodeIndex], in graph: HeapGraph,
  counting: inout ReferenceCounting
) -> CutProposal? {
  guard let last = path.steps.last, let edge = last.edges.last else {
    guard graph.kind(of: path.target) == .resource else { return nil }
    return CutProposal(
      step: ReferenceStep(node: path.target, edges: []), frees: graph.cost(goingWith: members),
      advice: .closeResource)
  }
  let advice: CutProposal.Advice
  let types = path.steps.map { graph.typeName(of: $0.node) }
  if graph.function(of: last) != nil || graph.kind(of: last.node) == .closureContext {
    if types.contains(where: { $0.contains("Timer") }) {
      advice = .invalidateTimer
    } else if types.contains(where: { $0.contains("NotificationCenter") }) {
      advice = .removeObserver
    } else if path.steps.contains(where: { graph.kind(of: $0.node) == .resource }) {
      advice = .closeResource
    } else if path.steps.contains(where: { graph.kind(of: $0.node) == .task }) {
      advice = .cancelTask
    } else {
      advice = .captureWeakly
    }
  } else if path.steps.contains(where: { graph.kind(of: $0.node) == .task }) {
    advice = .cancelTask
  } else {
    advice = .clearField
  }
  // The same field of the same type holds each member.
  let label = graph.labelKey(of: edge)
  let holder = graph.nameKey(of: graph.source(of: edge))
  var slots: [UInt32] = []
  for member in members {
    for place in graph.holders.graph.edges(from: member.rawValue) {
      let slot = graph.holders.edgeBySlot[place]
      guard case .edge(let other) = graph.reference(atSlot: slot),
        graph.labelKey(of: other) == label, graph.nameKey(of: graph.source(of: other)) == holder
      else { continue }
      slots.append(slot)
    }
  }
  let freed = counting.freed(byCutting: slots)
  return CutProposal(
    step: last, frees: graph.cost(of: freed.lazy.map { NodeIndex(rawValue: $0) }), advice: advice)
}
