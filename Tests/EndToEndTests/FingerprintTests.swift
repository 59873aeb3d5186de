// A finding has the same fingerprint however its program was built, and no other finding has it.
internal import Foundation
internal import Testing

@Suite struct FingerprintTests {
  /// The sample, compiled with optimization in another folder.
  private static let optimized: Result<(URL, ScratchFolder), any Error> = Result {
    let folder = try ScratchFolder()
    let sources = folder.url.appendingPathComponent("elsewhere")
    try FileManager.default.copyItem(
      at: packageFolder.appendingPathComponent("samples/LeakCases"), to: sources)
    let program = folder.url.appendingPathComponent("LeakCases")
    let files = try FileManager.default.subpathsOfDirectory(atPath: sources.path)
      .filter { $0.hasSuffix(".swift") }.sorted()
    let compiler = Process()
    compiler.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    compiler.currentDirectoryURL = sources
    compiler.arguments =
      [
        "swiftc", "-O", "-g", "-swift-version", "6", "-module-name", "LeakCases", "-o",
        program.path,
      ]
      + files
    compiler.standardOutput = FileHandle.nullDevice
    try compiler.run()
    compiler.waitUntilExit()
    guard compiler.terminationStatus == 0 else {
      throw RunFailure(description: "LeakCases does not compile with -O")
    }
    return (program, folder)
  }

  static let cases = CaseExpectation.all.filter { $0.kind != .none }

  /// The fingerprints of what each case leaves where the package's own build of the sample runs.
  private static let plain: Result<[String: Set<String>], any Error> = Result {
    var found: [String: Set<String>] = [:]
    for expectation in cases {
      found[expectation.name] = try fingerprints(
        expectation, of: buildFolder.appendingPathComponent("LeakCases"))
    }
    return found
  }

  /// The fingerprints of what a case leaves.
  private static func fingerprints(
    _ expectation: CaseExpectation, of program: URL
  ) throws -> Set<String> {
    let recording = try Recording(of: program, [expectation.name])
    let last = recording.mark("round-3")
    let report =
      try expectation.kind == .abandoned
      ? Report.of("diff", recording.mark("round-1"), last, "--no-symbols")
      : Report.of("leaks", last, "--no-symbols")
    return Set(report.findings.map(\.fingerprint))
  }

  @Test(
    "With -Onone, and with -O in another folder, a case has the same fingerprints",
    arguments: cases)
  func buildsAgree(_ expectation: CaseExpectation) throws {
    let (program, folder) = try Self.optimized.get()
    defer { withExtendedLifetime(folder) {} }
    let plain = try #require(try Self.plain.get()[expectation.name])
    #expect(!plain.isEmpty)
    #expect(try Self.fingerprints(expectation, of: program) == plain)
  }

  @Test("Different cases have different fingerprints")
  func casesDiffer() throws {
    var caseByFingerprint: [String: String] = [:]
    for (name, found) in try Self.plain.get().sorted(by: { $0.key < $1.key }) {
      for one in found {
        let other = caseByFingerprint.updateValue(name, forKey: one)
        #expect(other == nil, "\(name) and \(other ?? "") share \(one)")
      }
    }
  }
}
