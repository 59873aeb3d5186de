// Zombies: destroyed objects whose memory unowned references keep.

internal import GraphKit
internal import GraphPrimitives
internal import HeapGraph
internal import SnapshotFormat

/// The findings of kind zombie: destroyed objects by type, each with the way to an unowned reference that
/// keeps it, where one was found.
///
/// - Complexity: O(*V* + *E*), once there is a zombie.
func zombieFindings(
  _ zombies: [NodeIndex], in graph: HeapGraph, cancel: any CancelSignal
) throws(CancellationError) -> [Finding] {
  if zombies.isEmpty { return [] }
  let isZombie = Set(zombies)
  var holderByZombie: [NodeIndex: EdgeIndex] = [:]
  for row in 0..<graph.snapshot.edges.count {
    let edge = EdgeIndex(row)
    let target = graph.target(of: edge)
    if isZombie.contains(target) && graph.info(of: edge).strength == .unowned
      && holderByZombie[target] == nil
    {
      holderByZombie[target] = edge
    }
  }
  let forest =
    holderByZombie.isEmpty
    ? nil
    : try ShortestPathForest(
      of: graph.strong, from: graph.outside, costByEdge: EdgeCosts.all(in: graph), cancel: cancel)

  var membersByName: [UInt64: [NodeIndex]] = [:]
  for zombie in zombies { membersByName[graph.nameKey(of: zombie), default: []].append(zombie) }
  let findings = membersByName.values.map { members -> Finding in
    let told = members.first { holderByZombie[$0] != nil } ?? members[0]
    var path: RetainPath?
    var names = [graph.typeName(of: told)]
    var cuts: [CutProposal] = []
    if let edge = holderByZombie[told], let forest {
      let holder = graph.source(of: edge)
      let step = ReferenceStep(node: holder, edges: [edge])
      names.append(graph.stableText(of: step))
      if forest.isReachable(holder.rawValue), !isZombie.contains(holder) {
        path = graph.retainPath(
          along: forest.path(to: holder.rawValue), to: holder, followedBy: edge)
      }
    }
    let own = graph.cost(of: members)
    if let edge = holderByZombie[told] {
      let step = path?.steps.last ?? ReferenceStep(node: graph.source(of: edge), edges: [edge])
      cuts = [CutProposal(step: step, frees: own, advice: .makeWeakNotUnowned)]
    }
    return Finding(
      kind: .zombie, members: members, representative: told, own: own, retained: own, cycle: [],
      path: path, cuts: cuts, fingerprint: fingerprint(of: ["zombie"] + names))
  }
  return sorted(findings, in: graph)
}
