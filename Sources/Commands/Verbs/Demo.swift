// demo: the built-in sample, from its run to the page in a browser.

internal import Glibc

extension Verb {
  package static let demo = Verb(
    "demo", operands: "", operandCount: 0...0,
    summary: "runs a sample that leaks, asks what holds it, and opens the page",
    discussion: """
      The sample is a video call whose screen never goes away. Each command is shown before
      it runs, so that it can be tried again. The page opens in a browser where there is a
      desktop; its path is printed in any case.
      """,
    options: [
      Option(
        "out", .text("DIR"), help: "where snapshots and the page go (default: ./memory-graph-demo)"),
      Option("no-browser", .flag, help: "leave the page closed"),
    ],
    examples: [
      Example("memgraph demo", "What does this tool tell me?"),
      Example("memgraph demo --no-browser --out /tmp/demo", "The same in a terminal alone."),
    ]
  ) { call in
    let options = call.verb.options
    let folder = call.arguments.text(options[0]) ?? "memory-graph-demo"
    let sample = try samplePath()
    let mark = { (number: Int) in "\(folder)/call-\(number).mgraph" }
    let page = "\(folder)/report.html"
    let steps: [[String]] = [
      ["run", "--out", folder, "--", sample],
      ["diff", mark(1), mark(5), "--limit", "3"],
      ["leaks", mark(5)],
      ["paths", mark(5), "VideoCall.CallViewController", "--max", "1"],
      ["view", mark(1), mark(5), "-o", page],
    ]
    for words in steps {
      try call.console.tell("\n$ memgraph \(words.map(quoted).joined(separator: " "))")
      // The sample's end is not this process's; a signal that ends it is told as a status.
      let status = try runTool(words)
      guard status == 0 || status == 1 else {
        throw CommandError(
          "demo", "memgraph \(words[0]) ended with \(status)",
          mend: "memgraph doctor says what limits the tool here", status: .impossible)
      }
    }
    try call.console.tell("\nThe page: \(page)")
    let isDesktop = ["DISPLAY", "WAYLAND_DISPLAY"].contains {
      call.console.environment($0)?.isEmpty == false
    }
    if isDesktop, !call.arguments.has(options[1]) { openInBrowser(page) }
    return .nothingFound
  }
}

/// The sample: beside the tool where the package was built, else where an installation has it.
private func samplePath() throws(CommandError) -> String {
  let folder = ownFolder()
  let places = [folder + "VideoCall", folder + "../libexec/memory-graph/VideoCall"]
  for place in places where access(place, X_OK) == 0 { return place }
  throw CommandError(
    "demo", "the sample is not there: \(places.joined(separator: ", "))",
    mend: "swift build builds it, scripts/install installs it", status: .impossible)
}

/// Runs this tool with other words, to its end.
///
/// - Returns: the exit status; 128 and the signal's number where one ended it.
private func runTool(_ words: [String]) throws(CommandError) -> Int32 {
  fflush(nil)
  var pid: pid_t = 0
  let error = withCStrings(["memgraph"] + words) { arguments in
    withCStrings(currentEnvironment()) { environment in
      posix_spawn(&pid, "/proc/self/exe", nil, nil, arguments, environment)
    }
  }
  guard error == 0 else {
    throw CommandError(
      "demo", "the tool can't be run: \(String(cString: strerror(error)))", status: .impossible)
  }
  var status: CInt = 0
  while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
  return status & 0x7f == 0 ? status >> 8 & 0xff : 128 + status & 0x7f
}

/// Leaves the page to the desktop. A browser outlives the tool.
private func openInBrowser(_ page: String) {
  var pid: pid_t = 0
  _ = withCStrings(["xdg-open", page]) { arguments in
    withCStrings(currentEnvironment()) { environment in
      posix_spawnp(&pid, "xdg-open", nil, nil, arguments, environment)
    }
  }
}

private func quoted(_ word: String) -> String {
  word.allSatisfy { $0.isLetter || $0.isNumber || "-_./:=,+@".contains($0) }
    ? word : "'" + word.replacing("'", with: "'\\''") + "'"
}
