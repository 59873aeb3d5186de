// completions, manual: what an installation puts beside the tools, made of the verbs' own lists.

extension Verb {
  package static let completions: Verb = Verb(
    "completions", operands: "SHELL", operandCount: 1...1,
    summary: "the script with which bash, zsh or fish complete command lines",
    discussion: """
      Writes the script for memgraph and graphdiff. scripts/install puts it where the shell
      looks for it.
      """,
    options: [.output],
    examples: [
      Example(
        "memgraph completions bash -o memgraph.bash", "For `source memgraph.bash` in this shell."),
      Example(
        "memgraph completions fish -o ~/.config/fish/completions/memgraph.fish",
        "Completions in each fish from now on."),
    ]
  ) { call in
    let tools = [call.running ?? .memgraph, .graphdiff]
    let text: String
    switch call.arguments.operands[0] {
    case "bash": text = BashCompletion.script(for: tools)
    case "zsh": text = ZshCompletion.script(for: tools)
    case "fish": text = FishCompletion.script(for: tools)
    case let other:
      throw UsageError(
        other, "no shell that there are completions for", mend: "there are bash, zsh and fish")
    }
    try call.write(text)
    return .nothingFound
  }

  package static let manual: Verb = Verb(
    "manual", operands: "[VERB]", operandCount: 0...1,
    summary: "the page for man about the tool or a verb",
    options: [
      Option("verbs", .flag, help: "the names of the verbs that have pages, instead"), .output,
    ],
    examples: [
      Example("memgraph manual leaks | man -l -", "Reads the page about leaks."),
      Example("memgraph manual -o memgraph.1", "The page about the tool, to be installed."),
    ],
    isHidden: true
  ) { call in
    let memgraph = call.running ?? .memgraph
    if call.arguments.has(call.verb.options[0]) {
      let names = memgraph.verbs.filter { !$0.isHidden }.map { $0.name + "\n" }
      try call.write(names.joined())
      return .nothingFound
    }
    guard let name = call.arguments.operands.first else {
      try call.write(ManualPage.page(of: memgraph, verb: nil))
      return .nothingFound
    }
    if name == "graphdiff" {
      try call.write(ManualPage.page(of: Tool.graphdiff, verb: nil))
      return .nothingFound
    }
    guard let verb = memgraph.verbs.first(where: { $0.name == name }) else {
      throw UsageError(name, "no verb", mend: "`memgraph --help` lists the verbs")
    }
    try call.write(ManualPage.page(of: memgraph, verb: verb))
    return .nothingFound
  }
}
