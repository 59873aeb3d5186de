// BundleReport: what was found in all snapshots and reports of a folder.

package import GraphPrimitives

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

  /// A cause, and where it was found.
  private struct Cause {
    var row: VerifyReport.Row
    var seenIn: [String]
  }

  private let _causes: [Cause]
  private let _runs: [Run]
  private let _leftOut: [Gap]
  private let _unreadable: [Gap]

  /// Creates a report.
  ///
  /// - Parameters:
  ///   - findings: What was found, and in what. Findings with one fingerprint are one cause; told is where it is of
  ///     most objects.
  ///   - leftOut: What the bundle does not have, since it would be too large.
  ///   - unreadable: What could not be read.
  package init(
    findings: [(row: VerifyReport.Row, source: String)], runs: [Run], leftOut: [Gap],
    unreadable: [Gap]
  ) {
    var causes: [String: Cause] = [:]
    for (row, source) in findings {
      guard var cause = causes[row.fingerprint] else {
        causes[row.fingerprint] = Cause(row: row, seenIn: [source])
        continue
      }
      if row.cost.count > cause.row.cost.count { cause.row = row }
      if !cause.seenIn.contains(source) { cause.seenIn.append(source) }
      causes[row.fingerprint] = cause
    }
    func rank(_ cause: Cause) -> (Int, Int) {
      (cause.row.kind == "zombie" ? 1 : 0, -(cause.row.json["retainedBytes"]?.integer ?? 0))
    }
    _causes = causes.values.sorted { left, right in
      rank(left) != rank(right)
        ? rank(left) < rank(right) : left.row.fingerprint < right.row.fingerprint
    }
    _runs = runs
    _leftOut = leftOut
    _unreadable = unreadable
  }

  package var findings: [JSONValue] {
    _causes.map { cause in
      guard case .object(let members) = cause.row.json else { return cause.row.json }
      return .object(
        members + [JSONValue.Member("seenIn", .array(cause.seenIn.map { .string($0) }))])
    }
  }

  package var reported: [ReportedFinding] {
    zip(_causes, findings).map { cause, json in
      var finding = cause.row.reported
      finding.json = json
      if cause.seenIn.count > 1 {
        let shown = cause.seenIn.prefix(5).joined(separator: ", ")
        finding.item.details.append(
          Document.Detail(
            "seen", Line("in \(shown)" + (cause.seenIn.count > 5 ? ", …" : ""))))
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
    return [
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
    guard !_causes.isEmpty else {
      return Line("Nothing found in \(runs)", _unreadable.isEmpty ? .good : .plain) + gaps
    }
    var line = Line("\(Units.count(_causes.count, "finding")) in \(runs): ")
    line += _causes.prefix(3).map { Line.code($0.row.type) }.joined(", ")
    return line + Line(_causes.count > 3 ? ", …" : "") + gaps
  }

  private static func table(of gaps: [Gap], limit: Int?) -> Document.Table {
    let shown = gaps.prefix(limit ?? gaps.count)
    return Document.Table(
      columns: [.init("size", .right), .init("file"), .init("why")],
      rows: shown.map { [Line(Units.bytes($0.bytes)), Line.code($0.name), Line($0.why)] },
      omitted: gaps.count - shown.count)
  }
}
