// StorageText: strings that are there more than once, and collections with room that they don't use, in words.

internal import GraphAnalysis
internal import GraphPrimitives

/// What strings and collections take up without need, in words.
struct StorageText {
  /// Less than this, all of a kind together, is not told to people.
  private static let _leastBytes = ByteCount(1_024)
  private static let _shownRows = 5

  private let _waste: StorageWaste
  private let _names: Names

  init(_ waste: StorageWaste, names: Names) {
    _waste = waste
    _names = names
  }

  func blocks(limit: Int?) -> [Document.Block] {
    var blocks: [Document.Block] = []
    let equal = _waste.equal.reduce(ByteCount.zero) { $0 + $1.unneeded }
    if equal >= Self._leastBytes {
      let copies = _waste.equal.reduce(0) { $0 + $1.count - 1 }
      blocks.append(.heading("Equal strings"))
      blocks.append(
        .paragraph(
          Line(
            "\(Units.number(copies)) of \(Units.count(_waste.stringCount, "string")) have the text of"
              + " another one, \(Units.bytes(equal)). Texts are not in the snapshot, only which are equal."
          )))
      blocks.append(
        table(equalByHolder, limit, columns: ["times", "bytes", "texts", "held by"]) { row in
          [
            Line(Units.number(row.count)), Line(Units.bytes(row.unneeded)),
            Line(Units.number(row.texts)), Line(row.holder, .code),
          ]
        })
    }
    let spare = _waste.spare.reduce(ByteCount.zero) { $0 + $1.bytes }
    if spare >= Self._leastBytes {
      let count = _waste.spare.reduce(0) { $0 + $1.count }
      blocks.append(.heading("Room that nothing is in"))
      blocks.append(
        .paragraph(
          Line(
            "\(Units.bytes(spare)) of room in \(Units.count(count, "collection"))"
              + (count == 1 ? " or string that is" : " or strings that are")
              + " less than half full.")))
      blocks.append(
        table(_waste.spare, limit, columns: ["count", "bytes", "type"]) { row in
          [
            Line(Units.number(row.count)), Line(Units.bytes(row.bytes)),
            Line(_names.typeName(of: row.node), .code),
          ]
        })
    }
    return blocks
  }

  /// Texts that the same reference holds as one row: a field may have hundreds that all are there twice.
  private var equalByHolder: [(holder: String, texts: Int, count: Int, unneeded: ByteCount)] {
    var rows: [(holder: String, texts: Int, count: Int, unneeded: ByteCount)] = []
    var rowByHolder: [String: Int] = [:]
    for equal in _waste.equal {
      let holder = holder(of: equal).map(EdgeName.folded) ?? "roots only"
      if let row = rowByHolder[holder] {
        rows[row].texts += 1
        rows[row].count += equal.count
        rows[row].unneeded += equal.unneeded
      } else {
        rowByHolder[holder] = rows.count
        rows.append((holder, 1, equal.count, equal.unneeded))
      }
    }
    return rows.enumerated().sorted {
      $0.element.unneeded != $1.element.unneeded
        ? $0.element.unneeded > $1.element.unneeded : $0.offset < $1.offset
    }.map(\.element)
  }

  private func table<Row>(
    _ rows: [Row], _ limit: Int?, columns: [String], _ line: (Row) -> [Line]
  ) -> Document.Block {
    let shown = rows.prefix(limit ?? Self._shownRows)
    return .table(
      Document.Table(
        columns: columns.enumerated().map {
          .init($1, $0 < columns.count - 1 ? .right : .left)
        },
        rows: shown.map(line), omitted: rows.count - shown.count))
  }

  private func holder(of row: StorageWaste.EqualStrings) -> String? {
    row.holder.map { EdgeName($0, reachedBy: nil, names: _names, isFolded: true).title }
  }

  var json: JSONValue {
    .members([
      "strings": .integer(_waste.stringCount),
      "equalStrings": .array(
        _waste.equal.map { row in
          .members([
            "count": .integer(row.count), "bytes": .integer(Int(row.unneeded.rawValue)),
            "length": .integer(row.length), "heldBy": holder(of: row).map { .string($0) },
          ])
        }),
      "spareRoom": .array(
        _waste.spare.map { row in
          .members([
            "type": .string(_names.typeName(of: row.node)), "count": .integer(row.count),
            "bytes": .integer(Int(row.bytes.rawValue)),
          ])
        }),
    ])
  }
}
