// PathCuts: which edge of the way from a root to cut, and what that frees.

internal import GraphKit
internal import GraphPrimitives
internal import HeapGraph
internal import SnapshotFormat

/// Finds the edge to cut for objects that a root reaches and that should be gone.
///
/// Which edge that is says ``PathPlan``. Where others hold the objects as well, what has to go with it is
/// looked for on the ways that are left; where that doesn't do it either, what still holds them is told.
struct PathCutSearch {
  let graph: HeapGraph
  private let _planning: PathPlanning
  private let _alike: AlikeReferences
  private let _order: ReadingOrder

  /// - Parameter callers: Tasks that are not to end, since they wait for the answer.
  init(in graph: HeapGraph, callers: Set<NodeIndex> = []) {
    self.graph = graph
    _order = ReadingOrder(of: graph)
    _planning = PathPlanning(in: graph, callers: callers)
    _alike = AlikeReferences(in: graph)
  }

  /// How many edges are proposed together at most.
  private static let _mostTogether = 6

  /// An edge to cut and what goes with it.
  private struct Step {
    var part: CutProposal.Part
    var effect: CutEffect
  }

  /// A proposal, and what it takes away.
  struct Cut {
    var proposal: CutProposal
    var effect: CutEffect
  }

  /// The edge to cut, and what that frees; further edges where others hold the objects as well. A resource is to
  /// be closed; nil for another object that a variable holds itself.
  ///
  /// A capture to make weak is cut in all closures of that place in the source, and an element in the whole
  /// container, for members or not: that is what the change would do.
  ///
  /// - Parameter members: Objects that are held in the way of `path`.
  /// - Complexity: O(references on the ways and to what is freed), and O(*V* + *E*) for each further edge.
  func cut(
    of path: RetainPath, members: [NodeIndex], counting: inout ReferenceCounting,
    cancel: any CancelSignal = NeverCancelled()
  ) throws(CancellationError) -> Cut? {
    guard let first = _step(for: path, members: members) else { return nil }
    let target = path.target.rawValue
    var chosen = [first]
    var freed = _freed(chosen, &counting)
    var costs: [UInt8] = []
    while !freed.contains(target), chosen.count < Self._mostTogether {
      if costs.isEmpty { costs = EdgeCosts.all(in: graph) }
      for slot in chosen[chosen.count - 1].effect.slots {
        costs[Int(slot)] = ShortestPathForest.closed
      }
      let forest = try ShortestPathForest(
        of: graph.strong, from: graph.outside, costByEdge: costs, cancel: cancel)
      guard
        let other = forest.isReachable(target)
          ? graph.retainPath(along: forest.path(to: target), to: path.target)
          : _wayWithoutRoot(to: path, cutting: chosen, freed: freed)
      else { break }
      guard let next = _step(for: other, members: members), !next.part.step.edges.isEmpty,
        !Set(chosen.flatMap(\.effect.slots)).isSuperset(of: next.effect.slots)
      else { break }
      chosen.append(next)
      freed = _freed(chosen, &counting)
    }
    if !freed.contains(target) {
      // Retains without a reference may be all that is left. Balanced in the source they go for all objects of
      // the type, members or not.
      if counting.isOverRetained(target) {
        let name = graph.nameKey(of: path.target)
        let retained = graph.nodes.filter {
          graph.isReachable[$0.position] && graph.nameKey(of: $0) == name
            && counting.isOverRetained($0.rawValue)
        }
        chosen.append(
          Step(
            part: CutProposal.Part(
              step: ReferenceStep(node: path.target, edges: []),
              advice: graph.balancing(path.target)),
            effect: CutEffect(slots: [], released: retained.map(\.rawValue))))
        freed = _freed(chosen, &counting)
      }
    }
    // What does not do it together is told by the first alone.
    if !freed.contains(target) {
      chosen = [first]
      freed = _freed(chosen, &counting)
    } else {
      _leaveOutNeedless(from: &chosen, target: target, freed: &freed, counting: &counting)
    }
    return _cut(chosen, freed: freed, target: target, counting: counting)
  }

