// Tests of what an installation puts beside the tools: completions as shells use them, pages for man.

import Glibc
import Testing

@testable import Commands

@Suite struct ShellTests {
  /// What bash makes of a command line whose last word is being typed.
  private static func completed(_ line: [String], in folder: String = "/") throws -> [String] {
    let call = Call(["completions", "bash"])
    #expect(call.status == .nothingFound)
    let words = line.map { "'" + $0 + "'" }.joined(separator: " ")
    let script =
      call.output + """

        compopt() { :; }
        cd '\(folder)'
        COMP_WORDS=(\(words)) COMP_CWORD=\(line.count - 1)
        _\(line[0])
        printf '%s\\n' "${COMPREPLY[@]}"

        """
    let outcome = try bash(script)
    return outcome.split(separator: "\n").map(String.init).sorted()
  }

  private static func bash(_ script: String) throws -> String {
    var input: [Int32] = [0, 0]
    var output: [Int32] = [0, 0]
    try #require(pipe(&input) == 0 && pipe(&output) == 0)
    for end in input + output { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, input[0], 0)
    posix_spawn_file_actions_adddup2(&actions, output[1], 1)
    var pid: pid_t = 0
    let status = withCStrings(["bash", "--norc", "--noprofile", "-u", "-s"]) { arguments in
      withCStrings(["PATH=/usr/bin:/bin"]) {
        posix_spawnp(&pid, "bash", &actions, nil, arguments, $0)
      }
    }
    try #require(status == 0)
    close(input[0])
    close(output[1])
    var bytes = Array(script.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { write(input[1], $0.baseAddress, $0.count) }
      guard count > 0 else { break }
      bytes = bytes.dropFirst(count)
    }
    close(input[1])
    var result: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while true {
      let count = read(output[0], &buffer, buffer.count)
      guard count > 0 else { break }
      result += buffer[..<count]
    }
    close(output[0])
    var end: Int32 = 0
    waitpid(pid, &end, 0)
    #expect(end == 0)
    return String(decoding: result, as: UTF8.self)
  }

  @Test("bash completes verbs, options and what may follow them")
  func words() throws {
    #expect(try Self.completed(["memgraph", "le"]) == ["leaks"])
    #expect(try Self.completed(["memgraph", "help", "pat"]) == ["paths"])
    #expect(try Self.completed(["memgraph", "whatif", "--wea"]) == ["--weaken"])
    #expect(try Self.completed(["memgraph", "leaks", "--format", "j"]) == ["json", "junit"])
    #expect(try Self.completed(["graphdiff", "--color", "a"]) == ["always", "auto"])
    #expect(try Self.completed(["memgraph", "completions", ""]) == ["bash", "fish", "zsh"])
    #expect(try Self.completed(["memgraph", "leaks", "--limit", ""]) == ["all"])
    #expect(!(try Self.completed(["memgraph", ""])).contains("read-twin"))
  }

  @Test("bash completes snapshots, folders and files by what is asked for")
  func files() throws {
    var template = Array("/tmp/memory-graph-shell-XXXXXX".utf8CString)
    let folder = String(cString: try #require(mkdtemp(&template)))
    defer { removeFolder(folder) }
    for name in ["a b.mgraph", "call.mgraph", "notes.txt"] {
      close(open(folder + "/" + name, O_WRONLY | O_CREAT, 0o600))
    }
    mkdir(folder + "/marks", 0o700)
    #expect(
      try Self.completed(["memgraph", "leaks", ""], in: folder)
        == ["a b.mgraph", "call.mgraph", "marks"])
    #expect(try Self.completed(["memgraph", "leaks", "--in", ""], in: folder) == ["marks"])
    #expect(
      try Self.completed(["memgraph", "leaks", "--known", "n"], in: folder) == ["notes.txt"])
    #expect(try Self.completed(["memgraph", "run", "--", "n"], in: folder) == ["notes.txt"])
    #expect(try Self.completed(["memgraph", "check", "c"], in: folder) == ["call.mgraph"])
  }

  private func removeFolder(_ folder: String) {
    for name in ["a b.mgraph", "call.mgraph", "notes.txt"] { unlink(folder + "/" + name) }
    rmdir(folder + "/marks")
    rmdir(folder)
  }

  @Test("Each shell's script knows each verb and each option", arguments: ["bash", "zsh", "fish"])
  func complete(shell: String) {
    let text = Call(["completions", shell]).output
    for verb in Tool.memgraph.verbs {
      #expect(text.contains(verb.name) == !verb.isHidden, "\(verb.name)")
      guard !verb.isHidden else { continue }
      for option in verb.allOptions {
        #expect(text.contains(shell == "fish" ? "-l \(option.name)" : "--\(option.name)"))
      }
    }
    #expect(Call(["completions", "tcsh"]).status == .usage)
  }

  /// A text as words with one space between.
  private static func words(_ text: some StringProtocol) -> String {
    text.split { $0 == " " || $0 == "\n" }.joined(separator: " ")
  }

  /// The words of a page for man, without its markup.
  private static func plain(_ page: String) -> String {
    let lines = page.split(separator: "\n").filter { $0 != ".TP" && $0 != ".PP" }
    return words(lines.joined(separator: " ")).replacing("\\-", with: "-")
      .replacing("\\(ga", with: "`").replacing("\\(aq", with: "'").replacing("\\e", with: "\\")
      .replacing("\\&", with: "").replacing("\\fB", with: "").replacing("\\fI", with: "")
      .replacing("\\fR", with: "")
  }

  @Test(
    "A page for man has what help has, every word of it, and no line that man takes for a request")
  func manual() {
    let names = Call(["manual", "--verbs"]).output.split(separator: "\n").map(String.init)
    #expect(names == Tool.memgraph.verbs.filter { !$0.isHidden }.map(\.name))
    for name in names + ["graphdiff"] {
      let page = Call(["manual", name]).output
      for line in page.split(separator: "\n") where line.hasPrefix(".") || line.hasPrefix("'") {
        let requests = [".TH", ".SH", ".TP", ".PP", ".B", ".BR"]
        #expect(requests.contains { line.hasPrefix($0) }, "\(line)")
      }
      let plain = Self.plain(page)
      let isSingle = name == "graphdiff"
      let verbs = isSingle ? Tool.graphdiff.verbs : Tool.memgraph.verbs
      for verb in verbs where verb.name == name || isSingle {
        let help = Self.words(Help.page(of: verb, tool: isSingle ? .graphdiff : .memgraph))
        let said =
          verb.discussion.split(separator: "\n\n").map(String.init)
          + verb.allOptions.flatMap { ["--\($0.name)", $0.help] }
          + verb.examples.flatMap { [$0.command, $0.purpose] }
          + ExitStatus.meanings.map { "\($0.status.rawValue) \($0.text)" }
        for text in said.map(Self.words) {
          #expect(plain.contains(text), "\(name)(1): \(text)")
          #expect(help.contains(text), "help \(name): \(text)")
        }
      }
    }
    #expect(Call(["manual", "nothing"]).status == .usage)
  }
}
