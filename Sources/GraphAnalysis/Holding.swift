// Holding: what would go with some objects, and findings of which only some members are told.

internal import GraphKit
package import GraphPrimitives
package import HeapGraph
internal import SnapshotFormat

extension HeapGraph {
  /// What would go with some nodes, themselves included: what they lead to and nothing else does.
  ///
  /// Exact also where the nodes hold each other, as the sum of their retained sizes is not.
  ///
  /// - Parameter others: Nodes that hold what they lead to as roots do. For leaked nodes, those that
  ///   something else leaked is found by.
  /// - Complexity: O(*V* + *E*).
  package func cost(goingWith nodes: [NodeIndex], others: [NodeIndex] = []) -> Cost {
    cost(of: self.nodes(goingWith: nodes, others: others))
  }

  /// What would go with some nodes, in no order; see ``cost(goingWith:others:)``.
  func nodes(goingWith nodes: [NodeIndex], others: [NodeIndex] = []) -> [NodeIndex] {
    var isSeen = [Bool](repeating: false, count: nodeCount + 1)
    var pending: [UInt32] = [outside]
    func visit(_ node: UInt32) {
      if isSeen[Int(node)] { return }
      isSeen[Int(node)] = true
      pending.append(node)
    }
    // The nodes themselves are a wall: what is found without passing them stays.
    for node in nodes { isSeen[node.position] = true }
    for node in others { visit(node.rawValue) }
    while let node = pending.popLast() {
      for target in strong.successors(of: node) { visit(target) }
    }
    pending = nodes.map(\.rawValue)
    var going = Array(Set(nodes))
    while let node = pending.popLast() {
      for target in strong.successors(of: node) where !isSeen[Int(target)] {
        isSeen[Int(target)] = true
        going.append(NodeIndex(rawValue: target))
        pending.append(target)
      }
    }
    return withoutKeptSideTables(going)
  }

  /// Some nodes that go, but for side tables that weak references elsewhere keep and for memory of the runtime's own, which
  /// it uses again.
  ///
  /// - Complexity: O(nodes), and O(*V* + *E*) where there are side tables among them.
  func withoutKeptSideTables(_ nodes: [NodeIndex]) -> [NodeIndex] {
    let going = nodes.filter { kind(of: $0) != .runtime }
    guard going.contains(where: { kind(of: $0) == .sideTable }) else { return going }
    let isGoing = Set(going)
    let weak = weakHoldersOfSideTables()
    let kept = Set(
      weak.found.filter { !isGoing.contains(NodeIndex(rawValue: $0.holder)) }.map(\.table)
        + weak.unknownByTable.keys)
    return going.filter { !kept.contains($0.rawValue) }
  }
}

extension Finding {
  /// Holds what the best cut frees against what would go with the members.
  ///
  /// - Complexity: O(both).
  mutating func compareCut(withGoing going: [NodeIndex], in graph: HeapGraph) {
    guard let cut = cuts.first, cut.frees.count > 0 else {
      (staying, besides) = (.zero, .zero)
      return
    }
    let isGoing = Set(going)
    let isFreed = Set(cut.freed)
    staying = graph.cost(of: isGoing.subtracting(isFreed))
    besides = graph.cost(of: isFreed.subtracting(isGoing))
  }
}

/// Findings of what roots reach, each with its best cut held against what would go with its members.
///
/// - Complexity: O(*V* + *E*) for each finding.
func comparingCuts(_ findings: [Finding], in graph: HeapGraph) -> [Finding] {
  findings.map { finding in
    guard finding.kind == .abandoned else { return finding }
    var finding = finding
    finding.compareCut(withGoing: graph.nodes(goingWith: finding.members), in: graph)
    return finding
  }
}

extension Sequence<Finding> {
  /// The findings as if only some of their members had been found; those without any are left out.
  ///
  /// The cycle or path that a finding tells stays, since it is that of every member.
  ///
  /// - Complexity: O(*V* + *E*) for each finding that is told in part.
  package func keeping(
    in graph: HeapGraph, _ isWanted: (NodeIndex) -> Bool
  ) -> [Finding] {
    let all = Array(self)
    return all.indices.compactMap { place in
      var finding = all[place]
      let kept = finding.members.filter(isWanted)
      if kept.isEmpty { return nil }
      if kept.count == finding.members.count { return finding }
      let dropped = finding.members.filter { !isWanted($0) }
      let others = all.indices.filter { $0 != place }.flatMap { all[$0].members }
      finding.members = kept
      finding.own = graph.cost(of: kept)
      let going = graph.nodes(goingWith: kept, others: dropped + others)
      finding.retained = graph.cost(of: going)
      if let cut = finding.cuts.first {
        // Of what the change of the source lets go of, what is of these members.
        let isGoing = Set(going)
        finding.cuts[0].freed = cut.freed.filter { isGoing.contains($0) }
        finding.cuts[0].frees = graph.cost(of: finding.cuts[0].freed)
      }
      finding.compareCut(withGoing: going, in: graph)
      return finding
    }
  }
}
