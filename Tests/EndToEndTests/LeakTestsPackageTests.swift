// The package in samples/LeakTests in a fresh folder, as somebody who follows the README has it.
internal import Foundation
internal import Testing

/// A copy of the package, built.
private struct LeakTestsPackage {
  let folder: ScratchFolder
  let tests: URL

  init() throws {
    folder = try ScratchFolder()
    let copy = folder.url.appendingPathComponent("leak-tests")
    try FileManager.default.copyItem(
      at: packageFolder.appendingPathComponent("samples/LeakTests"), to: copy)
    let manifest = copy.appendingPathComponent("Package.swift")
    try String(contentsOf: manifest, encoding: .utf8)
      .replacingOccurrences(of: "\"../..\"", with: "\"\(packageFolder.path)\"")
      .write(to: manifest, atomically: true, encoding: .utf8)
    // The library is built once for all runs of the tests; the package itself each time.
    let scratch = packageFolder.appendingPathComponent(".build/leak-tests").path
    let log = try folder.makeFile("build.log")
    let build = Process()
    build.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    build.arguments = [
      "swift", "build", "--build-tests", "--package-path", copy.path, "--scratch-path", scratch,
    ]
    build.standardOutput = log
    build.standardError = log
    try build.run()
    build.waitUntilExit()
    guard build.terminationStatus == 0 else {
      throw RunFailure(description: try folder.read("build.log"))
    }
    tests = URL(fileURLWithPath: scratch)
      .appendingPathComponent("debug/leak-testsPackageTests.xctest")
  }

  /// Runs the tests of one of the frameworks.
  func run(
    _ framework: Framework, _ arguments: [String] = [], environment: [String] = []
  ) throws -> Outcome {
    let words = framework == .testing ? ["--testing-library", "swift-testing"] : []
    return try EndToEndTests.run(
      URL(fileURLWithPath: "/usr/bin/env"), environment + [tests.path] + words + arguments)
  }
}

enum Framework: CaseIterable, Sendable {
  case testing, xctest
}

@Suite(.serialized) struct LeakTestsPackageTests {
  private static let package = Result { try LeakTestsPackage() }

  /// What each failure has to tell.
  private static let told = [
    "1 × Call.CallScreen, leaked in a cycle",
    "Call.CallScreen.connection → Call.Connection.onChange",
    "capture [weak self] at CallScreen.swift:12", "made",
  ]

