// CSVExport: one table as comma-separated values (RFC 4180), with a line of headings.

/// Writes a table as CSV: UTF-8, lines ended by a newline, texts in quotes where they need them, nothing for NULL.
package enum CSVExport {
  /// - Throws: What the stream's taker throws.
  /// - Complexity: O(rows); the table is never in memory.
  package static func write(
    _ table: ExportTable, of snapshots: [ExportedSnapshot], to stream: ExportStream
  ) throws {
    var rows = TableRows(snapshots)
    try rows.learn(for: table)
    stream.put(table.columns.map(\.name).joined(separator: ",") + "\n")
    var taker = CSVRows(stream)
    try rows.write(table, to: &taker)
    try stream.flush()
  }
}

/// Puts rows as lines.
private struct CSVRows: RowTaker {
  private let _stream: ExportStream
  private var _isFirst = true

  init(_ stream: ExportStream) { _stream = stream }

  private mutating func separate() {
    if !_isFirst { _stream.put(byte: UInt8(ascii: ",")) }
    _isFirst = false
  }

  mutating func integer(_ value: Int64) {
    separate()
    _stream.put(decimal: value)
  }

  mutating func text(_ value: String) {
    separate()
    Self.encode(value, to: _stream)
  }

  private static func encode(_ value: String, to stream: ExportStream) {
    // An empty text is told from nothing by its quotes.
    guard value.isEmpty || value.utf8.contains(where: needsQuotes) else {
      return stream.put(value)
    }
    stream.put(byte: UInt8(ascii: "\""))
    for byte in value.utf8 {
      if byte == UInt8(ascii: "\"") { stream.put(byte: byte) }
      stream.put(byte: byte)
    }
    stream.put(byte: UInt8(ascii: "\""))
  }

  private static func needsQuotes(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\"") || byte < 0x20
  }

  mutating func text(
    _ value: @autoclosure () -> String, row: Int, of texts: inout RepeatedTexts
  ) {
    separate()
    let stream = _stream
    texts.withBytes(of: row, value(), as: Self.encode) { stream.put(raw: $0) }
  }

  mutating func null() { separate() }

  mutating func word(_ value: UInt64) {
    separate()
    _stream.put(hex: value)
  }

  mutating func name(
    _ value: @autoclosure () -> String, row: Int, of texts: inout RepeatedTexts
  ) {
    text(value(), row: row, of: &texts)
  }

  mutating func named(_ value: Int64) { integer(value) }
  mutating func named(word value: UInt64) { word(value) }

  mutating func endRow() throws {
    _stream.put(byte: UInt8(ascii: "\n"))
    _isFirst = true
    try _stream.checkpoint()
  }
}
