// Base64: bytes as text that stands in HTML as it is.

/// Writes bytes in base64 (RFC 4648, section 4).
enum Base64 {
  private static let digits = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// The text, padded, without line breaks.
  ///
  /// - Complexity: O(*n*).
  static func text(of bytes: some RandomAccessCollection<UInt8>) -> [UInt8] {
    let capacity = (bytes.count + 2) / 3 * 4
    return [UInt8](unsafeUninitializedCapacity: capacity) { text, count in
      var place = bytes.startIndex
      var rest = bytes.count
      digits.withUnsafeBufferPointer { digits in
        while rest > 0 {
          var word = UInt32(bytes[place]) << 16
          bytes.formIndex(after: &place)
          if rest > 1 {
            word |= UInt32(bytes[place]) << 8
            bytes.formIndex(after: &place)
          }
          if rest > 2 {
            word |= UInt32(bytes[place])
            bytes.formIndex(after: &place)
          }
          text[count] = digits[Int(word >> 18)]
          text[count + 1] = digits[Int(word >> 12 & 63)]
          text[count + 2] = rest > 1 ? digits[Int(word >> 6 & 63)] : UInt8(ascii: "=")
          text[count + 3] = rest > 2 ? digits[Int(word & 63)] : UInt8(ascii: "=")
          count += 4
          rest -= min(3, rest)
        }
      }
    }
  }
}