  private func check(_ outcome: Outcome, of framework: Framework) {
    let all = outcome.output + outcome.errors
    for text in Self.told { #expect(all.contains(text), "\(all)") }
    switch framework {
    case .testing:
      #expect(all.contains("listeningStrongly() recorded an issue at CallTests.swift:7:"), "\(all)")
      #expect(all.contains("listeningWeakly() passed"), "\(all)")
      #expect(all.contains("failed after") && all.contains("with 1 issue."), "\(all)")
    case .xctest:
      #expect(all.contains("CallCase.swift:8: error: CallCase.testListeningStrongly"), "\(all)")
      #expect(all.contains("'CallCase.testListeningWeakly' passed"), "\(all)")
      #expect(all.contains("Executed 2 tests, with 1 failure"), "\(all)")
    }
    #expect(outcome.status == 1)
  }

  /// How often the tests are run; `LEAK_TEST_ROUNDS=20` is for those who change how checks attribute objects.
  private static let rounds =
    ProcessInfo.processInfo.environment["LEAK_TEST_ROUNDS"].flatMap { Int($0) } ?? 2

  @Test(arguments: Framework.allCases) func eachTimeTheSame(_ framework: Framework) throws {
    let package = try Self.package.get()
    for _ in 1...Self.rounds { check(try package.run(framework), of: framework) }
  }

  @Test(arguments: Framework.allCases) func filesAreKept(_ framework: Framework) throws {
    let package = try Self.package.get()
    let folder = try ScratchFolder()
    let (out, attached) = (folder.url.path + "/out", folder.url.path + "/attached")
    try FileManager.default.createDirectory(atPath: attached, withIntermediateDirectories: true)
    let arguments = framework == .testing ? ["--attachments-path", attached] : []
    let outcome = try package.run(framework, arguments, environment: ["MEMORY_GRAPH_OUT=" + out])
    check(outcome, of: framework)
    let stem =
      framework == .testing ? "CallTests.listeningStrongly" : "CallCase.testListeningStrongly"
    let names = ["\(stem).html", "\(stem).json", "\(stem).mgraph"]
    #expect(try FileManager.default.contentsOfDirectory(atPath: out).sorted() == names)
    let leaks = try EndToEndTests.run("memgraph", ["leaks", "\(out)/\(stem).mgraph"])
    #expect(leaks.output.contains("Call.CallScreen, leaked in a cycle"), "\(leaks)")
    let report = try String(contentsOfFile: "\(out)/\(stem).json", encoding: .utf8)
    #expect(report.contains("\"test\": \"\(stem)\""))
    // The bundle tells the test, and its leak once.
    let artifact = folder.url.path + "/artifact"
    let bundle = try EndToEndTests.run("memgraph", ["bundle", out, "-o", artifact])
    #expect(bundle.output.hasPrefix("1 finding in 1 run: Call.CallScreen; 1 leak check failed"))
    #expect(bundle.output.contains("test   \(stem)"), "\(bundle.output)")
    let page = try String(contentsOfFile: "\(out)/\(stem).html", encoding: .utf8)
    #expect(page.contains("Call.CallScreen"))
    if framework == .testing {
      #expect(try FileManager.default.contentsOfDirectory(atPath: attached).sorted() == names)
    }
  }

  @Test(arguments: Framework.allCases)
  func checksUnderRunAreToldWithTheirTests(_ framework: Framework) throws {
    let package = try Self.package.get()
    let folder = try ScratchFolder()
    let (out, artifact) = (folder.url.path + "/out", folder.url.path + "/artifact")
    let words = framework == .testing ? ["--testing-library", "swift-testing"] : []
    let run = try EndToEndTests.run(
      "memgraph", ["run", "--out", out, "--", package.tests.path] + words)
    check(run, of: framework)
    let stem =
      framework == .testing ? "CallTests.listeningStrongly" : "CallCase.testListeningStrongly"
    let bundle = try EndToEndTests.run("memgraph", ["bundle", out, "-o", artifact])
    #expect(bundle.output.contains("1 leak check failed"), "\(bundle.output)")
    #expect(bundle.output.contains("test   \(stem)"), "\(bundle.output)")
  }

  @Test("A file of known findings for the whole run is one for each check, in both frameworks")
  func knownForAll() throws {
    let package = try Self.package.get()
    let folder = try ScratchFolder()
    let out = folder.url.path + "/out"
    let failed = try package.run(.testing, environment: ["MEMORY_GRAPH_OUT=" + out])
    let words = (failed.output + failed.errors).split { $0 == " " || $0 == "\n" }
    let place = try #require(words.firstIndex(of: "id"), "\(failed)")
    let file = folder.url.appendingPathComponent("known.json").path
    let known = try EndToEndTests.run(
      "memgraph",
      [
        "known", "add", out + "/CallTests.listeningStrongly.mgraph", String(words[place + 1]),
        "--reason", "a test", "-o", file,
      ])
    #expect(known.status == 0, "\(known)")
    for framework in Framework.allCases {
      let passed = try package.run(framework, environment: ["MEMORY_GRAPH_KNOWN=" + file])
      #expect(passed.status == 0, "\(passed)")
      let unreadable = try package.run(framework, environment: ["MEMORY_GRAPH_KNOWN=/nowhere.json"])
      #expect(unreadable.status == 1, "\(unreadable)")
    }
  }

  @Test(arguments: Framework.allCases)
  func aCheckThatCannotBeMadeFails(_ framework: Framework) throws {
    let package = try Self.package.get()
    let outcome = try package.run(framework, environment: ["TMPDIR=/proc/nowhere"])
    let all = outcome.output + outcome.errors
    #expect(all.contains("The leak check could not be made, so it says nothing"), "\(all)")
    #expect(all.contains("/proc/nowhere: no folder for a snapshot"), "\(all)")
    #expect(outcome.status == 1)
    // Whoever collects what failed is told of it, too.
    let folder = try ScratchFolder()
    let out = folder.url.path + "/out"
    _ = try package.run(
      framework, environment: ["TMPDIR=/proc/nowhere", "MEMORY_GRAPH_OUT=" + out])
    let bundle = try EndToEndTests.run(
      "memgraph", ["bundle", out, "-o", folder.url.path + "/artifact"])
    #expect(bundle.output.contains("1 leak check failed"), "\(bundle)")
    #expect(bundle.output.contains("The leak check could not be made"), "\(bundle)")
  }

  @Test func anAgentThatCannotRecordFailsEachTest() throws {
    let package = try Self.package.get()
    // The agent's tables want more address space than that.
    let outcome = try EndToEndTests.run(
      URL(fileURLWithPath: "/bin/sh"),
      [
        "-c", "ulimit -v 1500000 && exec \"$0\" --testing-library swift-testing",
        package.tests.path,
      ])
    let all = outcome.output + outcome.errors
    #expect(all.contains("listeningWeakly() recorded an issue"), "\(all)")
    #expect(all.contains("The leak check could not be made"), "\(all)")
    #expect(outcome.status != 0)
  }
}
