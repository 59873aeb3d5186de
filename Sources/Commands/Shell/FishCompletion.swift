// FishCompletion: completes the tools' command lines in fish.

/// Writes a script for fish's folder of completions.
enum FishCompletion {
  static func script(for tools: [Tool]) -> String {
    var text =
      "# Completions of memgraph and graphdiff for fish, made by `memgraph completions fish`.\n"
    for tool in tools { text += lines(for: CompletedTool(tool: tool)) }
    return text
  }

  private static func lines(for completed: CompletedTool) -> String {
    let tool = completed.tool
    var text = "\ncomplete -c \(tool.name) -f\n"
    if !tool.isSingleVerb {
      for verb in completed.verbs {
        text +=
          "complete -c \(tool.name) -n __fish_use_subcommand -a \(verb.name)"
          + " -d \(quoted(verb.summary))\n"
      }
      text +=
        "complete -c \(tool.name) -n __fish_use_subcommand -a help -d 'shows how a verb is used'\n"
      text +=
        "complete -c \(tool.name) -n '__fish_seen_subcommand_from help'"
        + " -a \(quoted(completed.verbs.map(\.name).joined(separator: " ")))\n"
    }
    for verb in completed.verbs {
      let condition = tool.isSingleVerb ? "" : " -n '__fish_seen_subcommand_from \(verb.name)'"
      for option in verb.allOptions {
        text += "complete -c \(tool.name)\(condition) -l \(option.name)"
        if let letter = option.letter { text += " -s \(letter)" }
        switch CompletedTool.completion(of: option) {
        case .nothing: break
        case .anything: text += " -x"
        case .words(let words): text += " -x -a \(quoted(words.joined(separator: " ")))"
        case .files: text += " -r -F"
        case .folders: text += " -x -a '(__fish_complete_directories)'"
        }
        text += " -d \(quoted(option.help))\n"
      }
      let operands: String? =
        switch CompletedTool.operands(of: verb) {
        case .snapshots: "-a '(__fish_complete_suffix .mgraph)'"
        case .files: "-F"
        case .program: "-a '(__fish_complete_subcommand)'"
        case .shells: "-a 'bash zsh fish'"
        case .verbs: "-a \(quoted(completed.verbs.map(\.name).joined(separator: " ")))"
        case .processes: "-a '(__fish_complete_pids)'"
        case .none: nil
        }
      if let operands { text += "complete -c \(tool.name)\(condition) \(operands)\n" }
    }
    return text
  }

  private static func quoted(_ text: String) -> String {
    "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
  }
}
