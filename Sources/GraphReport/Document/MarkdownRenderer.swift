// MarkdownRenderer: a document as Markdown, for a pull request or an issue.

/// Writes documents as Markdown in the dialect of GitHub.
package enum MarkdownRenderer {
  /// The document as Markdown.
  ///
  /// - Complexity: O(*n*) for *n* characters.
  package static func render(_ document: Document) -> String {
    var text = "**" + shown(document.answer) + "**\n"
    for block in document.blocks {
      text += "\n"
      switch block {
      case .heading(let heading): text += "### " + escaped(heading) + "\n"
      case .paragraph(let line): text += shown(line) + "\n"
      case .table(let table): text += render(table)
      case .item(let item): text += render(item)
      case .tree(let branches): text += render(branches)
      case .diagram(let diagram): text += "```mermaid\n" + MermaidRenderer.render(diagram) + "```\n"
      }
    }
    return withoutControls(text)
  }

  private static func render(_ table: Document.Table) -> String {
    func row(_ cells: [String]) -> String { "| " + cells.joined(separator: " | ") + " |\n" }
    var text = row(table.columns.map { escaped($0.heading) })
    text += row(table.columns.map { $0.alignment == .right ? "---:" : ":---" })
    for cells in table.rows {
      // A bar ends a cell even within code.
      text += row(cells.map { shown($0).replacing("|", with: "\\|") })
    }
    if table.omitted > 0 { text += "\n… and \(Units.number(table.omitted)) more\n" }
    return text
  }

  /// An item alone, with its title as a heading.
  static func render(_ item: Document.Item) -> String {
    let number = item.number.map { "\($0). " } ?? ""
    var text = "#### " + number + shown(item.title) + "\n\n"
    for detail in item.details {
      text +=
        "- " + escaped(detail.name) + ": " + detail.chain.map(shown).joined(separator: " → ") + "\n"
    }
    return text
  }

  private static func render(_ branches: [Document.Branch]) -> String {
    let lines = TextRenderer.render(
      Document(answer: "", blocks: [.tree(branches)]), style: TextStyle()
    ).drop { $0 == "\n" }
    return "```text\n" + lines + "```\n"
  }

  private static func shown(_ line: Line) -> String {
    // Neighbours that are code become one span: `App.View` and `.field` belong together.
    var text = ""
    var code = ""
    for run in line.runs + [Run("")] {
      if run.role == .code {
        code += run.text
        continue
      }
      if !code.isEmpty { text += span(code) }
      code = ""
      text += escaped(run.text)
    }
    return text
  }

  /// A code span; one that holds backticks needs longer fences.
  private static func span(_ code: String) -> String {
    guard code.contains("`") else { return "`" + code + "`" }
    var fence = "``"
    while code.contains(fence) { fence += "`" }
    return fence + " " + code + " " + fence
  }

  private static func escaped(_ text: String) -> String {
    var result = ""
    for character in text {
      // Hosts make a person of @name and an issue of #1, even where they are escaped, but not across a comment.
      if result.hasSuffix("@") && character.isLetter || result.hasSuffix("#") && character.isNumber
      {
        result += "<!-- -->"
      }
      if "\\`*_<>[]#".contains(character) { result.append("\\") }
      result.append(character)
    }
    return result
  }
}
