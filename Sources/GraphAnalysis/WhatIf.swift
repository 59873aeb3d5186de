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

  /// What of it is destroyed already: memory that unowned references keep.
  package var freedDestroyed: Cost

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

  /// Unowned references to destroyed objects, whose memory they keep.
  package var unowned: [EdgeIndex]

  package init(slots: [UInt32], released: [UInt32] = [], unowned: [EdgeIndex] = []) {
    self.slots = slots
    self.released = released
    self.unowned = unowned
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
  let isFreed = Set(freed)
  let destroyed = graph.zombies(
    letGoBy: Set(questions.lazy.map(\.unowned).joined()), freeing: isFreed)
  let alone =
    questions.count < 2
    ? [graph.cost(of: freed + destroyed)]
    : questions.map { question in
      let freed = counting.freed(byCutting: question.slots, releasing: question.released).map {
        NodeIndex(rawValue: $0)
      }
      return graph.cost(of: freed)
        + graph.cost(
          of: graph.zombies(letGoBy: Set(question.unowned), freeing: Set(freed)))
    }
  return WhatIfAnswer(
    freed: histogram(of: freed + destroyed, in: graph),
    freedLeaked: graph.cost(of: freed.filter { !graph.isReachable[$0.position] }),
    freedReachable: graph.cost(of: freed.filter { graph.isReachable[$0.position] }),
    freedDestroyed: graph.cost(of: destroyed),
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
      ofTargetsOf: cut.sorted(), isFreed: isFreed, released: released, counting: counting,
      order: ReadingOrder(of: graph)))
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

  /// The destroyed objects whose memory goes when unowned references to them do, some weak instead and others freed with
  /// what has them.
  ///
  /// - Complexity: O(*E*) where there are destroyed objects.
  fileprivate func zombies(
    letGoBy cut: Set<EdgeIndex>, freeing isFreed: Set<NodeIndex>
  ) -> [NodeIndex] {
    if cut.isEmpty { return [] }
    var found: [NodeIndex: (all: UInt32, gone: UInt32)] = [:]
    for edge in unownedReferencesToZombies() {
      let isGone = cut.contains(edge) || isFreed.contains(source(of: edge))
      found[target(of: edge), default: (0, 0)].all += 1
      if isGone { found[target(of: edge)]?.gone += 1 }
    }
    return found.filter { node, count in
      // Those that were not found stay.
      count.gone == max(count.all, UInt32(snapshot.nodes.unownedCount[node.position]))
    }.map(\.key).sorted()
  }

  /// The unowned references that keep the memory of destroyed objects.
  ///
  /// - Complexity: O(*E*) where there are destroyed objects.
  package func unownedReferencesToZombies() -> [EdgeIndex] {
    let states = snapshot.nodes.state
    let destroyed = NodeState.deinited.rawValue
    guard (0..<nodeCount).contains(where: { states[$0] == destroyed }) else { return [] }
    return (0..<snapshot.edges.count).lazy.map { EdgeIndex($0) }.filter {
      self.info(of: $0).strength == .unowned && states[self.target(of: $0).position] == destroyed
    }
  }

  /// References as steps of the nodes that have them in the source: storage and boxes that they lie in are folded into what
  /// holds those.
  package func foldedSteps(by edges: [EdgeIndex]) -> [ReferenceStep] {
    let order = ReadingOrder(of: self)
    return edges.map { _step(by: $0, order) }
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
    counting: ReferenceCounting, order: ReadingOrder
  ) -> [OtherHolder] {
    // What the holder and what it keeps are called, which tells holders apart and puts them in order.
    var numberByKey: [[UInt64]: Int] = [:]
    var found: [(key: [UInt64], holder: OtherHolder)] = []
    func add(_ key: [UInt64], kept: NodeIndex, holder: OtherHolder.Holder) {
      if let number = numberByKey[key] {
        found[number].holder.count += 1
        if case .reference(let step) = holder,
          case .reference(let told) = found[number].holder.holder,
          order.precedes(step.node, told.node)
        {
          found[number].holder.holder = holder
          found[number].holder.kept = kept
        }
      } else {
        numberByKey[key] = found.count
        found.append((key, OtherHolder(kept: kept, count: 1, holder: holder)))
      }
    }
    let isCut = Set(cut)
    var seen: Set<UInt32> = []
    for slot in cut {
      let target = strong.targets[Int(slot)]
      let node = NodeIndex(rawValue: target)
      if isFreed.contains(node) || !seen.insert(target).inserted { continue }
      let kept = UInt64(order.rank(of: node))
      for place in holders.graph.edges(from: target) {
        let other = holders.edgeBySlot[place]
        if isCut.contains(other)
          || isFreed.contains(NodeIndex(rawValue: holders.graph.targets[place]))
        {
          continue
        }
        switch reference(atSlot: other) {
        case .edge(let edge):
          let step = _step(by: edge, order)
          add(
            [kept, 0] + order.reading(of: step).map { UInt64($0) }, kept: node,
            holder: .reference(step))
        case .root(let root):
          add(
            [kept, 1, snapshot.roots.address[root.position]], kept: node, holder: .root(root))
        }
      }
      if counting.isOverRetained(target), !released.contains(target) {
        add([kept, 2], kept: node, holder: .unexplainedRetain)
      }
    }
    return found.sorted {
      $0.holder.count != $1.holder.count
        ? $0.holder.count > $1.holder.count : $0.key.lexicographicallyPrecedes($1.key)
    }.map(\.holder)
  }

  /// A reference as a step, with the storage that it lies in folded into what holds that.
  private func _step(by edge: EdgeIndex, _ order: ReadingOrder) -> ReferenceStep {
    var step = ReferenceStep(node: source(of: edge), edges: [edge])
    while kind(of: step.node).isFolded, step.edges.count < 4 {
      // Storage that several have is told by the first of them in the order of names.
      let above = holders.graph.edges(from: step.node.rawValue).compactMap {
        self.edge(atSlot: holders.edgeBySlot[$0])
      }.min { left, right in
        let holders = (source(of: left), source(of: right))
        let ranks = (order.rank(of: holders.0), order.rank(of: holders.1))
        if ranks.0 != ranks.1 { return ranks.0 < ranks.1 }
        let labels = (order.rank(of: left), order.rank(of: right))
        return labels.0 != labels.1 ? labels.0 < labels.1 : order.precedes(holders.0, holders.1)
      }
      guard let above else { break }
      step = ReferenceStep(node: source(of: above), edges: [above] + step.edges)
    }
    return step
  }
}
