// UnderRunTests: a program under `memgraph run` is as it is alone, and leaves its snapshots.

import Foundation
import SnapshotFormat
import Testing

@Suite struct UnderRunTests {
  private static let tool = AgentPrograms.products.appendingPathComponent("memgraph").path

  private func newFolder() throws -> URL {
    let folder = try AgentPrograms.folder.get().appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }

  private func files(in folder: URL) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  }

  static let ends = [
    ["exit", "0"], ["exit", "7"], ["exit", "255"], ["_exit", "3"], ["raise", "\(SIGTERM)"],
    ["raise", "\(SIGKILL)"], ["raise", "\(SIGUSR1)"], ["raise", "\(SIGSEGV)"],
  ]

  @Test("Output, errors and the way it ends are as alone", arguments: ends)
  func endsAsAlone(arguments: [String]) throws {
    let program = try AgentPrograms.modes.get()
    // Swift's own account of a crash has addresses, which differ.
    let environment = ["SWIFT_BACKTRACE": "enable=no"]
    let alone = try Command([program] + arguments, environment: environment).run()
    let out = try newFolder()
    let temporary = try newFolder()
    let under = try Command(
      [Self.tool, "run", "--out", out.path, "--", program] + arguments,
      environment: environment.merging(["TMPDIR": temporary.path]) { $1 }
    ).run()
    #expect(under.status == alone.status)
    #expect(under.output == alone.output)
    if arguments[0] == "exit" {
      #expect(under.errors == alone.errors)
    } else {
      // One line more, which says why there is no snapshot.
      #expect(under.errors.hasPrefix(alone.errors))
      let said = under.errors.dropFirst(alone.errors.count).split(separator: "\n")
      #expect(said.count == 1)
      let how =
        arguments[0] == "raise"
        ? "ended by signal \(arguments[1]) (" : "left by _exit with status 3"
      #expect(said.first?.hasPrefix("memgraph: \(program): \(how)") == true, "\(said)")
      #expect(
        said.first?.contains("no snapshot of its end (exit.mgraph); no mark was taken") == true)
    }
    #expect(try files(in: temporary) == [])
    #expect(try files(in: out) == (arguments[0] == "exit" ? ["exit.mgraph"] : []))
  }

  @Test("A program that crashes after a mark: the mark is named, with how to take more")
  func crashesAfterMark() throws {
    let out = try newFolder()
    let program = try AgentPrograms.modes.get()
    for (words, how) in [
      (["mark-and-raise", "\(SIGABRT)"], "ended by signal \(SIGABRT) (Aborted)"),
      (["mark-and-raise", "0"], "left by _exit with status 0"),
    ] {
      let result = try Command(
        [Self.tool, "run", "--out", out.path, "--", program] + words,
        environment: ["SWIFT_BACKTRACE": "enable=no"]
      ).run()
      #expect(
        result.errors
          == "to standard error\nmemgraph: \(program): \(how)\(how.hasPrefix("left") ? ", or became another program" : "")"
          + ", so there is no snapshot of its end (exit.mgraph); 1 snapshot in"
          + " \(out.resolvingSymlinksInPath().path): before; marks are taken while it runs, with --every SECONDS or"
          + " memgraph mark PID NAME\n")
    }
    let quiet = try Command([
      Self.tool, "run", "--quiet", "--out", out.path, "--", program, "raise", "\(SIGTERM)",
    ]).run()
    #expect(quiet.errors == "to standard error\n")
    // One that a script starts: the script goes on.
    let script = try Command([
      Self.tool, "run", "--out", out.path, "--", "sh", "-c", "'\(program)' _exit 4; exit 0",
    ]).run()
    #expect(script.status == 0)
    #expect(
      script.errors.hasPrefix("to standard error\nmemgraph: sh: its process "), "\(script.errors)")
  }

  /// Marks follow each other without a pause, so nearly each end comes in the middle of one.
  @Test("A mark of --every that the end of the program overtakes is no snapshot that was lost")
  func endsBetweenMarks() throws {
    let program = try AgentPrograms.modes.get()
    for _ in 1...10 {
      let out = try newFolder()
      let result = try Command([
        Self.tool, "run", "--every", "0.001", "--out", out.path, "--", program, "sleep", "150",
      ]).run()
      #expect(result.errors == "to standard error\n")
      #expect(try files(in: out).contains("exit.mgraph"))
    }
    for _ in 1...10 {
      let out = try newFolder()
      let result = try Command([
        Self.tool, "run", "--every", "0.001", "--out", out.path, "--", program,
        "sleep-and-leave", "150",
      ]).run()
      for line in result.errors.split(separator: "\n") where line.contains("not be written") {
        #expect(line.contains("/every-") && line.contains("ended before the snapshot was done"))
      }
    }
  }

  @Test("Standard input reaches the program")
  func input() throws {
    let out = try newFolder()
    let result = try Command(
      [Self.tool, "run", "--out", out.path, "--", try AgentPrograms.modes.get(), "echo"],
      input: "one\ntwo"
    ).run()
    #expect(result.status == 0)
    #expect(result.output == "echo 0\none\ntwo")
  }

  /// Waits until a program's output names its process.
  private func process(in output: URL) throws -> Int32 {
    for _ in 0..<2000 {
      let text = try String(contentsOf: output, encoding: .utf8)
      if let line = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        .first(where: { $0.hasPrefix("pid ") }), let pid = Int32(line.dropFirst(4))
      {
        return pid
      }
      usleep(5000)
    }
    throw AgentTestError("the program did not say its process")
  }

  @Test("A signal for the tool is the program's, which may act on it")
  func signals() throws {
    let out = try newFolder()
    let result = try Command([
      Self.tool, "run", "--out", out.path, "--", try AgentPrograms.modes.get(), "term",
    ]).run { tool, output in
      let program = try process(in: output)
      #expect(program != tool)
      kill(tool, SIGTERM)
    }
    #expect(result.status == 5)
    #expect(result.output.hasSuffix("term\n"))
  }

  @Test("A signal for the whole process group reaches the program once, one for the tool too")
  func groupSignals() throws {
    let out = try newFolder()
    func count(_ output: URL) throws -> Int {
      try String(contentsOf: output, encoding: .utf8).split(separator: "\n").count { $0 == "usr1" }
    }
    func wait(for wanted: Int, in output: URL) throws {
      for _ in 0..<4000 where try count(output) < wanted { usleep(5000) }
    }
    // Of a process group of its own, so that the test is not hit.
    let result = try Command([
      "setsid", "--wait", Self.tool, "run", "--out", out.path, "--", try AgentPrograms.modes.get(),
      "term",
    ]).run { _, output in
      let program = try process(in: output)
      let group = getpgid(program)
      try #require(group > 1 && group != getpgrp())
      for number in 1...5 {
        kill(-group, SIGUSR1)
        try wait(for: number, in: output)
      }
      // The group's first process is the tool.
      kill(group, SIGUSR1)
      try wait(for: 6, in: output)
      kill(group, SIGTERM)
    }
    #expect(result.status == 5)
    #expect(result.output.split(separator: "\n").count { $0 == "usr1" } == 6)
    #expect(result.output.hasSuffix("term\n"))
  }

  @Test("A program that becomes another user is recorded, in the run's folder and nowhere else")
  func otherUser() throws {
    // Only root can make one.
    if geteuid() != 0 { return }
    let out = try newFolder()
    let program = try AgentPrograms.modes.get()
    let result = try Command([
      Self.tool, "run", "--out", out.path, "--", "setpriv", "--reuid", "65534", "--regid", "65534",
      "--clear-groups", program, "elsewhere",
    ]).run()
    #expect(result.status == 23, "\(result.output)\(result.errors)")
    #expect(result.output == "\(EACCES)\n0\ndone\n")
    #expect(try files(in: out) == ["exit.mgraph", "inside.mgraph"])
    #expect(!FileManager.default.fileExists(atPath: "/tmp/memory-graph-test-elsewhere.mgraph"))
    #expect(result.errors.contains("memgraph: 1 of 3 snapshots could not be written, the first of"))
  }

  @Test(
    "A stack of 64 KB is enough: for the program's snapshots, the signals handed on, and the reports"
  )
  func smallStack() throws {
    let out = try newFolder()
    let program = try AgentPrograms.modes.get()
    func limited(_ words: [String]) -> Command {
      Command(["sh", "-c", #"ulimit -s 64; exec "$@""#, "sh"] + words)
    }
    let result = try limited([Self.tool, "run", "--out", out.path, "--", program, "term"]).run {
      tool, output in
      let program = try process(in: output)
      let mark = try limited([Self.tool, "mark", "\(program)", "small"]).run()
      #expect(mark.status == 0, "\(mark.errors)")
      let attached = out.appendingPathComponent("attached.mgraph").path
      let attach = try limited([Self.tool, "attach", "\(program)", "-o", attached]).run()
      #expect(attach.status == 0, "\(attach.errors)")
      kill(tool, SIGTERM)
    }
    #expect(result.status == 5, "\(result.errors)")
    #expect(try files(in: out) == ["attached.mgraph", "small.mgraph"])
    for name in try files(in: out) {
      let path = out.appendingPathComponent(name).path
      for verb in ["leaks", "summary", "check"] {
        let report = try limited([Self.tool, verb, path]).run()
        #expect(report.status < 2, "\(verb) \(name): \(report.status) \(report.errors)")
      }
    }
    // The program that is its own reader.
    let folder = try newFolder()
    let linked = try AgentPrograms.swiftLinked.get()
    let own = try Command([
      "sh", "-c", #"ulimit -s 64; cd "$1"; exec "$2" started"#, "sh", folder.path, linked,
    ]).run()
    #expect(own.status == 0, "\(own.errors)")
    #expect(own.output == "10 [\"first\", \"started\"] started\n")
  }

  @Test("Snapshots that could not be written are told at the end")
  func unwritten() throws {
    let out = try newFolder()
    let result = try Command([
      Self.tool, "run", "--out", out.path, "--", try AgentPrograms.modes.get(), "term",
    ]).run { tool, output in
      let program = try process(in: output)
      #expect(try Command([Self.tool, "mark", "\(program)", "a"]).run().status == 0)
      try FileManager.default.removeItem(at: out)
      #expect(try Command([Self.tool, "mark", "\(program)", "b"]).run().status == 4)
      #expect(try Command([Self.tool, "mark", "\(program)", "c"]).run().status == 4)
      kill(program, SIGTERM)
    }
    #expect(result.status == 5)
    let last = try #require(result.errors.split(separator: "\n").last)
    #expect(last.hasPrefix("memgraph: 2 of 3 snapshots could not be written, the first of them "))
    #expect(last.hasSuffix("/b.mgraph: can't create the snapshot: No such file or directory"))
  }

  @Test("Marks are taken at intervals, and when another process asks for one")
  func marks() throws {
    let out = try newFolder()
    let result = try Command([
      Self.tool, "run", "--out", out.path, "--every", "1", "--", try AgentPrograms.modes.get(),
      "term",
    ]).run { tool, output in
      let program = try process(in: output)
      let mark = try Command([Self.tool, "mark", "\(program)", "asked for"]).run()
      #expect(mark.status == 0)
      let path = out.appendingPathComponent("asked-for.mgraph").resolvingSymlinksInPath().path
      #expect(mark.output == path + "\n" && mark.errors == "")
      for _ in 0..<2000 where !(try files(in: out)).contains("every-2.mgraph") { usleep(5000) }
      kill(program, SIGTERM)
    }
    #expect(result.status == 5)
    let names = try files(in: out)
    #expect(names.contains("asked-for.mgraph"))
    #expect(names.contains("every-1.mgraph") && names.contains("every-2.mgraph"))
    for name in names {
      let snapshot = try Snapshot(contentsOf: out.appendingPathComponent(name).path)
      #expect(snapshot.process.hasAgent)
    }
  }

  @Test("A process without the agent, and one that is not there, can't be marked")
  func nothingToMark() throws {
    let alive = try Command([Self.tool, "mark", "\(getpid())", "x"]).run()
    #expect(alive.status == 4)
    #expect(alive.errors.contains("memgraph run"))
    // A process id that is above what Linux gives out.
    let gone = try Command([Self.tool, "mark", "999999999", "x"]).run()
    #expect(gone.status == 4)
    #expect(gone.errors == "memgraph: process 999999999: there is none\n")
  }

  @Test("A program that is not Swift runs as alone, and the tool says why there is no snapshot")
  func notSwift() throws {
    let out = try newFolder()
    let result = try Command([
      Self.tool, "run", "--out", out.path, "--", "sh", "-c", "echo hello; exit 6",
    ]).run()
    #expect(result.status == 6)
    #expect(result.output == "hello\n")
    #expect(result.errors.hasPrefix("memgraph: sh: not a Swift program"))
    #expect(try files(in: out) == [])
  }

  @Test("A program that a script starts is recorded")
  func throughScript() throws {
    let out = try newFolder()
    let program = try AgentPrograms.modes.get()
    let result = try Command([
      Self.tool, "run", "--out", out.path, "--", "sh", "-c", "'\(program)' exit 9; exit $?",
    ]).run()
    #expect(result.status == 9)
    #expect(result.errors == "to standard error\n")
    #expect(try files(in: out) == ["exit.mgraph"])
  }

  @Test("What can't be run, or written to, is said before anything is run")
  func impossible() throws {
    let out = try newFolder()
    let missing = try Command([Self.tool, "run", "--out", out.path, "--", "./nosuch"]).run()
    #expect(missing.status == 4)
    #expect(missing.errors == "memgraph: ./nosuch: can't be run: No such file or directory\n")
    let file = out.appendingPathComponent("file")
    try "".write(to: file, atomically: true, encoding: .utf8)
    let unwritable = try Command([
      Self.tool, "run", "--out", file.path + "/below", "--", "echo", "hello",
    ]).run()
    #expect(unwritable.status == 4)
    #expect(unwritable.output == "")
    #expect(unwritable.errors.hasPrefix("memgraph: \(file.path)/below: "))
  }
}
