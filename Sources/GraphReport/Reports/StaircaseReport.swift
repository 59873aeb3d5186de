// StaircaseReport: how many objects of each type were alive at each of several marks.

package import GraphAnalysis

/// How many objects of each type were alive at each mark.
package struct StaircaseReport: Report {
  /// A type and how many of it were alive at each mark.
  package struct Row: Sendable {
    package var type: String
    package var isOwn: Bool

    /// One number a mark, in the order of the marks.
    package var counts: [Int]

    /// From the first mark to the last.
    package var growth: Int { (counts.last ?? 0) - (counts.first ?? 0) }

    /// What becomes of the number.
    package var trend: GrowthTrend

    /// Whether there were more at each mark than at the one before.
    package var growsAtEachMark: Bool { zip(counts, counts.dropFirst()).allSatisfy(<) }

    package init(type: String, isOwn: Bool, counts: [Int]) {
      self.type = Names.sourceSpelling(of: type)
      self.isOwn = isOwn
      self.counts = counts
      trend = GrowthTrend(of: counts)
    }

    var json: JSONValue {
      .members([
        "type": .string(type), "counts": .array(counts.map { .integer($0) }),
        "growsAtEachMark": .bool(growsAtEachMark), "trend": .string(trend.rawValue),
      ])
    }
  }

  private let _inputs: [ReportInput]
  private let _rows: [Row]
  private let _growth: GrowthReportValues
  private let _difference: DifferenceReport

  /// Creates a report.
  ///
  /// - Parameters:
  ///   - inputs: The marks, oldest first.
  ///   - rows: The types whose numbers changed.
  ///   - growth: The ways on which objects become more.
  ///   - difference: The first mark and the last.
  package init(
    inputs: [ReportInput], rows: [Row], growth: GrowthReportValues, difference: DifferenceReport
  ) {
    _inputs = inputs
    _growth = growth
    _rows = rows.sorted { left, right in
      func rank(_ row: Row) -> Int {
        guard row.isOwn else { return 3 }
        guard row.trend == .growing else { return 2 }
        return difference.culprits.contains(row.type) ? 0 : 1
      }
      if rank(left) != rank(right) { return rank(left) < rank(right) }
      return left.growth != right.growth ? left.growth > right.growth : left.type < right.type
    }
    _difference = difference
  }

  package var findings: [JSONValue] { _difference.findings }

  package var reported: [ReportedFinding] { _difference.reported }

  package var members: [JSONValue.Member] {
    _difference.members + [
      JSONValue.Member(
        "staircase",
        .members([
          "marks": .array(ReportInput.titles(of: _inputs).map { .string($0) }),
          "types": .array(_rows.map(\.json)),
          "growing": .array(GrowthText.jsons(of: _growth.growing, names: _difference.names)),
          "settled": .array(GrowthText.jsons(of: _growth.settled, names: _difference.names)),
        ]))
    ]
  }

  package func document(limit: Int?) -> Document {
    var document = Document(answer: answer)
    let shown = _rows.prefix(limit ?? _rows.count)
    if !shown.isEmpty { document.blocks.append(.table(table(of: Array(shown)))) }
    let names = _difference.names
    let growing = _growth.growing.filter(\.isOwn)
    if !growing.isEmpty {
      document.blocks.append(.heading("Ways that keep growing"))
      document.blocks.append(.table(GrowthText.table(of: growing, limit: limit, names: names)))
    }
    document.blocks += GrowthText.settledBlocks(_growth.settled, limit: limit, names: names)
    document.blocks += _difference.document(limit: limit).blocks.filter {
      if case .table = $0 { return false }
      return true
    }
    return document
  }

  private var stepCount: Int { max(1, _inputs.count - 1) }

  private var answer: Line {
    let marks = Units.count(_inputs.count, "mark")
    let growing = _rows.filter { $0.isOwn && $0.trend == .growing }
    guard !growing.isEmpty else {
      let grown = _rows.filter { $0.isOwn && $0.growth > 0 }
      guard !grown.isEmpty else {
        return Line("No type of the program's own grew over \(marks).", .good)
      }
      let list = grown.prefix(3).map { row in
        Line(row.type, .code) + Line(" \(Units.signed(row.growth))")
      }.joined(", ")
      return Line("\(Units.count(grown.count, "type")) grew over \(marks), but not to the end: ")
        + (grown.count > 3 ? list + Line(", …") : list)
    }
    var line = Line(
      growing.allSatisfy(\.growsAtEachMark)
        ? "\(Units.count(growing.count, "type")) grew at each of \(marks): "
        : "\(Units.count(growing.count, "type")) \(growing.count == 1 ? "keeps" : "keep") growing over"
          + " \(marks): ")
    line += growing.prefix(3).map { row in
      Line(row.type, .code) + Line(" \(Units.signedQuotient(row.growth, over: stepCount)) a mark")
    }.joined(", ")
    return growing.count > 3 ? line + Line(", …") : line
  }

  private func table(of rows: [Row]) -> Document.Table {
    let width = rows.flatMap(\.counts).map { Units.number($0).count }.max() ?? 1
    let titles = ReportInput.titles(of: _inputs)
    let first = titles.first ?? ""
    let last = titles.last ?? ""
    return Document.Table(
      columns: [
        .init("\(first) … \(last)"), .init("chart"), .init("a mark", .right), .init("type"),
      ],
      rows: rows.map { row in
        let counts = row.counts.map { count in
          let text = Units.number(count)
          return String(repeating: " ", count: width - text.count) + text
        }
        return [
          Line(counts.joined(separator: " ")),
          Line(Self.chart(of: row.counts), row.isOwn && row.trend == .growing ? .bad : .plain),
          Line(Units.signedQuotient(row.growth, over: stepCount)),
          Line(row.type, row.isOwn ? .code : .faint),
        ]
      },
      omitted: _rows.count - rows.count)
  }

  /// One bar a mark, from nothing to the highest in eight steps.
  static func chart(of counts: [Int]) -> String {
    let bars = Array("▁▂▃▄▅▆▇█")
    let top = max(1, counts.max() ?? 1)
    return String(counts.map { bars[(max(0, $0) * 7 + top / 2) / top] })
  }
}
