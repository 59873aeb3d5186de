// Cuts: which edges of a cycle to cut, and what that frees.

internal import GraphKit
internal import GraphPrimitives
internal import HeapGraph
internal import SnapshotFormat

/// Ranks the edges of a finding's cycle by what would be freed if they were weak or cleared.
///
/// Cutting an edge here means cutting its kind: the same path of fields of all objects of that type in all
/// members of the finding, as a change of the source would. What that frees is computed by reference
/// counting. The edges that free most come first; those that free equally much come in the order that
/// ``CutCandidates`` prefers them in. Where no single edge frees the finding's own objects, they hold each
/// other in more than one way, or somebody retained them besides: what has to go is then proposed together.
struct CutSearch {
  /// How many edges are proposed together before the search gives up, and how many nodes it looks at for
  /// that: each edge more means to look at the whole component again.
  private static let _mostTogether = 8
  private static let _mostNodes = 1 << 20

  let graph: HeapGraph
  let part: InducedSubgraph
  let components: StrongComponents
  private var _cycles: CycleSearch

  private var _ranking: CutCandidates

  /// The component of each node of the graph; `absent` for what is not in the part.
  private let _componentByNode: [UInt32]

  init(
    graph: HeapGraph, part: InducedSubgraph, components: StrongComponents, cycles: CycleSearch
  ) {
    self.graph = graph
    self.part = part
    self.components = components
    _cycles = cycles
    _ranking = CutCandidates(in: graph)
    var componentByNode = [UInt32](repeating: .absent, count: graph.nodeCount + 1)
    for (local, node) in part.nodeByLocal.enumerated() {
      componentByNode[Int(node)] = components.componentByNode[local]
    }
    _componentByNode = componentByNode
  }

  /// The proposals for a finding, best first.
  ///
  /// - Parameters:
  ///   - cycle: The representative's cycle; empty for a node that nothing holds.
  ///   - all: The components of all members.
  mutating func cuts(
    of cycle: [ReferenceStep], representative: NodeIndex, componentOfRepresentative: UInt32,
    components all: [UInt32], counting: inout ReferenceCounting, cancel: any CancelSignal
  ) throws(CancellationError) -> [CutProposal] {
    guard !cycle.isEmpty else {
      return [_release(of: representative, components: all, counting: &counting)]
    }
    var proposals: [(proposal: CutProposal, preference: Int, isLibrarys: Bool)] = []
    var isSolved = false
    let own = _nodes(of: componentOfRepresentative).filter {
      graph.isObject($0) && graph.isOfProgram($0)
    }
    // Whether an edge of the program's own frees all that is the program's: what stays is a library's.
    var isSolvedForProgram = false
    let above = all.flatMap { _holdersAbove($0) }
    // The links of a ring are one kind of reference, however many there are.
    var placeByKind: [[UInt64]: Int] = [:]
    let functions = ContextFunctions(of: graph)
    for candidate in _ranking.candidates(in: cycle) {
      if !candidate.endsTask {
        let kind =
          [
            graph.nameKey(of: candidate.step.node),
            functions.function(of: candidate.step.node),
          ]
          + candidate.step.edges.flatMap { edge -> [UInt64] in
            let key = graph.labelKey(of: edge)
            return [key.name, key.function]
          }
        if let place = placeByKind[kind] {
          var proposal = proposals[place].proposal
          proposal.step = candidate.step
          proposal.advice = candidate.advice
          proposal.reason = candidate.reason
          proposals.append((proposal, candidate.preference, candidate.isLibrarys))
          continue
        }
        placeByKind[kind] = proposals.count
      }
      let (slots, released) = _effect(of: candidate, in: all)
      let freed = counting.freed(byCutting: above + slots, releasing: released)
      if !isSolved { isSolved = _holdsAll(of: componentOfRepresentative, freed) }
      if !isSolvedForProgram, !candidate.isLibrarys, 1...max(1, freed.count) ~= own.count {
        let freed = Set(freed)
        isSolvedForProgram = own.allSatisfy { freed.contains($0.rawValue) }
      }
      let nodes = graph.alive(freed)
      proposals.append(
        (
          CutProposal(
            step: candidate.step, frees: graph.cost(of: nodes), freed: nodes,
            advice: candidate.advice, reason: candidate.reason,
            leftBehind: graph.cost(
              of: Set(counting.leftBehind(byFreeing: freed)).map { NodeIndex(rawValue: $0) }),
            otherHolders: freed.isEmpty
              ? graph.otherHolders(
                ofTargetsOf: slots, isFreed: [], released: Set(released), counting: counting,
                order: _cycles.order) : []),
          candidate.preference,
          candidate.isLibrarys && candidate.preference == CutCandidates.leastPreference
        ))
    }
    if !isSolved, !graph.isReachable[representative.position],
      let together = try _together(
        cycle, component: componentOfRepresentative, all: all,
        counting: &counting, cancel: cancel)
    {
      proposals.append((together, -1, together.advice == .endLibraryObject))
    }
    // Equal ones keep the order of the cycle.
    return proposals.enumerated().sorted { left, right in
      let (leftCut, rightCut) = (left.element, right.element)
      // What only a library could change comes last where the program can do without, however much it frees.
      if isSolvedForProgram, leftCut.isLibrarys != rightCut.isLibrarys {
        return rightCut.isLibrarys
      }
      if leftCut.proposal.frees.count != rightCut.proposal.frees.count {
        return leftCut.proposal.frees.count > rightCut.proposal.frees.count
      }
      return leftCut.preference != rightCut.preference
        ? leftCut.preference < rightCut.preference : left.offset < right.offset
    }.enumerated().map { place, element in
      var proposal = element.element.proposal
      if place > 0 { proposal.freed = [] }
      return proposal
    }
  }

