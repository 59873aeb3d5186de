// PathPlanning: who on the way from a root is to blame, and what to do about it.

internal import GraphKit
internal import GraphPrimitives
internal import HeapGraph
internal import SnapshotFormat

/// What to do about a way, before what it frees is known.
struct PathPlan {
  /// The place of the step.
  var step: Int
  var advice: CutProposal.Advice
  var reason: CutProposal.Reason = .none
}

/// Says which step of a way from a root to cut.
///
/// Who keeps growing is to blame rather than who refers to the object last: a task that waits, a resource
/// that is open, a timer, a notification center, a list of handlers, a dictionary. Of a way that none of
/// them is on the last reference is told.
struct PathPlanning {
  let graph: HeapGraph
  private let _taskStates: [UInt32: TaskInfo]

  init(in graph: HeapGraph) {
    self.graph = graph
    _taskStates = graph.taskStates()
  }

  /// - Parameter path: A way with a step at least.
  func plan(for path: RetainPath, members: [NodeIndex]) -> PathPlan {
    let steps = path.steps
    let last = steps.count - 1
    // Who holds a continuation can resume it.
    if graph.typeName(of: path.target) == "Swift.CheckedContinuationCanary" {
      return PathPlan(step: last, advice: .resumeWaiting)
    }
    if graph.kind(of: path.target) == .task, let plan = _plan(forTask: path.target, last: last) {
      if plan.advice != .removeTaskHandles || graph.isContainer(steps[last]) { return plan }
    }
    if let task = steps.lastIndex(where: { graph.kind(of: $0.node) == .task }) {
      let wait = graph.wait(of: steps[task].node, states: _taskStates)
      if wait == .unknown, graph.isContainer(steps[task]), task == last {
        // A list in a local variable of a task that works: the list is what grows.
        return PathPlan(step: task, advice: .boundContainer)
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
        return PathPlan(step: task, advice: advice)
      }
    }
    let names = steps.map { graph.typeName(of: $0.node) }
    let isCaptured = steps[last].edges.contains { graph.isCapture($0, from: graph.source(of: $0)) }
    if isCaptured, graph.kind(of: path.target) == .closureContext,
      let entry = steps.lastIndex(where: { graph.kind(of: $0.node) != .closureContext })
    {
      // A closure that was wrapped in another one: it can't be captured weakly, and would be missed.
      return PathPlan(step: entry, advice: .clearField)
    }
    if isCaptured {
      if names.contains(where: CutCandidates.isTimer) {
        return PathPlan(step: last, advice: .invalidateTimer)
      }
      if names.contains(where: { $0.contains("NotificationCenter") }) {
        return PathPlan(step: last, advice: .removeObserver)
      }
    }
    if let resource = steps.lastIndex(where: { graph.kind(of: $0.node) == .resource }) {
      return PathPlan(step: resource, advice: .closeResource)
    }
    if isCaptured {
      if let list = steps.lastIndex(where: { _holdsClosures($0) && !graph.isLibrarys($0) }) {
        return PathPlan(step: list, advice: .removeHandler)
      }
      if let source = steps.lastIndex(where: { graph.isDispatchSource($0.node) }),
        !steps[source...].contains(where: { graph.isLibrarysClosure($0) })
      {
        return PathPlan(step: last, advice: .cancelSource)
      }
      return PathPlan(step: last, advice: .captureWeakly)
    }
    if graph.kind(of: graph.holder(ofLast: steps[last])) == .block {
      let entries = graph.entries(of: graph.holder(ofLast: steps[last]), like: path.target)
      return PathPlan(
        step: last, advice: .deinitializeMemory, reason: entries.count > 1 ? .entry : .none)
    }
    // What Foundation's collections have of Swift's values they have in boxes: the element is what can be removed.
    if last > 0, graph.typeName(of: steps[last].node) == "Foundation.__SwiftValue",
      graph.isCollection(steps[last - 1].node)
    {
      return PathPlan(step: last - 1, advice: .clearField)
    }
    if graph.isLibrarys(steps[last]) { return PathPlan(step: last, advice: .endLibraryObject) }
    let field = graph.foldedField(of: steps[last])
    if !field.hasSuffix("]"), graph.isObject(path.target),
      CutCandidates.isBackReference(field, toType: graph.typeName(of: path.target))
    {
      // From a root on, `previous` to an object of the same type is what holds the earlier ones of a list: it is the list
      // that is to be bounded.
      let type = graph.type(of: path.target)
      if graph.type(of: steps[last].node) == type,
        let entry = steps.lastIndex(where: { graph.type(of: $0.node) != type })
      {
        return PathPlan(step: entry, advice: .boundContainer)
      }
      return PathPlan(step: last, advice: .makeWeak, reason: .backReference)
    }
    return PathPlan(
      step: last, advice: graph.isContainer(steps[last]) ? .boundContainer : .clearField)
  }

  /// What to do about a task that is itself what should be gone.
  private func _plan(forTask task: NodeIndex, last: Int) -> PathPlan? {
    switch graph.wait(of: task, states: _taskStates) {
    // Who holds a continuation can resume it; without it the task would wait for ever.
    case .continuation: PathPlan(step: last, advice: .resumeWaiting)
    case .complete: PathPlan(step: last, advice: .removeTaskHandles)
    case .stream, .droppedContinuation, .unknown: nil
    }
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
    let tasks = graph.nodes(leadingTo: members, along: path.steps[task...])
    return tasks.count * 2 <= members.count
  }

  /// Whether a step goes through an element of a container that is a closure or a stream's continuation.
  private func _holdsClosures(_ step: ReferenceStep) -> Bool {
    guard graph.isContainer(step) else { return false }
    if graph.function(of: step) != nil { return true }
    return step.edges.last.map { graph.isStreamStorage(graph.target(of: $0)) } ?? false
  }

}

extension HeapGraph {
  /// The references by which a block without a type holds objects of the type of one.
  ///
  /// - Returns: slots of the graph.
  /// - Complexity: O(references of the block).
  func entries(of block: NodeIndex, like target: NodeIndex) -> [UInt32] {
    let name = nameKey(of: target)
    return strong.edges(from: block.rawValue).filter {
      nameKey(of: NodeIndex(rawValue: strong.targets[$0])) == name
    }.map { UInt32($0) }
  }

  /// The node that the last reference of a step leaves.
  func holder(ofLast step: ReferenceStep) -> NodeIndex {
    step.edges.last.map { source(of: $0) } ?? step.node
  }

  /// Whether a node is a source of libdispatch or what one has registered.
  func isDispatchSource(_ node: NodeIndex) -> Bool {
    guard module(of: node) == "Dispatch" else { return false }
    let name = typeName(of: node)
    return name.hasPrefix("dispatch_source") || name.hasPrefix("Dispatch.DispatchSource")
      || name == "dispatch timer" || name.hasPrefix("dispatch ") && name.hasSuffix(" source")
  }
}
