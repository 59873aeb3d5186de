// GrowthText: a place where objects become more, in words.

internal import GraphAnalysis
internal import GraphPrimitives
internal import SnapshotFormat

/// What growth is counted by.
package enum GrowthUnit: Sendable {
  /// From one mark to the next.
  case marks

  /// By repetitions of the same work: marks lie after some of them.
  case iterations(at: [Int])

  /// How many there are between the first of some marks and the last.
  func count(ofMarks count: Int) -> Int {
    switch self {
    case .marks: max(1, count - 1)
    case .iterations(let marks): max(1, (marks.last ?? 0) - (marks.first ?? 0))
    }
  }

  /// `a mark`, `an iteration`.
  var each: String {
    switch self {
    case .marks: "a mark"
    case .iterations: "an iteration"
    }
  }

  /// What growth was looked for over.
  func span(ofMarks count: Int) -> String {
    switch self {
    case .marks: Units.count(count, "mark")
    case .iterations(let marks):
      "\(Units.count(marks.last ?? 0, "iteration")), counted after "
        + marks.map { Units.number($0) }.joined(separator: ", ")
    }
  }
}

/// A growing place in words.
struct GrowthText {
  private let _growth: PlaceGrowth
  private let _names: Names
  private let _unit: GrowthUnit

  /// How many objects of the type are alive at the last mark, wherever they are; nil where that is not known.
  private let _alive: Int?

  init(_ growth: PlaceGrowth, names: Names, unit: GrowthUnit = .marks, alive: Int? = nil) {
    _growth = growth
    _names = names
    _unit = unit
    _alive = alive
  }

  var finding: FindingText { FindingText(finding: _growth.finding, names: _names) }

  var type: String { finding.type }

  private var stepCount: Int { _unit.count(ofMarks: _growth.costs.count) }

  private var net: Int { (_growth.counts.last ?? 0) - (_growth.counts.first ?? 0) }

  /// How many more there are from mark to mark, or with each repetition, on average: `+1`, `+0.3`; of a container
  /// elements: `+1 element`.
  var perUnit: String {
    let number = Units.signedQuotient(net, over: stepCount)
    guard let length = _growth.length else { return number }
    return number + " " + Self.unit(of: length, isOne: net == stepCount)
  }

  private static func unit(of length: PlaceGrowth.Length, isOne: Bool) -> String {
    length.isText
      ? isOne ? "byte of text" : "bytes of text" : isOne ? "element" : "elements"
  }

  /// What grows: a type, or the field or variable that is a container.
  var head: Line {
    guard let length = _growth.length else { return finding.head }
    return PathText(path: length.path, names: _names).container
  }

  /// How many there are at the last mark, and what was counted where others of the type are elsewhere.
  private var now: String {
    let last = _growth.counts.last ?? 0
    let number = Units.number(last)
    if let length = _growth.length {
      return "\(number) \(Self.unit(of: length, isOne: last == 1)) now"
    }
    guard let alive = _alive, alive > last, _growth.finding.kind != .leak else {
      return "\(number) now"
    }
    return "\(number) now of \(Units.number(alive)) alive"
  }

  /// How the number changes from each mark to the next.
  private var increments: [Int] {
    zip(_growth.counts, _growth.counts.dropFirst()).map { $1 - $0 }
  }

  /// The first numbers and the last where there are many.
  private static func list(_ numbers: [String]) -> String {
    numbers.count <= 40
      ? numbers.joined(separator: " ")
      : numbers.prefix(20).joined(separator: " ") + " … "
        + numbers.suffix(20).joined(separator: " ")
  }

  /// The place as an item: its numbers, then what the finding has.
  func item(number: Int?) -> Document.Item {
    var title = head + Line(", \(perUnit) \(_unit.each)", .bad)
    title += Line(", \(now)")
    if _growth.finding.kind == .leak { title += Line(", leaked", .bad) }
    let bytes = _growth.increase.bytes.rawValue / Int64(stepCount)
    if bytes > 0 {
      title += Line("; \(Units.bytes(ByteCount(bytes))) \(_unit.each) with all below")
    }
    var details = [
      Document.Detail(
        "count",
        Line(Self.list(_growth.counts.map { Units.number($0) }) + "  ")
          + Line(StaircaseReport.chart(of: _growth.counts))),
      Document.Detail("steps", Line(Self.list(increments.map { Units.signed($0) }))),
    ]
    if !_growth.dragged.isEmpty {
      let shown = _growth.dragged.prefix(3).map { type, count in
        Line(Names.sourceSpelling(of: type), .code)
          + Line(" \(Units.signedQuotient(count, over: stepCount)) \(_unit.each)")
      }.joined(", ")
      details.append(
        Document.Detail("with", _growth.dragged.count > 3 ? shown + Line(", …") : shown))
    }
    if _growth.length != nil, _growth.finding.cuts.isEmpty {
      details.append(
        Document.Detail(
          "mend", "remove what is no longer needed, or bound it: it has only become longer"))
    }
    return finding.item(number: number, told: title, more: details, foldsIndices: true)
  }

