// Zombies: destroyed objects whose memory unowned references keep.

internal import GraphKit
internal import GraphPrimitives
internal import HeapGraph
internal import SnapshotFormat

/// The findings of kind zombie: destroyed objects by type and by the unowned references that keep them, each with the
/// way to one of those, where one was found.
///
/// - Complexity: O(*V* + *E*), once there is a zombie.
func zombieFindings(
  _ zombies: [NodeIndex], in graph: HeapGraph, cancel: any CancelSignal
) throws(CancellationError) -> [Finding] {
  if zombies.isEmpty { return [] }
  let order = ReadingOrder(of: graph)
  let isZombie = Set(zombies)
  var holdersByZombie: [NodeIndex: [EdgeIndex]] = [:]
  for row in 0..<graph.snapshot.edges.count {
    let edge = EdgeIndex(row)
    let target = graph.target(of: edge)
    if isZombie.contains(target) && graph.info(of: edge).strength == .unowned {
      holdersByZombie[target, default: []].append(edge)
    }
  }
  let costs = holdersByZombie.isEmpty ? [] : EdgeCosts.all(in: graph)
  let forest =
    holdersByZombie.isEmpty
    ? nil
    : try ShortestPathForest(
      of: graph.strong, from: graph.outside, costByEdge: costs, cancel: cancel)

  // What keeps them is part of what they are: another field is another mistake.
  struct Key: Hashable {
    var name: UInt32
    var holders: [[UInt32]]
  }
  func reading(_ edge: EdgeIndex) -> [UInt32] {
    [order.rank(of: graph.source(of: edge)), order.rank(of: edge)]
  }
  var membersByKey: [Key: [NodeIndex]] = [:]
  for zombie in zombies {
    let holders = Set((holdersByZombie[zombie] ?? []).map(reading)).sorted {
      $0.lexicographicallyPrecedes($1)
    }
    membersByKey[Key(name: order.rank(of: zombie), holders: holders), default: []].append(zombie)
  }
  let findings = membersByKey.map { key, members -> Finding in
    /// The edge by which one kind of holder keeps a member; the one that is nearest to a root.
    func holder(_ wanted: [UInt32], of member: NodeIndex) -> EdgeIndex? {
      func distance(_ edge: EdgeIndex) -> UInt32 {
        let node = graph.source(of: edge)
        // What is destroyed is no way to anything.
        return isZombie.contains(node)
          ? ShortestPathForest.unreachable
          : forest?.distanceByNode[node.position] ?? ShortestPathForest.unreachable
      }
      return (holdersByZombie[member] ?? []).filter { reading($0) == wanted }.min {
        let (a, b) = (distance($0), distance($1))
        return a != b ? a < b : order.precedes(graph.source(of: $0), graph.source(of: $1))
      }
    }
    // Told is the one that is nearest to a root, by the path that reads least.
    var told = members[0]
    var way: (reading: [UInt64], slots: [UInt32])?
    for member in members {
      var found: (reading: [UInt64], slots: [UInt32])?
      if let forest, let edge = key.holders.first.flatMap({ holder($0, of: member) }) {
        let source = graph.source(of: edge)
        if forest.isReachable(source.rawValue), !isZombie.contains(source) {
          found = graph.leastPath(to: source.rawValue, in: forest, costByEdge: costs, order)
          found?.reading.insert(UInt64(forest.distanceByNode[source.position]), at: 0)
        }
      }
      let isBetter =
        found?.reading == way?.reading
        ? order.precedes(member, told)
        : found.map { one in
          way.map { one.reading.lexicographicallyPrecedes($0.reading) } ?? true
        } ?? false
      if isBetter || member == members[0] { (told, way) = (member, found) }
    }
    let edges = key.holders.compactMap { holder($0, of: told) }
    var path: RetainPath?
    var names = [graph.typeName(of: told)]
    let own = graph.cost(of: members)
    var cuts: [CutProposal] = []
    if let edge = edges.first {
      let source = graph.source(of: edge)
      names.append(graph.stableText(of: ReferenceStep(node: source, edges: [edge])))
      path = way.map { graph.retainPath(along: $0.slots, to: source, followedBy: edge) }
      let parts = edges.enumerated().map { place, edge in
        CutProposal.Part(
          step: (place == 0 ? path?.steps.last : nil)
            ?? ReferenceStep(node: graph.source(of: edge), edges: [edge]),
          advice: .makeWeakNotUnowned)
      }
      // Each of them keeps the memory.
      cuts = [
        CutProposal(
          step: parts[0].step, together: Array(parts.dropFirst()), frees: own, freed: members,
          advice: .makeWeakNotUnowned)
      ]
    }
    return Finding(
      kind: .zombie, members: members, representative: told, own: own, retained: own, cycle: [],
      path: path, cuts: cuts, fingerprint: fingerprint(of: ["zombie"] + names))
  }
  return sorted(findings, in: graph)
}

