// Cuts: which edges of a cycle to cut, and what that frees.

internal import GraphKit
internal import GraphPrimitives
internal import HeapGraph
internal import SnapshotFormat

/// Ranks the edges of a finding's cycle by what would be freed if they were weak or cleared.
///
/// Cutting an edge here means cutting its kind: the same field of all objects of that type in all members
/// of the finding, as a change of the source would. What that frees is computed by reference counting. The
/// edges that free most come first; of those that free equally much, captures of objects, then fields
/// that are called like a delegate or a back reference or that lead from one of many to the one that
/// holds them, then the rest. Where no single edge frees the finding's own objects, they hold each other in
/// more than one way, or somebody retained them besides: what has to go is then proposed together.
struct CutSearch {
  /// How many edges are proposed together before the search gives up, and how many nodes it looks at for
  /// that: each edge more means to look at the whole component again.
  private static let _mostTogether = 8
  private static let _mostNodes = 1 << 20

  let graph: HeapGraph
  let part: InducedSubgraph
  let components: StrongComponents
  private var _cycles: CycleSearch

  /// A field, as `HeapGraph.labelKey(of:)` tells it.
  private struct FieldKey: Hashable {
    var name: UInt64
    var function: UInt64
  }

  /// What `_owningFields(of:)` has found, and the objects that it looks at.
  private var _owningFieldsByType: [TypeIndex: Set<FieldKey>] = [:]
  private var _samplesByType: [[UInt32]] = []

  /// The component of each node of the graph; `absent` for what is not in the part.
  private let _componentByNode: [UInt32]

  init(
    graph: HeapGraph, part: InducedSubgraph, components: StrongComponents, cycles: CycleSearch
  ) {
    self.graph = graph
    self.part = part
    self.components = components
    _cycles = cycles
    var componentByNode = [UInt32](repeating: .absent, count: graph.nodeCount + 1)
    for (local, node) in part.nodeByLocal.enumerated() {
      componentByNode[Int(node)] = components.componentByNode[local]
    }
    _componentByNode = componentByNode
  }

  /// A way to cut, before what it frees is known.
  private struct Candidate {
    var step: ReferenceStep
    var edge: EdgeIndex
    var advice: CutProposal.Advice
    var preference: Int
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
    var proposals: [(proposal: CutProposal, preference: Int)] = []
    var isSolved = false
    let candidates = _candidates(in: cycle)
    let above = all.flatMap { _holdersAbove($0) }
    for candidate in candidates {
      let slots = above + all.flatMap { _slots(like: candidate.edge, in: $0) }
      let freed = counting.freed(byCutting: slots)
      if !isSolved { isSolved = _holdsAll(of: componentOfRepresentative, freed) }
      proposals.append(
        (
          CutProposal(
            step: candidate.step, frees: graph.cost(of: freed.lazy.map { NodeIndex(rawValue: $0) }),
            advice: candidate.advice),
          candidate.preference
        ))
    }
    if !isSolved, !graph.isReachable[representative.position],
      let together = try _together(
        cycle, component: componentOfRepresentative, all: all,
        counting: &counting, cancel: cancel)
    {
      proposals.append((together, -1))
    }
    // Equal ones keep the order of the cycle.
    return proposals.enumerated().sorted { left, right in
      let (leftCut, rightCut) = (left.element, right.element)
      if leftCut.proposal.frees.count != rightCut.proposal.frees.count {
        return leftCut.proposal.frees.count > rightCut.proposal.frees.count
      }
      return leftCut.preference != rightCut.preference
        ? leftCut.preference < rightCut.preference : left.offset < right.offset
    }.map(\.element.proposal)
  }

