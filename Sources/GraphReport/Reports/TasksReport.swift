// TasksReport: tasks and actors: where they were made, where they wait, what they keep alive.

package import GraphAnalysis
package import GraphPrimitives
package import SnapshotFormat
internal import Symbolication

/// The tasks of a snapshot, grouped, and the actors for which jobs wait.
package struct TasksReport: Report {
  /// What tasks of one group have in common, in words.
  package struct Key: Hashable, Sendable {
    package var kind: TaskKind
    package var state: TaskState
    package var made: String
    package var place: String
  }

  private let _groups: [TaskGroup]
  private let _queues: [ActorQueue]
  private let _retained: Cost
  private let _isFiltered: Bool
  private let _names: Names

  /// How many numbers of tasks a line shows.
  private static let exampleCount = 6

  /// How many frames of a waiting task a line shows.
  private static let frameCount = 4

  /// Creates a report.
  ///
  /// - Parameters:
  ///   - retained: What would go with all tasks of all groups.
  ///   - isFiltered: Whether the caller asked for some tasks only.
  package init(
    groups: [TaskGroup], queues: [ActorQueue], retained: Cost, isFiltered: Bool, names: Names
  ) {
    _groups = groups
    _queues = queues
    _retained = retained
    _isFiltered = isFiltered
    _names = names
  }

  /// What a task has in common with those that were made in the same way and wait in the same place.
  package static func key(ofTask row: Int, names: Names) -> Key {
    let task = names.task(row: row)
    return Key(
      kind: task.info.kind, state: task.info.state,
      made: made(row, names: names)?.shown.text ?? "", place: task.site?.shown.text ?? "")
  }

  /// The frame in which a task was made. A child of `async let` has no stack of its own: it was made where
  /// its parent waits now.
  private static func made(_ row: Int, names: Names) -> SourceFrame? {
    let tasks = names.snapshot.tasks
    if TaskInfo(rawValue: tasks.info[row]).kind == .asyncLet {
      let parent = tasks.parent[row]
      return parent == Snapshot.Tasks.noParent ? nil : names.task(row: Int(parent)).site
    }
    // Of few tasks alone, where allocations were sampled: those would be told apart from the others.
    guard names.snapshot.sampling == nil else { return nil }
    let node = NodeIndex(rawValue: tasks.node[row])
    let site = Names.site(in: names.allocation(of: node), type: "Task")
    return made(in: site, running: names.task(row: row).frames)
  }

  /// The frame in which a task was made, where all that an optimized program without debug information says is that it was
  /// below `main`: the function that has the task's closure, which was inlined there.
  ///
  /// - Parameters:
  ///   - site: What the stack of the allocation says.
  ///   - frames: The functions in which the task goes on, innermost first.
  static func made(in site: SourceFrame?, running frames: [SourceFrame]) -> SourceFrame? {
    guard let site, site.function == "main", site.file == nil,
      let outer = frames.last(where: OwnCode.isOwn), outer.function.hasPrefix("closure #"),
      let place = outer.function.firstRange(of: " in ")
    else { return site }
    return SourceFrame(
      function: String(outer.function[place.upperBound...]), file: nil, line: nil,
      module: outer.module, isInlined: true)
  }

  package var findings: [JSONValue] { [] }

  package var members: [JSONValue.Member] {
    [
      JSONValue.Member("tasks", .array(_groups.map(json))),
      JSONValue.Member("tasksRetain", _retained.json),
      JSONValue.Member(
        "actors",
        .array(
          _queues.map { queue in
            .members([
              "type": .string(_names.typeName(of: queue.actor)),
              "address": .string(_names.address(of: queue.actor).description),
              "jobs": .integer(queue.jobs.count),
              "tasks": .array(
                queue.jobs.compactMap { _names.task($0) }.map {
                  .integer(Int(clamping: $0.id))
                }),
            ])
          })),
    ]
  }

  private func json(of group: TaskGroup) -> JSONValue {
    let first = group.tasks[0]
    let task = _names.task(row: first)
    return .members([
      "state": .string(task.info.state.name),
      "kind": .string(task.info.kind.name),
      "count": .integer(group.tasks.count),
      "cancelled": .integer(cancelledCount(of: group)),
      "leaked": .integer(group.leakedCount),
      "own": group.own.json,
      "retained": group.retained.json,
      "made": Self.made(first, names: _names)?.json,
      "suspendedIn": task.site?.json,
      "frames": .array(task.frames.map(\.json)),
      "generations": generations(of: group).isEmpty
        ? nil
        : .object(generations(of: group).map { JSONValue.Member($0.name, .integer($0.count)) }),
      "births": Self.births(of: group, names: _names),
      "ids": .array(group.tasks.map { .integer(Int(clamping: _names.snapshot.tasks.id[$0])) }),
    ])
  }

  private static func births(of group: TaskGroup, names: Names) -> JSONValue? {
    guard names.snapshot.sampling != nil else { return nil }
    return .members([
      "estimated": .bool(true),
      "samples": .integer(group.nodes.count { names.snapshot.knowsBirth(of: $0) }),
    ])
  }

  private func cancelledCount(of group: TaskGroup) -> Int {
    group.tasks.count { TaskInfo(rawValue: _names.snapshot.tasks.info[$0]).isCancelled }
  }

  private func generations(of group: TaskGroup) -> [(name: String, count: Int)] {
    _names.births(of: group.nodes).counts
  }

  package func document(limit: Int?) -> Document {
    let count = _groups.reduce(0) { $0 + $1.tasks.count }
    guard count > 0 || !_queues.isEmpty else {
      return Document(
        answer: Line(_isFiltered ? "No tasks match." : "No tasks: nothing runs or waits."))
    }
    var document = Document(
      answer: Line(
        "\(Units.count(count, "task")) in \(Units.count(_groups.count, "group")); "
          + "\(count == 1 ? "it keeps" : "they keep") \(Units.bytes(_retained.bytes)) in "
          + "\(Units.count(_retained.count, "object")) alive"))
    for (place, group) in _groups.prefix(limit ?? .max).enumerated() {
      document.blocks.append(.item(item(of: group, number: place + 1)))
    }
    if let rest = Document.omission(_groups.count, limit: limit, "group") {
      document.blocks.append(rest)
    }
    if !_queues.isEmpty {
      document.blocks.append(.heading("Actors that jobs wait for"))
      let shown = _queues.prefix(limit ?? _queues.count)
      document.blocks.append(
        .table(
          Document.Table(
            columns: [.init("jobs", .right), .init("actor"), .init("address"), .init("next")],
            rows: shown.map { queue in
              [
                Line(Units.number(queue.jobs.count)),
                Line(_names.typeName(of: queue.actor), .code),
                Line(_names.address(of: queue.actor).description, .faint),
                Line(_names.task(queue.jobs[0])?.shown ?? "a job"),
              ]
            },
            omitted: _queues.count - shown.count)))
    }
    document.blocks += DiagnosticsText.hint(_names.snapshot)
    return document
  }

  private func item(of group: TaskGroup, number: Int) -> Document.Item {
    let task = _names.task(row: group.tasks[0])
    var title = Line("\(Units.number(group.tasks.count)) × ")
    switch task.info.kind {
    case .unstructured: break
    case .asyncLet: title += Line("async let, ")
    case .groupChild: title += Line("child of a group, ")
    }
    title += Line(
      TaskText(id: task.id, info: task.info.withoutCancellation, frames: task.frames)
        .standing)
    let cancelled = cancelledCount(of: group)
    if cancelled > 0 {
      title += Line(
        cancelled == group.tasks.count
          ? ", cancelled" : ", \(Units.number(cancelled)) of them cancelled")
    }
    if group.leakedCount > 0 {
      title += Line(
        group.leakedCount == group.tasks.count
          ? ", leaked" : ", \(Units.number(group.leakedCount)) of them leaked", .bad)
    }
    title += Line(
      "; \(Units.bytes(group.retained.bytes)) in \(Units.count(group.retained.count, "object"))")
    var details: [Document.Detail] = []
    if let made = Self.made(group.tasks[0], names: _names) {
      details.append(Document.Detail("made", made.shown))
    }
    var own: [SourceFrame] = []
    for frame in task.frames where OwnCode.isOwn(frame) && frame.function != own.last?.function {
      own.append(frame)
    }
    if own.count > 1 {
      var chain = own.prefix(Self.frameCount).map(\.shown)
      if own.count > Self.frameCount { chain.append(Line("…", .faint)) }
      details.append(Document.Detail("waits", chain.joined(Line(", called by "))))
    }
    let generations = generations(of: group)
    if !generations.isEmpty {
      let isSampled = _names.snapshot.sampling != nil
      let shown = generations.prefix(Self.exampleCount).map {
        "\(isSampled ? Units.estimate($0.count) : Units.number($0.count)) in \($0.name)"
      }
      details.append(
        Document.Detail(
          "born",
          Line(
            shown.joined(separator: ", ") + (generations.count > shown.count ? ", …" : "")
              + (isSampled ? ", estimated from samples" : ""))))
    }
    let ids = group.tasks.prefix(Self.exampleCount).map { "\(_names.snapshot.tasks.id[$0])" }
    details.append(
      Document.Detail(
        "tasks",
        Line(ids.joined(separator: " ") + (group.tasks.count > ids.count ? " …" : ""), .faint)))
    return Document.Item(number: number, title: title, details: details)
  }
}

extension TaskInfo {
  /// The same for a task that nobody cancelled.
  fileprivate var withoutCancellation: TaskInfo { TaskInfo(state, kind, priority: priority) }
}
