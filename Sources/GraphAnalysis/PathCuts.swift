// PathCuts: which edge of the way from a root to cut, and what that frees.

internal import GraphKit
internal import GraphPrimitives
internal import HeapGraph
internal import SnapshotFormat

/// Finds the edge to cut for objects that a root reaches and that should be gone.
///
/// Who keeps growing is to blame rather than who refers to the object last: a task that waits, a resource
/// that is open, a timer, a notification center, a list of handlers, a dictionary. Of a way that none of
/// them is on the last reference is told.
struct PathCutSearch {
  let graph: HeapGraph
  private let _taskStates: [UInt32: TaskInfo]

  init(in graph: HeapGraph) {
    self.graph = graph
    _taskStates = graph.taskStates()
  }

  /// What to do about a way, before what it frees is known.
  private struct Plan {
    /// The place of the step.
    var step: Int
    var advice: CutProposal.Advice
    var reason: CutProposal.Reason = .none
  }

  /// The edge to cut, and what that frees for all members; further edges where others hold the objects as
  /// well. A resource is to be closed; nil for another object that a variable holds itself.
  ///
  /// - Parameter members: Objects that are held in the way of `path`.
  /// - Complexity: O(references on the ways and to what is freed), and O(*V* + *E*) for each further edge.
  func cut(
    of path: RetainPath, members: [NodeIndex], counting: inout ReferenceCounting,
    cancel: any CancelSignal = NeverCancelled()
  ) throws(CancellationError) -> CutProposal? {
    guard var proposal = _first(of: path, members: members) else { return nil }
    var chosen = [proposal.step]
    var freed = counting.freed(byCutting: proposal.slots, releasing: proposal.released)
    var costs: [UInt8] = []
    while !freed.contains(path.target.rawValue), chosen.count < Self._mostTogether {
      if costs.isEmpty { costs = EdgeCosts.all(in: graph) }
      for slot in proposal.slots { costs[Int(slot)] = ShortestPathForest.closed }
      let forest = try ShortestPathForest(
        of: graph.strong, from: graph.outside, costByEdge: costs, cancel: cancel)
      guard forest.isReachable(path.target.rawValue) else { break }
      let other = graph.retainPath(
        along: forest.path(to: path.target.rawValue), to: path.target)
      guard let next = _first(of: other, members: members), !next.step.edges.isEmpty,
        !Set(proposal.slots).isSuperset(of: next.slots)
      else { break }
      chosen.append(next.step)
      proposal.slots += next.slots
      proposal.released += next.released
      freed = counting.freed(byCutting: proposal.slots, releasing: proposal.released)
    }
    // What does not do it together is told by the first alone.
    if !freed.contains(path.target.rawValue), chosen.count > 1,
      let first = _first(of: path, members: members)
    {
      chosen = [first.step]
      freed = counting.freed(byCutting: first.slots, releasing: first.released)
    }
    return CutProposal(
      step: chosen[0], together: Array(chosen.dropFirst()),
      frees: graph.cost(of: freed.lazy.map { NodeIndex(rawValue: $0) }),
      advice: proposal.advice, reason: proposal.reason)
  }

  /// How many edges are proposed together at most.
  private static let _mostTogether = 4

  /// An edge to cut and what goes with it.
  private struct Effect {
    var step: ReferenceStep
    var advice: CutProposal.Advice
    var reason: CutProposal.Reason = .none
    var slots: [UInt32]
    var released: [UInt32] = []
  }

  private func _first(of path: RetainPath, members: [NodeIndex]) -> Effect? {
    if graph.kind(of: path.target) == .resource {
      return Effect(
        step: ReferenceStep(node: path.target, edges: []), advice: .closeResource,
        slots: members.flatMap { _slots(to: $0) })
    }
    if path.steps.isEmpty { return nil }
    let plan = _plan(for: path, members: members)
    let step = path.steps[plan.step]
    let holders = _nodes(leadingTo: members, along: path.steps[plan.step...])
    var effect = Effect(step: step, advice: plan.advice, reason: plan.reason, slots: [])
    switch graph.kind(of: step.node) {
    case .task where plan.advice != .boundContainer:
      effect.slots = graph.slots(goneWhenEnded: holders)
      if plan.advice == .resumeWaiting || plan.advice == .takeResults {
        // Who keeps the continuation or the result lets it go with that.
        for task in holders { effect.slots += _slots(to: task) }
      }
      effect.released = holders.map(\.rawValue)
    case .resource: effect.slots = holders.flatMap { _slots(to: $0) }
    default: effect.slots = graph.slots(like: step, from: holders)
    }
    return effect
  }

