// Cycles: all strongly connected components of a snapshot, the reachable ones too.

internal import GraphKit
package import GraphPrimitives
package import HeapGraph
internal import SnapshotFormat

/// Components with the same cycle.
///
/// A reachable cycle is no leak: something outside holds it, and lets it go with whatever holds it. It
/// becomes one when the outside lets go of it alone.
package struct CycleGroup: Hashable, Sendable {
  /// Whether roots reach the components.
  package var isReachable: Bool

  /// One node a component; the first is the one that the cycle is told of.
  package var members: [NodeIndex]

  /// The cycle of the first member.
  package var cycle: [ReferenceStep]

  /// All nodes of the components.
  package var cost: Cost

  /// The best edges to cut, best first. What they free is what reference counting says, so nothing where
  /// something outside holds the cycle.
  package var cuts: [CutProposal]

  /// The same in each run: from the types and fields of the cycle. A cycle that is a leak too has the same
  /// fingerprint there.
  package var fingerprint: String

  package init(
    isReachable: Bool, members: [NodeIndex], cycle: [ReferenceStep], cost: Cost,
    cuts: [CutProposal], fingerprint: String
  ) {
    self.isReachable = isReachable
    self.members = members
    self.cycle = cycle
    self.cost = cost
    self.cuts = cuts
    self.fingerprint = fingerprint
  }
}

/// Finds every strongly connected component with a cycle, each told by a short one.
///
/// Unreachable groups come first, then those with more bytes. Loops that consist of the runtime's own
/// memory alone are left out.
///
/// - Throws: `CancellationError` where `cancel` says so.
/// - Complexity: O(*V* + *E*), and for each group O(what its cut frees) for each step of its cycle.
package func cycles(
  in graph: HeapGraph, cancel: any CancelSignal = NeverCancelled()
) throws(CancellationError) -> [CycleGroup] {
  let nodes = (0..<UInt32(graph.nodeCount)).filter { graph.isAlive(NodeIndex(rawValue: $0)) }
  var scratch = [UInt32](repeating: .absent, count: graph.nodeCount + 1)
  let part = InducedSubgraph(of: graph.strong, keeping: nodes, localByNode: &scratch)
  let components = try StrongComponents(of: part.graph, cancel: cancel)
  let order = ReadingOrder(of: graph)
  var search = CycleSearch(
    graph: graph, part: part, costByEdge: EdgeCosts.all(in: graph), order: order)

  struct Group {
    var isReachable: Bool
    var cycles: [[ReferenceStep]]
    var components: [UInt32]
    var members: [NodeIndex]
    var cost: Cost
  }
  var groupByKey: [[UInt64]: Int] = [:]
  var groups: [Group] = []
  for component in 0..<UInt32(components.count)
  where components.isCyclic(component, in: part.graph) {
    let members = components.members(of: component)
    let cycle = try search.cycle(in: members, cancel: cancel)
    guard let first = cycle.first else { continue }
    let isReachable = graph.isReachable[first.node.position]
    let cost = graph.cost(
      of: members.lazy.map { NodeIndex(rawValue: part.nodeByLocal[Int($0)]) })
    let key: [UInt64] = [isReachable ? 1 : 0] + Array(cycle.map { graph.key(of: $0) }.joined())
    if let number = groupByKey[key] {
      groups[number].components.append(component)
      groups[number].members.append(first.node)
      groups[number].cost += cost
      groups[number].cycles.append(cycle)
    } else {
      groupByKey[key] = groups.count
      groups.append(
        Group(
          isReachable: isReachable, cycles: [cycle], components: [component], members: [first.node],
          cost: cost))
    }
  }

  var counting = ReferenceCounting(of: graph)
  var cuts = CutSearch(graph: graph, part: part, components: components, cycles: search)
  var found: [CycleGroup] = []
  for group in groups {
    let told = order.mostTelling(
      of: group.components.map { components.members(of: $0) }, in: part,
      representatives: group.members)
    let cycle = group.cycles[told]
    let representative = group.members[told]
    found.append(
      CycleGroup(
        isReachable: group.isReachable,
        members: [representative] + group.members.filter { $0 != representative }.sorted(),
        cycle: cycle, cost: group.cost,
        cuts: try cuts.cuts(
          of: cycle, representative: representative,
          componentOfRepresentative: group.components[told], components: group.components,
          counting: &counting, cancel: cancel),
        fingerprint: fingerprint(of: ["leak"] + graph.stableTexts(ofCycle: cycle))))
  }
  return found.sorted { left, right in
    if left.isReachable != right.isReachable { return !left.isReachable }
    if left.cost.bytes != right.cost.bytes { return left.cost.bytes > right.cost.bytes }
    if left.cost.count != right.cost.count { return left.cost.count > right.cost.count }
    return left.fingerprint != right.fingerprint
      ? left.fingerprint < right.fingerprint
      : order.precedes(left.members[0], right.members[0])
  }
}
