// diff: what survived between two marks, by exact identity; a staircase for more of them.

internal import GraphAnalysis
internal import GraphPrimitives
internal import GraphReport
internal import HeapGraph
internal import SnapshotFormat

extension Verb {
  /// `memgraph diff`.
  package static let diff = diffVerb(command: "memgraph diff")

  /// The verb under the name of the tool that it is called by.
  fileprivate static func diffVerb(command: String) -> Verb {
    Verb(
      "diff", operands: "A [B...]", operandCount: 1...10_000,
      summary: "what survived between two marks, by type, and what holds it",
      discussion: """
        A and B are snapshot files, or names of marks in the folder of a recording. Objects
        are told apart by identity, so an object that took a dead one's place is born.
        More than two marks show a staircase: how many of each type were alive at each,
        and the ways on which objects keep growing; what grew and has stopped, as a cache
        does, is shown apart and is no finding. A alone is reported by itself.

        Exits with 1 where there are findings: a type of the program's own of which more
        were born than died, or born objects that are leaked. Types of Swift, Foundation
        and the system's libraries are shown, but are findings only where --type, --module
        or --generation asks for them. --fail-on growth, abandoned (growth that a root
        reaches), leaks, any (default) or none narrows that.
        """,
      options: [.warmUp] + Option.failingReport + Option.filters + [.known] + Option.naming
        + [.folder, .config],
      examples: [
        Example(
          "\(command) marks/call-1.mgraph marks/call-5.mgraph",
          "What four calls have left behind, and what holds it."),
        Example(
          "\(command) --in marks call-1 call-2 call-3 call-4",
          "The same marks by name, as a staircase."),
      ]
    ) { call in
      let progress = call.progress
      defer { progress.finish() }
      let operands = call.arguments.operands
      let failOn = try FailOn(call.arguments, standard: .any, comparesMarks: operands.count > 1)
      if operands.count == 1, !call.arguments.has(.warmUp) {
        return try reportAlone(operands[0], call, failOn: failOn, progress: progress)
      }
      let inputs = try call.warmedUp(operands, progress: progress)
      let first = try call.inspect(inputs[0], progress: progress)
      let last = try call.inspect(inputs[inputs.count - 1], progress: progress)
      let filter = try TypeFilter(call.arguments, snapshot: last.graph.snapshot)
      let nonOwners = try call.configuration().nonOwners
      var growth: GrowthReportValues?
      if inputs.count > 2 {
        growth = try GrowthComparison.values(
          of: inputs, last: last.graph, filter: filter, nonOwners: nonOwners, progress: progress)
      }
      progress.report(step: "comparing", done: 0, total: 0)
      var comparison = try Comparison(
        from: first, to: last, filter: filter, nonOwners: nonOwners, growth: growth)
      let judged = try call.judge(comparison.findings, names: last.names)
      comparison.findings = judged?.open ?? comparison.findings
      let difference = DifferenceReport(comparison, from: first, to: last)
      let report: any Report
      if let growth {
        report = StaircaseReport(
          inputs: inputs, rows: Staircase.rows(of: inputs.map(\.snapshot), filter: filter),
          growth: growth, difference: difference)
      } else {
        report = difference
      }
      try call.write(judged.annotating(report), of: inputs, last, progress: progress)
      let isAllKnown = judged?.hidesAny == true && comparison.findings.isEmpty
      return failOn.status(
        FailOn.Found(
          leaks: comparison.findings.contains { $0.kind == .leak || $0.kind == .zombie },
          abandoned: comparison.findings.contains { $0.kind == .abandoned },
          growth: !isAllKnown
            && (growth.map { $0.growing.contains(where: \.isOwn) }
              ?? comparison.changes.contains { $0.isOwn && $0.net.count > 0 })
        ))
    }
  }

  /// Reports a snapshot that there is nothing to compare with.
  private static func reportAlone(
    _ operand: String, _ call: Invocation, failOn: FailOn, progress: TerminalProgress
  ) throws -> ExitStatus {
    let inspection = try call.inspect(operand, progress: progress)
    let filter = try TypeFilter(call.arguments, snapshot: inspection.graph.snapshot)
    progress.report(step: "looking for leaks", done: 0, total: 0)
    let found = try GraphAnalysis.leaks(in: inspection.graph)
    let all = filter.findings(found.findings, in: inspection.graph)
    let judged = try call.judge(all, names: inspection.names)
    let findings = judged?.open ?? all
    let report = SnapshotReport(
      summary: try SummaryReport(of: inspection, filter: filter),
      leaks: LeaksReport(
        findings: findings, totals: inspection.totals, unattributed: found.unattributedBlocks,
        isFiltered: !filter.isEmpty || judged?.hidesAny == true, names: inspection.names))
    try call.write(
      judged.annotating(report), of: [inspection.input], inspection, progress: progress)
    return failOn.status(FailOn.Found(leaks: !findings.isEmpty))
  }
}

extension Tool {
  /// `graphdiff`, which does what `memgraph diff` does.
  package static let graphdiff: Tool = Tool("graphdiff", only: .diffVerb(command: "graphdiff"))
}