  /// The proposal for something that nothing in memory holds.
  private func _release(
    of representative: NodeIndex, components all: [UInt32], counting: inout ReferenceCounting
  ) -> CutProposal {
    let nodes = all.flatMap { components.members(of: $0) }.map { part.nodeByLocal[Int($0)] }
    let freed = counting.freed(byCutting: nodes.flatMap(_unknownHolders), releasing: nodes)
    let advice: CutProposal.Advice =
      switch graph.kind(of: representative) {
      case .resource: .closeResource
      case .task: .cancelTask
      default: .balanceRetain
      }
    return CutProposal(
      step: ReferenceStep(node: representative, edges: []),
      frees: graph.cost(of: freed.lazy.map { NodeIndex(rawValue: $0) }), advice: advice)
  }

  /// The edges of a cycle that a change of the source can cut.
  private mutating func _candidates(in cycle: [ReferenceStep]) -> [Candidate] {
    let names = cycle.map { graph.typeName(of: $0.node) }
    let hasTask = cycle.contains { graph.kind(of: $0.node) == .task }
    return cycle.indices.map { position in
      let step = cycle[position]
      let next = cycle[(position + 1) % cycle.count].node
      let edge = _edgeToCut(of: step)
      let isCapture = _isCapture(edge, from: graph.source(of: edge))
      let isWeakable = isCapture && _isObject(next)
      let field = graph.foldedField(of: step)
      let advice: CutProposal.Advice
      var preference: Int
      if graph.kind(of: step.node) == .resource || graph.kind(of: next) == .resource {
        (advice, preference) = (.closeResource, 3)
      } else if cycle.allSatisfy({ graph.kind(of: $0.node) == .task }) {
        // Nothing but its own frames leads to the task: who should have resumed it is gone.
        (advice, preference) = (.resumeContinuation, 1)
      } else if hasTask && (isWeakable || graph.kind(of: step.node) == .task) {
        (advice, preference) = (.cancelTask, isWeakable ? 0 : 1)
      } else if isWeakable && _isTimer(names[position]) {
        (advice, preference) = (.invalidateTimer, 0)
      } else if isWeakable && _isObserver(names[position]) {
        (advice, preference) = (.removeObserver, 0)
      } else if isWeakable {
        (advice, preference) = (.captureWeakly, 0)
      } else if isCapture {
        // A closure that captures another closure, or a variable that holds one: nothing to make weak.
        (advice, preference) = (.clearField, 5)
      } else if Self.isBackReference(field, toType: graph.typeName(of: next)) {
        (advice, preference) = (.makeWeak, 1)
      } else if !graph.isContainer(step)
        && cycle.indices.contains(where: { $0 != position && graph.isContainer(cycle[$0]) })
      {
        // The way back from one of many to the one that holds them all.
        (advice, preference) = (.makeWeak, 2)
      } else {
        // What is named after its type is owned rather than referred back to: `decoder: FrameDecoder`.
        (advice, preference) = (
          .clearField, Self.isNamed(field, after: graph.typeName(of: next)) ? 5 : 4
        )
      }
      // Weak where living objects own what they refer to by the same field would free those too.
      if !isCapture && _ownsElsewhere(edge, from: step.node) { preference += 3 }
      return Candidate(step: step, edge: edge, advice: advice, preference: preference)
    }
  }

  /// Of the edges of a step the one that a change of the source would cut: a closure's capture where the
  /// closure is the object's own, else the field.
  private func _edgeToCut(of step: ReferenceStep) -> EdgeIndex {
    step.edges.last { _isCapture($0, from: graph.source(of: $0)) } ?? step.edges[0]
  }

  /// Whether an edge is a capture: it leaves a context, or it is a closure without one.
  private func _isCapture(_ edge: EdgeIndex, from node: NodeIndex) -> Bool {
    switch graph.kind(of: node) {
    case .closureContext, .cBlock: return true
    default:
      guard graph.label(of: edge).function != 0 else { return false }
      switch graph.kind(of: graph.target(of: edge)) {
      case .closureContext, .cBlock: return false
      default: return true
      }
    }
  }

