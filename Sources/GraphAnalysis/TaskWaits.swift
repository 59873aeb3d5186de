// TaskWaits: what a task waits for, and what goes when it ends.

internal import GraphKit
package import GraphPrimitives
package import HeapGraph
internal import SnapshotFormat

/// What a task waits for, as far as the graph tells.
enum TaskWait {
  /// The next element of an `AsyncStream`, which ends when the task is cancelled.
  case stream

  /// A continuation that the program keeps. Cancelling doesn't resume it.
  case continuation

  /// A continuation that nobody keeps.
  case droppedContinuation

  /// Nothing: it is done, and its result waits to be taken.
  case complete

  /// It runs, or what it waits for is not known.
  case unknown
}

extension HeapGraph {
  /// What a task waits for.
  ///
  /// A suspended task has a retain of its own, which is what the continuation stands for that will resume
  /// it; a task's handle has another one. So a task without further retains is referred to by a continuation.
  ///
  /// - Complexity: O(references to the task).
  func wait(of task: NodeIndex, states: [UInt32: TaskInfo]) -> TaskWait {
    wait(of: task, states: states, depth: 0)
  }

  private func wait(of task: NodeIndex, states: [UInt32: TaskInfo], depth: Int) -> TaskWait {
    if let info = states[task.rawValue] {
      switch info.state {
      case .complete: return .complete
      case .running, .enqueued: return .unknown
      case .suspended: break
      }
    }
    var isHeldByProgram = false
    var found = 0
    for place in holders.graph.edges(from: task.rawValue) {
      let holder = NodeIndex(rawValue: holders.graph.targets[place])
      if holder.rawValue == outside || holder == task { continue }
      // That a task is another one's child says nothing of what it waits for.
      if kind(of: holder) == .task,
        case .edge(let edge) = reference(atSlot: holders.edgeBySlot[place]),
        label(of: edge).name == "child"
      {
        continue
      }
      found += 1
      if isOfStream(holder) { return .stream }
      switch kind(of: holder) {
      case .task where depth < 4:
        // A child holds the parent that waits for it: the parent waits for what the child waits for.
        guard case .edge(let edge) = reference(atSlot: holders.edgeBySlot[place]),
          label(of: edge).name == "parent"
        else { return .unknown }
        return wait(of: holder, states: states, depth: depth + 1)
      case .object, .closureContext, .box, .storage: isHeldByProgram = true
      case .taskSlab: found -= 1
      case .block, .task, .sideTable, .cBlock, .coreFoundation, .resource, .runtime, .cStorage:
        return .unknown
      }
    }
    guard let count = strongCount(of: task) else {
      return found == 0 ? .droppedContinuation : .unknown
    }
    if isHeldByProgram && Int(count) <= found { return .continuation }
    // Nobody will resume a task that no root reaches, whatever handles of it there are.
    return found == 0 || !isReachable[task.position] ? .droppedContinuation : .unknown
  }

  /// Whether a node is where an `AsyncStream` keeps its elements and who waits for them.
  func isStreamStorage(_ node: NodeIndex) -> Bool {
    let name = typeName(of: node)
    return name.hasPrefix("Swift.Async") && name.contains("Stream<") && name.hasSuffix("_Storage")
  }

  /// Whether a node is an `AsyncStream`'s storage, or an array or box within that.
  private func isOfStream(_ node: NodeIndex) -> Bool {
    var node = node
    for _ in 0..<4 {
      if isStreamStorage(node) { return true }
      guard kind(of: node).isFolded, let place = holders.graph.edges(from: node.rawValue).first,
        holders.graph.targets[place] != outside
      else { return false }
      node = NodeIndex(rawValue: holders.graph.targets[place])
    }
    return false
  }

  /// The state of each task.
  ///
  /// - Complexity: O(tasks).
  func taskStates() -> [UInt32: TaskInfo] {
    var states: [UInt32: TaskInfo] = [:]
    let tasks = snapshot.tasks
    for row in 0..<tasks.count
    where tasks.address[row] == snapshot.nodes.address[Int(tasks.node[row])] {
      states[tasks.node[row]] = TaskInfo(rawValue: tasks.info[row])
    }
    return states
  }

  /// The tasks that read like some others: they are in the same state, go on in the same functions, and are
  /// reachable or leaked as those are.
  ///
  /// - Complexity: O(*V*).
  func tasks(like some: [NodeIndex]) -> [NodeIndex] {
    struct Key: Hashable {
      var state: TaskState?
      var stack: UInt32
      var isReachable: Bool
    }
    let tasks = snapshot.tasks
    var rowByNode: [UInt32: Int] = [:]
    for row in 0..<tasks.count
    where tasks.address[row] == snapshot.nodes.address[Int(tasks.node[row])] {
      rowByNode[tasks.node[row]] = row
    }
    func key(_ task: NodeIndex) -> Key {
      let row = rowByNode[task.rawValue]
      return Key(
        state: row.map { TaskInfo(rawValue: tasks.info[$0]).state },
        stack: row.map { tasks.suspendedAt[$0] } ?? 0, isReachable: isReachable[task.position])
    }
    let keys = Set(some.map(key))
    return nodes.filter { kind(of: $0) == .task && keys.contains(key($0)) }
  }

  /// What goes when tasks end: their references, their own retains, and where somebody keeps what resumes them
  /// or takes their results, that.
  ///
  /// - Complexity: O(references of the tasks and their slabs, and to them).
  package func effect(ofEnding tasks: [NodeIndex]) -> CutEffect {
    let states = taskStates()
    var effect = CutEffect(slots: slots(goneWhenEnded: tasks), released: tasks.map(\.rawValue))
    for task in tasks {
      switch wait(of: task, states: states) {
      case .continuation, .complete: effect.slots += slots(to: task)
      case .stream, .droppedContinuation, .unknown: break
      }
    }
    return effect
  }

  /// All references to a node.
  package func slots(to node: NodeIndex) -> [UInt32] {
    holders.graph.edges(from: node.rawValue).map { holders.edgeBySlot[$0] }
  }

  /// The references that are gone when tasks have ended: all that they have themselves, and those of what
  /// would resume them. Handles of the tasks stay.
  ///
  /// - Complexity: O(references of the tasks and their slabs, and to them).
  func slots(goneWhenEnded tasks: some Sequence<NodeIndex>) -> [UInt32] {
    var slots: Set<UInt32> = []
    for task in tasks {
      var pending = [task.rawValue]
      var seen: Set<UInt32> = [task.rawValue]
      while let node = pending.popLast() {
        for slot in strong.edges(from: node) {
          slots.insert(UInt32(slot))
          let target = strong.targets[slot]
          if kind(of: NodeIndex(rawValue: target)) == .taskSlab, seen.insert(target).inserted {
            pending.append(target)
          }
        }
      }
      for place in holders.graph.edges(from: task.rawValue) {
        let holder = holders.graph.targets[place]
        guard holder != outside else { continue }
        switch kind(of: NodeIndex(rawValue: holder)) {
        case .task, .taskSlab, .block, .cBlock: slots.insert(holders.edgeBySlot[place])
        default:
          if isOfStream(NodeIndex(rawValue: holder)) { slots.insert(holders.edgeBySlot[place]) }
        }
      }
    }
    return slots.sorted()
  }
}
