// BundleContents: what of a folder goes into a bundle: the snapshots by run, reports, pages.

internal import Glibc
internal import GraphAnalysis
internal import GraphPrimitives
internal import GraphReport
internal import SnapshotFormat

/// A file to put into a bundle.
struct BundleFile {
  /// Where it is.
  var path: String

  /// Its path below the folder that was collected.
  var name: String
  var bytes: Int
}

/// The snapshots of one run of a program.
struct BundleRun {
  /// Oldest first.
  var snapshots: [BundleFile]

  var executable: String
  var objectCount: Int

  /// What was found in the last one, which has all leaks of those before.
  var findings: [VerifyReport.Row] = []

  /// A page that was there beside the last snapshot.
  var page: BundleFile?

  /// The name of the last snapshot, without its ending.
  var title: String { snapshots.last.map { String($0.name.dropLast(7)) } ?? "" }
}

/// What some folders have for a bundle.
struct BundleContents {
  var runs: [BundleRun] = []

  /// Findings that reports in the folders tell, which may be of growth.
  var reportedFindings: [BundleReport.Found] = []

  /// Leak checks of tests that failed, as their reports in the folders tell.
  var failedChecks: [FailedCheck] = []

  /// What could not be named, each text once.
  var symbolGaps: [Snapshot.Diagnostic] = []

  /// Pages and reports that were there.
  var others: [BundleFile] = []
  var inputs: [JSONValue] = []
  var totals: JSONValue = Totals(live: .empty, leaked: .empty).json

  /// Whether there is nothing to make a bundle of.
  var isEmpty: Bool { runs.isEmpty && unreadable.isEmpty && others.isEmpty }

  /// All findings, each with the snapshot or report that it is from.
  var rows: [BundleReport.Found] {
    runs.flatMap { run in run.findings.map { BundleReport.Found(row: $0, source: run.title) } }
      + reportedFindings
  }

  /// What could not be read, and why.
  var unreadable: [(file: BundleFile, why: String)] = []

  /// Links that lead out of the folders.
  var elsewhere: [BundleFile] = []

  /// Reads what lies in some folders.
  ///
  /// - Parameter excluded: A folder that is none of them: that of the bundle.
  /// - Complexity: O(bytes of all snapshots), and that of `leaks(in:cancel:)` for the last of each run.
  init(
    _ folders: [String], excluding excluded: String, of call: Invocation,
    progress: some ProgressSink
  ) throws {
    var snapshots: [(file: BundleFile, snapshot: Origin)] = []
    for folder in folders {
      let isAlone = folders.count == 1
      let base = folder.split(separator: "/").last.map(String.init) ?? "root"
      let files = try FolderWalk.files(in: folder) { name in
        [".mgraph", ".html", ".json"].contains { name.hasSuffix($0) }
      }.filter { !$0.hasPrefix(excluded + "/") }.sorted()
      for path in files {
        var name = path.hasPrefix(folder) ? path.dropFirst(folder.count) : path[...]
        name = name.drop { $0 == "/" }
        let file = BundleFile(
          path: path, name: isAlone ? String(name) : base + "/" + name, bytes: Self.size(of: path))
        // A bundle is made to be uploaded: what lies elsewhere is nobody's to publish.
        guard Self.lies(path, in: folder) else {
          elsewhere.append(file)
          continue
        }
        if path.hasSuffix(".mgraph") {
          progress.report(step: "reading \(path)", done: 0, total: 0)
          do {
            snapshots.append((file, Origin(try Snapshot(contentsOf: path))))
          } catch {
            unreadable.append((file, Self.reason(error, path: path)))
          }
        } else if path.hasSuffix(".html") {
          others.append(file)
        } else if Self.isReport(path) {
          do {
            let source = try Self.findings(path, of: call, progress: progress)
            reportedFindings += source.findings.map { row in
              var row = row
              if source.check != nil { row.reported = row.reported.tellingWay() }
              return BundleReport.Found(row: row, source: file.name, check: source.check)
            }
            if let check = source.check { failedChecks.append(check) }
            note(source.symbolGaps)
            inputs += source.inputs
            others.append(file)
          } catch {
            unreadable.append((file, Self.reason(error, path: path)))
          }
        }
      }
    }
    try addRuns(snapshots, of: call, progress: progress)
  }

