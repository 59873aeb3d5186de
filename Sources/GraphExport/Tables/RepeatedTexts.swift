// RepeatedTexts: texts that many rows have, as a format writes them.

/// Texts by rows of their own, each encoded when it is first asked for.
///
/// A million rows have a few hundred names between them; to quote and escape one takes longer than to copy it. Not thread-safe.
struct RepeatedTexts {
  private var _bytes: [UInt8] = []

  /// Where a text lies among the bytes; a start of -1 for one that was not asked for.
  private var _places: [(start: Int, count: Int)] = []

  /// Passes the bytes of a text on; they are valid until `body` returns.
  ///
  /// - Parameters:
  ///   - row: The number of the text, small: there is room for all below it.
  ///   - text: The text, which is the same whenever the row is.
  ///   - encode: Puts the text as the format has it.
  @inline(__always)
  mutating func withBytes(
    of row: Int, _ text: @autoclosure () -> String, as encode: (String, ExportStream) -> Void,
    _ body: (UnsafeBufferPointer<UInt8>) -> Void
  ) {
    if row >= _places.count || _places[row].start < 0 { add(row, text(), encode) }
    let place = _places[row]
    _bytes.withUnsafeBufferPointer {
      body(UnsafeBufferPointer(rebasing: $0[place.start..<(place.start + place.count)]))
    }
  }

  @inline(never)
  private mutating func add(_ row: Int, _ text: String, _ encode: (String, ExportStream) -> Void) {
    while _places.count <= row { _places.append((-1, 0)) }
    var encoded: [UInt8] = []
    // Nothing is passed on before all is there, and passing on into memory can't fail.
    let stream = ExportStream { encoded += $0 }
    encode(text, stream)
    try? stream.flush()
    _places[row] = (_bytes.count, encoded.count)
    _bytes += encoded
  }
}
