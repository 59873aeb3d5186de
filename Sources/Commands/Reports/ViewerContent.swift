// ViewerContent: everything that the viewer shows, from the analyses that the other verbs use, too.

internal import GraphAnalysis
internal import GraphPrimitives
internal import GraphReport
internal import GraphViewer
internal import HeapGraph
internal import SnapshotFormat

/// Everything that the viewer shows, and what of it may be a failure.
struct ViewerContent {
  let input: ViewerInput
  let found: FailOn.Found

  /// Reads and analyses the snapshots of a call.
  ///
  /// - Parameter limit: How many findings and rows the static part shows; nil for all.
  init(
    _ call: Invocation, embedding: ViewerInput.Embedding, limit: Int?, progress: TerminalProgress
  ) throws {
    let inputs = try call.arguments.operands.map { try call.read($0, progress: progress) }
    let last = try call.inspect(inputs[inputs.count - 1], progress: progress)
    let graph = last.graph
    let names = last.names
    let noFilter = try TypeFilter(call.arguments, snapshot: graph.snapshot)
    progress.report(step: "looking for leaks", done: 0, total: 0)
    let leaks = try GraphAnalysis.leaks(in: graph)
    var causes = leaks.findings.filter { $0.kind != .zombie }
    var found = FailOn.Found(leaks: !leaks.findings.isEmpty)
    var change: ViewerInput.Change?
    if inputs.count > 1 {
      progress.report(step: "comparing", done: 0, total: 0)
      let first = try call.inspect(inputs[0], progress: progress)
      let nonOwners = try call.configuration().nonOwners
      var growth: GrowthReportValues?
      if inputs.count > 2 {
        growth = try GrowthComparison.values(
          of: inputs, last: graph, filter: noFilter, nonOwners: nonOwners, progress: progress)
      }
      let comparison = try Comparison(
        from: first, to: last, filter: noFilter, nonOwners: nonOwners, growth: growth)
      let difference = DifferenceReport(comparison, from: first, to: last)
      causes += comparison.findings.filter { $0.kind == .abandoned }
      found.abandoned = comparison.findings.contains { $0.kind == .abandoned }
      found.growth =
        growth.map { $0.growing.contains(where: \.isOwn) }
        ?? comparison.changes.contains { $0.isOwn && $0.net.count > 0 }
      let staircase =
        inputs.count == 2 ? [] : Staircase.rows(of: inputs.map(\.snapshot), filter: noFilter)
      change = ViewerInput.Change(
        born: comparison.bornNodes, bornTypes: comparison.born, diedTypes: comparison.died,
        isExact: comparison.isExact,
        report: growth.map {
          StaircaseReport(inputs: inputs, rows: staircase, growth: $0, difference: difference)
        } ?? difference)
    }
    // Destroyed objects last, as in other reports: their memory is small beside what leaks retain.
    let findings = sorted(causes, in: graph) + leaks.findings.filter { $0.kind == .zombie }

    progress.report(step: "sizing what objects retain", done: 0, total: 0)
    let sizes = try RetainedSizes(of: graph)
    let tasks = graph.snapshot.tasks
    let taskRows = Array(0..<tasks.count)
    let groups = taskGroups(of: taskRows, in: graph, sizes: sizes) {
      TasksReport.key(ofTask: $0, names: names)
    }
    let queues = actorQueues(in: graph)
    let retainedByTasks = sizes.retained(
      byAll: taskRows.map { NodeIndex(rawValue: tasks.node[$0]) }, in: graph)
    self.found = found
    input = ViewerInput(
      toolName: call.tool, toolVersion: toolVersion, inputs: inputs, graph: graph, names: names,
      totals: last.totals, sizes: sizes, check: try AnalysisCheck(of: graph, sizes: sizes),
      liveTypes: inputs.map { liveTypes(of: $0.snapshot) }, findings: findings, leaks: leaks,
      change: change, summary: try SummaryReport(of: last, filter: noFilter),
      findingsReport: LeaksReport(
        findings: findings, totals: last.totals, unattributed: .zero, isFiltered: false,
        names: names),
      tasks: TasksReport(
        groups: groups, queues: queues, retained: retainedByTasks, isFiltered: false, names: names),
      taskGroups: groups, actorQueues: queues,
      part: embedding == .leaks
        ? try findingSlice(of: findings, leaked: leaks.leakedNodes, in: graph, sizes: sizes) : nil,
      limit: limit)
  }
}
