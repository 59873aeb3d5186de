// ViewerColumn: one column of the viewer's data as bytes. docs/viewer-format.md has the encodings.

/// One column of the viewer's data, being written.
struct ViewerColumn {
  /// How values become bytes.
  enum Encoding: String {
    case bytes
    case u32
    case u53
    case z32
    case z53
  }

  /// The largest number that a reader whose numbers are doubles holds exactly.
  static let largest: UInt64 = 1 << 53 - 1

  let name: String
  let encoding: Encoding
  private(set) var bytes: [UInt8] = []
  private(set) var count = 0

  init(_ name: String, _ encoding: Encoding) {
    self.name = name
    self.encoding = encoding
  }

  /// Appends a byte to a column of bytes.
  mutating func append(byte: UInt8) {
    assert(encoding == .bytes)
    bytes.append(byte)
    count += 1
  }

  /// Appends bytes to a column of bytes.
  mutating func append(contentsOf more: some Sequence<UInt8>) {
    assert(encoding == .bytes)
    bytes.append(contentsOf: more)
    count = bytes.count
  }

  /// Appends a number; one that no reader holds exactly becomes the largest that it does.
  mutating func append(_ value: UInt64) {
    assert(encoding == .u32 || encoding == .u53)
    assert(encoding != .u32 || value <= UInt32.max)
    appendVariable(min(value, Self.largest))
    count += 1
  }

  mutating func append(_ value: some FixedWidthInteger) { append(UInt64(clamping: value)) }

  /// Appends a signed number; one that is too large in magnitude becomes the nearest that is not.
  mutating func append(signed value: Int64) {
    assert(encoding == .z32 || encoding == .z53)
    let limit = Int64(Self.largest >> 1)
    let value = max(-limit, min(limit, value))
    appendVariable(UInt64(bitPattern: (value << 1) ^ (value >> 63)))
    count += 1
  }

  /// LEB128: seven bits a byte, the low ones first, the high bit where more follow.
  private mutating func appendVariable(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }
}
