// audit: reference counts against the references that were found.

internal import GraphAnalysis
internal import GraphPrimitives
internal import GraphReport
internal import HeapGraph

extension Verb {
  package static let audit = Verb(
    "audit", operands: "SNAP", operandCount: 1...1,
    summary: "reference counts against the references found: objects retained too often",
    discussion: """
      Each object's header says how often it is retained. An object with more retains than
      holders is over-retained: Unmanaged.passRetained without a release, or a holder that
      memory doesn't show, such as a C library. A zombie is destroyed and its memory kept
      by unowned references. Both are findings. An object with fewer retains than holders
      is a mistake of this tool. Exits with 0 whatever is found, unless --fail-on asks for more.
      """,
    options: Option.findingReport + Option.filters + [.known] + Option.naming + [.folder],
    examples: [
      Example(
        "memgraph audit exit.mgraph", "Which objects are retained too often, and where made."),
      Example(
        "memgraph audit exit.mgraph --module App --fail-on any",
        "Fail a build when a type of the program is over-retained."),
    ]
  ) { call in
    let failOn = try FailOn(call.arguments, standard: .none)
    let progress = call.progress
    defer { progress.finish() }
    let inspection = try call.inspect(call.arguments.operands[0], progress: progress)
    let graph = inspection.graph
    let filter = try TypeFilter(call.arguments, snapshot: graph.snapshot)
    progress.report(step: "comparing counts", done: 0, total: 0)
    let counts = try GraphAnalysis.audit(graph)
    let all = filter.findings(counts.overRetained + counts.zombies, in: graph)
    let judged = try call.judge(all, names: inspection.names)
    let findings = judged?.open ?? all
    let types = Set(filter.nodes(Array(graph.nodes), in: graph).map { graph.typeName(of: $0) })
    let report = CountsReport(
      audit: counts, findings: findings, rows: counts.rows.filter { types.contains($0.type) },
      isFiltered: !filter.isEmpty, names: inspection.names)
    try call.write(
      judged.annotating(report), of: [inspection.input], inspection, progress: progress)
    return failOn.status(
      FailOn.Found(
        leaks: inspection.totals.leaked.total.count > 0, other: !findings.isEmpty))
  }
}
