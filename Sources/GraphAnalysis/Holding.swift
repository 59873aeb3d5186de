// Holding: what would go with some objects, and findings of which only some members are told.

internal import GraphKit
package import GraphPrimitives
package import HeapGraph

extension HeapGraph {
  /// What would go with some nodes, themselves included: what they lead to and nothing else does.
  ///
  /// Exact also where the nodes hold each other, as the sum of their retained sizes is not.
  ///
  /// - Parameter others: Nodes that hold what they lead to as roots do. For leaked nodes, those that
  ///   something else leaked is found by.
  /// - Complexity: O(*V* + *E*).
  package func cost(goingWith nodes: [NodeIndex], others: [NodeIndex] = []) -> Cost {
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
    var cost = self.cost(of: Set(nodes))
    while let node = pending.popLast() {
      for target in strong.successors(of: node) where !isSeen[Int(target)] {
        isSeen[Int(target)] = true
        cost += self.cost(of: NodeIndex(rawValue: target))
        pending.append(target)
      }
    }
    return cost
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
      let whole = finding.retained
      finding.members = kept
      finding.own = graph.cost(of: kept)
      finding.retained = graph.cost(goingWith: kept, others: dropped + others)
      for cut in finding.cuts.indices where finding.cuts[cut].frees == whole {
        finding.cuts[cut].frees = finding.retained
      }
      return finding
    }
  }
}
