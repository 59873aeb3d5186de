// growth: what grows with each repetition, by the way on which it is held.

internal import GraphAnalysis
internal import GraphPrimitives
internal import GraphReport
internal import HeapGraph

extension Verb {
  package static let growth = Verb(
    "growth", operands: "SNAP SNAP [SNAP...]", operandCount: 2...10_000,
    summary: "what grows with each repetition, by the way that holds it, and what stopped",
    discussion: """
      Give the marks of equal repetitions, oldest first. A place is a way from a root to
      objects, without indices; told is the place where growth begins, with what grows
      below it. It grows while its number rises to the end; it has stopped when the marks
      since the last rise are more than the longest pause before. So a queue that grows
      at each tenth mark grows, and a cache that has filled up is shown apart and is no
      finding. The table below counts types at each mark, with a verdict.

      Exits with 1 where something of the program's own keeps growing: reachable
      (--fail-on abandoned) or leaked (--fail-on leaks).
      """,
    options: [.warmUp] + Option.failingReport + Option.filters + [.known] + Option.naming
      + [.folder, .config],
    examples: [
      Example(
        "memgraph growth --in marks call-1 call-2 call-3 call-4 call-5",
        "What each call leaves behind, and what holds it."),
      Example(
        "memgraph growth --warm-up 1 it-0.mgraph it-1.mgraph it-10.mgraph it-40.mgraph",
        "A lifetime study: live instances at iterations 1, 10 and 40, with a verdict."),
    ]
  ) { call in
    let progress = call.progress
    defer { progress.finish() }
    let failOn = try FailOn(call.arguments, standard: .any, comparesMarks: true)
    let inputs = try call.warmedUp(call.arguments.operands, progress: progress)
    let last = try call.inspect(inputs[inputs.count - 1], progress: progress)
    let filter = try TypeFilter(call.arguments, snapshot: last.graph.snapshot)
    var values = try GrowthComparison.values(
      of: inputs, last: last.graph, filter: filter,
      nonOwners: try call.configuration().nonOwners, progress: progress)
    let judged = try call.judge(values.findings, names: last.names)
    if let open = judged?.open {
      let fingerprints = Set(open.map(\.fingerprint))
      values.growing.removeAll { $0.isOwn && !fingerprints.contains($0.finding.fingerprint) }
    }
    let report = GrowthReport(
      values, inputs: inputs,
      types: Staircase.rows(of: inputs.map(\.snapshot), filter: filter, keepsSteady: true),
      names: last.names)
    try call.write(judged.annotating(report), of: inputs, last, progress: progress)
    let found = values.findings
    return failOn.status(
      FailOn.Found(
        leaks: found.contains { $0.kind == .leak },
        abandoned: found.contains { $0.kind == .abandoned }, growth: !found.isEmpty))
  }
}
