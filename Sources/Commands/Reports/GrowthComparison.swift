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
  /// The snapshots of the marks that are left when those for warming up are left out, in the order in which they
  /// were taken.
  ///
  /// A shell that fills in names puts `it-10` before `it-2`, and growth would look like chance. Marks of one run
  /// know how many came before them; those of several runs stay as they were given.
  func warmedUp(_ marks: [String], progress: TerminalProgress) throws -> [ReportInput] {
    let left = arguments.number(.warmUp).map { max(0, marks.count - $0) } ?? marks.count
    if let count = arguments.number(.warmUp), left < 2 {
      throw UsageError(
        "--warm-up \(count)",
        "of \(marks.count) marks it leaves \(left), and growth wants two",
        mend: "leave out fewer")
    }
    let inputs = try marks.map { try read($0, progress: progress) }
    return Array(inTime(inputs).suffix(left))
  }

  /// Snapshots of one run in the order in which they were taken; two are left as they are given, since a
  /// comparison may be meant backwards.
  private func inTime(_ inputs: [ReportInput]) -> [ReportInput] {
    let first = inputs[0].snapshot.process
    let marks = inputs.map(\.snapshot.marks.count)
    guard first.runIdentity != 0, Set(marks).count == marks.count,
      inputs.allSatisfy({ $0.snapshot.process.runIdentity == first.runIdentity })
    else { return inputs }
    let order = inputs.indices.sorted { marks[$0] < marks[$1] }
    guard order != Array(inputs.indices) else { return inputs }
    if inputs.count == 2 {
      note("\(inputs[0].title) was taken after \(inputs[1].title): the comparison goes backwards")
      return inputs
    }
    note("the marks are put in the order in which they were taken")
    return order.map { inputs[$0] }
  }
}
