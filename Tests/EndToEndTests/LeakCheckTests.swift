// Tests of `swift package leak-check` in a package of its own, with tests that know nothing of it, and of what a build
// host makes of the result.

import Foundation
import Testing

@Suite struct LeakCheckTests {
  /// One package for all, since it is built once then.
  @Test(
    "Leaks of tests in both libraries are found, and nothing else; what passes, fails and is refused"
  )
  func leakCheck() throws {
    let package = try SamplePackage()
    try expectLeaks(in: package)
    for words in [
      ["--filter", "clean"], ["--filter", "testClean"], ["--filter", "Clean|clean"],
      ["--skip", "[lL]eaks"], ["--fail-on", "none"],
    ] {
      let call = try package.leakCheck(words)
      #expect(call.status == 0, "\(words) \(call.output)\(call.errors)")
      if words[0] != "--fail-on" { #expect(call.output.contains("Nothing found in "), "\(words)") }
    }
    let failed = try package.leakCheck(["--filter", "fails"])
    #expect(failed.status != 0)
    #expect(failed.errors.contains("tests failed: Swift Testing (status 1)"), "\(failed.errors)")
    let none = try package.leakCheck(["--filter", "nowhere"])
    #expect(none.status != 0 && none.errors.contains("no test matches"))
    let wrong = try package.leakCheck(["--fliter", "x"])
    #expect(wrong.status != 0 && wrong.errors.contains("--fliter: unknown option"))
    #expect(try package.leakCheck(["--help"]).output.contains("usage: swift package leak-check"))
    for signal in [SIGINT, SIGTERM, SIGKILL] { try expectEnd(by: signal, in: package) }
  }

  /// Ends `swift package` while a test waits for ever: the test's process ends, too.
  private func expectEnd(by signal: Int32, in package: SamplePackage) throws {
    let check = try package.startedLeakCheck(["--filter", "hangs"])
    defer { if check.isRunning { kill(check.processIdentifier, SIGKILL) } }
    var tests: Int32?
    for _ in 0..<6_000 where tests == nil && check.isRunning {
      tests = (try? package.file("hangs")).flatMap { Int32($0) }
      usleep(20_000)
    }
    let pid = try #require(tests, "the test did not begin")
    kill(check.processIdentifier, signal)
    check.waitUntilExit()
    // What is gone can't be signalled; one that its parent has not looked at yet still can.
    func isThere() -> Bool {
      let state = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)
      return state.map { !$0.contains(") Z ") } ?? false
    }
    for _ in 0..<1_500 where isThere() { usleep(20_000) }
    #expect(!isThere(), "after signal \(signal)")
    if isThere() { kill(pid, SIGKILL) }
    try package.remove("hangs")
  }

  private func expectLeaks(in package: SamplePackage) throws {
    let call = try package.leakCheck()
    #expect(call.status != 0)
    #expect(call.output.contains("leak-check: building the tests\n"), "\(call.output)")
    // It writes to files here.
    #expect(!call.output.contains("\u{1B}") && !call.errors.contains("\u{1B}"))
    #expect(call.output.contains("1 finding in 2 runs: App.Screen"), "\(call.output)")
    #expect(call.output.contains("cut    App.Client.onChange frees 2 objects"))
    #expect(call.output.contains("Screen.swift:12"))
    #expect(
      call.output.contains("from   AppTests.leaks() at ScreenTests.swift:6")
        || call.output.contains("from   AppTests.ScreenCase.testLeaks() at ScreenTests.swift:24"),
      "\(call.output)")
    #expect(call.errors.contains("leaks; "))
    let summary = try package.file("artifact/summary.md")
    #expect(summary.contains("```mermaid"))
    for name in ["index.html", "junit.xml", "report.sarif", "reports/xctest/exit.html"] {
      #expect(try !package.file("artifact/" + name).isEmpty)
    }
    // Paths are those of the package.
    let sarif = try package.file("artifact/report.sarif")
    #expect(sarif.contains("\"uri\": \"Sources/App/Screen.swift\""))
  }

  @Test("collect-artifacts makes a bundle and tells the host")
  func collect() throws {
    let folder = try ScratchFolder()
    let marks = folder.url.appendingPathComponent("marks").path
    let recording = try run(
      "memgraph",
      [
        "run", "--out", marks, "--", buildFolder.appendingPathComponent("LeakCases").path,
        "delegate-cycle",
      ])
    try #require(recording.status == 0, "\(recording.errors)")
    func collect(_ variables: [String], _ words: [String]) throws -> Outcome {
      let script = packageFolder.appendingPathComponent("scripts/collect-artifacts").path
      let tool = "MEMGRAPH=" + buildFolder.appendingPathComponent("memgraph").path
      return try run(
        URL(fileURLWithPath: "/usr/bin/env"),
        ["-u", "GITHUB_ACTIONS", "-u", "GITHUB_STEP_SUMMARY", "-u", "MEMORY_GRAPH_OUT", tool]
          + variables + [script] + words)
    }
    let output = folder.url.appendingPathComponent("artifact").path
    let plain = try collect(["MEMORY_GRAPH_OUT=\(marks)"], ["-o", output])
    #expect(plain.status == 0, "\(plain.errors)")
    #expect(plain.output.contains(" in 1 run: "), "\(plain.output)")
    let steps = folder.url.appendingPathComponent("steps").path
    let host = try collect(
      ["GITHUB_ACTIONS=true", "GITHUB_STEP_SUMMARY=\(steps)"],
      ["-o", output, "--fail-on", "any", marks])
    #expect(host.status == 1)
    #expect(host.output.contains("\n::error "), "\(host.output)")
    #expect(try folder.read("steps") == folder.read("artifact/summary.md"))
    let nothing = try collect([], [folder.url.appendingPathComponent("nowhere").path])
    #expect(nothing.status == 0 && nothing.output.contains("nothing in "))
  }
}

