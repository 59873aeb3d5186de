// KnownListing: the findings that a project has accepted, as a table.

/// What a file of known findings holds.
package struct KnownListing {
  package struct Row: Sendable {
    package var fingerprint: String
    package var kind: String
    package var type: String
    package var reason: String

    /// The last day; empty for none.
    package var until: String

    /// Whether that day has passed.
    package var isOver: Bool

    package init(
      fingerprint: String, kind: String, type: String, reason: String, until: String, isOver: Bool
    ) {
      self.fingerprint = fingerprint
      self.kind = kind
      self.type = type
      self.reason = reason
      self.until = until
      self.isOver = isOver
    }
  }

  private let _rows: [Row]

  package init(rows: [Row]) { _rows = rows }

  package var document: Document {
    let over = _rows.count { $0.isOver }
    var answer = Line(Units.count(_rows.count, "known finding"))
    if over > 0 {
      answer += Line(
        "; of \(Units.number(over)) the time is over: \(over == 1 ? "it counts" : "they count") again",
        .bad)
    }
    guard !_rows.isEmpty else { return Document(answer: answer) }
    return Document(
      answer: answer,
      blocks: [
        .table(
          Document.Table(
            columns: [
              .init("id"), .init("until"), .init("kind"), .init("type"), .init("reason"),
            ],
            rows: _rows.map { row in
              [
                Line(row.fingerprint), Line(row.until, row.isOver ? .bad : .plain), Line(row.kind),
                Line(row.type, .code), Line(row.reason),
              ]
            }))
      ])
  }
}
