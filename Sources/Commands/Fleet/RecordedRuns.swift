// RecordedRuns: snapshots sorted by the run that they are of, and what was found in each run.

internal import Glibc
internal import GraphAnalysis
internal import GraphPrimitives
internal import GraphReport
internal import HeapGraph
internal import SnapshotFormat

/// The snapshots of some runs.
enum RecordedRuns {
  /// Snapshots by run, runs in the order in which the first snapshot of each was given. Within a run they are oldest first,
  /// and as given where nothing tells.
  ///
  /// Without an agent the process tells the run.
  static func grouped(_ inputs: [ReportInput]) -> [[ReportInput]] {
    struct Key: Hashable {
      var identity: UInt64
      var pid: UInt32
      var executable: String
    }
    var order: [Key] = []
    var runs: [Key: [ReportInput]] = [:]
    for input in inputs {
      let process = input.snapshot.process
      let isKnown = process.runIdentity != 0
      let key = Key(
        identity: process.runIdentity, pid: isKnown ? 0 : process.pid,
        executable: isKnown ? "" : process.executable)
      if runs[key] == nil { order.append(key) }
      runs[key, default: []].append(input)
    }
    func generation(_ input: ReportInput) -> UInt16 { input.snapshot.marks.last?.generation ?? 0 }
    return order.compactMap { runs[$0] }.map { run in
      run.enumerated().sorted { left, right in
        let (a, b) = (generation(left.element), generation(right.element))
        return a != b ? a < b : left.offset < right.offset
      }.map(\.element)
    }
  }
}

extension Invocation {
  /// Looks into the snapshots of a run and makes its record.
  ///
  /// - Complexity: that of `leaks(in:cancel:)`, and of a study of growth where there is more than one snapshot.
  func record(
    _ inputs: [ReportInput], facts: RunFacts, progress: some ProgressSink
  ) throws -> RunRecord {
    let last = try inspect(inputs[inputs.count - 1], progress: progress)
    let filter = try TypeFilter(arguments, snapshot: last.graph.snapshot)
    progress.report(step: "looking for leaks", done: 0, total: 0)
    let leaks = try GraphAnalysis.leaks(in: last.graph).findings
    var growth: [RunRecord.Growth]?
    if inputs.count > 1 {
      let values = try GrowthComparison.values(
        of: inputs, last: last.graph, filter: filter, nonOwners: try configuration().nonOwners,
        progress: progress)
      growth = values.growing.filter(\.isOwn).map { place in
        RunRecord.Growth(
          row: VerifyReport.Row(place.finding, names: last.names),
          increase: (place.costs.last ?? .zero) - (place.costs.first ?? .zero))
      }
    }
    return RunRecord(
      facts, time: facts.time ?? Self.time(ofFile: last.input.path), inputs: inputs,
      totals: last.totals, findings: leaks.map { VerifyReport.Row($0, names: last.names) },
      growth: growth)
  }

  /// When a file was written.
  private static func time(ofFile path: String) -> UTCTime {
    var status = stat()
    return UTCTime(
      secondsSince1970: stat(path, &status) == 0 ? status.st_mtim.tv_sec : Glibc.time(nil))
  }
}

extension RunRecord {
  /// Writes the record into a folder of records: `DIR/date=2027-03-31/NAME.jsonl`, whole or not at all.
  ///
  /// Any number of processes and machines may write into a folder at once: no two records have the same file unless they
  /// are the same.
  ///
  /// - Returns: The file, and whether it is new.
  func write(to folder: String) throws(CommandError) -> (path: String, isNew: Bool) {
    let day = folder + (folder.hasSuffix("/") ? "" : "/") + "date=" + self.day
    try Self.makeFolders(day)
    let path = day + "/" + name + ".jsonl"
    // A damaged file of that name is mended.
    if let bytes = try? InputFile.bytes(path), bytes == Array(text.utf8) { return (path, false) }
    try ReportFile.write(text, to: path, isDurable: true)
    return (path, true)
  }

  /// Makes a folder and those that it lies in.
  private static func makeFolders(_ path: String) throws(CommandError) {
    var made = path.hasPrefix("/") ? "/" : ""
    for part in path.split(separator: "/") {
      made += (made.isEmpty || made == "/" ? "" : "/") + part
      guard mkdir(made, 0o777) != 0, errno != EEXIST else { continue }
      // A folder above that may be entered and not written to is no error yet.
      let reason = errno
      var status = stat()
      guard stat(made, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
        throw CommandError(
          path, "cannot make the folder: " + String(cString: strerror(reason)), status: .impossible)
      }
    }
  }
}
