// Tool: takes a command line, finds its verb, runs it, and turns errors into a sentence and a status.

internal import Glibc
internal import HeapCapture

/// A command line tool: some verbs, or just one.
package struct Tool: Sendable {
  package let name: String
  package let summary: String
  package let verbs: [Verb]

  /// Whether the tool is its only verb, so that the first word is an operand already.
  package let isSingleVerb: Bool

  package init(_ name: String, summary: String, verbs: [Verb]) {
    self.name = name
    self.summary = summary
    self.verbs = verbs
    isSingleVerb = false
  }

  /// A tool that does just one thing.
  package init(_ name: String, only verb: Verb) {
    self.name = name
    summary = verb.summary
    verbs = [verb]
    isSingleVerb = true
  }

  /// The same tool with a verb of another module, which help lists after `verb`.
  ///
  /// - Precondition: There is a verb of that name.
  package func adding(_ more: Verb, after verb: String) -> Tool {
    var verbs = verbs
    guard let place = verbs.firstIndex(where: { $0.name == verb }) else {
      preconditionFailure("no verb \(verb)")
    }
    verbs.insert(more, at: place + 1)
    return Tool(name, summary: summary, verbs: verbs)
  }

  /// Runs this process's command line and ends the process.
  package func runProcess() -> Never {
    runProcess(Array(CommandLine.arguments.dropFirst()))
  }

  /// Runs a command line, with all the stack that a verb may take, and ends the process.
  package func runProcess(_ words: [String]) -> Never {
    exit(onLargeStack { run(words, on: .process, ofProcess: true) }.rawValue)
  }

  /// Runs a command line.
  ///
  /// - Parameters:
  ///   - words: the words after the tool's name.
  ///   - console: where text goes.
  ///   - ofProcess: whether the signals of this process may be set for the call.
  /// - Returns: the exit status. Errors have been said on `console.errors`.
  package func run(_ words: [String], on console: Console, ofProcess: Bool = false) -> ExitStatus {
    var verbName: String?
    do {
      let verb: Verb
      var words = words
      if isSingleVerb {
        verb = verbs[0]
      } else {
        guard let first = words.first else {
          try console.errors.write(Help.overview(of: self))
          return .usage
        }
        words.removeFirst()
        switch first {
        case "--help", "-h":
          try console.output.write(Help.overview(of: self))
          return .nothingFound
        case "help":
          guard let about = words.first, !["--help", "-h", "help"].contains(about) else {
            try console.output.write(Help.overview(of: self))
            return .nothingFound
          }
          try console.output.write(Help.page(of: try find(about), tool: self))
          return .nothingFound
        case "--version":
          try console.output.write(versionLine)
          return .nothingFound
        default:
          verb = try find(first)
          verbName = verb.name
        }
      }
      return try run(verb, words, on: console, ofProcess: ofProcess)
    } catch {
      let failure =
        (error as? SinkError).map {
          CommandError("standard output", String(cString: strerror($0.errno)), status: .impossible)
        } ?? CommandError(error, verb: verbName)
      // Nobody is left to hear it where standard error can't be written either.
      console.say("\(name): \(failure.sentence)")
      return failure.status
    }
  }

  private var versionLine: String { "\(name) \(toolVersion)\n" }

  private func find(_ word: String) throws -> Verb {
    if let verb = verbs.first(where: { $0.name == word }) { return verb }
    if word.hasPrefix("-") {
      throw CommandError(
        word, "an option before the verb", mend: "the verb comes first: \(name) VERB [OPTION...]",
        status: .usage)
    }
    let known = verbs.filter { !$0.isHidden }.map(\.name)
    let guess = Spelling.nearest(to: word, among: known).map { "did you mean \($0)?" }
    throw CommandError(
      word, "unknown verb", mend: guess ?? "`\(name) --help` lists the verbs", status: .usage)
  }

  private func run(
    _ verb: Verb, _ words: [String], on console: Console, ofProcess: Bool
  ) throws -> ExitStatus {
    let arguments = try Arguments(
      parsing: words, options: verb.allOptions, operandsEndOptions: verb.startsProgram)
    if arguments.has(.help) {
      try console.output.write(Help.page(of: verb, tool: self))
      return .nothingFound
    }
    if arguments.has(.version) {
      try console.output.write(versionLine)
      return .nothingFound
    }
    let given = arguments.operands.count
    if !verb.operandCount.contains(given) {
      let usage = "usage: " + Help.usage(of: verb, tool: self)
      let isShort = given < verb.operandCount.lowerBound
      let what = isSingleVerb ? "command line" : verb.name
      let why =
        isShort
        ? "too few operands"
        : "too many operands: \(arguments.operands[verb.operandCount.upperBound])"
      throw CommandError(what, why, mend: usage, status: .usage)
    }
    // A reader that goes away early must not end the tool before it has said its status; a program
    // that is to be started inherits its signals as they were.
    // Where a file may not grow any further, that is an error like a full disk.
    if ofProcess, !verb.startsProgram {
      signal(SIGPIPE, SIG_IGN)
      signal(SIGXFSZ, SIG_IGN)
      if !verb.isHidden { removeLeftoversWhenInterrupted() }
      if let bytes = arguments.bytes(.memoryLimit) {
        endBeforeMore(
          than: bytes, given: arguments.text(.memoryLimit) ?? "", tool: name, verb: verb.name)
      }
    }
    return try verb.run(
      Invocation(
        tool: name, verb: verb, arguments: arguments, console: console, running: self))
  }
}
