// BundleReport: what was found in all snapshots and reports of a folder.

package import GraphPrimitives
package import SnapshotFormat

/// The findings of several runs, and what became of the files that they are from.
package struct BundleReport: Report {
  /// A run that was looked at.
  package struct Run: Sendable {
    /// The program's file.
    package var program: String

    /// The name of the last snapshot.
    package var title: String
    package var snapshotCount: Int

    /// How many objects the last snapshot has.
    package var objectCount: Int
    package var findingCount: Int

    /// Where its page is in the bundle; nil for none.
    package var page: String?

    package init(
      program: String, title: String, snapshotCount: Int, objectCount: Int, findingCount: Int,
      page: String?
    ) {
      self.program = program
      self.title = title
      self.snapshotCount = snapshotCount
      self.objectCount = objectCount
      self.findingCount = findingCount
      self.page = page
    }
  }

  /// A file that is not in the bundle, or could not be read.
  package struct Gap: Sendable {
    package var name: String
    package var bytes: ByteCount
    package var why: String

    package init(name: String, bytes: ByteCount, why: String) {
      self.name = name
      self.bytes = bytes
      self.why = why
    }
  }

  /// A finding, and what it was found in.
  package struct Found: Sendable {
    package var row: VerifyReport.Row

    /// The snapshot or report.
    package var source: String

    /// The leak check of a test that told it; nil for others.
    package var check: FailedCheck?

    package init(row: VerifyReport.Row, source: String, check: FailedCheck? = nil) {
      self.row = row
      self.source = source
      self.check = check
    }
  }

  /// A cause, and where it was found.
  private struct Cause {
    var row: VerifyReport.Row
    var seenIn: [String] = []

    /// The tests whose checks told it, in the order of their reports.
    var tests: [String] = []

    mutating func add(_ found: Found) {
      if found.row.cost.count > row.cost.count { row = found.row }
      if !seenIn.contains(found.source) { seenIn.append(found.source) }
      if let test = found.check?.test, !tests.contains(test) { tests.append(test) }
    }
  }

  /// How many failed checks a report tells that is to be as short as can be.
  private static let fewestChecks = 100

  private let _causes: [Cause]
  private let _failedChecks: [FailedCheck]
  private let _symbolGaps: [Snapshot.Diagnostic]
  private let _runs: [Run]
  private let _leftOut: [Gap]
  private let _unreadable: [Gap]

  /// Creates a report.
  ///
  /// - Parameters:
  ///   - findings: What was found, and in what. Findings with one fingerprint are one cause; told is where it is of
  ///     most objects.
  ///   - failedChecks: Leak checks of tests that failed.
  ///   - leftOut: What the bundle does not have, since it would be too large.
  ///   - unreadable: What could not be read.
  ///   - symbolGaps: What could not be named, and why.
  package init(
    findings: [Found], failedChecks: [FailedCheck] = [], runs: [Run], leftOut: [Gap],
    unreadable: [Gap], symbolGaps: [Snapshot.Diagnostic] = []
  ) {
    var causes: [String: Cause] = [:]
    for found in findings {
      causes[found.row.fingerprint, default: Cause(row: found.row)].add(found)
    }
    func rank(_ cause: Cause) -> (Int, Int) {
      (cause.row.kind == "zombie" ? 1 : 0, -(cause.row.json["retainedBytes"]?.integer ?? 0))
    }
    _causes = causes.values.sorted { left, right in
      rank(left) != rank(right)
        ? rank(left) < rank(right) : left.row.fingerprint < right.row.fingerprint
    }
    _failedChecks = failedChecks
    _symbolGaps = symbolGaps
    _runs = runs
    _leftOut = leftOut
    _unreadable = unreadable
  }

  package var findings: [JSONValue] {
    _causes.map { cause in
      guard case .object(let members) = cause.row.json else { return cause.row.json }
      var more = [JSONValue.Member("seenIn", .array(cause.seenIn.map { .string($0) }))]
      if !cause.tests.isEmpty {
        more.append(JSONValue.Member("tests", .array(cause.tests.map { .string($0) })))
      }
      return .object(members + more)
    }
  }

  package var reported: [ReportedFinding] {
    zip(_causes, findings).map { cause, json in
      var finding = cause.row.reported
      finding.json = json
      func list(_ names: [String]) -> String {
        names.prefix(5).joined(separator: ", ")
          + (names.count > 5 ? " and \(Units.number(names.count - 5)) more" : "")
      }
      if !cause.tests.isEmpty {
        finding.item.details.append(
          Document.Detail(cause.tests.count == 1 ? "test" : "tests", Line(list(cause.tests))))
      } else if cause.seenIn.count > 1 {
        finding.item.details.append(Document.Detail("seen", Line("in \(list(cause.seenIn))")))
      }
      return finding
    }
  }

  package var members: [JSONValue.Member] {
    func json(_ gaps: [Gap]) -> JSONValue {
      .array(
        gaps.map {
          .members([
            "path": .string($0.name), "bytes": .integer(Int($0.bytes.rawValue)),
            "why": .string($0.why),
          ])
        })
    }
    let gaps =
      _symbolGaps.isEmpty ? [] : [JSONValue.Member("symbolGaps", _symbolGaps.json)]
    return gaps + [
      JSONValue.Member(
        "bundle",
        .members([
          "runs": .array(
            _runs.map { run in
              .members([
                "program": .string(run.program), "title": .string(run.title),
                "snapshots": .integer(run.snapshotCount), "objects": .integer(run.objectCount),
                "findings": .integer(run.findingCount), "page": run.page.map { .string($0) },
              ])
            }),
          "failedChecks": _failedChecks.isEmpty
            ? nil : .array(_failedChecks.map(\.json)),
          "leftOut": json(_leftOut),
          "unreadable": json(_unreadable),
        ]))
    ]
  }

  package func document(limit: Int?) -> Document {
    var document = Document(answer: answer)
    document.blocks += Document.items(reported, limit: limit)
    if let rest = Document.omission(_causes.count, limit: limit, "finding") {
      document.blocks.append(rest)
    }
    if !_failedChecks.isEmpty {
      document.blocks.append(.heading("Leak checks that failed"))
      // Each of them, though the findings are limited: somebody looks for the test that failed.
      let shown = _failedChecks.prefix(limit == 0 ? Self.fewestChecks : _failedChecks.count)
      document.blocks.append(
        .table(
          Document.Table(
            columns: [.init("test"), .init("what"), .init("at")],
            rows: shown.map { check in
              [Line.code(check.test), Line(check.answer, .bad), Line(check.shownPlace)]
            }, omitted: _failedChecks.count - shown.count)))
    }
    if !_symbolGaps.isEmpty {
      document.blocks.append(.heading("Names that are missing"))
      document.blocks += _symbolGaps.map { .paragraph(Line($0.text)) }
    }
    if !_unreadable.isEmpty {
      document.blocks.append(.heading("Could not be read"))
      document.blocks.append(.table(Self.table(of: _unreadable, limit: limit)))
    }
    if !_runs.isEmpty {
      document.blocks.append(.heading("What was looked at"))
      let shown = _runs.prefix(limit ?? _runs.count)
      document.blocks.append(
        .table(
          Document.Table(
            columns: [
              .init("program"), .init("last snapshot"), .init("snapshots", .right),
              .init("objects", .right), .init("findings", .right), .init("page"),
            ],
            rows: shown.map { run in
              [
                Line.code(run.program.split(separator: "/").last.map(String.init) ?? ""),
                Line(run.title), Line(Units.number(run.snapshotCount)),
                Line(Units.number(run.objectCount)),
                Line(Units.number(run.findingCount), run.findingCount > 0 ? .bad : .plain),
                Line(run.page ?? ""),
              ]
            }, omitted: _runs.count - shown.count)))
    }
    if !_leftOut.isEmpty {
      document.blocks.append(.heading("Left out"))
      document.blocks.append(.table(Self.table(of: _leftOut, limit: limit)))
    }
    return document
  }

  private var answer: Line {
    let runs = Units.count(_runs.count, "run")
    var gaps = Line([])
    if !_unreadable.isEmpty {
      gaps = Line("; \(Units.count(_unreadable.count, "file")) could not be read", .bad)
    }
    let failed =
      _failedChecks.isEmpty
      ? Line([]) : Line("; \(Units.count(_failedChecks.count, "leak check")) failed", .bad)
    guard !_causes.isEmpty else {
      let isGood = _unreadable.isEmpty && _failedChecks.isEmpty
      return Line("Nothing found in \(runs)", isGood ? .good : .plain) + failed + gaps
    }
    var line = Line("\(Units.count(_causes.count, "finding")) in \(runs): ")
    line += _causes.prefix(3).map { Line.code($0.row.type) }.joined(", ")
    return line + Line(_causes.count > 3 ? ", …" : "") + failed + gaps
  }

  private static func table(of gaps: [Gap], limit: Int?) -> Document.Table {
    let shown = gaps.prefix(limit ?? gaps.count)
    return Document.Table(
      columns: [.init("size", .right), .init("file"), .init("why")],
      rows: shown.map { [Line(Units.bytes($0.bytes)), Line.code($0.name), Line($0.why)] },
      omitted: gaps.count - shown.count)
  }
}
