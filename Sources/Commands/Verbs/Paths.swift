// paths: who retains this.

internal import GraphAnalysis
internal import GraphPrimitives
internal import GraphReport
internal import HeapGraph

extension Option {
  static let all = Option("all", .flag, help: "every kind of way that is found, up to 1,000")
  static let maximum = Option("max", .count("N"), help: "at most N kinds of ways (default: 5)")
  static let merged = Option(
    "merged", .flag, help: "only the shortest way of each object, with how many share it")
  static let through = Option(
    "through", .text("FIELD"), isRepeatable: true,
    help: "only ways by this field, as listeners or App.Hub.listeners; can be repeated")
  static let avoid = Option(
    "avoid", .text("FIELD"), isRepeatable: true,
    help: "no way by this field; can be repeated")
}

extension Verb {
  package static let paths = Verb(
    "paths", operands: "SNAP TYPE|ADDRESS", operandCount: 2...2,
    summary: "who retains this: the ways that lead to it from the roots",
    discussion: """
      TYPE is a name or a pattern, with the module or without: App.Model, Model, *Model.
      Ways that differ in addresses and indices only are one. What no root reaches has no
      way; `memgraph leaks` shows what keeps it.
      """,
    options: [.maximum, .all, .merged, .through, .avoid] + Option.report + [.limit, .generation]
      + Option.naming + [.folder],
    examples: [
      Example(
        "memgraph paths marks/call-5.mgraph App.CallViewController",
        "Everything that keeps the screen alive, the shortest way first."),
      Example(
        "memgraph paths exit.mgraph 0x7f3a10002340 --avoid App.Cache.entries",
        "What holds one object if the cache does not."),
    ]
  ) { call in
    let failOn = try FailOn(call.arguments, standard: .none)
    if call.arguments.has(.all), call.arguments.has(.maximum) {
      throw UsageError("--all", "does not go with --max", mend: "give one of them")
    }
    let progress = call.progress
    defer { progress.finish() }
    let inspection = try call.inspect(call.arguments.operands[0], progress: progress)
    let graph = inspection.graph
    let subject = call.arguments.operands[1]
    let filter = try TypeFilter(call.arguments, snapshot: graph.snapshot)
    let targets = filter.nodes(try ObjectSearch.nodes(subject, in: graph), in: graph)
      .filter { graph.isAlive($0) || subject.hasPrefix("0x") }
    progress.report(step: "looking for ways", done: 0, total: 0)
    let maximum = call.arguments.has(.all) ? 1_000 : call.arguments.number(.maximum) ?? 5
    let found = try GraphAnalysis.paths(
      to: targets, in: graph,
      options: PathOptions(
        maximum: maximum, through: call.arguments.texts(.through).map { FieldPattern($0) },
        avoid: call.arguments.texts(.avoid).map { FieldPattern($0) },
        isMerged: call.arguments.has(.merged)))
    let report = PathsReport(
      ways: found.groups.map { PathsReport.Way(path: $0.path, count: $0.targets.count) },
      subject: subject, targets: graph.cost(of: targets),
      unreachableCount: targets.count { !graph.isReachable[$0.position] },
      isMerged: call.arguments.has(.merged), isCutOff: found.isCutOff,
      suggestion: targets.isEmpty ? ObjectSearch.nearestType(to: subject, in: graph) : nil,
      names: inspection.names)
    try call.write(report, of: [inspection.input], inspection, progress: progress)
    return failOn.status(FailOn.Found(leaks: targets.contains { !graph.isReachable[$0.position] }))
  }
}
