// run, mark, read-twin: the verbs that have to do with a program that runs; what they do is in Run/.

internal import Glibc

extension Option {
  static let out = Option(
    "out", .text("DIR"),
    help: "where snapshots go (default: $MEMORY_GRAPH_OUT, else ./memory-graph)")
  static let every = Option("every", .seconds, help: "take a mark each time so long has passed")
  static let atExit = Option(
    "at-exit", .flag, help: "take a snapshot exit.mgraph when the program ends (it is the default)")
  static let stackMode = Option(
    "stacks", .choice(["full", "fast", "none"]),
    help: "how allocation stacks are taken: full by unwinding, fast by frame pointers (default)")
  static let allBlocks = Option(
    "all-blocks", .flag, help: "record blocks that are not Swift's, too (it is the default)")
  static let swiftOnly = Option("swift-only", .flag, help: "record Swift's own objects only")
  static let contents = Option(
    "contents", .choice(["none", "keys"]),
    help: "whether keys of dictionaries may stand in the snapshot (default: none)")
  static let sample = Option(
    "sample", .size,
    help:
      "record a sample of the allocations, one each so many bytes in the mean, as 512K, 4G at most: for servers "
      + "that run long. Objects, holders and leaks stay whole; stacks and generations are known of samples alone, "
      + "and figures by them are estimates")
  static let tableMemory = Option(
    "table-memory", .size,
    help: "how much memory the agent's tables of blocks and stacks may take, as 256M (default: no "
      + "limit; they take up to half of what the heap takes); past it blocks have no stack and no "
      + "generation")
}

extension Verb {
  package static let run = Verb(
    "run", operands: "-- PROGRAM [ARG...]", operandCount: 1...100_000,
    summary: "runs a program as it is with the agent in it, and keeps its snapshots",
    discussion: """
      The program need not be changed or built anew. It writes a snapshot for each mark
      that it takes or is asked for, and exit.mgraph at its end. Its output, signals and
      exit status are passed on: the status is the program's own, except for 2, 3 and 4
      with a sentence from memgraph where the program could not be started. Which snapshots
      were written is said at the end where standard error is a terminal; which could not
      be written is always said.
      """,
    options: [
      .out, .every, .atExit, .stackMode, .allBlocks, .swiftOnly, .sample, .tableMemory,
      .contents,
    ],
    examples: [
      Example(
        "memgraph run --out marks -- .build/debug/App --port 8080",
        "Runs App; its marks and exit.mgraph go to the folder marks."),
      Example(
        "memgraph run --sample 512K --every 3600 -- .build/release/Server",
        "One allocation in 512 KB is recorded: next to no cost, for a server in production."),
    ],
    startsProgram: true
  ) { call in
    let arguments = call.arguments
    for (left, right) in [(Option.allBlocks, Option.swiftOnly)]
    where arguments.has(left) && arguments.has(right) {
      throw UsageError(
        "--\(left.name)", "does not go with --\(right.name)", mend: "give one of them")
    }
    let program = arguments.operands[0]
    let recording = call.console.environment("MEMORY_GRAPH_OUT") ?? ""
    let run = try runProgram(
      RunOptions(
        program: program, arguments: Array(arguments.operands.dropFirst()),
        outputFolder: arguments.text(.out) ?? (recording.isEmpty ? "./memory-graph" : recording),
        secondsBetweenMarks: arguments.seconds(.every),
        stacks: arguments.text(.stackMode).flatMap { RunOptions.Stacks(rawValue: $0) } ?? .fast,
        swiftOnly: arguments.has(.swiftOnly), sampleInterval: arguments.bytes(.sample),
        tableBytes: arguments.bytes(.tableMemory),
        showsKeys: arguments.text(.contents) == "keys"))
    let snapshots = run.snapshots
    if !run.hadAgent {
      call.note(
        "\(program): not a Swift program, or one that the agent can't be preloaded into: no snapshot"
      )
    } else if let abrupt = run.abrupt {
      call.note(abrupt.sentence(program: program, snapshots: snapshots))
    } else if !snapshots.written.isEmpty, call.console.errors.isTerminal {
      call.note(snapshots.summary)
    }
    for note in snapshots.notes { call.note(note) }
    if let first = snapshots.failures.first {
      call.note(
        "\(snapshots.failures.count) of \(snapshots.failures.count + snapshots.written.count)"
          + " snapshots could not be written, the first of them \(first.path): \(first.reason)")
    }
    return ExitStatus(rawValue: run.end.reproduced())
  }

