// StringPool: the texts of the viewer's data, each once.

/// The texts of the viewer's data, each once; row 0 is the empty one.
struct StringPool {
  private var _rowByText: [String: UInt32] = ["": 0]
  private var _lengths = ViewerColumn("string.length", .u32)
  private var _text = ViewerColumn("string.text", .bytes)

  init() { _lengths.append(UInt32(0)) }

  /// The row of a text.
  mutating func row(of text: String) -> UInt32 {
    if let row = _rowByText[text] { return row }
    let row = UInt32(_rowByText.count)
    _rowByText[text] = row
    _lengths.append(text.utf8.count)
    _text.append(contentsOf: text.utf8)
    return row
  }

  var columns: [ViewerColumn] { [_lengths, _text] }
}
