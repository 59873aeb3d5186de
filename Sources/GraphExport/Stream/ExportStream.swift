// ExportStream: the one way by which bytes of an export leave: a buffer of some ten KB, whatever the size of the whole.

/// Collects bytes and passes them on in pieces, so that no export is in memory as a whole.
///
/// Putting never fails; ``checkpoint()`` passes on what has gathered, so it stands after each record. Not thread-safe.
package final class ExportStream {
  /// How many bytes gather before they are passed on.
  private static let pieceSize = 1 << 16

  /// Memory of its own rather than an array: a million objects are a hundred million bytes, put one at a time, and each
  /// would be checked for exclusive access and for other owners.
  @exclusivity(unchecked) private var _bytes: UnsafeMutableBufferPointer<UInt8>
  @exclusivity(unchecked) private var _used = 0
  private let _pass: (ArraySlice<UInt8>) throws -> Void
  private var _passed = 0

  /// How many bytes have been put in.
  package var count: Int { _passed + _used }

  /// - Parameter pass: Takes each piece; what it throws ends the export.
  package init(_ pass: @escaping (ArraySlice<UInt8>) throws -> Void) {
    _pass = pass
    _bytes = .allocate(capacity: Self.pieceSize + 4_096)
  }

  deinit { _bytes.deallocate() }

  /// Makes room for more bytes behind those that have gathered.
  @inline(__always)
  private func reserve(_ more: Int) {
    if _used + more > _bytes.count { grow(more) }
  }

  private func grow(_ more: Int) {
    let larger = UnsafeMutableBufferPointer<UInt8>.allocate(
      capacity: max(_bytes.count * 2, _used + more))
    _ = larger.update(fromContentsOf: _bytes[..<_used])
    _bytes.deallocate()
    _bytes = larger
  }

  /// Puts one byte.
  func put(byte: UInt8) {
    reserve(1)
    _bytes[_used] = byte
    _used += 1
  }

  /// Puts a text as UTF-8.
  func put(_ text: String) {
    var text = text
    text.withUTF8 { put(bytes: $0) }
  }

  /// Puts some bytes.
  func put(bytes: some Collection<UInt8>) {
    reserve(bytes.count)
    _used = _bytes[_used...].update(fromContentsOf: bytes)
  }

  /// Puts a number in decimal digits.
  func put(decimal number: some BinaryInteger) {
    var rest = UInt64(number.magnitude)
    if number < 0 { put(byte: UInt8(ascii: "-")) }
    var digitCount = 1
    var bound: UInt64 = 10
    while digitCount < 20, rest >= bound {
      digitCount += 1
      let (next, isTooLarge) = bound.multipliedReportingOverflow(by: 10)
      if isTooLarge { break }
      bound = next
    }
    reserve(digitCount)
    for place in stride(from: _used + digitCount - 1, through: _used, by: -1) {
      _bytes[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    }
    _used += digitCount
  }

  /// Puts a text as a string of JSON, within quotes.
  func put(json text: String) {
    put(byte: UInt8(ascii: "\""))
    var text = text
    text.withUTF8 { bytes in
      guard bytes.contains(where: Self.isEscaped) else { return put(bytes: bytes) }
      for byte in bytes {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
          put(byte: UInt8(ascii: "\\"))
          put(byte: byte)
        case 0..<0x20:
          put("\\u00")
          put(byte: Self.hexDigits[Int(byte >> 4)])
          put(byte: Self.hexDigits[Int(byte & 15)])
        default: put(byte: byte)
        }
      }
    }
    put(byte: UInt8(ascii: "\""))
  }

  private static func isEscaped(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  private static let hexDigits = Array("0123456789abcdef".utf8)

  /// Passes on what has gathered, once there is a piece of it.
  ///
  /// - Throws: What the taker throws.
  func checkpoint() throws {
    if _used >= Self.pieceSize { try flush() }
  }

  /// Passes on all that has gathered.
  func flush() throws {
    guard _used > 0 else { return }
    try _pass(ArraySlice(_bytes[..<_used]))
    _passed += _used
    _used = 0
  }
}