  /// Notes what could not be named; of what is told more than once the highest number.
  private mutating func note(_ gaps: [Snapshot.Diagnostic]) {
    for gap in gaps {
      if let place = symbolGaps.firstIndex(where: { $0.text == gap.text }) {
        symbolGaps[place].count = max(symbolGaps[place].count, gap.count)
      } else {
        symbolGaps.append(gap)
      }
    }
  }

  /// Whether a file is in a folder, links followed.
  private static func lies(_ path: String, in folder: String) -> Bool {
    func resolved(_ path: String) -> String? {
      guard let found = realpath(path, nil) else { return nil }
      defer { free(found) }
      return String(cString: found)
    }
    guard let file = resolved(path), let folder = resolved(folder) else { return true }
    return file.hasPrefix(folder == "/" ? "/" : folder + "/")
  }

  /// What of a snapshot tells the run that it is of.
  private struct Origin {
    var identity: UInt64
    var generation: Int
    var executable: String
    var objectCount: Int

    init(_ snapshot: Snapshot) {
      let process = snapshot.process
      identity = process.runIdentity
      generation = Int(snapshot.marks.last?.generation ?? 0)
      executable = process.executable
      objectCount = snapshot.nodes.count
    }
  }

  private mutating func addRuns(
    _ snapshots: [(file: BundleFile, snapshot: Origin)], of call: Invocation,
    progress: some ProgressSink
  ) throws {
    var order: [String] = []
    var byRun: [String: [(file: BundleFile, snapshot: Origin)]] = [:]
    for entry in snapshots {
      // Without an agent nothing tells a run, so each snapshot is one.
      let run =
        entry.snapshot.identity == 0 ? entry.file.path : String(entry.snapshot.identity, radix: 16)
      if byRun[run] == nil { order.append(run) }
      byRun[run, default: []].append(entry)
    }
    for name in order {
      guard var members = byRun[name], !members.isEmpty else { continue }
      members.sort {
        $0.snapshot.generation != $1.snapshot.generation
          ? $0.snapshot.generation < $1.snapshot.generation : $0.file.name < $1.file.name
      }
      let last = members[members.count - 1]
      var source = try Self.findings(last.file.path, of: call, progress: progress)
      note(source.symbolGaps)
      inputs += source.inputs
      totals = totals.adding(source.totals)
      if last.snapshot.executable.hasSuffix(".xctest") {
        for row in source.findings.indices {
          source.findings[row].reported = source.findings[row].reported.tellingCaller()
        }
      }
      var run = BundleRun(
        snapshots: members.map(\.file), executable: last.snapshot.executable,
        objectCount: last.snapshot.objectCount, findings: source.findings)
      let page = String(last.file.path.dropLast(7)) + ".html"
      run.page = others.first { $0.path == page }
      runs.append(run)
    }
  }

  /// The findings of a snapshot or report that the call asks for.
  private static func findings(
    _ path: String, of call: Invocation, progress: some ProgressSink
  ) throws -> FindingSource {
    var source = try FindingSource(path, of: call, progress: progress)
    // Those of reports, which tell no more.
    let unwanted = call.arguments.texts(.withoutModule)
    source.findings.removeAll { row in
      row.json["module"]?.string.map(unwanted.contains) ?? false
    }
    return source
  }

  private static func size(of path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }

  /// Whether a file begins like a report; other JSON is none of ours.
  private static func isReport(_ path: String) -> Bool {
    guard let bytes = try? InputFile.bytes(path) else { return false }
    let start = String(decoding: bytes.prefix(512), as: UTF8.self)
    return start.contains("\"\(ReportEnvelope.schema)\"")
  }

  /// The sentence of an error without the path, which stands beside it.
  private static func reason(_ error: any Error, path: String) -> String {
    let sentence = CommandError(error, verb: nil).sentence
    return sentence.hasPrefix(path + ": ") ? String(sentence.dropFirst(path.count + 2)) : sentence
  }
}

extension JSONValue {
  /// Two values added: numbers by number, objects by member, in the order of names where one has what the other lacks.
  fileprivate func adding(_ other: JSONValue) -> JSONValue {
    switch (self, other) {
    case (.integer(let left), .integer(let right)): return .integer(left + right)
    case (.object(var members), .object(let more)):
      var isSame = true
      for member in more {
        if let place = members.firstIndex(where: { $0.name == member.name }) {
          members[place].value = members[place].value.adding(member.value)
        } else {
          isSame = false
          members.append(member)
        }
      }
      return .object(isSame ? members : members.sorted { $0.name < $1.name })
    default: return self
    }
  }
}
