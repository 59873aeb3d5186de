// LeakFreeTrait: `@Test(.leakFree)`, `@Suite(.leakFree)`.

public import Testing

/// Fails a test of Swift Testing that leaves leaked objects behind.
///
/// See ``Testing/Trait/leakFree(iterations:ignoring:known:)``.
public struct LeakFreeTrait: TestTrait, SuiteTrait, TestScoping {
  let iterations: Int
  let ignored: [String]
  let known: String?

  /// Each test of a suite is checked by itself.
  public var isRecursive: Bool { true }

  /// Runs a test and checks what it left behind.
  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    let subject = quietly {
      CheckSubject(
        test: Reporting.name(of: test), source: test.sourceLocation.filePath,
        line: test.sourceLocation.line)
    }
    let failure = try await perform(
      { LeakJudge.make($0, of: subject, iterations: iterations, ignoring: ignored, known: known) },
      takesStrays: Reporting.runsAlone, function)
    if let failure {
      let failure = quietly { failure.withReport(of: subject) }
      Reporting.record(failure, at: test.sourceLocation)
    }
  }
}

extension Trait where Self == LeakFreeTrait {
  /// Fails the test, or each test of the suite, that leaves leaked objects behind: objects that no root
  /// reaches any more. The failure tells the cycle, the edge to cut, and where the objects were made.
  public static var leakFree: Self { .leakFree() }

  /// Fails the test, or each test of the suite, that leaves leaked objects behind.
  ///
  /// Leaks are those of objects that the test itself made, in its task and all tasks that come from it, so tests
  /// that run at the same time don't disturb each other. Tasks that go on are waited for, a second at most. A
  /// test that throws is not checked.
  ///
  /// - Parameters:
  ///   - iterations: how often to run the test's body; what any of the runs leaves behind counts.
  ///   - ignored: names of types whose leaks don't count, with `*` for any characters: `"App.Cache"`,
  ///     `"*Pool"`. A cycle is ignored if a type on it is.
  ///   - known: a file of known findings, as `memgraph known add` writes it, relative to the folder in which the
  ///     tests run, or to the test's file.
  public static func leakFree(
    iterations: Int = 1, ignoring ignored: [String] = [], known: String? = nil
  ) -> Self {
    LeakFreeTrait(iterations: iterations, ignored: ignored, known: known)
  }
}
