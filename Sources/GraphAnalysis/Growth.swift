// Growth: what holds reachable objects that were born between two marks.

internal import GraphKit
package import GraphPrimitives
package import HeapGraph
internal import SnapshotFormat

/// What holds objects that are still alive and should perhaps not be.
package struct GrowthFindings: Sendable {
  /// Findings of kind `abandoned`, those with the largest retained size first.
  package var findings: [Finding]

  /// Further ways that objects are held, which are not told since those that are told hold more bytes.
  package var omittedCount: Int

  /// The objects that are held in those ways.
  package var omitted: Cost
}

/// Finds what holds objects that are still alive and should perhaps not be.
///
/// For each type the ways that hold most of its objects are told, few ways for all of them rather than the
/// shortest of each. A type whose objects are held by other objects of `targets` only is no finding of
/// its own: it goes with those. Objects that hold others of their type, as in a list, are one finding.
///
/// Of a type with more than 100 objects in front of the others each object is told with its shortest way
/// alone, since all ways of all of them would take too long to look for.
///
/// - Parameters:
///   - targets: Reachable nodes.
///   - maximum: How many findings to tell at most; those with most bytes of their own.
///   - nonOwners: References that explain a life only where nothing else does.
/// - Throws: `CancellationError` where `cancel` says so.
/// - Complexity: that of `paths(to:in:options:cancel:)`, and O(*V* + *E*) for each finding.
package func abandoned(
  _ targets: [NodeIndex], in graph: HeapGraph, maximum: Int = 40,
  nonOwners: [FieldPattern] = [],
  cancel: any CancelSignal = NeverCancelled()
) throws(CancellationError) -> GrowthFindings {
  if targets.isEmpty { return GrowthFindings(findings: [], omittedCount: 0, omitted: .zero) }
  let front = _TargetFront(of: targets, in: graph)
  var directByType: [UInt64: [NodeIndex]] = [:]
  for target in front.direct { directByType[graph.nameKey(of: target), default: []].append(target) }
  let many = directByType.values.filter { $0.count > _mostWithAllWays }.joined()
  let few = directByType.values.filter { $0.count <= _mostWithAllWays }.joined()
  let found = [
    try paths(
      to: Array(few), in: graph,
      options: PathOptions(maximum: .max, looksFurther: false, nonOwners: nonOwners),
      cancel: cancel),
    try paths(
      to: Array(many), in: graph,
      options: PathOptions(maximum: .max, isMerged: true, nonOwners: nonOwners),
      cancel: cancel),
  ]
  var groupsByType: [UInt64: [PathGroup]] = [:]
  for group in found.flatMap(\.groups) {
    groupsByType[graph.nameKey(of: group.path.target), default: []].append(group)
  }
  var told: [(group: PathGroup, members: [NodeIndex], own: Cost)] = []
  for (type, groups) in groupsByType.sorted(by: { $0.key < $1.key }) {
    var cover: [(group: PathGroup, members: Set<NodeIndex>)]
    if (directByType[type]?.count ?? 0) > _mostWithAllWays {
      // Each object is in one group here.
      cover = groups.map { ($0, Set($0.targets)) }
    } else {
      // Each of these can be reached without passing another target; if no such way is among those
      // that were found, any will do.
      let direct = groups.filter { group in
        group.path.steps.allSatisfy {
          !front.isTarget[$0.node.position] || $0.node == group.path.target
        }
      }
      cover = _cover(direct.isEmpty ? groups : direct)
    }
    // What objects of the type hold of their own kind goes with them.
    cover[0].members.formUnion(front.behindByType[type] ?? [])
    for (group, members) in cover {
      told.append((group, members.sorted(), graph.cost(of: members)))
    }
  }
  _mergeThreads(&told, in: graph)
  told.sort {
    $0.own.bytes != $1.own.bytes ? $0.own.bytes > $1.own.bytes : $0.members[0] < $1.members[0]
  }
  var counting = ReferenceCounting(of: graph)
  let cuts = PathCutSearch(in: graph)
  var findings: [Finding] = []
  var effects: [CutEffect] = []
  var causes: [[UInt64]?] = []
  for (group, members, own) in told.prefix(maximum) {
    if cancel.isCancelled { throw CancellationError() }
    let cut = try cuts.cut(
      of: group.path, members: members, counting: &counting, cancel: cancel)
    // What is told to change the same closure, to empty the same list or to end the same kind of task has one
    // cause.
    if let cut, let key = graph.causeKey(of: cut.proposal, root: group.path.root),
      let place = findings.indices.first(where: {
        causes[$0] == key
          && graph.nameKey(of: findings[$0].representative) == graph.nameKey(of: group.path.target)
      })
    {
      findings[place].members = Set(findings[place].members + members).sorted()
      findings[place].own = graph.cost(of: findings[place].members)
      findings[place].retained = graph.cost(goingWith: findings[place].members)
      effects[place].slots += cut.effect.slots
      effects[place].released += cut.effect.released
      let freed = counting.freed(
        byCutting: effects[place].slots, releasing: effects[place].released)
      findings[place].cuts[0].frees = graph.cost(of: graph.alive(freed))
      continue
    }
    causes.append(cut.flatMap { graph.causeKey(of: $0.proposal, root: group.path.root) })
    effects.append(cut?.effect ?? CutEffect(slots: []))
    findings.append(
      Finding(
        kind: .abandoned, members: members, representative: group.path.target, own: own,
        retained: graph.cost(goingWith: members), cycle: [], path: group.path,
        cuts: cut.map { [$0.proposal] } ?? [], fingerprint: group.fingerprint))
  }
  let rest = told.dropFirst(maximum)
  return GrowthFindings(
    findings: sorted(comparingCuts(findings, in: graph), in: graph), omittedCount: rest.count,
    omitted: rest.reduce(.zero) { $0 + $1.own })
}

