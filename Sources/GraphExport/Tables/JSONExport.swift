// JSONExport: the tables as one document of JSON.

/// Writes tables as JSON: for each the names of its columns and its rows as arrays.
package enum JSONExport {
  /// The name of the form, which changes where a reader would have to.
  package static let schema = "memory-graph/tables/1"

  /// - Parameter tables: Those wanted.
  /// - Throws: What the stream's taker throws.
  /// - Complexity: O(rows); no table is in memory.
  package static func write(
    _ tables: [ExportTable], of snapshots: [ExportedSnapshot], to stream: ExportStream
  ) throws {
    var rows = TableRows(snapshots)
    stream.put("{\"schema\": \"\(schema)\",\n\"tables\": {")
    for (place, table) in tables.enumerated() {
      if tables.count == 1 { try rows.learn(for: table) }
      stream.put(place == 0 ? "\n" : ",\n")
      stream.put("\"\(table.rawValue)\": {\"columns\": [")
      stream.put(table.columns.map { "\"\($0.name)\"" }.joined(separator: ", "))
      stream.put("],\n\"rows\": [")
      var taker = JSONRows(stream)
      try rows.write(table, to: &taker)
      stream.put("]}")
    }
    stream.put("}}\n")
    try stream.flush()
  }
}

/// Puts rows as arrays, one a line.
private struct JSONRows: RowTaker {
  private let _stream: ExportStream
  private var _isFirstRow = true
  private var _isFirst = true

  init(_ stream: ExportStream) { _stream = stream }

  private mutating func separate() {
    if _isFirst {
      _stream.put(_isFirstRow ? "\n[" : ",\n[")
      _isFirstRow = false
      _isFirst = false
    } else {
      _stream.put(byte: UInt8(ascii: ","))
    }
  }

  mutating func integer(_ value: Int64) {
    separate()
    _stream.put(decimal: value)
  }

  mutating func text(_ value: String) {
    separate()
    _stream.put(json: value)
  }

  mutating func null() {
    separate()
    _stream.put("null")
  }

  mutating func text(
    _ value: @autoclosure () -> String, row: Int, of texts: inout RepeatedTexts
  ) {
    separate()
    let stream = _stream
    texts.withBytes(of: row, value(), as: Self.encode) { stream.put(raw: $0) }
  }

  private static func encode(_ text: String, to stream: ExportStream) { stream.put(json: text) }

  mutating func word(_ value: UInt64) {
    separate()
    _stream.put(byte: UInt8(ascii: "\""))
    _stream.put(hex: value)
    _stream.put(byte: UInt8(ascii: "\""))
  }

  mutating func name(
    _ value: @autoclosure () -> String, row: Int, of texts: inout RepeatedTexts
  ) {
    text(value(), row: row, of: &texts)
  }

  mutating func named(_ value: Int64) { integer(value) }
  mutating func named(word value: UInt64) { word(value) }

  mutating func endRow() throws {
    _stream.put(byte: UInt8(ascii: "]"))
    _isFirst = true
    try _stream.checkpoint()
  }
}
