// BashCompletion: completes the tools' command lines in bash.

/// Writes a script that bash sources.
enum BashCompletion {
  static func script(for tools: [Tool]) -> String {
    var text = """
      # Completions of memgraph and graphdiff for bash, made by `memgraph completions bash`.

      _memgraph_files() {
        local IFS=$'\\n'
        compopt -o filenames
        COMPREPLY+=($(compgen -f -X "$1" -- "$2") $(compgen -d -- "$2"))
      }

      _memgraph_words() {
        local IFS=$'\\n'
        COMPREPLY=($(compgen -W "$1" -- "$2"))
      }


      """
    for tool in tools { text += function(for: CompletedTool(tool: tool)) }
    return text
  }

  private static func function(for completed: CompletedTool) -> String {
    let tool = completed.tool
    var text = """
      _\(tool.name)() {
        local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}

      """
    if tool.isSingleVerb {
      text += body(of: completed.verbs[0], in: completed, indent: "  ")
    } else {
      let names = completed.verbs.map(\.name) + ["help", "--help", "--version"]
      text += """
          if ((COMP_CWORD == 1)); then
            _memgraph_words \(quoted(names)) "$word"
            return
          fi
          case ${COMP_WORDS[1]} in

        """
      for verb in completed.verbs {
        text += "  \(verb.name))\n" + body(of: verb, in: completed, indent: "    ") + "    ;;\n"
      }
      text += "  help) _memgraph_words \(quoted(completed.verbs.map(\.name))) \"$word\" ;;\n"
      text += "  esac\n"
    }
    return text + "}\ncomplete -F _\(tool.name) \(tool.name)\n\n"
  }

  private static func body(of verb: Verb, in completed: CompletedTool, indent: String) -> String {
    var lines: [String] = []
    if verb.startsProgram {
      // Behind `--` there is the program's own command line.
      lines += [
        "local place",
        "for ((place = 2; place < COMP_CWORD; place++)); do",
        "  if [[ ${COMP_WORDS[place]} == -- ]]; then",
        "    if declare -F _comp_command_offset >/dev/null; then _comp_command_offset $((place + 1))",
        "    elif declare -F _command_offset >/dev/null; then _command_offset $((place + 1))",
        "    else _memgraph_files '' \"$word\"; fi",
        "    return",
        "  fi",
        "done",
      ]
    }
    lines.append("case $before in")
    var optionsByCompletion: [(CompletedTool.Completion, [String])] = []
    for option in verb.allOptions {
      let completion = CompletedTool.completion(of: option)
      if completion == .nothing { continue }
      let names = ["--" + option.name] + (option.letter.map { ["-\($0)"] } ?? [])
      if let place = optionsByCompletion.firstIndex(where: { $0.0 == completion }) {
        optionsByCompletion[place].1 += names
      } else {
        optionsByCompletion.append((completion, names))
      }
    }
    for (completion, names) in optionsByCompletion {
      lines.append(names.joined(separator: " | ") + ")")
      switch completion {
      case .words(let words): lines.append("  _memgraph_words \(quoted(words)) \"$word\"")
      case .files: lines.append("  _memgraph_files '' \"$word\"")
      case .folders:
        lines.append("  compopt -o filenames")
        lines.append("  COMPREPLY=($(compgen -d -- \"$word\"))")
      case .anything, .nothing: break
      }
      lines += ["  return", "  ;;"]
    }
    lines.append("esac")
    let options = verb.allOptions.map { "--" + $0.name }
    lines.append("if [[ $word == -* ]]; then")
    lines.append("  _memgraph_words \(quoted(options)) \"$word\"")
    lines += ["  return", "fi"]
    switch CompletedTool.operands(of: verb) {
    case .snapshots: lines.append("_memgraph_files '!*.mgraph' \"$word\"")
    case .files: lines.append("_memgraph_files '' \"$word\"")
    case .program: lines.append("_memgraph_words '--' \"$word\"")
    case .shells: lines.append("_memgraph_words \(quoted(["bash", "zsh", "fish"])) \"$word\"")
    case .verbs: lines.append("_memgraph_words \(quoted(completed.verbs.map(\.name))) \"$word\"")
    case .processes:
      lines.append("if [[ $word =~ ^[0-9]*$ ]]; then")
      lines.append("  COMPREPLY=($(compgen -W \"$(cd /proc && echo [0-9]*)\" -- \"$word\"))")
      lines.append("fi")
    case .none: break
    }
    return lines.map { indent + $0 + "\n" }.joined()
  }

  /// Words as one argument, each in a line of its own.
  private static func quoted(_ words: [String]) -> String {
    "$'" + words.joined(separator: "\\n") + "'"
  }
}
