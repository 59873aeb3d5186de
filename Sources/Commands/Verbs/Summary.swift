// summary: types by count and bytes, roots, generations, the process's memory explained.

internal import GraphAnalysis
internal import GraphPrimitives
internal import GraphReport
internal import HeapGraph
internal import SnapshotFormat

extension Verb {
  package static let summary = Verb(
    "summary", operands: "SNAP", operandCount: 1...1,
    summary: "what is alive: types by count and bytes, roots, generations, memory",
    discussion: """
      Sizes are what the program asked the allocator for; a KB has 1,024 bytes. What is
      leaked is alive, too: the first line tells how much of it. The reference counts
      say how far the snapshot can be trusted: objects with more retains than holders
      are held by something that was not found. Equal strings and room that nothing is
      in are notes, and no findings: sharing and trimming may pay, or not.
      """,
    options: Option.report + Option.filters + Option.naming + [.folder],
    examples: [
      Example(
        "memgraph summary marks/call-5.mgraph", "What is alive at the mark, by type."),
      Example(
        "memgraph summary exit.mgraph --module App --format json",
        "The types of one module, for another program."),
    ]
  ) { call in
    let failOn = try FailOn(call.arguments, standard: .none)
    let progress = call.progress
    defer { progress.finish() }
    let inspection = try call.inspect(call.arguments.operands[0], progress: progress)
    let filter = try TypeFilter(call.arguments, snapshot: inspection.graph.snapshot)
    progress.report(step: "counting", done: 0, total: 0)
    let report = try SummaryReport(of: inspection, filter: filter)
    try call.write(report, of: [inspection.input], inspection, progress: progress)
    return failOn.status(FailOn.Found(leaks: inspection.totals.leaked.total.count > 0))
  }
}

extension SummaryReport {
  /// The summary of a snapshot's objects that pass a filter.
  init(of inspection: Inspection, filter: TypeFilter) throws {
    let graph = inspection.graph
    let shown = filter.nodes(liveNodes(of: graph), in: graph)
    let isSampled = graph.snapshot.sampling != nil
    var costByGeneration: [Generation: BirthCost] = [:]
    for node in shown {
      let cost = graph.birthCost(of: node)
      if cost.samples > 0 { costByGeneration[graph.generation(of: node), default: .zero] += cost }
    }
    var countByRootKind: [UInt8: Int] = [:]
    let roots = graph.snapshot.roots
    for row in 0..<roots.count where EdgeInfo(rawValue: roots.info[row]).isStrong {
      countByRootKind[roots.kind[row], default: 0] += 1
    }
    let counts = try audit(graph)
    self.init(
      input: inspection.input, histogram: histogram(of: shown, in: graph),
      totals: inspection.totals,
      rootCounts: countByRootKind.sorted { $0.key < $1.key }.compactMap { raw, count in
        RootKind(rawValue: raw).map { ($0, count) }
      },
      generations: graph.snapshot.process.hasAgent
        ? costByGeneration.sorted { $0.key < $1.key }.map {
          SummaryReport.GenerationCost(
            generation: UInt16($0.key.rawValue), cost: $0.value.rounded,
            samples: isSampled ? $0.value.samples : nil)
        } : [],
      audit: SummaryReport.CountAudit(
        exact: counts.exact, unexplained: counts.rows.reduce(0) { $0 + $1.unexplained },
        overCounted: counts.rows.reduce(0) { $0 + $1.overCounted }),
      waste: storageWaste(of: shown, in: graph),
      names: inspection.names)
  }
}