  var json: JSONValue {
    guard case .object(let members) = finding.json else {
      preconditionFailure("a finding is an object")
    }
    let kept = members.filter {
      ["kind", "fingerprint", "type", "cycle", "path"].contains($0.name)
    }
    return .object(
      kept + [
        JSONValue.Member("own", .bool(_growth.isOwn)),
        JSONValue.Member("trend", .string(_growth.trend.rawValue)),
        JSONValue.Member("counts", .array(_growth.counts.map { .integer($0) })),
        JSONValue.Member(
          "bytes", .array(_growth.costs.map { .integer(Int($0.bytes.rawValue)) })),
        JSONValue.Member("increments", .array(increments.map { .integer($0) })),
        JSONValue.Member(
          "counted",
          .string(_growth.length.map { $0.isText ? "bytesOfText" : "elements" } ?? "objects")),
        JSONValue.Member(
          "dragged",
          .object(
            _growth.dragged.map {
              JSONValue.Member(Names.sourceSpelling(of: $0.type), .integer($0.count))
            })),
      ])
  }

  static func jsons(of growths: [PlaceGrowth], names: Names) -> [JSONValue] {
    growths.map { GrowthText($0, names: names).json }
  }

  /// Places in a table: their numbers and the way there.
  static func table(
    of growths: [PlaceGrowth], limit: Int?, names: Names
  ) -> Document.Table {
    let shown = growths.prefix(limit ?? growths.count)
    let width = shown.flatMap(\.counts).map { Units.number($0).count }.max() ?? 1
    return Document.Table(
      columns: [.init("count"), .init("chart"), .init("a mark", .right), .init("way")],
      rows: shown.map { growth in
        let text = GrowthText(growth, names: names)
        let numbers = growth.counts.map { Units.number($0) }.map {
          String(repeating: " ", count: width - $0.count) + $0
        }
        return [
          Line(list(numbers)), Line(StaircaseReport.chart(of: growth.counts)), Line(text.perUnit),
          text.way,
        ]
      },
      omitted: growths.count - shown.count)
  }

  /// The library that comes with Swift whose variables lead to memory of its own at the place; nil for other places. All
  /// that it has is one place, so which variable leads there, and who asked for the first block, says nothing.
  private var library: String? {
    guard !_growth.isOwn, let path = _growth.finding.path,
      _names.kind(of: path.target) == .block,
      path.steps.allSatisfy({ _names.kind(of: $0.node) == .block })
    else { return nil }
    let snapshot = _names.snapshot
    guard RootKind(rawValue: snapshot.roots.kind[path.root.position]) == .global else { return nil }
    let address = snapshot.roots.address[path.root.position]
    guard let module = snapshot.modules.first(where: { $0.start <= address && address < $0.end }),
      ToolchainModules.isLibrary(path: module.path)
    else { return nil }
    return module.path.split(separator: "/").last.map(String.init)
  }

  /// The way to the place in one line.
  private var way: Line {
    if let library { return Line(library, .code) + Line(", memory of its own") }
    if let path = _growth.finding.path {
      return PathText(path: path, names: _names).chain.map(Names.foldingIndices).joined(" → ")
    }
    return Line(type, .code) + Line(" (leaked)", .bad)
  }

  /// What grew and stopped; nothing where there is none.
  static func settledBlocks(
    _ settled: [PlaceGrowth], limit: Int?, names: Names
  ) -> [Document.Block] {
    if settled.isEmpty { return [] }
    return [
      .heading("Grew, and has stopped: as a cache does"),
      .table(table(of: settled, limit: limit, names: names)),
    ]
  }
}
