// tasks: tasks and actors: where made, where suspended, what each keeps alive.

internal import GraphAnalysis
internal import GraphPrimitives
internal import GraphReport
internal import HeapGraph
internal import SnapshotFormat

extension Verb {
  package static let tasks = Verb(
    "tasks", operands: "SNAP", operandCount: 1...1,
    summary: "tasks by where they were made and where they wait, and what they keep alive",
    discussion: """
      A task that waits keeps what its functions hold. One that no root reaches is leaked:
      nobody will resume it. --generation keeps the tasks that were made between a mark
      and the one before it: those that should have ended by now. Actors for which jobs
      wait are listed with their queues.
      """,
    options: Option.report + [.limit, .generation] + Option.naming + [.folder],
    examples: [
      Example("memgraph tasks exit.mgraph", "What still waits, and what that keeps alive."),
      Example(
        "memgraph tasks marks/call-5.mgraph --generation call-1",
        "The tasks of the first call that have not ended four calls later."),
    ]
  ) { call in
    let failOn = try FailOn(call.arguments, standard: .none)
    let progress = call.progress
    defer { progress.finish() }
    let inspection = try call.inspect(call.arguments.operands[0], progress: progress)
    let graph = inspection.graph
    let filter = try TypeFilter(call.arguments, snapshot: graph.snapshot)
    let tasks = graph.snapshot.tasks
    let rows = (0..<tasks.count).filter {
      filter.includesGeneration(of: NodeIndex(rawValue: tasks.node[$0]), in: graph)
    }
    progress.report(step: "sizing what tasks keep", done: 0, total: 0)
    let sizes = try RetainedSizes(of: graph)
    let names = inspection.names
    let groups = taskGroups(of: rows, in: graph, sizes: sizes) {
      TasksReport.key(ofTask: $0, names: names)
    }
    let report = TasksReport(
      groups: groups, queues: filter.isEmpty ? actorQueues(in: graph) : [],
      retained: sizes.retained(
        byAll: rows.map { NodeIndex(rawValue: tasks.node[$0]) }, in: graph),
      isFiltered: !filter.isEmpty, names: names)
    try call.write(report, of: [inspection.input], inspection, progress: progress)
    return failOn.status(FailOn.Found(leaks: groups.contains { $0.leakedCount > 0 }))
  }
}