/// Makes one of ways that differ in nothing but the thread or the task that they begin at.
private func _mergeThreads(
  _ told: inout [(group: PathGroup, members: [NodeIndex], own: Cost)], in graph: HeapGraph
) {
  func isVariable(_ group: PathGroup) -> Bool {
    switch graph.kind(of: group.path.root) {
    case .global, .declared: true
    case .stack, .register, .threadLocal, .task, .runtime, .mapped: false
    }
  }
  var placeByFingerprint: [String: Int] = [:]
  var merged: [(group: PathGroup, members: [NodeIndex], own: Cost)] = []
  for way in told {
    if let place = placeByFingerprint[way.group.fingerprint],
      !isVariable(way.group) || !isVariable(merged[place].group)
    {
      merged[place].members = Set(merged[place].members + way.members).sorted()
      merged[place].own = graph.cost(of: merged[place].members)
      // A variable tells more than the thread that happened to be there.
      if isVariable(way.group) { merged[place].group = way.group }
      continue
    }
    placeByFingerprint[way.group.fingerprint] = merged.count
    merged.append(way)
  }
  told = merged
}

/// Up to how many objects of a type all their ways are compared.
private let _mostWithAllWays = 100

/// Which of some targets stand in front: reached from outside without passing another one.
private struct _TargetFront {
  /// The targets in front, ascending.
  private(set) var direct: [NodeIndex] = []

  /// For each type the targets that only targets of the same type stand before.
  private(set) var behindByType: [UInt64: [NodeIndex]] = [:]

  private(set) var isTarget: [Bool]

  /// - Complexity: O(*V* + *E*).
  init(of targets: [NodeIndex], in graph: HeapGraph) {
    var isTarget = [Bool](repeating: false, count: graph.nodeCount + 1)
    for target in targets { isTarget[target.position] = true }
    var isSeen = [Bool](repeating: false, count: graph.nodeCount + 1)
    var pending = [graph.outside]
    isSeen[Int(graph.outside)] = true
    while let node = pending.popLast() {
      for next in graph.strong.successors(of: node) where !isSeen[Int(next)] {
        isSeen[Int(next)] = true
        if isTarget[Int(next)] {
          direct.append(NodeIndex(rawValue: next))
        } else {
          pending.append(next)
        }
      }
    }
    direct.sort()
    for target in direct {
      let type = graph.nameKey(of: target)
      pending = [target.rawValue]
      while let node = pending.popLast() {
        for next in graph.strong.successors(of: node) where !isSeen[Int(next)] {
          if isTarget[Int(next)] {
            let index = NodeIndex(rawValue: next)
            guard graph.nameKey(of: index) == type else { continue }
            behindByType[type, default: []].append(index)
          }
          isSeen[Int(next)] = true
          pending.append(next)
        }
      }
    }
    self.isTarget = isTarget
  }
}

/// Few groups that together have all targets: the one with most that are still missing, up to four times;
/// what is left is told with the first.
private func _cover(_ groups: [PathGroup]) -> [(group: PathGroup, members: Set<NodeIndex>)] {
  var missing = groups.reduce(into: Set<NodeIndex>()) { $0.formUnion($1.targets) }
  var cover: [(group: PathGroup, members: Set<NodeIndex>)] = []
  while !missing.isEmpty && cover.count < 4 {
    var best: (group: PathGroup, members: Set<NodeIndex>)?
    // Of equal ones the first has the shortest path.
    for group in groups where group.targets.count > best?.members.count ?? 0 {
      let members = missing.intersection(group.targets)
      if members.count > best?.members.count ?? 0 { best = (group, members) }
    }
    guard let best else { break }
    missing.subtract(best.members)
    cover.append(best)
  }
  if !missing.isEmpty { cover[0].members.formUnion(missing) }
  return cover
}

extension HeapGraph {
  /// What is equal for cuts that one change of the source makes: the task that is to end, the closure that is
  /// to capture weakly, the list that is to be emptied; nil for other cuts.
  fileprivate func causeKey(of cut: CutProposal, root: RootIndex) -> [UInt64]? {
    if kind(of: cut.step.node) == .task { return key(of: cut.step) }
    switch cut.advice {
    case .captureWeakly, .invalidateTimer, .removeObserver, .cancelSource:
      return function(of: cut.step).map { [$0] }
    case .removeHandler:
      // Storage that a variable refers to itself is called like others of its type.
      let variable = kind(of: cut.step.node).isFolded ? snapshot.roots.address[root.position] : 0
      return key(of: cut.step) + [variable]
    default: return nil
    }
  }
}
