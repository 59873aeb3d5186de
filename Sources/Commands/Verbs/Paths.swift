// paths: who retains this.

internal import GraphAnalysis
internal import GraphPrimitives
internal import GraphReport
internal import HeapGraph

extension Option {
  static let all = Option("all", .flag, help: "every kind of way that is found, up to 1,000")
  static let maximum = Option(
    "max", .count("N"),
    help: "at most N kinds of ways (default: 5); to a single object the N shortest")
  static let merged = Option(
    "merged", .flag,
    help: "the shortest way of each object, all of them as a tree with numbers of objects")
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

      A field that owns nothing, such as a cache's, can be declared in .memgraph.json:
      {"nonOwners": ["App.Cache.entries"]}. It is no explanation then: what it holds
      alone is counted apart.
      """,
    options: [.maximum, .all, .merged, .through, .avoid] + Option.report + Option.filters
      + Option.naming + [.folder, .config],
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
    let isMerged = call.arguments.has(.merged)
    let nonOwners = try call.configuration().nonOwners
    let avoid = call.arguments.texts(.avoid).map { FieldPattern($0) }
    let found = try GraphAnalysis.paths(
      to: targets, in: graph,
      options: PathOptions(
        maximum: isMerged && !call.arguments.has(.maximum) ? .max : maximum,
        through: call.arguments.texts(.through).map { FieldPattern($0) },
        avoid: avoid + nonOwners, isMerged: isMerged,
        // Who asks for a number of ways to one object wants the shortest ones.
        isStrict: targets.count == 1
          && (call.arguments.has(.all) || call.arguments.has(.maximum))))
    // Of what no way leads to now, some is held by the fields that own nothing.
    let passedOver =
      nonOwners.isEmpty || found.unreachable.isEmpty
      ? 0
      : try GraphAnalysis.paths(
        to: found.unreachable, in: graph, options: PathOptions(avoid: avoid, isMerged: true)
      ).groups.reduce(0) { $0 + $1.targets.count }
    let unreachable = targets.filter { !graph.isReachable[$0.position] }
    let report = PathsReport(
      ways: found.groups.map { PathsReport.Way(path: $0.path, own: $0.own) },
      subject: subject, targets: graph.cost(of: targets),
      unreachableCount: unreachable.count,
      leakedCount: unreachable.isEmpty
        ? 0 : try Set(leakedNodes(in: graph)).intersection(unreachable).count,
      heldCount: targets.count - found.unreachable.count, isMerged: isMerged,
      isCutOff: found.isCutOff,
      passedOver: (nonOwners.map(\.text), passedOver),
      suggestion: targets.isEmpty ? ObjectSearch.nearestType(to: subject, in: graph) : nil,
      names: inspection.names)
    try call.write(report, of: [inspection.input], inspection, progress: progress)
    return failOn.status(FailOn.Found(leaks: !unreachable.isEmpty))
  }
}
