// WhatIf: what would be freed if some references were weak.

internal import GraphKit
package import GraphPrimitives
package import HeapGraph
internal import SnapshotFormat

/// What would be freed if some references were weak or cleared.
package struct WhatIfAnswer: Sendable {
  /// Everything that would be freed, by type.
  package var freed: Histogram

  /// What of it is leaked.
  package var freedLeaked: Cost

  /// What of it a root reaches.
  package var freedReachable: Cost

  /// What is leaked and would stay so, by type, with what only it holds.
  package var stillLeaked: Histogram

  /// For each question what it alone would free.
  package var freedAlone: [Cost]

  /// What else holds the objects that the references lead to and that would stay: those with the most
  /// references first.
  package var otherHolders: [OtherHolder]

  /// References, or retains without one, that keep something from being freed.
  package struct OtherHolder: Sendable {
    /// The first node that they keep.
    package var kept: NodeIndex

    /// How many nodes of its type they keep.
    package var count: Int

    /// The first of what keeps them.
    package var holder: Holder
  }

  /// What keeps a node.
  package enum Holder: Sendable {
    case reference(ReferenceStep)
    case root(RootIndex)

    /// A retain that no reference explains.
    case unexplainedRetain
  }
}

/// Plays out what the runtime would do if references were gone, by reference counting.
///
/// Retains that no reference explains stay; so does what they keep.
///
/// - Parameter questions: Slots of the graph for each edge that was asked for.
/// - Throws: `CancellationError` where `cancel` says so.
/// - Complexity: O(*V* + *E*), and for each question O(what it frees).
package func whatIf(
  weakening questions: [[UInt32]], in graph: HeapGraph, cancel: any CancelSignal = NeverCancelled()
) throws(CancellationError) -> WhatIfAnswer {
  let leaked = try LeakedPart(of: graph, cancel: cancel).nodes
  var counting = ReferenceCounting(of: graph)
  let cut = Set(questions.joined())
  let freed = counting.freed(byCutting: cut).map { NodeIndex(rawValue: $0) }
  let alone =
    questions.count < 2
    ? [graph.cost(of: freed)]
    : questions.map { slots in
      graph.cost(of: counting.freed(byCutting: slots).lazy.map { NodeIndex(rawValue: $0) })
    }
  let isFreed = Set(freed)
  return WhatIfAnswer(
    freed: histogram(of: freed, in: graph),
    freedLeaked: graph.cost(of: freed.filter { !graph.isReachable[$0.position] }),
    freedReachable: graph.cost(of: freed.filter { graph.isReachable[$0.position] }),
    stillLeaked: histogram(
      of: leaked.lazy.map { NodeIndex(rawValue: $0) }.filter { !isFreed.contains($0) }, in: graph),
    freedAlone: alone,
    otherHolders: graph.otherHolders(
      ofTargetsOf: cut.sorted(), isFreed: isFreed, counting: counting))
}

extension HeapGraph {
  /// What keeps the targets of some references that are cut and that stay all the same.
  fileprivate func otherHolders(
    ofTargetsOf cut: [UInt32], isFreed: Set<NodeIndex>, counting: ReferenceCounting
  ) -> [WhatIfAnswer.OtherHolder] {
    struct Key: Hashable {
      var kept: UInt64
      var holder: UInt64
      var name: UInt64
      var function: UInt64
    }
    var numberByKey: [Key: Int] = [:]
    var found: [WhatIfAnswer.OtherHolder] = []
    func add(_ key: Key, kept: NodeIndex, holder: WhatIfAnswer.Holder) {
      if let number = numberByKey[key] {
        found[number].count += 1
      } else {
        numberByKey[key] = found.count
        found.append(WhatIfAnswer.OtherHolder(kept: kept, count: 1, holder: holder))
      }
    }
    let isCut = Set(cut)
    var seen: Set<UInt32> = []
    for slot in cut {
      let target = strong.targets[Int(slot)]
      let node = NodeIndex(rawValue: target)
      if isFreed.contains(node) || !seen.insert(target).inserted { continue }
      let kept = nameKey(of: node)
      for place in holders.graph.edges(from: target) {
        let other = holders.edgeBySlot[place]
        if isCut.contains(other)
          || isFreed.contains(NodeIndex(rawValue: holders.graph.targets[place]))
        {
          continue
        }
        switch reference(atSlot: other) {
        case .edge(let edge):
          let label = labelKey(of: edge)
          add(
            Key(
              kept: kept, holder: nameKey(of: source(of: edge)), name: label.name,
              function: label.function),
            kept: node,
            holder: .reference(_step(by: edge)))
        case .root(let root):
          add(
            Key(kept: kept, holder: .max, name: snapshot.roots.address[root.position], function: 0),
            kept: node, holder: .root(root))
        }
      }
      if counting.isOverRetained(target) {
        add(
          Key(kept: kept, holder: .max, name: .max, function: 0), kept: node,
          holder: .unexplainedRetain)
      }
    }
    return found.enumerated().sorted {
      $0.element.count != $1.element.count
        ? $0.element.count > $1.element.count : $0.offset < $1.offset
    }.map(\.element)
  }

  /// A reference as a step, with the storage that it lies in folded into what holds that.
  private func _step(by edge: EdgeIndex) -> ReferenceStep {
    var step = ReferenceStep(node: source(of: edge), edges: [edge])
    while kind(of: step.node).isFolded, step.edges.count < 4,
      let place = holders.graph.edges(from: step.node.rawValue).first,
      case .edge(let above) = reference(atSlot: holders.edgeBySlot[place])
    {
      step = ReferenceStep(node: source(of: above), edges: [above] + step.edges)
    }
    return step
  }
}