  package static let mark = Verb(
    "mark", operands: "PID NAME", operandCount: 2...2,
    summary: "takes a mark in a program that runs with the agent",
    discussion: """
      The program must have been started with memgraph run, or with MEMORY_GRAPH_OUT set,
      by the same user. The snapshot goes to its folder, under the mark's name; its path
      is printed.
      """,
    examples: [
      Example("memgraph mark 4711 call-1", "Marks the end of the first call."),
      Example("memgraph mark 4711 idle", "Prints the path, /home/me/marks/idle.mgraph for one."),
    ]
  ) { call in
    let text = call.arguments.operands[0]
    guard let pid = Int32(text), pid > 0 else {
      throw CommandError(
        text, "no process id", mend: "`pgrep PROGRAM` tells it", status: .usage)
    }
    let path = try markProcess(pid: pid, name: call.arguments.operands[1])
    if !call.arguments.has(.quiet) {
      if let path {
        try call.console.tell(path)
      } else {
        call.note("the mark is taken; the program has no folder for a snapshot (MEMORY_GRAPH_OUT)")
      }
    }
    return .nothingFound
  }

  /// For the agent and `run`: reads a frozen twin and writes the snapshot.
  package static let readTwin = Verb(
    "read-twin", operands: "CHANNEL", operandCount: 1...1,
    summary: "serves one request of an agent", examples: [], isHidden: true
  ) { call in
    guard let channel = Int32(call.arguments.operands[0]), channel >= 0 else {
      throw CommandError(
        call.arguments.operands[0], "no descriptor of a channel", status: .usage)
    }
    // For `run`, which tells the two apart.
    func say(_ kind: String, _ sentence: String) {
      let line = sentence.map { $0.isNewline ? " " : $0 }
      try? call.console.output.write(kind + "\t" + String(line) + "\n")
    }
    let status = Commands.readTwin(
      channel: channel, failed: { say("failed", $0) }, noted: { say("note", $0) })
    return ExitStatus(rawValue: status)
  }

  /// For `run`: tells which signals the process group has received.
  package static let watchGroup = Verb(
    "watch-group", operands: "CHANNEL", operandCount: 1...1,
    summary: "tells which signals a process group has received", examples: [], isHidden: true
  ) { call in
    guard let channel = Int32(call.arguments.operands[0]), channel >= 0 else {
      throw CommandError(
        call.arguments.operands[0], "no descriptor of a channel", status: .usage)
    }
    Commands.watchGroup(channel: channel)
    return .nothingFound
  }
}

extension AbruptEnd {
  /// What ended how, what there is all the same, and what to do about it.
  fileprivate func sentence(program: String, snapshots: SnapshotTally) -> String {
    let what =
      switch self {
      case .killed(let signal):
        "\(program): ended by signal \(signal) (\(String(cString: strsignal(signal))))"
      case .left(let status):
        "\(program): left by _exit with status \(status), or became another program"
      case .ofChild(let pid):
        "\(program): its process \(pid) ended by a signal or by _exit, or runs on"
      }
    let rest = snapshots.written.isEmpty ? "no mark was taken before" : snapshots.summary
    return what + ", so there is no snapshot of its end (exit.mgraph); " + rest
      + "; marks are taken while it runs, with --every SECONDS or memgraph mark PID NAME"
  }
}

extension SnapshotTally {
  /// What was written, in one line: `3 snapshots in /marks: call-1, call-2, exit`.
  fileprivate var summary: String {
    let names = written.map { path in
      let file = path.split(separator: "/").last.map(String.init) ?? path
      return file.hasSuffix(".mgraph") ? String(file.dropLast(7)) : file
    }
    let folder = written[0].lastIndex(of: "/").map { String(written[0][..<$0]) } ?? "."
    let shown = names.count <= 8 ? names : Array(names.prefix(3)) + ["..."] + names.suffix(3)
    return "\(names.count) snapshot\(names.count == 1 ? "" : "s") in \(folder): "
      + shown.joined(separator: ", ")
  }
}
