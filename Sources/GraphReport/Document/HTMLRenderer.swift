// HTMLRenderer: a document as HTML that reads without a style sheet and without a script.

/// Writes documents as HTML.
///
/// What a part of a line is becomes a class (`bad`, `good`, `faint`) beside an element that says it
/// without a style sheet. Names are isolated, so that one that is written from right to left does not turn round
/// what stands beside it.
package enum HTMLRenderer {
  /// Some blocks of a document.
  ///
  /// - Parameter level: The level of headings: 2 for `h2`; titles of items are one deeper.
  /// - Complexity: O(*n*) for *n* characters.
  package static func render(_ blocks: [Document.Block], level: Int) -> String {
    var text = ""
    for block in blocks {
      switch block {
      case .heading(let heading): text += "<h\(level)>\(escaped(heading))</h\(level)>\n"
      case .paragraph(let line): text += "<p>\(render(line))</p>\n"
      case .table(let table): text += render(table)
      case .item(let item):
        text += "<article>\n\(content(of: item, level: level + 1))</article>\n"
      case .tree(let branches): text += render(branches)
      case .diagram: break
      }
    }
    return text
  }

  /// A line as HTML within a paragraph.
  package static func render(_ line: Line) -> String {
    var text = ""
    var code = ""
    for run in line.runs + [Run("")] {
      // Neighbours that are code become one element: `App.View` and `.field` belong together.
      if run.role == .code {
        code += run.text
        continue
      }
      if !code.isEmpty { text += "<code dir=\"ltr\">\(escaped(code))</code>" }
      code = ""
      switch run.role {
      case .plain, .code: text += escaped(run.text)
      case .strong: text += "<strong>\(escaped(run.text))</strong>"
      case .faint: text += "<span class=\"faint\">\(escaped(run.text))</span>"
      case .bad: text += "<strong class=\"bad\">\(escaped(run.text))</strong>"
      case .good: text += "<span class=\"good\">\(escaped(run.text))</span>"
      }
    }
    return text
  }

  /// A text as the content of an element or of a quoted attribute.
  ///
  /// Characters that HTML does not allow even by number become U+FFFD.
  package static func escaped(_ text: String) -> String {
    var result = ""
    result.reserveCapacity(text.utf8.count)
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "'": result += "&#39;"
      case "\n", "\t": result.unicodeScalars.append(scalar)
      case _ where scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value):
        result += "\u{FFFD}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  private static func render(_ table: Document.Table) -> String {
    var text = "<div class=\"scroll\"><table>\n<thead><tr>"
    for column in table.columns {
      text += "<th scope=\"col\"\(side(of: column))>\(escaped(column.heading))</th>"
    }
    text += "</tr></thead>\n<tbody>\n"
    for row in table.rows {
      text += "<tr>"
      for (column, cell) in zip(table.columns, row) {
        text += "<td\(side(of: column))>\(render(cell))</td>"
      }
      text += "</tr>\n"
    }
    text += "</tbody>\n</table></div>\n"
    if table.omitted > 0 {
      text += "<p class=\"faint\">… and \(Units.number(table.omitted)) more</p>\n"
    }
    return text
  }

  private static func side(of column: Document.Table.Column) -> String {
    column.alignment == .right ? " class=\"number\"" : ""
  }

  /// What stands within the element of an item: its title as a heading of a level, and its details.
  package static func content(of item: Document.Item, level: Int) -> String {
    let number = item.number.map { "\($0). " } ?? ""
    var text = "<h\(level)>\(number)\(render(item.title))</h\(level)>\n"
    if item.details.isEmpty { return text }
    text += "<dl>\n"
    for detail in item.details {
      let name = escaped(detail.name)
      text += "<dt>\(name)</dt><dd class=\"\(name)\">"
      if detail.chain.count == 1 {
        text += render(detail.chain[0])
      } else {
        let links = detail.chain.map { "<li>\(render($0))</li>" }
        text += "<ol class=\"chain\">\(links.joined(separator: "\n"))</ol>"
      }
      text += "</dd>\n"
    }
    return text + "</dl>\n"
  }

  private static func render(_ branches: [Document.Branch]) -> String {
    let lines = TextRenderer.render(
      Document(answer: "", blocks: [.tree(branches)]), style: TextStyle()
    ).drop { $0 == "\n" }
    return "<pre>\(escaped(String(lines)))</pre>\n"
  }
}
