// leaks: what is unreachable, grouped; each group with its cycle and the edge to cut.

internal import GraphAnalysis
internal import GraphPrimitives
internal import GraphReport
internal import HeapGraph

extension Verb {
  package static let leaks = Verb(
    "leaks", operands: "SNAP", operandCount: 1...1,
    summary: "what no root reaches, with the cycle that keeps it and the edge to cut",
    discussion: """
      Objects that only leaked objects hold are counted in the totals but are no findings
      of their own: cut the edge that a finding names and they go with it. A destroyed
      object whose memory unowned references still keep is a finding, too. --type,
      --module and --generation keep the findings of which a member or a step of the
      cycle matches. Exits with 1 where there are findings.
      """,
    options: Option.failingReport + Option.filters + [.known] + Option.naming + [.folder],
    examples: [
      Example(
        "memgraph leaks marks/call-5.mgraph", "The cycles, each with the edge to cut."),
      Example(
        "memgraph leaks exit.mgraph --module App --format markdown -o leaks.md",
        "The leaks of one module as a comment for a pull request."),
    ]
  ) { call in
    let failOn = try FailOn(call.arguments, standard: .any)
    let progress = call.progress
    defer { progress.finish() }
    let inspection = try call.inspect(call.arguments.operands[0], progress: progress)
    let filter = try TypeFilter(call.arguments, snapshot: inspection.graph.snapshot)
    progress.report(step: "looking for leaks", done: 0, total: 0)
    let found = try GraphAnalysis.leaks(in: inspection.graph)
    let all = filter.findings(found.findings, in: inspection.graph)
    let judged = try call.judge(all, names: inspection.names)
    let findings = judged?.open ?? all
    let report = LeaksReport(
      findings: findings, totals: inspection.totals, unattributed: found.unattributedBlocks,
      isFiltered: !filter.isEmpty || judged?.hidesAny == true, names: inspection.names)
    try call.write(
      judged.annotating(report), of: [inspection.input], inspection, progress: progress)
    return failOn.status(FailOn.Found(leaks: !findings.isEmpty))
  }
}
