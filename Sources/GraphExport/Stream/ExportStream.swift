// ExportStream: the one way by which bytes of an export leave: a buffer of some ten KB, whatever the size of the whole.

/// Collects bytes and passes them on in pieces, so that no export is in memory as a whole.
///
/// Putting never fails; ``checkpoint()`` passes on what has gathered, so it stands after each record. Not thread-safe.
package final class ExportStream {
  /// How many bytes gather before they are passed on.
  private static let pieceSize = 1 << 16

  private var _bytes: [UInt8] = []
  private let _pass: (ArraySlice<UInt8>) throws -> Void

  /// How many bytes have been put in.
  package private(set) var count = 0

  /// - Parameter pass: Takes each piece; what it throws ends the export.
  package init(_ pass: @escaping (ArraySlice<UInt8>) throws -> Void) {
    _pass = pass
    _bytes.reserveCapacity(Self.pieceSize + 4_096)
  }

  /// Puts one byte.
  func put(byte: UInt8) {
    _bytes.append(byte)
    count += 1
  }

  /// Puts a text as UTF-8.
  func put(_ text: String) {
    let before = _bytes.count
    _bytes.append(contentsOf: text.utf8)
    count += _bytes.count - before
  }

  /// Puts some bytes.
  func put(bytes: some Collection<UInt8>) {
    _bytes.append(contentsOf: bytes)
    count += bytes.count
  }

  /// Puts a number in decimal digits.
  func put(decimal number: some BinaryInteger) {
    var rest = UInt64(number.magnitude)
    if number < 0 { put(byte: UInt8(ascii: "-")) }
    // The last digit comes first: 20 digits are the most that 64 bits have.
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
      var place = 20
      repeat {
        place -= 1
        digits.initializeElement(
          at: place, to: UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
        rest /= 10
      } while rest > 0
      _bytes.append(contentsOf: digits[place...])
      count += 20 - place
    }
  }

  /// Puts a text as a string of JSON, within quotes.
  func put(json text: String) {
    put(byte: UInt8(ascii: "\""))
    for byte in text.utf8 {
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
    put(byte: UInt8(ascii: "\""))
  }

  private static let hexDigits = Array("0123456789abcdef".utf8)

  /// Passes on what has gathered, once there is a piece of it.
  ///
  /// - Throws: What the taker throws.
  func checkpoint() throws {
    if _bytes.count >= Self.pieceSize { try flush() }
  }

  /// Passes on all that has gathered.
  func flush() throws {
    guard !_bytes.isEmpty else { return }
    try _pass(_bytes[...])
    _bytes.removeAll(keepingCapacity: true)
  }
}