/// A package with tests in both libraries, which depends on this one by its path.
private struct SamplePackage {
  private let _folder: ScratchFolder

  init() throws {
    _folder = try ScratchFolder()
    try write(
      "Package.swift",
      """
      // swift-tools-version: 6.0
      import PackageDescription

      let package = Package(
        name: "App",
        dependencies: [.package(name: "memory-graph", path: "\(packageFolder.path)")],
        targets: [
          .target(name: "App"), .testTarget(name: "AppTests", dependencies: ["App"]),
        ])
      """)
    try write(
      "Sources/App/Screen.swift",
      """
      public final class Client {
        public var onChange: (() -> Void)?
        public init() {}
      }

      public final class Screen {
        let client = Client()
        var count = 0
        public init() {}

        public func listen() {
          client.onChange = { self.count += 1 }
        }

        public func listenWeakly() {
          client.onChange = { [weak self] in self?.count += 1 }
        }
      }
      """)
    try write(
      "Tests/AppTests/ScreenTests.swift",
      """
      import App
      import Foundation
      import Testing
      import XCTest

      @Test func leaks() { Screen().listen() }

      @Test func clean() { Screen().listenWeakly() }

      @Test(.enabled(if: CommandLine.arguments.contains("fails"))) func fails() {
        Issue.record("as asked")
      }

      @Test(.enabled(if: CommandLine.arguments.contains("hangs"))) func hangs() async throws {
        try "\\(getpid())".write(toFile: "\(_folder.url.path)/hangs", atomically: true, encoding: .utf8)
        try await Task.sleep(for: .seconds(600))
      }

      final class ScreenCase: XCTestCase {
        var screen: Screen?

        override func setUp() { screen = Screen() }

        func testLeaks() { Screen().listen() }

        func testClean() { screen?.listenWeakly() }
      }
      """)
  }

  func leakCheck(_ words: [String] = []) throws -> Outcome {
    try run(URL(fileURLWithPath: "/usr/bin/env"), self.words + words, atMost: 600)
  }

  /// Begins the same; it ends by itself, or by a signal.
  func startedLeakCheck(_ words: [String]) throws -> Process {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = self.words + words
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    return process
  }

  private var words: [String] {
    [
      "TERM=xterm-256color", "swift", "package", "--package-path", _folder.url.path, "leak-check",
      "--memgraph", buildFolder.appendingPathComponent("memgraph").path, "--output",
      _folder.url.appendingPathComponent("artifact").path,
    ]
  }

  func remove(_ name: String) throws {
    try FileManager.default.removeItem(at: _folder.url.appendingPathComponent(name))
  }

  func file(_ name: String) throws -> String { try _folder.read(name) }

  private func write(_ name: String, _ text: String) throws {
    let file = _folder.url.appendingPathComponent(name)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try (text + "\n").write(to: file, atomically: true, encoding: .utf8)
  }
}
