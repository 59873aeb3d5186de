// Tests of Tool: verbs are found, helped with, run, and their errors said.

import Glibc
import SnapshotDSL
import SnapshotFormat
import Symbolication
import Testing

@testable import Commands

/// The tool's status; the testing library has a type of the same name.
typealias Status = Commands.ExitStatus

/// What a call printed and returned.
struct Call {
  var status: Status
  var output: String
  var errors: String

  /// Runs a command line with its text kept in memory.
  init(
    _ words: [String], of tool: Tool = .memgraph, environment: [String: String] = [:],
    terminalColumns: Int? = nil,
    symbolizer: @escaping @Sendable ([Snapshot.Module], [String]) -> any Symbolizing = { _, _ in
      NoSymbols()
    }
  ) {
    let output = MemorySink(isTerminal: terminalColumns != nil, columns: terminalColumns)
    let errors = MemorySink()
    status = tool.run(
      words,
      on: Console(
        output: output, errors: errors, environment: { environment[$0] },
        symbolizer: symbolizer))
    self.output = output.text
    self.errors = errors.text
  }
}

@Suite struct ControlCharacterTests {
  private static let odd = "a\u{1B}[31mb\u{9B}1mc\rd\u{7F}e\u{07}"
  private static let written = "a\\u{1B}[31mb\\u{9B}1mc\\u{D}d\\u{7F}e\\u{7}"

  private func hasControls(_ text: String) -> Bool {
    text.unicodeScalars.contains { $0.properties.generalCategory == .control && $0 != "\n" }
  }

  @Test(
    "What a terminal would obey is written out, in errors of every verb",
    arguments: Tool.memgraph.verbs)
  func errors(verb: Verb) {
    guard !["run", "mcp", "demo"].contains(verb.name) else { return }
    for words in [[Self.odd], [Self.odd, Self.odd], ["--\(Self.odd)"], ["--format", Self.odd]] {
      let call = Call([verb.name] + words, terminalColumns: 80)
      #expect(!hasControls(call.errors), "\(verb.name): \(call.errors.debugDescription)")
      #expect(
        !hasControls(call.output.replacing("\u{1B}[1m", with: "").replacing("\u{1B}[0m", with: "")))
    }
    #expect(Call([Self.odd]).errors.contains(Self.written))
  }

  @Test("Reports show names without what a terminal would obey, in text and in Markdown")
  func reports() throws {
    var heap = SnapshotDSL()
    let first = heap.object("App.\(Self.odd)")
    heap.edge(first, "next\(Self.odd)", to: first)
    let path = "/tmp/memory-graph-test-\(getpid())-controls.mgraph"
    try heap.snapshot().write(to: path)
    defer { unlink(path) }
    for format in ["text", "markdown"] {
      for words in [["leaks"], ["summary"], ["audit"], ["tree"]] {
        let call = Call(words + [path, "--format", format, "--color", "never"])
        #expect(!hasControls(call.output), "\(words): \(call.output.debugDescription)")
        #expect(!call.output.isEmpty && call.errors.isEmpty)
      }
    }
    #expect(Call(["leaks", path]).output.contains(Self.written))
  }

  @Test("Paths go to a pipe as they are, and to a terminal without what it would obey")
  func paths() throws {
    let terminal = MemorySink(isTerminal: true)
    let pipe = MemorySink()
    for sink in [terminal, pipe] {
      try Console(output: sink, errors: MemorySink()).tell("/tmp/\(Self.odd)")
    }
    #expect(terminal.text == "/tmp/\(Self.written)\n")
    #expect(pipe.text == "/tmp/\(Self.odd)\n")
  }
}

@Suite struct ToolTests {
  /// A tool whose one verb echoes, fails or returns as it is told.
  static let echo = Tool(
    "tool", summary: "repeats",
    verbs: [
      Verb(
        "echo", operands: "WORD...", operandCount: 1...2, summary: "repeats words",
        options: [.format],
        examples: [.init("tool echo a", "Prints a."), .init("tool echo b", "Prints b.")]
      ) { call in
        switch call.arguments.operands[0] {
        case "bad": throw CommandError("bad", "it is bad", mend: "be good", status: .unreadable)
        case "full": throw SinkError(errno: ENOSPC)
        case "seven": return Status(rawValue: 7)
        default:
          try call.console.output.write(call.arguments.operands.joined(separator: " ") + "\n")
          return .findings
        }
      },
      Verb(
        "secret", operands: "", operandCount: 0...0, summary: "is hidden", examples: [],
        isHidden: true
      ) { _ in .nothingFound },
    ])

