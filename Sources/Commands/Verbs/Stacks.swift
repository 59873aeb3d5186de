// stacks: live bytes by allocation stack, as a call tree.

internal import GraphAnalysis
internal import GraphPrimitives
internal import GraphReport
internal import HeapGraph

extension Verb {
  package static let stacks = Verb(
    "stacks", operands: "SNAP [TYPE]", operandCount: 1...2,
    summary: "live bytes by where they were allocated, as a call tree",
    discussion: """
      Each line has the bytes and the number of the objects that the function and all
      that it called have made and that are still alive.
      """,
    options: Option.report + Option.filters + Option.naming + [.folder],
    examples: [
      Example("memgraph stacks exit.mgraph", "Who made what is alive."),
      Example(
        "memgraph stacks marks/call-5.mgraph App.Frame --limit 40",
        "Who made the frames, in forty lines."),
    ]
  ) { call in
    let failOn = try FailOn(call.arguments, standard: .none)
    let progress = call.progress
    defer { progress.finish() }
    let inspection = try call.inspect(call.arguments.operands[0], progress: progress)
    let graph = inspection.graph
    let subject = call.arguments.operands.dropFirst().first
    let filter = try TypeFilter(call.arguments, snapshot: graph.snapshot)
    var nodes = liveNodes(of: graph)
    if let subject {
      nodes = try ObjectSearch.nodes(subject, in: graph).filter { graph.isAlive($0) }
    }
    progress.report(step: "summing up stacks", done: 0, total: 0)
    let tree = AllocationTree(of: filter.nodes(nodes, in: graph), in: graph)
    let costs = tree.exclusiveByRow.enumerated().filter { $0.element != .zero }.map {
      StacksReport.StackCost(
        stack: StackIndex($0.offset), cost: $0.element,
        samples: tree.samplesByRow.isEmpty ? nil : tree.samplesByRow[$0.offset])
    }
    let report = StacksReport(subject: subject ?? "", costs: costs, names: inspection.names)
    try call.write(report, of: [inspection.input], inspection, progress: progress)
    return failOn.status(FailOn.Found(leaks: inspection.totals.leaked.total.count > 0))
  }
}
