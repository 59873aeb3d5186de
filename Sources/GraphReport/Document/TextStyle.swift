// TextStyle: what a place where text is shown can do.

/// What the place where text is shown can do.
package struct TextStyle: Hashable, Sendable {
  /// The columns to keep within; nil for text that goes to a file or pipe, whose lines stay whole so
  /// that they can be searched.
  package var width: Int?

  /// Whether escape sequences for colours are understood.
  package var hasColor: Bool

  /// Whether arrows and bars can be shown; else ASCII stands for them.
  package var isUnicode: Bool

  package init(width: Int? = nil, hasColor: Bool = false, isUnicode: Bool = true) {
    self.width = width
    self.hasColor = hasColor
    self.isUnicode = isUnicode
  }

  package var arrow: String { isUnicode ? " → " : " -> " }

  /// Text without the characters that the place can't show.
  ///
  /// Only the project's own signs are replaced; names are the program's and stay as they are, but for control
  /// characters, which are written out.
  package func spelled(_ text: String) -> String {
    let text = withoutControls(text)
    guard !isUnicode, !text.utf8.allSatisfy({ $0 < 0x80 }) else { return text }
    var result = ""
    for character in text {
      switch character {
      case "→": result += "->"
      case "←": result += "<-"
      case "×": result += "x"
      case "…": result += "..."
      case "▁": result += "_"
      case "▂", "▃": result += "."
      case "▄", "▅": result += "o"
      case "▆", "▇": result += "O"
      case "█": result += "#"
      default: result.append(character)
      }
    }
    return result
  }

  /// A run as it is to be shown.
  package func shown(_ run: Run) -> String {
    let text = spelled(run.text)
    guard hasColor, !text.isEmpty else { return text }
    switch run.role {
    case .plain: return text
    case .code: return "\u{1B}[36m" + text + "\u{1B}[0m"
    case .strong: return "\u{1B}[1m" + text + "\u{1B}[0m"
    case .faint: return "\u{1B}[2m" + text + "\u{1B}[0m"
    case .bad: return "\u{1B}[31m" + text + "\u{1B}[0m"
    case .good: return "\u{1B}[32m" + text + "\u{1B}[0m"
    }
  }

  /// A line as it is to be shown.
  package func shown(_ line: Line) -> String { line.runs.map(shown).joined() }

  /// The columns that a line takes.
  package func width(of line: Line) -> Int { line.runs.reduce(0) { $0 + spelled($1.text).count } }
}
