// cycles: every strongly connected component, the reachable ones too.

internal import GraphAnalysis
internal import GraphPrimitives
internal import GraphReport
internal import HeapGraph

extension Verb {
  package static let cycles = Verb(
    "cycles", operands: "SNAP", operandCount: 1...1,
    summary: "every cycle of references, those that roots still hold, too",
    discussion: """
      A cycle that a root holds is no leak; it becomes one when the root lets go without
      breaking it. --known leaves out what was accepted, leaked or not.
      """,
    options: Option.report + Option.filters + [.known] + Option.naming + [.folder],
    examples: [
      Example(
        "memgraph cycles marks/call-1.mgraph",
        "Cycles in the middle of a call, before they have become leaks."),
      Example(
        "memgraph cycles marks/call-1.mgraph --type App.CallViewController",
        "The cycles that one type is part of."),
    ]
  ) { call in
    let failOn = try FailOn(call.arguments, standard: .none)
    let progress = call.progress
    defer { progress.finish() }
    let inspection = try call.inspect(call.arguments.operands[0], progress: progress)
    let filter = try TypeFilter(call.arguments, snapshot: inspection.graph.snapshot)
    progress.report(step: "looking for cycles", done: 0, total: 0)
    let all = try GraphAnalysis.cycles(in: inspection.graph).filter {
      filter.includesType(members: $0.members, cycle: $0.cycle, in: inspection.graph)
        && $0.members.contains { filter.includesGeneration(of: $0, in: inspection.graph) }
    }
    let known = try call.knownRows(of: all, names: inspection.names)
    let hidden = Set(known.filter { $0.state == .known }.map(\.fingerprint))
    let groups = all.filter { !hidden.contains($0.fingerprint) }
    let report = CyclesReport(groups: groups, names: inspection.names)
    try call.write(
      call.arguments.has(.known)
        ? ReportWithKnown(report, rows: known, openCount: groups.count) : report,
      of: [inspection.input], inspection, progress: progress)
    return failOn.status(FailOn.Found(leaks: groups.contains { !$0.isReachable }))
  }
}
