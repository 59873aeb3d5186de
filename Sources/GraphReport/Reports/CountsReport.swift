// CountsReport: reference counts against the references that were found: the audit, in words.

package import GraphAnalysis
internal import GraphPrimitives

/// How far the references that were found explain the counts in the objects' headers.
package struct CountsReport: Report {
  private let _audit: AuditReport
  private let _findings: [Finding]
  private let _rows: [AuditReport.Row]
  private let _isFiltered: Bool
  private let _names: Names

  /// Creates a report.
  ///
  /// - Parameters:
  ///   - findings: What to show of the audit's findings.
  ///   - rows: What to show of the audit's types.
  ///   - isFiltered: Whether the caller asked for some types only.
  package init(
    audit: AuditReport, findings: [Finding], rows: [AuditReport.Row], isFiltered: Bool, names: Names
  ) {
    _audit = audit
    _findings = findings
    _rows = rows
    _isFiltered = isFiltered
    _names = names
  }

  package var findings: [JSONValue] { texts.map(\.json) }

  package var reported: [ReportedFinding] { texts.map { $0.reported() } }

  private var texts: [FindingText] { _findings.map { FindingText(finding: $0, names: _names) } }

  /// The types of which some object is not explained, the worst first.
  private var open: [AuditReport.Row] {
    _rows.filter {
      $0.unexplained + $0.overCounted + $0.unexplainedUnowned + $0.unexplainedWeak > 0
    }
    .sorted {
      ($1.unexplained + $1.overCounted, $0.type) < ($0.unexplained + $0.overCounted, $1.type)
    }
  }

  package var members: [JSONValue.Member] {
    [
      JSONValue.Member(
        "audit",
        .members([
          "counted": .integer(_audit.counted),
          "exact": .integer(_audit.exact),
          "explained": .string(Self.percent(_audit.exact, of: _audit.counted)),
          "unowned": .members([
            "counted": .integer(_audit.unowned.counted), "found": .integer(_audit.unowned.found),
          ]),
          "weak": .members([
            "counted": .integer(_audit.weak.counted), "found": .integer(_audit.weak.found),
          ]),
          "types": .array(
            open.map { row in
              .members([
                "type": .string(Names.sourceSpelling(of: row.type)), "exact": .integer(row.exact),
                "unexplained": .integer(row.unexplained),
                "unexplainedRetains": .integer(row.unexplainedRetains),
                "overCounted": .integer(row.overCounted),
                "surplusReferences": .integer(row.surplusReferences),
                "unexplainedUnowned": .integer(row.unexplainedUnowned),
                "unexplainedWeak": .integer(row.unexplainedWeak),
              ])
            }),
        ]))
    ]
  }

  /// A share with two decimals, rounded down, so that 100 % means all: `99.97 %`.
  private static func percent(_ part: Int, of whole: Int) -> String {
    if whole == 0 { return "100.00 %" }
    let (percent, rest) = (part * 10_000 / whole).quotientAndRemainder(dividingBy: 100)
    return "\(percent).\(rest < 10 ? "0" : "")\(rest) %"
  }

  package func document(limit: Int?) -> Document {
    var answer = Line(
      "\(Units.number(_audit.exact)) of \(Units.count(_audit.counted, "counted object")), "
        + "\(Self.percent(_audit.exact, of: _audit.counted)), are held by exactly as many "
        + "references as they count")
    let over = _findings.filter { $0.kind == .overRetained }.reduce(0) { $0 + $1.own.count }
    let zombies = _findings.filter { $0.kind == .zombie }.reduce(0) { $0 + $1.own.count }
    if over > 0 {
      answer += Line("; \(Units.number(over)) retained more often than that", .bad)
    }
    if zombies > 0 { answer += Line("; \(Units.count(zombies, "zombie"))", .bad) }
    var document = Document(answer: answer)
    for (place, text) in texts.prefix(limit ?? .max).enumerated() {
      document.blocks.append(.item(text.item(number: place + 1)))
    }
    if let rest = Document.omission(_findings.count, limit: limit, "group") {
      document.blocks.append(rest)
    }
    let open = open
    if !open.isEmpty {
      let shown = open.prefix(limit ?? open.count)
      document.blocks.append(.heading("Types with objects that are not explained"))
      document.blocks.append(
        .table(
          Document.Table(
            columns: [
              .init("exact", .right), .init("more retains", .right), .init("fewer", .right),
              .init("unowned", .right), .init("weak", .right), .init("type"),
            ],
            rows: shown.map { row in
              [
                row.exact, row.unexplained, row.overCounted, row.unexplainedUnowned,
                row.unexplainedWeak,
              ].map { Line(Units.number($0)) } + [Line(Names.sourceSpelling(of: row.type), .code)]
            },
            omitted: open.count - shown.count)))
    } else if _isFiltered, _rows.isEmpty {
      document.blocks.append(.paragraph(Line("No counted object matches.")))
    }
    document.blocks.append(
      .paragraph(
        Line(
          "\(Units.number(_audit.unowned.found)) of "
            + "\(Units.count(_audit.unowned.counted, "unowned reference")) and "
            + "\(Units.number(_audit.weak.found)) of \(Units.count(_audit.weak.counted, "weak one"))"
            + " were found.", .faint)))
    document.blocks += DiagnosticsText.hint(_names.snapshot)
    return document
  }
}