  private func _plan(for path: RetainPath, members: [NodeIndex]) -> Plan {
    let steps = path.steps
    let last = steps.count - 1
    // Who holds a continuation can resume it; without it the task would wait for ever.
    if graph.typeName(of: path.target) == "Swift.CheckedContinuationCanary" {
      return Plan(step: last, advice: .resumeWaiting)
    }
    if graph.kind(of: path.target) == .task,
      case .continuation = graph.wait(of: path.target, states: _taskStates)
    {
      return Plan(step: last, advice: .resumeWaiting)
    }
    if let task = steps.lastIndex(where: { graph.kind(of: $0.node) == .task }) {
      let wait = graph.wait(of: steps[task].node, states: _taskStates)
      if wait == .unknown, graph.isContainer(steps[task]), task == last {
        // A list in a local variable of a task that works: the list is what grows.
        return Plan(step: task, advice: .boundContainer)
      }
      if !_holdsMany(from: task, of: path, members: members) {
        let advice: CutProposal.Advice =
          switch wait {
          case .stream: .cancelTaskAlone
          case .continuation: .resumeWaiting
          case .droppedContinuation: .resumeContinuation
          case .complete: .takeResults
          case .unknown: .cancelTask
          }
        return Plan(step: task, advice: advice)
      }
    }
    let names = steps.map { graph.typeName(of: $0.node) }
    let isCaptured = steps[last].edges.contains { graph.isCapture($0, from: graph.source(of: $0)) }
    if isCaptured {
      if names.contains(where: CutCandidates.isTimer) {
        return Plan(step: last, advice: .invalidateTimer)
      }
      if names.contains(where: { $0.contains("NotificationCenter") }) {
        return Plan(step: last, advice: .removeObserver)
      }
    }
    if let resource = steps.lastIndex(where: { graph.kind(of: $0.node) == .resource }) {
      return Plan(step: resource, advice: .closeResource)
    }
    if isCaptured {
      if let list = steps.lastIndex(where: { _holdsClosures($0) }) {
        return Plan(step: list, advice: .removeHandler)
      }
      return Plan(step: last, advice: .captureWeakly)
    }
    let field = graph.foldedField(of: steps[last])
    if !field.hasSuffix("]"),
      CutCandidates.isBackReference(field, toType: graph.typeName(of: path.target))
    {
      return Plan(step: last, advice: .makeWeak, reason: .backReference)
    }
    return Plan(step: last, advice: _isKeyed(steps[last]) ? .boundContainer : .clearField)
  }

  /// Whether few tasks hold many objects in a container behind them: a server's main task has its cache in a
  /// local variable, and what grows is the cache. Where each object has a task of its own the tasks grow.
  private func _holdsMany(
    from task: Int, of path: RetainPath, members: [NodeIndex]
  ) -> Bool {
    guard path.steps[(task + 1)...].contains(where: { graph.isContainer($0) }) else { return false }
    if members.count == 1 {
      return _taskStates[path.steps[task].node.rawValue]?.state == .running
    }
    let tasks = _nodes(leadingTo: members, along: path.steps[task...])
    return tasks.count * 2 <= members.count
  }

  /// Whether a step goes through an element of a container that is a closure or a stream's continuation.
  private func _holdsClosures(_ step: ReferenceStep) -> Bool {
    guard graph.isContainer(step) else { return false }
    if graph.function(of: step) != nil { return true }
    return step.edges.last.map { graph.isStreamStorage(graph.target(of: $0)) } ?? false
  }

  /// Whether a step goes through a value of a dictionary or a member of a set.
  private func _isKeyed(_ step: ReferenceStep) -> Bool {
    step.edges.contains {
      let label = graph.snapshot.edges.label[$0.position]
      return graph.snapshot.labels.index[Int(label)] == Snapshot.Labels.anyIndex
    }
  }

  /// The nodes from which the steps of a way lead to some nodes.
  ///
  /// - Complexity: O(references to the nodes on the way).
  private func _nodes(
    leadingTo members: [NodeIndex], along steps: ArraySlice<ReferenceStep>
  ) -> [NodeIndex] {
    var front = Set(members.map(\.rawValue))
    for step in steps.reversed() {
      for edge in step.edges.reversed() {
        let key = graph.labelKey(of: edge)
        let name = graph.nameKey(of: graph.source(of: edge))
        var before: Set<UInt32> = []
        for node in front {
          for place in graph.holders.graph.edges(from: node) {
            let slot = graph.holders.edgeBySlot[place]
            guard case .edge(let other) = graph.reference(atSlot: slot),
              graph.labelKey(of: other) == key
            else { continue }
            let holder = graph.holders.graph.targets[place]
            if graph.nameKey(of: NodeIndex(rawValue: holder)) == name { before.insert(holder) }
          }
        }
        front = before
      }
    }
    return front.sorted().map { NodeIndex(rawValue: $0) }
  }

  /// All references to a node.
  private func _slots(to node: NodeIndex) -> [UInt32] {
    graph.holders.graph.edges(from: node.rawValue).map { graph.holders.edgeBySlot[$0] }
  }
}
