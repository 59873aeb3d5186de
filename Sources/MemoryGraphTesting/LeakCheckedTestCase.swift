// LeakCheckedTestCase: leak checks for XCTest.

public import XCTest

/// A test case each of whose tests fails if it leaves leaked objects behind, `setUp` and `tearDown` included.
///
///     final class CallTests: LeakCheckedTestCase {
///       func testEndingACallFreesTheScreen() { ... }
///     }
///
/// XCTest runs one test at a time, so everything that is born meanwhile is the test's, on any thread.
open class LeakCheckedTestCase: XCTestCase {
  /// Names of types whose leaks don't count, with `*` for any characters.
  open var ignoredTypes: [String] { [] }

  /// A file of known findings, as `memgraph known add` writes it; nil for none.
  open var knownFindings: String? { nil }

  /// Runs the test, and checks what it left behind.
  open override func invokeTest() {
    let type = String(describing: Swift.type(of: self))
    let subject = CheckSubject(test: name, source: "", functionMark: "\(type).")
    let failure = performBlocking(
      { LeakJudge.make($0, of: subject, ignoring: ignoredTypes, known: knownFindings) },
      takesStrays: true
    ) { super.invokeTest() }
    guard let failure = quietly({ failure?.withReport(of: subject) }) else { return }
    recordFailure(
      withDescription: failure.text, inFile: failure.place?.file ?? "<unknown>",
      atLine: failure.place?.line ?? 0, expected: true)
  }
}
