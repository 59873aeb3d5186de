// GrowthReport: what keeps growing over several marks, what has stopped, and the numbers of each type.

package import GraphAnalysis
internal import GraphPrimitives

/// What becomes more from mark to mark.
package struct GrowthReport: Report {
  private let _values: GrowthReportValues
  private let _inputs: [ReportInput]
  private let _types: [StaircaseReport.Row]
  private let _names: Names
  private let _unit: GrowthUnit

  /// Creates a report.
  ///
  /// - Parameters:
  ///   - inputs: The marks, oldest first.
  ///   - types: How many of each type were alive at each mark.
  ///   - names: Names of the last snapshot.
  ///   - unit: What growth is counted by.
  package init(
    _ values: GrowthReportValues, inputs: [ReportInput], types: [StaircaseReport.Row], names: Names,
    unit: GrowthUnit = .marks
  ) {
    _values = values
    _inputs = inputs
    _types = types.filter(\.isOwn).sorted { left, right in
      if left.trend != right.trend { return Self.rank(left.trend) < Self.rank(right.trend) }
      return left.growth != right.growth ? left.growth > right.growth : left.type < right.type
    }
    _names = names
    _unit = unit
  }

  /// The order in which verdicts are shown.
  private static func rank(_ trend: GrowthTrend) -> Int {
    switch trend {
    case .growing: 0
    case .settled: 1
    case .fluctuating: 2
    case .shrinking: 3
    case .steady: 4
    }
  }

  private var own: [PlaceGrowth] { _values.growing.filter(\.isOwn) }

  package var findings: [JSONValue] {
    own.map { FindingText(finding: $0.finding, names: _names).json }
  }

  package var reported: [ReportedFinding] {
    own.map { growth in
      let text = GrowthText(growth, names: _names)
      return text.finding.reported(as: text.item(number: nil))
    }
  }

  package var members: [JSONValue.Member] {
    [
      JSONValue.Member(
        "growth",
        .members([
          "marks": .array(ReportInput.titles(of: _inputs).map { .string($0) }),
          "growing": .array(GrowthText.jsons(of: _values.growing, names: _names)),
          "settled": .array(GrowthText.jsons(of: _values.settled, names: _names)),
          "omitted": .integer(_values.omittedCount),
          "types": .array(_types.map(\.json)),
        ]))
    ]
  }

  package func document(limit: Int?) -> Document {
    var document = Document(answer: answer)
    let growths = own
    document.blocks += Document.items(
      growths.map { FindingText(finding: $0.finding, names: _names) }, limit: limit
    ) { _, number in
      text(growths[number - 1]).item(number: number)
    }
    if let rest = Document.omission(own.count, limit: limit, "place") {
      document.blocks.append(rest)
    }
    if _values.omittedCount > 0 {
      document.blocks.append(
        .paragraph(
          Line(
            "Not told here, since those above grow more: \(Units.count(_values.omittedCount, "further place"));"
              + " --type tells those of one type.")))
    }
    document.blocks += GrowthText.settledBlocks(_values.settled, limit: limit, names: _names)
    let others = _values.growing.filter { !$0.isOwn }
    if !others.isEmpty {
      document.blocks.append(.heading("Grows within Swift and the system's libraries"))
      document.blocks.append(.table(GrowthText.table(of: others, limit: limit, names: _names)))
    }
    if !_types.isEmpty {
      document.blocks.append(.heading("Live instances at each mark"))
      document.blocks.append(.table(table(limit: limit)))
    }
    document.blocks += DiagnosticsText.hint(_names.snapshot)
    return document
  }

  private func text(_ growth: PlaceGrowth) -> GrowthText {
    let type = _names.typeName(of: growth.finding.representative)
    return GrowthText(
      growth, names: _names, unit: _unit,
      alive: _types.first { $0.type == type }?.counts.last)
  }

  private var answer: Line {
    if _inputs.count == 2 { return answerOfTwo }
    let marks = _unit.span(ofMarks: _inputs.count)
    let settled =
      _values.settled.isEmpty
      ? "" : "; \(Units.count(_values.settled.count, "place")) grew and stopped"
    guard !own.isEmpty else {
      return Line("Nothing of the program's own keeps growing over \(marks)", .good) + Line(settled)
    }
    let line = Line(
      "\(Units.count(own.count, "place")) \(own.count == 1 ? "keeps" : "keep") growing over \(marks): "
    )
    return line + grown + Line(settled)
  }

  /// Two marks tell that there is more, and not whether it becomes more and more.
  private var answerOfTwo: Line {
    let marks = _unit.span(ofMarks: 2)
    guard !own.isEmpty else {
      return Line("Nothing of the program's own is more at the second of \(marks)", .good)
    }
    return Line("\(Units.count(own.count, "place")) grew over \(marks): ") + grown
      + Line(
        "; whether \(own.count == 1 ? "it keeps" : "they keep") growing takes more marks to tell")
  }

  /// The places that grow most.
  private var grown: Line {
    own.prefix(3).map { growth in
      let text = self.text(growth)
      return text.head + Line(" \(text.perUnit) \(_unit.each)")
    }.joined(", ") + Line(own.count > 3 ? ", …" : "")
  }

  /// The numbers of each type: one column a mark where there are few, else all of them in one.
  private func table(limit: Int?) -> Document.Table {
    let shown = _types.prefix(limit ?? _types.count)
    let isWide = _inputs.count > 8
    var columns: [Document.Table.Column]
    if isWide {
      let titles = ReportInput.titles(of: _inputs)
      let ends = [titles.first, titles.last].compactMap(\.self)
      columns = [.init(ends.joined(separator: " … "))]
    } else {
      columns = ReportInput.titles(of: _inputs).map { .init($0, .right) }
    }
    columns += [.init("chart"), .init("verdict"), .init("type")]
    let width = shown.flatMap(\.counts).map { Units.number($0).count }.max() ?? 1
    return Document.Table(
      columns: columns,
      rows: shown.map { row in
        let numbers = row.counts.map { Units.number($0) }
        let padded = numbers.map { String(repeating: " ", count: width - $0.count) + $0 }
        return (isWide ? [Line(padded.joined(separator: " "))] : numbers.map { Line($0) }) + [
          Line(StaircaseReport.chart(of: row.counts)),
          Line(
            row.trend == .growing && _inputs.count == 2 ? "grew" : row.trend.verdict,
            row.trend == .growing ? .bad : .plain), Line(row.type, .code),
        ]
      },
      omitted: _types.count - shown.count)
  }
}

extension GrowthTrend {
  /// The trend as a verdict for people.
  var verdict: String {
    switch self {
    case .growing: "grows"
    case .settled: "grew, stopped"
    case .fluctuating: "up and down"
    case .shrinking: "fewer"
    case .steady: "steady"
    }
  }
}
