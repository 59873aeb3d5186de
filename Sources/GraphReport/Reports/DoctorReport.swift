// DoctorReport: what of a machine limits the tool, each with the mend.

/// What was looked at on a machine.
package struct DoctorReport {
  package enum State: String, Sendable {
    /// Everything works.
    case fine

    /// Some of it works.
    case limited

    /// It does not work.
    case missing
  }

  package struct Row: Sendable {
    /// What was looked at.
    package var subject: String
    package var state: State

    /// What was found.
    package var finding: String

    /// What to do about it; nil where nothing has to be done.
    package var mend: String?

    package init(_ subject: String, _ state: State, _ finding: String, mend: String? = nil) {
      self.subject = subject
      self.state = state
      self.finding = finding
      self.mend = mend
    }
  }

  private let _rows: [Row]

  package init(_ rows: [Row]) { _rows = rows }

  /// Whether there is something to mend.
  package var hasLimits: Bool { _rows.contains { $0.state != .fine } }

  /// The checks as JSON; it is no report of snapshots, and has a schema of its own.
  package func json(tool: String, version: String) -> JSONValue {
    .members([
      "schema": .string("memory-graph/doctor/1"),
      "tool": .members(["name": .string(tool), "version": .string(version)]),
      "checks": .array(
        _rows.map { row in
          .members([
            "subject": .string(row.subject), "state": .string(row.state.rawValue),
            "finding": .string(row.finding), "mend": row.mend.map { .string($0) },
          ])
        }),
    ])
  }

  package var document: Document {
    let missing = _rows.count { $0.state == .missing }
    let limited = _rows.count { $0.state == .limited }
    var answer: Line
    switch (missing, limited) {
    case (0, 0): answer = Line("Nothing on this machine limits memgraph", .good)
    case (0, _):
      answer = Line(
        Units.count(limited, "thing") + " on this machine \(limited == 1 ? "limits" : "limit")"
          + " memgraph")
    case (_, 0): answer = Line(Units.count(missing, "thing") + " that memgraph needs", .bad)
    default:
      answer = Line(Units.count(missing, "thing") + " that memgraph needs", .bad)
      answer += Line(", and \(Units.number(limited)) that limit it")
    }
    if missing > 0 { answer += Line(missing == 1 ? " is missing" : " are missing", .bad) }
    return Document(
      answer: answer,
      blocks: [
        .table(
          Document.Table(
            columns: [.init("state"), .init("what"), .init("found")],
            rows: _rows.map { row in
              let role: Run.Role =
                switch row.state {
                case .fine: .good
                case .limited: .strong
                case .missing: .bad
                }
              return [Line(row.state.rawValue, role), Line(row.subject), Line(row.finding)]
            }))
      ]
        + _rows.compactMap { row in
          row.mend.map { .paragraph(Line(row.subject + ": ", .strong) + Line($0)) }
        })
  }
}
