// Verb: one thing that the tool does: its options, its help and its work.

/// One thing that a tool does.
package struct Verb: Sendable {
  /// A command line and what it is for, as help shows it.
  package struct Example: Sendable {
    package let command: String
    package let purpose: String

    package init(_ command: String, _ purpose: String) {
      self.command = command
      self.purpose = purpose
    }
  }

  package let name: String

  /// The operands as help shows them: `SNAP TYPE|ADDRESS`.
  package let operands: String

  /// How many operands there may be.
  package let operandCount: ClosedRange<Int>

  /// What it does, in half a sentence that starts with a small letter.
  package let summary: String

  /// More about it, for its own help: paragraphs with an empty line between them.
  package let discussion: String

  /// The options of its own, before those that every verb has.
  package let options: [Option]

  package let examples: [Example]

  /// Whether the operands are a program and its arguments, so that options end where it begins, and
  /// signals are left as they are for it.
  package let startsProgram: Bool

  /// Whether help leaves it out: for the project's own use.
  package let isHidden: Bool

  /// Does the work.
  package let run: @Sendable (Invocation) throws -> ExitStatus

  package init(
    _ name: String, operands: String, operandCount: ClosedRange<Int>, summary: String,
    discussion: String = "", options: [Option] = [], examples: [Example],
    startsProgram: Bool = false, isHidden: Bool = false,
    run: @escaping @Sendable (Invocation) throws -> ExitStatus
  ) {
    self.name = name
    self.operands = operands
    self.operandCount = operandCount
    self.summary = summary
    self.discussion = discussion
    self.options = options
    self.examples = examples
    self.startsProgram = startsProgram
    self.isHidden = isHidden
    self.run = run
  }

  /// All options, those of its own first.
  package var allOptions: [Option] { options + Option.everywhere }
}

/// One call of a verb.
package struct Invocation: Sendable {
  /// The tool's name: `memgraph` or `graphdiff`.
  package let tool: String
  package let verb: Verb
  package let arguments: Arguments
  package let console: Console

  /// The tool that is running, with all its verbs; nil for a call that none made.
  var running: Tool?

  /// What keeps snapshots between calls and takes the report; nil for a call that stands alone.
  var session: (any ReportSession)?

  /// Says something beside the report, on standard error, unless the caller wants quiet.
  package func note(_ text: String) {
    guard !arguments.has(.quiet) else { return }
    console.say("\(tool): \(text)")
  }
}
