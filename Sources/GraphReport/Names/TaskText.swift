// TaskText: a task in words: who it is, what it does, where it goes on.

package import GraphPrimitives
package import SnapshotFormat
package import Symbolication

/// A task in words.
package struct TaskText {
  /// The number that the runtime gave it.
  package let id: UInt64
  package let info: TaskInfo

  /// The functions in which it goes on, innermost first.
  package let frames: [SourceFrame]

  /// The frame that a reader wants to see first: the program's own that it waits in.
  package var site: SourceFrame? { frames.first(where: OwnCode.isOwn) ?? frames.first }

  /// Whether it sleeps; false where the frames have no names.
  var sleeps: Bool {
    frames.contains {
      $0.function.contains("Swift.Task._sleep(") || $0.function.contains("Swift.Task.sleep(")
    }
  }

  /// What it does, in words: `suspended in App.Model.watch() at Model.swift:20`.
  package var standing: String {
    let words =
      switch info.state {
      case .suspended: site == nil ? "suspended" : "suspended in "
      case .enqueued: site == nil ? "enqueued" : "enqueued, goes on in "
      case .running: "running"
      case .complete: "complete"
      }
    return (info.isCancelled ? "cancelled, " : "") + words + (site?.shown.text ?? "")
  }

  /// `Task 41`, `async let 42`.
  package var title: String { (info.kind == .asyncLet ? "async let " : "Task ") + "\(id)" }

  /// The task as a step of a path: `Task 41 (suspended in App.Model.watch() at Model.swift:20)`.
  package var shown: String { "\(title) (\(standing))" }

  var json: JSONValue {
    .members([
      "id": .integer(Int(clamping: id)),
      "state": .string(info.state.name),
      "kind": .string(info.kind.name),
      "cancelled": info.isCancelled ? .bool(true) : nil,
      "suspendedIn": site.map { .string($0.name) },
      "file": site?.file.map { .string($0) },
      "line": site?.line.map { .integer($0) },
    ])
  }
}

extension Names {
  /// What is known of a task; nil for a node that is none.
  package func task(_ node: NodeIndex) -> TaskText? {
    taskByNode[node.rawValue].map { task(row: $0) }
  }

  /// The task in a row of the snapshot's tasks.
  package func task(row: Int) -> TaskText {
    let tasks = snapshot.tasks
    return TaskText(
      id: tasks.id[row], info: TaskInfo(rawValue: tasks.info[row]),
      frames: frames(of: StackIndex(rawValue: tasks.suspendedAt[row])))
  }

  /// The rows of the snapshot's tasks by their nodes.
  static func taskByNode(of snapshot: Snapshot) -> [UInt32: Int] {
    var rows: [UInt32: Int] = [:]
    let tasks = snapshot.tasks
    for row in 0..<tasks.count
    where tasks.address[row] == snapshot.nodes.address[Int(tasks.node[row])] {
      rows[tasks.node[row]] = row
    }
    return rows
  }

  /// By what of a task an edge holds: the frame of a function, the value of a task-local.
  ///
  /// - Returns: nil for an edge that is neither.
  func partOfTask(_ edge: EdgeIndex) -> TaskPart? {
    let label = Int(snapshot.edges.label[edge.position])
    let function = snapshot.labels.function[label]
    if snapshot.isFrame(label: label) {
      // As for places where tasks wait, what is looked up is the byte before.
      return .frame(function == 0 ? nil : frames(at: function + 1).last?.name)
    }
    if snapshot.isTaskLocal(label: label) { return .taskLocal(nameOfTaskLocal(key: function)) }
    return nil
  }

  /// Whether edges lead from an actor, by its queue, to a task that waits for it.
  func isActorQueue(_ edges: [EdgeIndex]) -> Bool {
    guard edges.count == 1, taskByNode[target(of: edges[0]).rawValue] != nil else { return false }
    let label = Int(snapshot.edges.label[edges[0].position])
    return snapshot.strings[snapshot.labels.name[label]] == "queue"
      && snapshot.labels.index[label] == Snapshot.Labels.noIndex
  }

  /// A task-local's name: that of the static property that holds its key, `$trip`; nil where no root does.
  private func nameOfTaskLocal(key: UInt64) -> String? {
    guard let node = nodes(at: key) else { return nil }
    for row in snapshot.roots.target.indices
    where snapshot.roots.target[row] == node
      && snapshot.roots.kind[row] == RootKind.global.rawValue
    {
      let name = root(RootIndex(row)).name
      return name.hasPrefix("static ") ? String(name.dropFirst("static ".count)) : name
    }
    return nil
  }

  private func nodes(at address: UInt64) -> UInt32? {
    let addresses = snapshot.nodes.address
    var low = 0
    var high = addresses.count
    while low < high {
      let middle = (low + high) / 2
      if addresses[middle] < address { low = middle + 1 } else { high = middle }
    }
    return low < addresses.count && addresses[low] == address ? UInt32(low) : nil
  }
}

/// What of a task's memory a reference lies in.
enum TaskPart {
  /// The frame of an async function, where it is known which.
  case frame(String?)

  /// The value of a task-local, with its name where it is known.
  case taskLocal(String?)
}

extension TaskState {
  /// The state as JSON has it.
  package var name: String {
    switch self {
    case .suspended: "suspended"
    case .enqueued: "enqueued"
    case .running: "running"
    case .complete: "complete"
    }
  }
}

extension TaskKind {
  /// The kind as JSON has it.
  package var name: String {
    switch self {
    case .unstructured: "unstructured"
    case .asyncLet: "asyncLet"
    case .groupChild: "groupChild"
    }
  }
}
