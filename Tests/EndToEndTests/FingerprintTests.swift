// A finding has the same fingerprint however its program was built, and no other finding has it.
internal import Foundation
internal import Testing

@Suite struct FingerprintTests {
  /// The sample, compiled with optimization in another folder.
  private static let optimized: Result<(URL, SampleSources), any Error> = Result {
    let sources = try SampleSources(["-O"])
    return (try sources.program("LeakCases"), sources)
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
    let (program, sources) = try Self.optimized.get()
    defer { withExtendedLifetime(sources) {} }
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