extension HeapGraph {
  /// Of the cheapest paths from outside to a node the one that reads least from its end on: the same one wherever
  /// things lie in memory.
  ///
  /// All nodes to which a path that reads the same leads are followed at once.
  ///
  /// - Parameter forest: Of the whole graph, from outside, by `costByEdge`.
  /// - Returns: what its references read, and their slots, from the root on.
  /// - Complexity: O(references to the nodes on such paths).
  func leastPath(
    to node: UInt32, in forest: ShortestPathForest, costByEdge: [UInt8], _ order: ReadingOrder
  ) -> (reading: [UInt64], slots: [UInt32]) {
    func reading(_ slot: UInt32, from holder: UInt32) -> [UInt64] {
      let cost = UInt64(costByEdge[Int(slot)])
      switch reference(atSlot: slot) {
      case .root(let root):
        return [cost, UInt64(kind(of: root).rawValue), snapshot.roots.address[root.position]]
      case .edge(let edge):
        return [
          cost, UInt64(order.rank(of: NodeIndex(rawValue: holder))), UInt64(order.rank(of: edge)),
        ]
      }
    }
    var layers: [[(slot: UInt32, holder: UInt32)]] = []
    var whole: [UInt64] = []
    var front = [node]
    while front != [outside] {
      var best: [UInt64] = []
      var chosen: [(slot: UInt32, holder: UInt32)] = []
      for node in front where node != outside {
        for place in holders.graph.edges(from: node) {
          let holder = holders.graph.targets[place]
          let slot = holders.edgeBySlot[place]
          let far = forest.distanceByNode[Int(holder)]
          guard far != ShortestPathForest.unreachable,
            costByEdge[Int(slot)] != ShortestPathForest.closed,
            far + UInt32(costByEdge[Int(slot)]) == forest.distanceByNode[Int(node)]
          else { continue }
          let key = reading(slot, from: holder)
          if chosen.isEmpty || key.lexicographicallyPrecedes(best) {
            (best, chosen) = (key, [(slot, holder)])
          } else if key == best {
            chosen.append((slot, holder))
          }
        }
      }
      if chosen.isEmpty { break }
      whole += best
      layers.append(chosen)
      front = Set(chosen.map(\.holder)).sorted()
    }
    // Back along one of them, from the root on.
    var slots: [UInt32] = []
    var at = outside
    for layer in layers.reversed() {
      let out = layer.filter { $0.holder == at }.map {
        (slot: $0.slot, to: strong.targets[Int($0.slot)])
      }
      guard let first = out.first else { break }
      let least = out.dropFirst().reduce(first) { known, other in
        other.to != known.to
          && order.precedes(NodeIndex(rawValue: other.to), NodeIndex(rawValue: known.to))
          ? other : known
      }
      slots.append(least.slot)
      at = least.to
    }
    return (whole, slots)
  }
}