  /// Whether a node is something that a closure can capture weakly.
  private func _isObject(_ node: NodeIndex) -> Bool {
    switch graph.kind(of: node) {
    case .object, .coreFoundation, .resource: true
    default: false
    }
  }

  private func _isTimer(_ type: String) -> Bool { type.contains("Timer") }

  private func _isObserver(_ type: String) -> Bool {
    type.contains("Notification") || type.contains("Observ")
  }

  /// Whether a reachable object owns something alone by the same field.
  private mutating func _ownsElsewhere(_ edge: EdgeIndex, from node: NodeIndex) -> Bool {
    let type = graph.type(of: node)
    let key = graph.labelKey(of: edge)
    return _owningFields(of: type).contains(FieldKey(name: key.name, function: key.function))
  }

  /// The fields by which reachable objects of a type hold something that nobody else holds.
  ///
  /// Looks at the first thousand objects of each type.
  private mutating func _owningFields(of type: TypeIndex) -> Set<FieldKey> {
    if let known = _owningFieldsByType[type] { return known }
    if _samplesByType.isEmpty {
      _samplesByType = [[UInt32]](repeating: [], count: graph.snapshot.types.count)
      for node in 0..<graph.nodeCount where graph.isReachable[node] {
        let type = Int(graph.snapshot.nodes.type[node])
        if _samplesByType[type].count < 1_000 { _samplesByType[type].append(UInt32(node)) }
      }
    }
    var fields: Set<FieldKey> = []
    let back = graph.holders.graph.offsets
    for node in _samplesByType[type.position] {
      for slot in graph.strong.edges(from: node) {
        let target = Int(graph.strong.targets[slot])
        if back[target + 1] - back[target] == 1 {
          let key = graph.labelKey(of: EdgeIndex(rawValue: graph.rowBySlot[slot]))
          fields.insert(FieldKey(name: key.name, function: key.function))
        }
      }
    }
    _owningFieldsByType[type] = fields
    return fields
  }

  /// The slots of a component's edges that are like an edge: from nodes of the same type, with the same
  /// field and function.
  private func _slots(like edge: EdgeIndex, in component: UInt32) -> [UInt32] {
    let source = graph.source(of: edge)
    let name = graph.nameKey(of: source)
    let key = graph.labelKey(of: edge)
    let isContext = graph.kind(of: source) == .closureContext
    let function = isContext ? _function(ofContext: source) : 0
    var slots: [UInt32] = []
    for member in components.members(of: component) {
      let node = NodeIndex(rawValue: part.nodeByLocal[Int(member)])
      guard graph.nameKey(of: node) == name else { continue }
      for slot in graph.strong.edges(from: node.rawValue)
      where graph.labelKey(of: EdgeIndex(rawValue: graph.rowBySlot[slot])) == key {
        if isContext && _function(ofContext: node) != function { continue }
        slots.append(UInt32(slot))
      }
    }
    return slots
  }

