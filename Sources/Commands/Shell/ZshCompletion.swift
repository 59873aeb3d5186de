// ZshCompletion: completes the tools' command lines in zsh.

/// Writes a script for a folder in zsh's `fpath`.
enum ZshCompletion {
  static func script(for tools: [Tool]) -> String {
    var text = "#compdef \(tools.map(\.name).joined(separator: " "))\n"
    text +=
      "# Completions of memgraph and graphdiff for zsh, made by `memgraph completions zsh`.\n\n"
    text += "case $service in\n"
    for tool in tools {
      let completed = CompletedTool(tool: tool)
      text += "\(tool.name))\n"
      text +=
        tool.isSingleVerb ? arguments(of: completed.verbs[0], in: completed) : verbs(completed)
      text += "  ;;\n"
    }
    return text + "esac\n"
  }

  private static func verbs(_ completed: CompletedTool) -> String {
    var text = "  local -a verbs=(\n"
    for verb in completed.verbs {
      text += "    \(quoted("\(verb.name):\(verb.summary)"))\n"
    }
    text += """
        'help:shows how a verb is used'
        )
        if ((CURRENT == 2)); then
          _describe verb verbs
          return
        fi
        local verb=$words[2]
        shift words
        ((CURRENT--))
        case $verb in

      """
    for verb in completed.verbs {
      text += "  \(verb.name))\n" + arguments(of: verb, in: completed) + "    ;;\n"
    }
    return text + "  help) _describe verb verbs ;;\n  esac\n"
  }

  private static func arguments(of verb: Verb, in completed: CompletedTool) -> String {
    var specs: [String] = []
    for option in verb.allOptions {
      let repeatable = option.isRepeatable ? "*" : ""
      let help = option.help.replacing("[", with: "(").replacing("]", with: ")")
      let value: String =
        switch CompletedTool.completion(of: option) {
        case .nothing: ""
        case .anything: ":\(option.placeholder): "
        case .words(let words): ":value:(\(words.joined(separator: " ")))"
        case .files: ":file:_files"
        case .folders: ":folder:_files -/"
        }
      let names =
        option.letter.map { "{-\($0),--\(option.name)}" } ?? ""
      let text = "[\(help.replacing(":", with: "\\:"))]\(value)"
      specs.append(
        names.isEmpty
          ? quoted("\(repeatable)--\(option.name)\(text)")
          : (repeatable.isEmpty
            ? quoted("(-\(option.letter.map(String.init) ?? "") --\(option.name))")
            : "'*'") + names + quoted(text))
    }
    let operands: String? =
      switch CompletedTool.operands(of: verb) {
      case .snapshots: "'*:snapshot:_files -g \"*.mgraph\"'"
      case .files: "'*:file:_files'"
      case .program: "'(-)*::program:_normal -p memgraph'"
      case .shells: "'1:shell:(bash zsh fish)'"
      case .verbs: "'1:verb:(\(completed.verbs.map(\.name).joined(separator: " ")))'"
      case .processes: "'1:process:_pids'"
      case .none: nil
      }
    if let operands { specs.append(operands) }
    return "    _arguments -s \\\n" + specs.map { "      " + $0 }.joined(separator: " \\\n") + "\n"
  }

  private static func quoted(_ text: String) -> String {
    "'" + text.replacing("'", with: "'\\''") + "'"
  }
}