  struct Case: Sendable, CustomTestStringConvertible {
    var words: [String]
    var status: Status
    var output = ""
    var errors = ""
    var testDescription: String { words.joined(separator: " ") }
  }

  static let versionLine = "tool " + toolVersion + "\n"

  static let cases: [Case] = [
    Case(words: ["echo", "a", "b"], status: .findings, output: "a b\n"),
    Case(words: ["echo", "seven"], status: Status(rawValue: 7)),
    Case(words: ["echo", "bad"], status: .unreadable, errors: "tool: bad: it is bad; be good\n"),
    Case(
      words: ["echo", "full"], status: .impossible,
      errors: "tool: standard output: No space left on device\n"),
    Case(
      words: ["ehco"], status: .usage, errors: "tool: ehco: unknown verb; did you mean echo?\n"),
    Case(
      words: ["secrets"], status: .usage,
      errors: "tool: secrets: unknown verb; `tool --help` lists the verbs\n"),
    Case(words: ["secret"], status: .nothingFound),
    Case(
      words: ["--format", "echo"], status: .usage,
      errors:
        "tool: --format: an option before the verb; the verb comes first: tool VERB [OPTION...]\n"
    ),
    Case(
      words: ["echo", "--from", "x"], status: .usage,
      errors: "tool: echo --from: unknown option\n"),
    Case(
      words: ["echo"], status: .usage,
      errors: "tool: echo: too few operands; usage: tool echo [OPTION...] WORD...\n"),
    Case(
      words: ["echo", "a", "b", "c"], status: .usage,
      errors: "tool: echo: too many operands: c; usage: tool echo [OPTION...] WORD...\n"),
    Case(words: ["--version"], status: .nothingFound, output: versionLine),
    Case(words: ["echo", "--version"], status: .nothingFound, output: versionLine),
  ]

  @Test("A command line gives its text and status", arguments: cases)
  func runs(_ expected: Case) {
    let call = Call(expected.words, of: Self.echo)
    #expect(call.status == expected.status)
    #expect(call.output == expected.output)
    #expect(call.errors == expected.errors)
  }

  @Test("Without a verb the verbs are listed, on standard error")
  func overview() {
    let call = Call([], of: Self.echo)
    #expect(call.status == .usage && call.output.isEmpty)
    #expect(call.errors.contains("  echo  repeats words\n") && !call.errors.contains("secret"))
    #expect(Call(["--help"], of: Self.echo).output == call.errors)
    for words in [["help"], ["help", "--help"], ["help", "-h"], ["help", "help"]] {
      #expect(Call(words, of: Self.echo).output == call.errors)
    }
  }

  @Test("A verb's help stands on standard output, by --help or by help")
  func help() {
    let call = Call(["echo", "--help"], of: Self.echo)
    #expect(call.status == .nothingFound && call.errors.isEmpty)
    #expect(call.output.hasPrefix("usage: tool echo [OPTION...] WORD...\n\nRepeats words.\n"))
    #expect(Call(["help", "echo"], of: Self.echo).output == call.output)
  }

  @Test("Each verb of each tool has help of 80 columns with two examples that the verb understands")
  func everyHelp() throws {
    for tool in [Tool.memgraph, .graphdiff] {
      #expect(!tool.verbs.isEmpty)
      for verb in tool.verbs where !verb.isHidden {
        let page = Help.page(of: verb, tool: tool)
        #expect(verb.examples.count == 2, "\(verb.name)")
        for example in verb.examples {
          var words = example.command.split(separator: " ").map(String.init)
          #expect(words.removeFirst() == tool.name)
          if !tool.isSingleVerb { #expect(words.removeFirst() == verb.name) }
          let arguments = try Arguments(
            parsing: words, options: verb.allOptions, operandsEndOptions: verb.startsProgram)
          #expect(verb.operandCount.contains(arguments.operands.count), "\(example.command)")
          #expect(page.contains(example.command))
        }
        for option in verb.allOptions { #expect(page.contains("--" + option.name)) }
        for line in page.split(separator: "\n") {
          #expect(line.count <= 80, "\(verb.name): \(line)")
        }
      }
    }
  }

  @Test("Option names and letters of a verb are its own")
  func unique() {
    for verb in Tool.memgraph.verbs + Tool.graphdiff.verbs {
      let names = verb.allOptions.map(\.name)
      #expect(Set(names).count == names.count, "\(verb.name)")
      let letters = verb.allOptions.compactMap(\.letter)
      #expect(Set(letters).count == letters.count, "\(verb.name)")
    }
  }
}
