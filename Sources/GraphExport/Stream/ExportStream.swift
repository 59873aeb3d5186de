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

  /// Puts some bytes.
  func put(raw bytes: UnsafeBufferPointer<UInt8>) {
    reserve(bytes.count)
    guard let target = _bytes.baseAddress, let source = bytes.baseAddress else { return }
    (target + _used).update(from: source, count: bytes.count)
    _used += bytes.count
  }

  /// Puts a number with its highest byte first.
  func put(big number: some FixedWidthInteger & BitwiseCopyable) {
    let size = MemoryLayout.size(ofValue: number)
    reserve(size)
    UnsafeMutableRawBufferPointer(_bytes).storeBytes(
      of: number.bigEndian, toByteOffset: _used, as: type(of: number))
    _used += size
  }

  /// Puts a number in decimal digits.
  func put(decimal number: some BinaryInteger) {
    if number < 0 { put(byte: UInt8(ascii: "-")) }
    put(digits: UInt64(number.magnitude))
  }

  private func put(digits number: UInt64) {
    if number < 10 { return put(byte: UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number)) }
    var digitCount = 1
    var rest = number
    // A division by a constant is a multiplication; four digits at once, so that most numbers need one or two.
    while rest >= 10_000 {
      rest /= 10_000
      digitCount += 4
    }
    digitCount += rest >= 1_000 ? 3 : rest >= 100 ? 2 : rest >= 10 ? 1 : 0
    reserve(digitCount)
    rest = number
    var place = _used + digitCount
    while place > _used {
      place -= 1
      _bytes[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    }
    _used += digitCount
  }

  /// Puts a word as reports write addresses: `0x7f3a10002340`.
  func put(hex word: UInt64) {
    let digitCount = max(1, (UInt64.bitWidth - word.leadingZeroBitCount + 3) / 4)
    reserve(digitCount + 2)
    _bytes[_used] = UInt8(ascii: "0")
    _bytes[_used + 1] = UInt8(ascii: "x")
    _used += 2
    for place in 0..<digitCount {
      let digit = UInt8(truncatingIfNeeded: word >> UInt64(4 * (digitCount - 1 - place))) & 15
      _bytes[_used + place] = digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
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
