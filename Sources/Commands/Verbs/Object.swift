// object: one object: fields, retainers, stack, counts, generation.

internal import GraphAnalysis
internal import GraphPrimitives
internal import GraphReport
internal import HeapGraph

extension Verb {
  package static let object = Verb(
    "object", operands: "SNAP ADDRESS", operandCount: 2...2,
    summary: "one object: what it holds, what holds it, its counts, where it was made",
    discussion: "ADDRESS may lie anywhere in the object.",
    options: Option.report + [.limit] + Option.naming + [.folder],
    examples: [
      Example(
        "memgraph object marks/call-5.mgraph 0x7f3a10002340",
        "Everything that is known of the object."),
      Example(
        "memgraph object exit.mgraph 0x7f3a10002340 --limit all --format json",
        "The same, with all its holders, for another program."),
    ]
  ) { call in
    let failOn = try FailOn(call.arguments, standard: .none)
    let progress = call.progress
    defer { progress.finish() }
    let inspection = try call.inspect(call.arguments.operands[0], progress: progress)
    let graph = inspection.graph
    let text = call.arguments.operands[1]
    let node = try ObjectSearch.node(atAddress: text, in: graph)
    progress.report(step: "sizing what it retains", done: 0, total: 0)
    let retained = try RetainedSizes(of: graph).retained(by: node)
    var retainers: [ObjectReport.Retainer] = []
    var roots: [RootIndex] = []
    for retainer in graph.retainers(of: node) {
      switch retainer {
      case .edge(let edge):
        retainers.append(ObjectReport.Retainer(node: graph.source(of: edge), edge: edge))
      case .root(let root): roots.append(root)
      }
    }
    let digits = text.hasPrefix("0x") ? text.dropFirst(2) : text[...]
    let asked = UInt64(digits, radix: 16) ?? graph.address(of: node).rawValue
    let isReachable = graph.isReachable[node.position]
    let report = ObjectReport(
      node: node, fields: graph.references(of: node), retainers: retainers, roots: roots,
      isReachable: isReachable, retained: retained,
      offset: asked - graph.address(of: node).rawValue, names: inspection.names)
    try call.write(report, of: [inspection.input], inspection, progress: progress)
    return failOn.status(FailOn.Found(leaks: !isReachable))
  }
}
