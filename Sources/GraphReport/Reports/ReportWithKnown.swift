// ReportWithKnown: a report with the findings that were accepted earlier below it.

internal import GraphPrimitives

/// A finding that was accepted earlier, and what has become of it.
package struct KnownRow: Sendable {
  package enum State: String, Sendable {
    /// It is there, and does not count.
    case known

    /// It is there, and counts again: the time for which it was accepted is over.
    case expired

    /// Nothing that was found is it.
    case unmatched
  }

  package var state: State
  package var fingerprint: String
  package var reason: String
  package var until: String?
  package var type: String?

  /// How many objects it is of now.
  package var count: Int

  package init(
    state: State, fingerprint: String, reason: String, until: String?, type: String?, count: Int
  ) {
    self.state = state
    self.fingerprint = fingerprint
    self.reason = reason
    self.until = until
    self.type = type
    self.count = count
  }
}

/// A report of the findings that count, with the known ones below.
package struct ReportWithKnown: Report {
  private let _report: any Report
  private let _rows: [KnownRow]
  private let _openCount: Int

  /// - Parameter openCount: How many findings the report has.
  package init(_ report: any Report, rows: [KnownRow], openCount: Int) {
    _report = report
    _rows = rows
    _openCount = openCount
  }

  package var findings: [JSONValue] { _report.findings }

  package var reported: [ReportedFinding] { _report.reported }

  package var settled: [SettledFinding] {
    _report.settled
      + _rows.filter { $0.state == .known }.map { row in
        SettledFinding(
          fingerprint: row.fingerprint, type: row.type ?? "",
          state: .known(row.reason))
      }
  }

  package var members: [JSONValue.Member] {
    _report.members + [
      JSONValue.Member(
        "known",
        .array(
          _rows.map { row in
            .members([
              "state": .string(row.state.rawValue), "fingerprint": .string(row.fingerprint),
              "type": row.type.map { .string($0) }, "count": .integer(row.count),
              "reason": .string(row.reason), "until": row.until.map { .string($0) },
            ])
          }))
    ]
  }

  package func document(limit: Int?) -> Document {
    var document = _report.document(limit: limit)
    let known = _rows.filter { $0.state == .known }
    if _openCount == 0, !known.isEmpty {
      document.answer = Line("Nothing beside \(Units.count(known.count, "known finding")).", .good)
    }
    func section(_ state: KnownRow.State, _ heading: String) {
      let rows = _rows.filter { $0.state == state }
      if rows.isEmpty { return }
      document.blocks.append(.heading(heading))
      document.blocks.append(.table(table(of: rows)))
    }
    section(.known, "Known, not counted")
    section(.expired, "Known once, counted again: the time is over")
    section(.unmatched, "Known, but not found: take it out of the file if it is fixed")
    return document
  }

  private func table(of rows: [KnownRow]) -> Document.Table {
    Document.Table(
      columns: [
        .init("count", .right), .init("until"), .init("id"), .init("type"), .init("reason"),
      ],
      rows: rows.map { row in
        [
          Line(Units.number(row.count)), Line(row.until ?? ""), Line(row.fingerprint, .faint),
          Line(row.type ?? "", .code), Line(row.reason),
        ]
      })
  }
}
