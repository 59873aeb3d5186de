// ManualPage: what `--help` says, as pages for `man`.

/// Writes pages in the language of `man`.
enum ManualPage {
  /// The page about a tool, or about a verb of it.
  static func page(of tool: Tool, verb: Verb?) -> String {
    guard let verb = verb ?? (tool.isSingleVerb ? tool.verbs[0] : nil) else {
      return overview(of: tool)
    }
    let name = name(of: verb, in: tool)
    var text = head(name, summary: verb.summary)
    let command = tool.isSingleVerb ? tool.name : "\(tool.name) \(verb.name)"
    text += ".SH SYNOPSIS\n.B \(escaped(command))\n"
    text += "[\\fIOPTION\\fR...] \\fI\(escaped(verb.operands))\\fR\n"
    if !verb.discussion.isEmpty {
      text += ".SH DESCRIPTION\n" + paragraphs(verb.discussion)
    }
    text += ".SH OPTIONS\n"
    for option in verb.allOptions {
      let letter = option.letter.map { "\\fB\\-\($0)\\fR, " } ?? ""
      let value = option.placeholder.isEmpty ? "" : " \\fI\(escaped(option.placeholder))\\fR"
      text += ".TP\n\(letter)\\fB\\-\\-\(escaped(option.name))\\fR\(value)\n"
      text += line(option.help)
    }
    text += ".SH EXAMPLES\n"
    for example in verb.examples {
      text += ".TP\n\\fB\(escaped(example.command))\\fR\n" + line(example.purpose)
    }
    text += exitStatus
    if !tool.isSingleVerb { text += ".SH SEE ALSO\n.BR \(tool.name) (1)\n" }
    return text
  }

  /// What the page about a verb is called: `memgraph-leaks`.
  static func name(of verb: Verb, in tool: Tool) -> String {
    tool.isSingleVerb ? tool.name : "\(tool.name)-\(verb.name)"
  }

  private static func overview(of tool: Tool) -> String {
    let verbs = tool.verbs.filter { !$0.isHidden }
    var text = head(tool.name, summary: tool.summary)
    text += ".SH SYNOPSIS\n.B \(tool.name)\n\\fIVERB\\fR [\\fIOPTION\\fR...] [\\fIOPERAND\\fR...]\n"
    text += ".SH VERBS\n"
    for verb in verbs { text += ".TP\n\\fB\(verb.name)\\fR\n" + line(verb.summary) }
    text += exitStatus
    text += ".SH SEE ALSO\n"
    for (place, verb) in verbs.enumerated() {
      text += ".BR \(tool.name)-\(verb.name) (1)" + (place + 1 < verbs.count ? ",\n" : "\n")
    }
    return text
  }

  private static var exitStatus: String {
    ExitStatus.meanings.reduce(into: ".SH EXIT STATUS\n") { text, meaning in
      text += ".TP\n\(meaning.status.rawValue)\n" + line(meaning.text)
    }
  }

  private static func head(_ name: String, summary: String) -> String {
    """
    .TH \(escaped(name).uppercased()) 1 \(toolDate) "memory-graph \(toolVersion)" "memory-graph"
    .SH NAME
    \(escaped(name)) \\- \(escaped(summary))

    """
  }

  private static func paragraphs(_ text: String) -> String {
    text.split(separator: "\n\n").map { line($0.replacing("\n", with: " ")) }
      .joined(separator: ".PP\n")
  }

  /// A line of text: it must not begin like a request.
  private static func line(_ text: some StringProtocol) -> String {
    let text = escaped(String(text))
    return (text.hasPrefix(".") || text.hasPrefix("'") ? "\\&" : "") + text + "\n"
  }

  private static func escaped(_ text: String) -> String {
    text.replacing("\\", with: "\\e").replacing("-", with: "\\-").replacing("`", with: "\\(ga")
      .replacing("'", with: "\\(aq")
  }
}
