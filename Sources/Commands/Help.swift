// Help: the pages that --help prints, made from the verbs' own lists.

/// Writes help.
package enum Help {
  /// The columns that help is laid out for.
  private static let width = 80

  /// The page about the whole tool.
  package static func overview(of tool: Tool) -> String {
    if tool.isSingleVerb { return page(of: tool.verbs[0], tool: tool) }
    let verbs = tool.verbs.filter { !$0.isHidden }
    var text =
      "\(tool.name): \(tool.summary)\n\nusage: \(tool.name) VERB [OPTION...] [OPERAND...]\n\n"
    text += list(verbs.map { ($0.name, $0.summary) })
    text += "\n"
    text += wrap(
      "Each verb's --help has its options and two examples; --version tells the version.", indent: 0
    )
    return text + exitStatus
  }

  /// How a verb is called, in a line.
  package static func usage(of verb: Verb, tool: Tool) -> String {
    let name = tool.isSingleVerb ? tool.name : "\(tool.name) \(verb.name)"
    return "\(name) [OPTION...] \(verb.operands)"
  }

  /// The page about a verb.
  package static func page(of verb: Verb, tool: Tool) -> String {
    var text = "usage: \(usage(of: verb, tool: tool))\n\n"
    text += wrap(sentence(verb.summary), indent: 0)
    for paragraph in verb.discussion.split(separator: "\n\n") {
      text += "\n" + wrap(String(paragraph), indent: 0)
    }
    text += "\noptions:\n"
    text += list(
      verb.allOptions.map { option in
        let letter = option.letter.map { "-\($0), " } ?? ""
        let value = option.placeholder.isEmpty ? "" : " " + option.placeholder
        return (letter + "--" + option.name + value, option.help)
      })
    text += "\nexamples:\n"
    for example in verb.examples {
      text += "  \(example.command)\n" + wrap(example.purpose, indent: 6)
    }
    return text + "\n" + exitStatus
  }

  private static var exitStatus: String {
    let meanings = ExitStatus.meanings.map { "\($0.status.rawValue) \($0.text)" }
    return wrap("Exit status: " + meanings.joined(separator: ", ") + ".", indent: 0)
  }

  private static func sentence(_ text: String) -> String {
    text.prefix(1).uppercased() + text.dropFirst() + "."
  }

  /// Two columns; what is too wide for the first one stands in a line of its own.
  private static func list(_ rows: [(String, String)]) -> String {
    let column = min(24, (rows.map(\.0.count).max() ?? 0) + 4)
    var text = ""
    for (name, help) in rows {
      let lines = wrap(help, indent: column)
      if name.count + 4 > column {
        text += broken("  " + name) + "\n" + lines
      } else {
        text += "  " + name + lines.dropFirst(2 + name.count)
      }
    }
    return text
  }

  /// An option whose choices are wider than the page: they go on below where they begin.
  private static func broken(_ name: String) -> String {
    guard name.count > width, let space = name.lastIndex(of: " ") else { return name }
    let margin = String(repeating: " ", count: name.distance(from: name.startIndex, to: space) + 1)
    var lines: [String] = []
    var line = String(name[...space])
    for choice in name[space...].dropFirst().split(separator: "|") {
      // Room for the bar behind it.
      if line.count + choice.count + 1 > width {
        lines.append(line)
        line = margin
      }
      line += choice + "|"
    }
    return (lines + [String(line.dropLast())]).joined(separator: "\n")
  }

  /// Lines of at most `width` columns, each with the indent and a newline.
  private static func wrap(_ text: String, indent: Int) -> String {
    let margin = String(repeating: " ", count: indent)
    var lines: [String] = []
    var line = ""
    for word in text.split(whereSeparator: { $0 == " " || $0 == "\n" }) {
      if !line.isEmpty, indent + line.count + 1 + word.count > width {
        lines.append(line)
        line = ""
      }
      line += (line.isEmpty ? "" : " ") + word
    }
    if !line.isEmpty { lines.append(line) }
    return lines.map { margin + $0 + "\n" }.joined()
  }
}