  /// The proposal for something that nothing in memory holds.
  private func _release(
    of representative: NodeIndex, components all: [UInt32], counting: inout ReferenceCounting
  ) -> CutProposal {
    let nodes = all.flatMap { components.members(of: $0) }.map { part.nodeByLocal[Int($0)] }
    let freed = counting.freed(byCutting: nodes.flatMap(_unknownHolders), releasing: nodes)
    var step = ReferenceStep(node: representative, edges: [])
    let advice: CutProposal.Advice
    switch graph.kind(of: representative) {
    case .resource: advice = .closeResource
    // Nobody has what would resume it.
    case .task: advice = .resumeContinuation
    default:
      let memory = _unknownHolders(of: representative.rawValue).compactMap { slot in
        graph.edge(atSlot: slot).flatMap {
          graph.kind(of: graph.source(of: $0)) == .block ? $0 : nil
        }
      }.min { left, right in
        let ranks = (_cycles.order.rank(of: left), _cycles.order.rank(of: right))
        return ranks.0 != ranks.1
          ? ranks.0 < ranks.1
          : _cycles.order.precedes(graph.source(of: left), graph.source(of: right))
      }
      if let memory {
        // What was asked for from the allocator and given up with the object in it.
        step = ReferenceStep(node: graph.source(of: memory), edges: [memory])
        advice = .deinitializeMemory
      } else {
        advice = graph.balancing(representative)
      }
    }
    let gone = graph.alive(freed)
    return CutProposal(step: step, frees: graph.cost(of: gone), freed: gone, advice: advice)
  }

  /// The references that a candidate cuts in some components, and the nodes whose unexplained retains go
  /// with them.
  private func _effect(
    of candidate: CutCandidates.Candidate, in all: [UInt32]
  ) -> (slots: [UInt32], released: [UInt32]) {
    if candidate.endsTask {
      let isOfFinding = Set(all.flatMap { _nodes(of: $0) })
      let tasks = graph.tasks(like: [candidate.step.node]).filter { isOfFinding.contains($0) }
      let effect = graph.effect(ofEnding: tasks)
      return (effect.slots, effect.released)
    }
    return (all.flatMap { graph.slots(like: candidate.step, from: _nodes(of: $0)) }, [])
  }

  /// The nodes of a component.
  private func _nodes(of component: UInt32) -> [NodeIndex] {
    components.members(of: component).map { NodeIndex(rawValue: part.nodeByLocal[Int($0)]) }
  }

  /// The references to a leaked node from C memory that nobody knows the holder of; with the retain that
  /// they stand for they go when that is balanced.
  private func _unknownHolders(of node: UInt32) -> [UInt32] {
    graph.holders.graph.edges(from: node).filter {
      let holder = Int(graph.holders.graph.targets[$0])
      return _componentByNode[holder] == .absent && holder < graph.nodeCount
        && !graph.isReachable[holder]
    }.map { graph.holders.edgeBySlot[$0] }
  }

  /// The references to a leaked component from what is leaked as well and holds it.
  ///
  /// A cycle that something leaked drags along would stay behind when that is mended; what its own edges
  /// free shows when the references from above are gone.
  private func _holdersAbove(_ component: UInt32) -> [UInt32] {
    components.members(of: component).flatMap { member -> [UInt32] in
      let node = part.nodeByLocal[Int(member)]
      if graph.isReachable[Int(node)] { return [] }
      return graph.holders.graph.edges(from: node).filter {
        let above = _componentByNode[Int(graph.holders.graph.targets[$0])]
        return above != .absent && above != component
      }.map { graph.holders.edgeBySlot[$0] }
    }
  }

  /// Whether all nodes of a component are among those that were freed.
  private func _holdsAll(of component: UInt32, _ freed: [UInt32]) -> Bool {
    let members = components.members(of: component)
    if freed.count < members.count { return false }
    let freed = Set(freed)
    return members.allSatisfy { freed.contains(part.nodeByLocal[Int($0)]) }
  }

