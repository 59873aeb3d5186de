// TextRenderer: a document as text for a terminal, a pipe or a file.

/// Writes documents as text.
package struct TextRenderer {
  private let _style: TextStyle
  private var _text = ""

  private init(_ style: TextStyle) { _style = style }

  /// The document as text, each line ended by a newline.
  ///
  /// - Complexity: O(*n*) for *n* characters.
  package static func render(_ document: Document, style: TextStyle) -> String {
    var renderer = TextRenderer(style)
    renderer.flow(
      Line(document.answer.runs.map { Run($0.text, $0.role == .plain ? .strong : $0.role) }),
      indent: 0)
    for block in document.blocks {
      if case .diagram = block { continue }
      renderer._text += "\n"
      renderer.append(block)
    }
    return renderer._text
  }

  private mutating func append(_ block: Document.Block) {
    switch block {
    case .heading(let text): flow(Line(text, .strong), indent: 0)
    case .paragraph(let line): flow(line, indent: 0)
    case .table(let table): append(table)
    case .item(let item): append(item)
    case .tree(let branches): append(branches)
    case .diagram: break
    }
  }

  private mutating func append(_ table: Document.Table) {
    var rows = [table.columns.map { Line($0.heading, .faint) }] + table.rows
    var widths = table.columns.indices.map { column in
      rows.reduce(0) { max($0, _style.width(of: $1[column])) }
    }
    if let (column, width) = fitting(widths, of: table) {
      for row in rows.indices {
        rows[row][column] = shortened(rows[row][column], to: width)
      }
      widths[column] = width
    }
    for row in rows {
      _text += "  "
      for (column, cell) in row.enumerated() {
        let isLast = column == row.count - 1
        let padding = String(repeating: " ", count: widths[column] - _style.width(of: cell))
        if table.columns[column].alignment == .right { _text += padding }
        _text += _style.shown(cell)
        if !isLast { _text += (table.columns[column].alignment == .left ? padding : "") + "  " }
      }
      _text += "\n"
    }
    if table.omitted > 0 {
      _text += _style.shown(
        Line("  … and \(Units.number(table.omitted)) more (--limit all)\n", .faint))
    }
  }

  /// How wide the last column of a table may be on a terminal, where it has to be narrower: names are there, numbers
  /// in the others.
  private func fitting(_ widths: [Int], of table: Document.Table) -> (column: Int, width: Int)? {
    guard let limit = _style.width, let last = widths.last, table.columns.last?.alignment == .left
    else { return nil }
    let excess = widths.reduce(2 + 2 * (widths.count - 1), +) - limit
    let width = max(min(last, Self._leastWidth), last - max(0, excess))
    return width < last ? (widths.count - 1, width) : nil
  }

  /// A line in at most some columns; without Unicode two ellipses take four more than one sign each.
  private func shortened(_ line: Line, to width: Int) -> Line {
    if _style.width(of: line) <= width { return line }
    return ShortenedLine.shortened(line, to: _style.isUnicode ? width : width - 4)
  }

  /// How narrow names become at most.
  private static let _leastWidth = 24

  private mutating func append(_ item: Document.Item) {
    let number = item.number.map { "\($0). " } ?? ""
    flow(Line(number, .faint) + item.title, indent: 0, hanging: number.count)
    let column = (item.details.map(\.name.count).max() ?? 0) + 2
    for detail in item.details {
      let margin = 3 + column
      let name = detail.name + String(repeating: " ", count: column - detail.name.count)
      _text += "   " + _style.shown(Run(name, .faint))
      chain(detail.chain, at: margin)
    }
  }

  private mutating func append(_ branches: [Document.Branch]) {
    let cellCount = branches.map(\.cells.count).max() ?? 0
    let widths = (0..<cellCount).map { cell in
      branches.reduce(0) { cell < $1.cells.count ? max($0, _style.width(of: $1.cells[cell])) : $0 }
    }
    for branch in branches {
      _text += "  "
      for (cell, line) in branch.cells.enumerated() {
        _text += String(repeating: " ", count: widths[cell] - _style.width(of: line))
        _text += _style.shown(line) + "  "
      }
      let margin =
        2 + widths.prefix(branch.cells.count).reduce(0) { $0 + $1 + 2 } + 2 * branch.depth
      let text =
        _style.width.map {
          shortened(branch.text, to: max(Self._leastWidth, $0 - margin))
        } ?? branch.text
      _text += String(repeating: " ", count: 2 * branch.depth) + _style.shown(text) + "\n"
    }
  }

  /// Appends a chain whose first column is already reached; a link that does not fit any more starts
  /// a line of its own with its arrow.
  private mutating func chain(_ links: [Line], at margin: Int) {
    if links.count == 1 {
      flow(links[0], indent: margin, hanging: 0, atMargin: true)
      return
    }
    var column = margin
    for (place, link) in links.enumerated() {
      let arrow = place == 0 ? "" : _style.arrow
      let width = _style.width(of: link)
      if place > 0, let limit = _style.width, column + arrow.count + width > limit {
        _text += "\n" + String(repeating: " ", count: margin) + arrow.drop { $0 == " " }
        column = margin + arrow.count - 1
      } else {
        _text += arrow
        column += arrow.count
      }
      _text += _style.shown(link)
      column += width
    }
    _text += "\n"
  }

  /// Appends words in lines that keep within the width.
  private mutating func flow(
    _ line: Line, indent: Int, hanging: Int = 0, atMargin: Bool = false
  ) {
    if !atMargin { _text += String(repeating: " ", count: indent) }
    guard let limit = _style.width, indent + _style.width(of: line) > limit else {
      _text += _style.shown(line) + "\n"
      return
    }
    var column = indent
    var pending = ""
    for (word, role) in Self.words(of: line) {
      if word == " " {
        pending = " "
        continue
      }
      let width = _style.spelled(word).count
      if column + pending.count + width > limit, column > indent + hanging {
        _text += "\n" + String(repeating: " ", count: indent + hanging)
        column = indent + hanging
        pending = ""
      }
      _text += pending + _style.shown(Run(word, role))
      column += pending.count + width
      pending = ""
    }
    _text += "\n"
  }

  /// The words of a line and the spaces between them.
  private static func words(of line: Line) -> [(String, Run.Role)] {
    var words: [(String, Run.Role)] = []
    for run in line.runs {
      var word = ""
      for character in run.text {
        if character == " " {
          if !word.isEmpty { words.append((word, run.role)) }
          word = ""
          words.append((" ", .plain))
        } else {
          word.append(character)
        }
      }
      if !word.isEmpty { words.append((word, run.role)) }
    }
    return words
  }
}
