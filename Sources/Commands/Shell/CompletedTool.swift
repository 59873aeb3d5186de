// CompletedTool: what shells need to know of a tool to complete its command lines.

/// A tool's words, as the scripts for the shells are made of them.
struct CompletedTool {
  let tool: Tool

  /// The verbs that help shows; a tool with one verb alone has none to type.
  var verbs: [Verb] { tool.verbs.filter { !$0.isHidden } }

  /// What may follow an option.
  enum Completion: Hashable {
    case nothing
    case anything
    case words([String])
    case files
    case folders
  }

  /// What may follow an option, by what stands for its value in help.
  static func completion(of option: Option) -> Completion {
    switch option.value {
    case .flag: .nothing
    case .choice(let words): .words(words)
    case .limit: .words(["all"])
    case .text("FILE"): .files
    case .text("DIR"): .folders
    case .text, .count, .seconds, .size: .anything
    }
  }

  /// What the operands of a verb are.
  enum Operands {
    case snapshots
    case program
    case shells
    case verbs
    case files
    case processes
    case none
  }

  static func operands(of verb: Verb) -> Operands {
    if verb.startsProgram { return .program }
    let text = verb.operands
    if text.contains("SHELL") { return .shells }
    if text.contains("VERB") { return .verbs }
    if text.hasPrefix("PID") { return .processes }
    if text.contains("PATH") || text.hasPrefix("FILE") { return .files }
    return ["SNAP", "OLD", "DIR", "MARK", "A"].contains { text.contains($0) } ? .snapshots : .none
  }
}
