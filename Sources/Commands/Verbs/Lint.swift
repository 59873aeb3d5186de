// lint: reads sources. The work is another program's, since it needs libraries of the toolchain.

internal import Glibc

extension Option {
  package static let lintRule = Option(
    "rule", .text("RULE"), isRepeatable: true,
    help: "only this rule (default: all); can be repeated")
  package static let viewModel = Option(
    "view-model", .text("PATTERN"), isRepeatable: true,
    help: "names of view models (default: *ViewModel); can be repeated")
  package static let holder = Option(
    "holder", .text("PATTERN"), isRepeatable: true,
    help:
      "names of the classes whose end clears a view model (default: *ViewModelHolder); can be repeated"
  )
  package static let lintFormat = Option(
    "format", .choice(["text", "json", "sarif"]), help: "how to write the findings (default: text)")
}

extension Verb {
  /// The verb with something that does its work: `memgraph` starts `memgraph-lint`, which does it.
  package static func lint(
    run: @escaping @Sendable (Invocation) throws -> ExitStatus
  ) -> Verb {
    Verb(
      "lint", operands: "PATH...", operandCount: 1...100_000,
      summary: "finds in Swift sources what keeps objects alive and no test sees",
      discussion: """
        Reads the Swift files that are given and those in the folders that are given; what
        one file declares is known in all of them, so give a package's folder and not its
        files one by one. A folder without a Swift file is an error: it may be the wrong one.

        A comment allows a finding in its line or in the line below:
        // memgraph:allow RULE: reason. One without a reason, or where nothing is found, is
        a finding itself. docs/lint.md has a chapter for each rule.
        """,
      options: [.lintRule, .viewModel, .holder, .lintFormat, .output],
      examples: [
        Example("memgraph lint Sources", "What in these sources keeps objects alive?"),
        Example(
          "memgraph lint Sources --format sarif -o lint.sarif",
          "For what shows findings beside the code."),
      ],
      run: run)
  }

  package static let lint = Verb.lint { call in
    // The words that the arguments were made of, as the other program will read them.
    var words: [String] = []
    for option in call.verb.allOptions {
      for text in call.arguments.texts(option) {
        words.append(option.value == .flag ? "--\(option.name)" : "--\(option.name)=\(text)")
      }
    }
    return try startLint(words + ["--"] + call.arguments.operands)
  }
}

/// Runs `memgraph-lint`, which lies beside this program, to its end.
private func startLint(_ words: [String]) throws(CommandError) -> ExitStatus {
  let path = ownFolder() + "memgraph-lint"
  guard access(path, X_OK) == 0 else {
    throw CommandError(
      "lint", "\(path) is not there",
      mend: "build the whole package with a toolchain that ships SwiftSyntax in lib/swift/host",
      status: .impossible)
  }
  var pid: pid_t = 0
  let error = withCStrings([path] + words) { arguments in
    withCStrings(currentEnvironment()) { environment in
      posix_spawn(&pid, path, nil, nil, arguments, environment)
    }
  }
  guard error == 0 else {
    throw CommandError(
      path, "can't be run: \(String(cString: strerror(error)))", status: .impossible)
  }
  var status: CInt = 0
  while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
  guard status & 0x7F == 0 else {
    throw CommandError(
      path, "was ended by signal \(status & 0x7F)", status: .impossible)
  }
  let code = (status >> 8) & 0xFF
  // What the loader says has been read by now.
  guard code != 127 else {
    throw CommandError(
      path, "can't be started: the toolchain that it was built with is not there any more",
      mend: "build the package again", status: .impossible)
  }
  return ExitStatus(rawValue: code)
}
