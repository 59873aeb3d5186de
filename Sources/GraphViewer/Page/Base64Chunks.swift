// Base64Chunks: the payload as elements of HTML, none of them large.

/// The payload as elements of HTML.
///
/// One large element takes older WebKit a time that grows with the square of its length, so there are many.
enum Base64Chunks {
  /// How many bytes an element holds; a number of whole groups of three, so that each element can be
  /// decoded by itself.
  static let bytesByElement = 196_608

  /// How many elements so many bytes make.
  static func count(ofBytes count: Int) -> Int { (count + bytesByElement - 1) / bytesByElement }

  /// Calls `body` with one element after the other.
  static func write<E: Error>(_ bytes: [UInt8], _ body: (String) throws(E) -> Void) throws(E) {
    var place = 0
    while place < bytes.count {
      let end = min(bytes.count, place + bytesByElement)
      let text = String(decoding: Base64.text(of: bytes[place..<end]), as: UTF8.self)
      try body("<script type=\"text/plain\" class=\"data\">\(text)</script>\n")
      place = end
    }
  }
}
