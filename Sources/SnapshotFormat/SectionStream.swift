// SectionStream: numbers and texts one after the other, for the tables that are read once.

/// Puts together the bytes of a stream.
internal struct StreamWriter {
  private(set) var bytes: [UInt8] = []

  mutating func put<Number: FixedWidthInteger>(_ number: Number) {
    withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func put(_ text: String) {
    put(UInt32(text.utf8.count))
    bytes.append(contentsOf: text.utf8)
  }
}

/// Takes a stream's bytes apart; every read is checked against the end.
internal struct StreamReader {
  private let _bytes: UnsafeRawBufferPointer
  private let _section: SnapshotSection
  private var _offset = 0

  /// Reads from the start of a section.
  ///
  /// - Precondition: `bytes` stay valid as long as the reader is used.
  init(_ bytes: UnsafeRawBufferPointer, _ section: SnapshotSection) {
    _bytes = bytes
    _section = section
  }

  mutating func number<Number: FixedWidthInteger & BitwiseCopyable>(
    _: Number.Type
  ) throws(Malformation) -> Number {
    let size = MemoryLayout<Number>.size
    guard _bytes.count - _offset >= size else { throw _endsEarly(size) }
    let number = _bytes.loadUnaligned(fromByteOffset: _offset, as: Number.self)
    _offset += size
    return Number(littleEndian: number)
  }

  mutating func text() throws(Malformation) -> String {
    let length = Int(try number(UInt32.self))
    guard _bytes.count - _offset >= length else { throw _endsEarly(length) }
    let text = String(decoding: _bytes[_offset..<_offset + length], as: UTF8.self)
    _offset += length
    return text
  }

  /// Reads the number of records and refuses one that can't be, so that room may be made for them.
  mutating func count(ofRecordsOfAtLeast size: Int) throws(Malformation) -> Int {
    let count = Int(try number(UInt32.self))
    guard count <= (_bytes.count - _offset) / size else {
      throw failure(
        "\(count) records don't fit into the \(_bytes.count - _offset) bytes that follow")
    }
    return count
  }

  /// Checks that nothing follows.
  func finish() throws(Malformation) {
    guard _offset == _bytes.count else {
      throw failure("\(_bytes.count - _offset) bytes follow the last record")
    }
  }

  /// An error at the place that will be read next.
  func failure(_ reason: String) -> Malformation { Malformation(_section, row: _offset, reason) }

  private func _endsEarly(_ needed: Int) -> Malformation {
    failure("a record needs \(needed) bytes and \(_bytes.count - _offset) are left")
  }
}