  /// What holds the target though no root is left that reaches it: a Timer of Foundation's retains itself.
  ///
  /// - Returns: the steps, with the root of the way that was cut; nil where nothing holds it.
  private func _wayWithoutRoot(
    to path: RetainPath, cutting chosen: [Step], freed: [UInt32]
  ) -> RetainPath? {
    let cut = Set(chosen.flatMap(\.effect.slots))
    let isFreed = Set(freed)
    var seen: Set<UInt32> = [path.target.rawValue]
    var slots: [UInt32] = []
    var node = path.target.rawValue
    while slots.count < Self._longestWay {
      let place = graph.holders.graph.edges(from: node).first {
        let holder = graph.holders.graph.targets[$0]
        return holder != graph.outside && !isFreed.contains(holder) && !seen.contains(holder)
          && !cut.contains(graph.holders.edgeBySlot[$0])
      }
      guard let place else { break }
      slots.append(graph.holders.edgeBySlot[place])
      node = graph.holders.graph.targets[place]
      seen.insert(node)
    }
    if slots.isEmpty { return nil }
    return RetainPath(
      root: path.root, steps: graph.steps(along: slots.reversed(), from: node),
      target: path.target)
  }

  /// How many references a way without a root is followed up.
  private static let _longestWay = 24

  private func _cut(
    _ chosen: [Step], freed: [UInt32], target: UInt32, counting: ReferenceCounting
  ) -> Cut {
    let effect = CutEffect(
      slots: _all(chosen, \.slots).ascending(), released: _all(chosen, \.released).ascending())
    let others =
      freed.contains(target)
      ? []
      : graph.otherHolders(
        ofTargetsOf: effect.slots, isFreed: Set(freed.map { NodeIndex(rawValue: $0) }),
        released: Set(effect.released),
        counting: counting, order: _order)
    let first = chosen[0].part
    return Cut(
      proposal: CutProposal(
        step: first.step, together: chosen.dropFirst().map(\.part),
        frees: graph.cost(of: graph.alive(freed)), freed: graph.alive(freed),
        advice: first.advice, reason: first.reason,
        leftBehind: graph.cost(ofNodes: counting.leftBehind(byFreeing: freed).ascending()),
        otherHolders: others),
      effect: effect)
  }

  private func _freed(_ chosen: [Step], _ counting: inout ReferenceCounting) -> [UInt32] {
    counting.freed(byCutting: _all(chosen, \.slots), releasing: _all(chosen, \.released))
  }

  /// What all steps take away; of a single one it is no copy.
  private func _all(_ chosen: [Step], _ part: KeyPath<CutEffect, [UInt32]>) -> [UInt32] {
    chosen.count == 1
      ? chosen[0].effect[keyPath: part] : chosen.flatMap { $0.effect[keyPath: part] }
  }

  /// Drops edges that were chosen before and aren't needed any more.
  private func _leaveOutNeedless(
    from chosen: inout [Step], target: UInt32, freed: inout [UInt32],
    counting: inout ReferenceCounting
  ) {
    for place in chosen.indices.reversed() where chosen.count > 1 {
      var fewer = chosen
      fewer.remove(at: place)
      let still = _freed(fewer, &counting)
      if still.contains(target) { (chosen, freed) = (fewer, still) }
    }
  }

  private func _step(for path: RetainPath, members: [NodeIndex]) -> Step? {
    if graph.kind(of: path.target) == .resource {
      return Step(
        part: CutProposal.Part(
          step: ReferenceStep(node: path.target, edges: []), advice: .closeResource),
        effect: CutEffect(slots: members.flatMap { graph.slots(to: $0) }))
    }
    if path.steps.isEmpty { return nil }
    let plan = _planning.plan(for: path, members: members)
    let step = _step(of: plan, on: path)
    return Step(
      part: CutProposal.Part(step: step, advice: plan.advice, reason: plan.reason),
      effect: _effect(of: plan, on: path, members: members))
  }

