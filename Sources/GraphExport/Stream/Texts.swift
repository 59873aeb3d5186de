// Texts: the texts of a file that names them by their rows.

/// Texts in the order in which they were met, each once.
struct Texts {
  private var _rowByText: [String: UInt32] = [:]

  /// The texts by their rows.
  private(set) var all: [String] = []

  mutating func row(of text: String) -> UInt32 {
    if let row = _rowByText[text] { return row }
    let row = UInt32(all.count)
    _rowByText[text] = row
    all.append(text)
    return row
  }

  /// Writes the texts as an array of JSON, one a line.
  func writeJSON(to stream: ExportStream) throws {
    stream.put("[")
    for (row, text) in all.enumerated() {
      if row > 0 { stream.put(",\n") }
      stream.put(json: text)
      try stream.checkpoint()
    }
    stream.put("]")
  }
}