  /// Edges of one cycle after the other until the component holds together no more; with them the retains
  /// that nothing explains, where those keep it.
  private mutating func _together(
    _ cycle: [ReferenceStep], component: UInt32, all: [UInt32],
    counting: inout ReferenceCounting, cancel: any CancelSignal
  ) throws(CancellationError) -> CutProposal? {
    let above = all.flatMap { _holdersAbove($0) }
    var closed: Set<UInt32> = []
    typealias Chosen = (candidate: CutCandidates.Candidate, slots: [UInt32])
    var chosen: [Chosen] = []
    var next = cycle
    var scratch = [UInt32](repeating: .absent, count: part.graph.nodeCount)
    let members = _nodes(of: component)
    let size = members.count
    let most = min(Self._mostTogether, max(1, Self._mostNodes / size))
    func freed(by chosen: [Chosen]) -> [UInt32]? {
      let freed = counting.freed(byCutting: above + chosen.flatMap(\.slots))
      return _holdsAll(of: component, freed) ? freed : nil
    }
    while !next.isEmpty && chosen.count < most {
      guard
        let best = _ranking.candidates(in: next).filter({ !$0.endsTask })
          .min(by: { $0.preference < $1.preference })
      else { break }
      let slots = graph.slots(like: best.step, from: _nodes(of: component))
      if slots.isEmpty || closed.isSuperset(of: slots) { break }
      closed.formUnion(slots)
      chosen.append((best, _effect(of: best, in: all).slots))
      if var all = freed(by: chosen) {
        // An edge that was chosen early may not be needed any more.
        for position in chosen.indices.reversed() where chosen.count > 1 {
          var fewer = chosen
          fewer.remove(at: position)
          if let still = freed(by: fewer) { (chosen, all) = (fewer, still) }
        }
        // What only a library could change is left out where the others free all that is the program's.
        let own = members.filter { graph.isObject($0) && graph.isOfProgram($0) }.map(\.rawValue)
        let changeable = chosen.filter {
          !$0.candidate.isLibrarys || $0.candidate.preference != CutCandidates.leastPreference
        }
        if !own.isEmpty, !changeable.isEmpty, changeable.count < chosen.count {
          let still = counting.freed(byCutting: above + changeable.flatMap(\.slots))
          if Set(still).isSuperset(of: own) { (chosen, all) = (changeable, still) }
        }
        // One step of a library's own says what to end, and that lets go of all that it has.
        let candidates = chosen.map(\.candidate)
        let ended = candidates.first { $0.isLibrarys && graph.isObject($0.step.node) }
        let first = ended ?? candidates[0]
        return CutProposal(
          step: first.step, together: ended != nil ? [] : candidates.dropFirst().map(\.part),
          frees: graph.cost(of: graph.alive(all)), freed: graph.alive(all), advice: first.advice,
          reason: first.reason)
      }
      if chosen.count == most { break }
      next = try _largestCycle(
        in: component, without: closed, scratch: &scratch, cancel: cancel)
    }

    func overRetained(_ component: UInt32) -> [UInt32] {
      components.members(of: component).map { part.nodeByLocal[Int($0)] }.filter {
        counting.isOverRetained($0)
      }
    }
    let told = overRetained(component).map { NodeIndex(rawValue: $0) }.min {
      _cycles.order.precedes($0, $1)
    }
    var slotsOfAll = Set(above + chosen.flatMap(\.slots))
    for other in all {
      for member in components.members(of: other) {
        slotsOfAll.formUnion(_unknownHolders(of: part.nodeByLocal[Int(member)]))
      }
    }
    let freed = counting.freed(byCutting: slotsOfAll.sorted(), releasing: all.flatMap(overRetained))
    guard _holdsAll(of: component, freed), !chosen.isEmpty else { return nil }
    let retained = told ?? chosen[0].candidate.step.node
    return CutProposal(
      step: ReferenceStep(node: retained, edges: []), together: chosen.map(\.candidate.part),
      frees: graph.cost(of: graph.alive(freed)), freed: graph.alive(freed),
      advice: graph.balancing(retained))
  }

  /// A cycle in the largest component that is left of a component when edges are closed.
  private mutating func _largestCycle(
    in component: UInt32, without closed: Set<UInt32>, scratch: inout [UInt32],
    cancel: any CancelSignal
  ) throws(CancellationError) -> [ReferenceStep] {
    let rest = InducedSubgraph(
      of: part.graph, keeping: Array(components.members(of: component)), localByNode: &scratch,
      edges: { !closed.contains(part.edgeByLocal[Int($0)]) })
    let inner = try StrongComponents(of: rest.graph, cancel: cancel)
    let cyclic = (0..<UInt32(inner.count)).filter { inner.isCyclic($0, in: rest.graph) }
    let size = cyclic.map { inner.members(of: $0).count }.max() ?? 0
    let largest = cyclic.map { number in
      inner.members(of: number).map { rest.nodeByLocal[Int($0)] }
    }.filter { $0.count == size }
    if largest.isEmpty { return [] }
    // Of equally large ones always the same, whatever lies first in memory.
    let told = _cycles.order.mostTelling(
      of: largest.map { $0[...] }, in: part,
      representatives: largest.map { members in
        members.map { NodeIndex(rawValue: part.nodeByLocal[Int($0)]) }.min {
          _cycles.order.precedes($0, $1)
        } ?? NodeIndex(rawValue: 0)
      })
    return try _cycles.cycle(in: largest[told][...], isClosed: closed, cancel: cancel)
  }
}
