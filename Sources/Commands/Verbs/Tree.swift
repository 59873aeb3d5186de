// tree: what would go with what.

internal import GraphAnalysis
internal import GraphPrimitives
internal import GraphReport
internal import HeapGraph

extension Verb {
  package static let tree = Verb(
    "tree", operands: "SNAP [TYPE|ADDRESS]", operandCount: 1...2,
    summary: "what would go with what: the dominator tree with retained sizes",
    discussion: """
      A line tells what would be freed if its objects went, in bytes and objects; below it
      stands what would go with them, by field and type. What several others hold is freed
      by none of them alone: it stands below what they hang on together. The links of a
      list are one line. With a TYPE or an ADDRESS the tree begins at those objects; so it
      does with --type, --module and --generation.
      """,
    options: Option.report + Option.filters + Option.naming + [.folder],
    examples: [
      Example("memgraph tree exit.mgraph", "Which variables and objects keep the most."),
      Example(
        "memgraph tree marks/call-5.mgraph App.CallViewController --limit 40",
        "What would go with the screens, in forty lines."),
    ]
  ) { call in
    let failOn = try FailOn(call.arguments, standard: .none)
    let progress = call.progress
    defer { progress.finish() }
    let inspection = try call.inspect(call.arguments.operands[0], progress: progress)
    let graph = inspection.graph
    let operand = call.arguments.operands.dropFirst().first
    let filter = try TypeFilter(call.arguments, snapshot: graph.snapshot)
    var asked = liveNodes(of: graph)
    if let operand {
      asked = try ObjectSearch.nodes(operand, in: graph).filter {
        graph.isAlive($0) || operand.hasPrefix("0x")
      }
    }
    asked = filter.nodes(asked, in: graph)
    progress.report(step: "sizing what objects retain", done: 0, total: 0)
    let isWhole = operand == nil && filter.isEmpty
    let tree = try DominatedGroups(
      of: graph, sizes: try RetainedSizes(of: graph), asked: isWhole ? nil : asked)
    let report = TreeReport(
      tree, subject: operand ?? (isWhole ? "" : filter.description), asked: graph.cost(of: asked),
      live: inspection.totals.live.total,
      suggestion: asked.isEmpty
        ? operand.flatMap { ObjectSearch.nearestType(to: $0, in: graph) } : nil,
      names: inspection.names)
    try call.write(report, of: [inspection.input], inspection, progress: progress)
    return failOn.status(FailOn.Found(leaks: inspection.totals.leaked.total.count > 0))
  }
}