  /// The function of the closure that a context belongs to; 0 where no edge says it.
  private func _function(ofContext node: NodeIndex) -> UInt64 {
    for place in graph.holders.graph.edges(from: node.rawValue) {
      let slot = graph.holders.edgeBySlot[place]
      guard Int(slot) < graph.firstRootSlot else { continue }
      let label = graph.snapshot.edges.label[Int(graph.rowBySlot[Int(slot)])]
      let function = graph.snapshot.closureFunction(ofLabel: Int(label))
      if function != 0 { return function }
    }
    return 0
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
    var chosen: [(candidate: Candidate, slots: [UInt32])] = []
    var next = cycle
    var scratch = [UInt32](repeating: .absent, count: part.graph.nodeCount)
    let size = components.members(of: component).count
    let most = min(Self._mostTogether, max(1, Self._mostNodes / size))
    func freed(by chosen: [(candidate: Candidate, slots: [UInt32])]) -> [UInt32]? {
      let freed = counting.freed(byCutting: above + chosen.flatMap(\.slots))
      return _holdsAll(of: component, freed) ? freed : nil
    }
    while !next.isEmpty && chosen.count < most {
      guard let best = _candidates(in: next).min(by: { $0.preference < $1.preference }) else {
        break
      }
      let slots = _slots(like: best.edge, in: component)
      if slots.isEmpty || closed.isSuperset(of: slots) { break }
      closed.formUnion(slots)
      chosen.append((best, all.flatMap { _slots(like: best.edge, in: $0) }))
      if var all = freed(by: chosen) {
        // An edge that was chosen early may not be needed any more.
        for position in chosen.indices.reversed() where chosen.count > 1 {
          var fewer = chosen
          fewer.remove(at: position)
          if let still = freed(by: fewer) { (chosen, all) = (fewer, still) }
        }
        return CutProposal(
          step: chosen[0].candidate.step, together: chosen.dropFirst().map(\.candidate.step),
          frees: graph.cost(of: all.lazy.map { NodeIndex(rawValue: $0) }),
          advice: chosen[0].candidate.advice)
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
    let told = overRetained(component).first
    var slotsOfAll = Set(above + chosen.flatMap(\.slots))
    for other in all {
      for member in components.members(of: other) {
        slotsOfAll.formUnion(_unknownHolders(of: part.nodeByLocal[Int(member)]))
      }
    }
    let freed = counting.freed(byCutting: slotsOfAll, releasing: all.flatMap(overRetained))
    guard _holdsAll(of: component, freed), !chosen.isEmpty else { return nil }
    return CutProposal(
      step: ReferenceStep(
        node: told.map { NodeIndex(rawValue: $0) } ?? chosen[0].candidate.step.node, edges: []),
      together: chosen.map(\.candidate.step),
      frees: graph.cost(of: freed.lazy.map { NodeIndex(rawValue: $0) }), advice: .balanceRetain)
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
    var largest: [UInt32] = []
    for number in 0..<UInt32(inner.count) where inner.isCyclic(number, in: rest.graph) {
      if inner.members(of: number).count > largest.count {
        largest = Array(inner.members(of: number))
      }
    }
    if largest.isEmpty { return [] }
    return try _cycles.cycle(
      in: largest.map { rest.nodeByLocal[Int($0)] }[...], isClosed: closed, cancel: cancel)
  }

  /// Whether a field is called like a reference back to an owner, or like the type that it refers to.
  static func isBackReference(_ field: String, toType type: String) -> Bool {
    for part in field.split(separator: ".") {
      let name = part.drop { $0 == "_" }.prefix { $0 != "[" }.lowercased()
      if _backReferences.contains(name) { return true }
      for ending in _backReferences where ending.count > 4 && name.hasSuffix(ending) { return true }
      for beginning in ["parent", "owner", "owning", "delegate"] where name.hasPrefix(beginning) {
        return true
      }
    }
    return false
  }

  /// Whether a field is called like the type that it refers to.
  static func isNamed(_ field: String, after type: String) -> Bool {
    let name = field.split(separator: ".").last.map { $0.drop { $0 == "_" }.prefix { $0 != "[" } }
    let plain = type.prefix { $0 != "<" }.split(separator: ".").last
    guard let name, let plain, !name.isEmpty else { return false }
    return plain.lowercased().hasSuffix(name.lowercased())
  }

  private static let _backReferences: Set<String> = [
    "delegate", "parent", "owner", "datasource", "sink", "listener", "observer", "target",
    "responder", "superview", "superlayer", "container", "enclosing", "scope", "host", "presenter",
    "controller", "viewcontroller", "coordinator", "manager", "supervisor", "root", "previous",
    "prev",
    "receiver", "subscriber", "output", "callback", "handler", "registry", "backreference",
    "backref",
    "document", "window", "session", "me", "outer", "client", "consumer",
  ]
}
