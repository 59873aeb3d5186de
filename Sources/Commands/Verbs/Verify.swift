// verify: whether what was found once is fixed.

internal import GraphReport

extension Verb {
  package static let verify = Verb(
    "verify", operands: "OLD NEW", operandCount: 2...2,
    summary: "for each leak of an older snapshot: fixed or still there; and what is new",
    discussion: """
      Of two snapshots the leaks are compared, and nothing else: growth that a root still
      reaches takes several marks to see. For that give two reports of growth or diff,
      written with --format json. Findings are compared by fingerprint, so OLD and NEW may
      be of different runs and builds of the program. Exits with 1 where
      something is still there or new; what --known accepts does not count, and --fail-on
      narrows that. As junit, what is fixed is a test that passes.
      """,
    options: Option.failingReport + Option.filters + [.known] + Option.naming + [.folder],
    examples: [
      Example(
        "memgraph verify before/exit.mgraph after/exit.mgraph",
        "Is it fixed, and has nothing else broken?"),
      Example(
        "memgraph verify growth-old.json growth-new.json",
        "The same for two reports of growth."),
    ]
  ) { call in
    let failOn = try FailOn(call.arguments, standard: .any, comparesMarks: true)
    let progress = call.progress
    defer { progress.finish() }
    let old = try FindingSource(call.arguments.operands[0], of: call, progress: progress)
    let new = try FindingSource(call.arguments.operands[1], of: call, progress: progress)
    try FindingSource.check(old, new)
    let rows = try call.knownRows(of: new.findings)
    // Two runs often have the same marks; then their files tell them apart.
    let titles =
      old.title == new.title
      ? (call.arguments.operands[0], call.arguments.operands[1]) : (old.title, new.title)
    let report = VerifyReport(
      old.verb == "leaks" && new.verb == "leaks" ? .leaks : .findings(ofVerb: new.verb),
      old: old.findings, new: new.findings, titles: titles, accepted: rows)
    let envelope = ReportEnvelope(
      tool: call.tool, version: toolVersion, verb: call.verb.name, inputs: old.inputs + new.inputs,
      totals: new.totals,
      report: call.arguments.has(.known)
        ? ReportWithKnown(report, rows: rows, openCount: report.openKinds.count) : report)
    try call.write(envelope, progress: progress)
    return failOn.status(FailOn.Found(kinds: report.openKinds))
  }
}
