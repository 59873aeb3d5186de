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

  /// What would stay behind, leaked: elements of plain `ManagedBuffer`s that are freed.
  package var leftBehind: Cost

  /// What else holds the objects that the references lead to and that would stay: those with the most
  /// references first.
  package var otherHolders: [OtherHolder]
}

/// What a question takes away: references, and the retains of some nodes that no reference explains.
package struct CutEffect: Sendable {
  /// Slots of the graph.
  package var slots: [UInt32]

  /// Nodes whose unexplained retains are released as well: a task's own, when it ends.
  package var released: [UInt32]

  package init(slots: [UInt32], released: [UInt32] = []) {
    self.slots = slots
    self.released = released
  }
}

/// Plays out what the runtime would do if references were gone, by reference counting.
///
/// Retains that no reference explains stay; so does what they keep.
///
/// - Parameter questions: What goes for each edge that was asked for.
/// - Throws: `CancellationError` where `cancel` says so.
/// - Complexity: O(*V* + *E*), and for each question O(what it frees).
package func whatIf(
  weakening questions: [CutEffect], in graph: HeapGraph, cancel: any CancelSignal = NeverCancelled()
) throws(CancellationError) -> WhatIfAnswer {
  let leaked = try LeakedPart(of: graph, cancel: cancel).nodes
  var counting = ReferenceCounting(of: graph)
  let cut = Set(questions.lazy.map(\.slots).joined())
  let released = Set(questions.lazy.map(\.released).joined())
  // What libdispatch keeps for later is not alive, whoever has a left-over word of it.
  let freed = counting.freed(byCutting: cut.sorted(), releasing: released.sorted()).map {
    NodeIndex(rawValue: $0)
  }.filter { graph.isAlive($0) }
  let alone =
    questions.count < 2
    ? [graph.cost(of: freed)]
    : questions.map { question in
      graph.cost(
        of: counting.freed(byCutting: question.slots, releasing: question.released).lazy.map {
          NodeIndex(rawValue: $0)
        })
    }
  let isFreed = Set(freed)
  return WhatIfAnswer(
    freed: histogram(of: freed, in: graph),
    freedLeaked: graph.cost(of: freed.filter { !graph.isReachable[$0.position] }),
    freedReachable: graph.cost(of: freed.filter { graph.isReachable[$0.position] }),
    // A side table whose object is freed stays for weak references that do, and is no leak then.
    stillLeaked: histogram(
      of: leaked.lazy.map { NodeIndex(rawValue: $0) }.filter { node in
        !isFreed.contains(node)
          && !(graph.kind(of: node) == .sideTable
            && graph.holders.graph.successors(of: node.rawValue).allSatisfy {
              isFreed.contains(NodeIndex(rawValue: $0))
            })
      }, in: graph),
    freedAlone: alone,
    leftBehind: graph.cost(
      of: Set(counting.leftBehind(byFreeing: freed.map(\.rawValue))).lazy.map {
        NodeIndex(rawValue: $0)
      }),
    otherHolders: graph.otherHolders(
      ofTargetsOf: cut.sorted(), isFreed: isFreed, released: released, counting: counting))
}

/// The nodes with retains that no reference explains, ascending: those that are leaked and those that roots reach.
///
/// - Throws: `CancellationError` where `cancel` says so.
/// - Complexity: O(*V* + *E*).
package func unexplainedRetains(
  in graph: HeapGraph, of isWanted: (NodeIndex) -> Bool,
  cancel: any CancelSignal = NeverCancelled()
) throws(CancellationError) -> [NodeIndex] {
  let counting = ReferenceCounting(of: graph)
  let leaked = try LeakedPart(of: graph, cancel: cancel).nodes
  let isLeaked = Set(leaked)
  let found = leaked.filter { node in
    isWanted(NodeIndex(rawValue: node))
      && (counting.isOverRetained(node)
        || graph.holders.graph.successors(of: node).contains {
          graph.isForgotten($0, isLeaked: isLeaked)
        })
  }.map { NodeIndex(rawValue: $0) }
  // Balanced in the source they go for all objects. Those that roots reach are not freed by that alone.
  let reachable = graph.nodes.filter {
    graph.isReachable[$0.position] && counting.isOverRetained($0.rawValue) && isWanted($0)
  }
  return (found + reachable).sorted()
}

/// What goes when the retains of leaked nodes that no reference explains are balanced.
package func unexplainedEffect(of nodes: [NodeIndex], in graph: HeapGraph) -> CutEffect {
  let isTold = Set(nodes.map(\.rawValue))
  let slots = nodes.flatMap { node in
    graph.holders.graph.edges(from: node.rawValue).filter {
      graph.isForgotten(graph.holders.graph.targets[$0], isLeaked: isTold)
    }.map { graph.holders.edgeBySlot[$0] }
  }
  return CutEffect(slots: slots, released: nodes.map(\.rawValue))
}

extension HeapGraph {
  /// Whether a holder is C memory that no root reaches and that isn't leaked with what it holds.
  fileprivate func isForgotten(_ holder: UInt32, isLeaked: Set<UInt32>) -> Bool {
    holder < nodeCount && !isReachable[Int(holder)] && !isLeaked.contains(holder)
      && !kind(of: NodeIndex(rawValue: holder)).isCounted
  }

  /// The references that tasks have, in their slabs and in the storage and boxes behind those.
  package func slotsHeld(by tasks: [NodeIndex]) -> [UInt32] {
    var pending = tasks.map(\.rawValue)
    var seen = Set(pending)
    var slots: [UInt32] = []
    while let node = pending.popLast() {
      for slot in strong.edges(from: node) {
        slots.append(UInt32(slot))
        let target = strong.targets[slot]
        if kind(of: NodeIndex(rawValue: target)).isFolded, seen.insert(target).inserted {
          pending.append(target)
        }
      }
    }
    return slots
  }

  /// What keeps the targets of some references that are cut and that stay all the same.
  func otherHolders(
    ofTargetsOf cut: [UInt32], isFreed: Set<NodeIndex>, released: Set<UInt32> = [],
    counting: ReferenceCounting
  ) -> [OtherHolder] {
    struct Key: Hashable {
      var kept: UInt64
      var holder: UInt64
      var name: UInt64
      var function: UInt64
    }
    var numberByKey: [Key: Int] = [:]
    var found: [OtherHolder] = []
    func add(_ key: Key, kept: NodeIndex, holder: OtherHolder.Holder) {
      if let number = numberByKey[key] {
        found[number].count += 1
      } else {
        numberByKey[key] = found.count
        found.append(OtherHolder(kept: kept, count: 1, holder: holder))
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
      if counting.isOverRetained(target), !released.contains(target) {
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
