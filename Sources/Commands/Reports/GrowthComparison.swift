// GrowthComparison: several marks studied for growth, one graph in memory at a time.

internal import GraphAnalysis
internal import GraphPrimitives
internal import GraphReport
internal import HeapGraph
internal import SnapshotFormat

/// Studies growth over several snapshots.
enum GrowthComparison {
  /// What grows.
  ///
  /// - Parameter last: The graph of the last input.
  static func values(
    of inputs: [ReportInput], last: HeapGraph, filter: TypeFilter, nonOwners: [FieldPattern],
    progress: some ProgressSink
  ) throws -> GrowthReportValues {
    var study = GrowthStudy(nonOwners: nonOwners)
    for (place, input) in inputs.enumerated() {
      progress.report(
        step: "counting the objects of \(input.title)", done: place, total: inputs.count)
      let isLast = place == inputs.count - 1
      let graph = isLast ? last : try HeapGraph(input.snapshot)
      try study.add(graph) { filter.isEmpty || filter.includes($0, in: graph) }
    }
    progress.report(step: "finding what holds them", done: 0, total: 0)
    return try study.values(last: last, countsAll: filter.asksForTypes)
  }
}

extension Invocation {
  /// The marks that are left when those for warming up are left out.
  func warmedUp(_ marks: [String]) throws -> [String] {
    guard let count = arguments.number(.warmUp) else { return marks }
    let rest = marks.dropFirst(count)
    guard rest.count > 1 else {
      throw UsageError(
        "--warm-up \(count)",
        "of \(marks.count) marks it leaves \(rest.count), and growth wants two",
        mend: "leave out fewer")
    }
    return Array(rest)
  }
}