  /// The step to cut. What is removed from a container takes along the boxes in it that the step goes through.
  private func _step(of plan: PathPlan, on path: RetainPath) -> ReferenceStep {
    let step = path.steps[plan.step]
    switch plan.advice {
    case .removeHandler, .boundContainer, .removeTaskHandles: return graph.upToElement(step)
    default: return step
    }
  }

  private func _effect(
    of plan: PathPlan, on path: RetainPath, members: [NodeIndex]
  ) -> CutEffect {
    let step = _step(of: plan, on: path)
    switch plan.advice {
    case .captureWeakly, .makeWeak, .invalidateTimer, .removeObserver, .cancelSource:
      // Where the storage that it lies in is a variable's, others of its type are other variables.
      if !graph.kind(of: step.node).isFolded { return CutEffect(slots: _alike.slots(like: step)) }
    case .deinitializeMemory:
      // The same code lets go of all blocks that it has asked for.
      let made = graph.making(ofBlock: step.node)
      let alike =
        made.isEmpty ? [step.node] : graph.nodes.filter { graph.making(ofBlock: $0) == made }
      if plan.reason == .entry {
        return CutEffect(
          slots: alike.flatMap { graph.entries(of: $0, like: path.target) }.ascending())
      }
      if !made.isEmpty { return CutEffect(slots: graph.slots(like: step, from: alike)) }
    default: break
    }
    var holders = graph.nodes(leadingTo: members, along: path.steps[plan.step...])
    switch graph.kind(of: step.node) {
    case .task where plan.advice != .boundContainer && plan.advice != .clearField:
      return graph.effect(ofEnding: graph.tasks(like: holders))
    case .resource:
      return CutEffect(slots: holders.flatMap { graph.slots(to: $0) })
    default:
      if plan.step == 0, graph.kind(of: step.node).isFolded {
        // The same objects may be in other containers of that type, which are not the variable's.
        holders = holders.filter { graph.isReferredToByRoot($0) }
      }
      return CutEffect(slots: graph.slots(like: step, from: holders))
    }
  }
}

extension HeapGraph {
  /// What some nodes cost together.
  fileprivate func cost(ofNodes nodes: [UInt32]) -> Cost {
    nodes.reduce(into: .zero) { $0 += cost(of: NodeIndex(rawValue: $1)) }
  }

  /// A step up to the element of a container that it goes through last, where only boxes come after that.
  fileprivate func upToElement(_ step: ReferenceStep) -> ReferenceStep {
    guard
      let element = step.edges.lastIndex(where: {
        kind(of: source(of: $0)) == .storage && label(of: $0).element != .none
      }), step.edges[(element + 1)...].allSatisfy({ kind(of: source(of: $0)) == .box })
    else { return step }
    return ReferenceStep(node: step.node, edges: Array(step.edges[...element]))
  }

  /// Whether a root refers to a node itself.
  fileprivate func isReferredToByRoot(_ node: NodeIndex) -> Bool {
    holders.graph.edges(from: node.rawValue).contains {
      holders.graph.targets[$0] == outside
    }
  }

  /// The nodes from which the steps of a way lead to some nodes.
  ///
  /// - Complexity: O(references to the nodes on the way).
  func nodes(
    leadingTo members: [NodeIndex], along steps: ArraySlice<ReferenceStep>
  ) -> [NodeIndex] {
    var front = members.map(\.rawValue).ascending()
    for step in steps.reversed() {
      for edge in step.edges.reversed() {
        let key = labelKey(of: edge)
        let name = nameKey(of: source(of: edge))
        var before: [UInt32] = []
        for node in front {
          for place in holders.graph.edges(from: node) {
            let slot = holders.edgeBySlot[place]
            guard case .edge(let other) = reference(atSlot: slot), labelKey(of: other) == key
            else { continue }
            let holder = holders.graph.targets[place]
            // The elements of one container follow each other.
            if before.last != holder, nameKey(of: NodeIndex(rawValue: holder)) == name {
              before.append(holder)
            }
          }
        }
        front = before.ascending()
      }
    }
    return front.map { NodeIndex(rawValue: $0) }
  }
}
