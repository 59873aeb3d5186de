// FailedCheck: a leak check of a test that failed, as a report that lies beside its snapshot tells it.

/// A leak check that failed.
package struct FailedCheck: Hashable, Sendable {
  /// The test: `CallTests.endingACall`.
  package var test: String

  /// What it said in one line.
  package var answer: String

  /// Where the check stands in the source.
  package var place: ReportedFinding.Place?

  /// Whether it could not be made, so that nothing was found and nothing ruled out.
  package var isUnmade: Bool

  package init(test: String, answer: String, place: ReportedFinding.Place?, isUnmade: Bool = false)
  {
    self.test = test
    self.answer = answer
    self.place = place
    self.isUnmade = isUnmade
  }

  /// A check as a report has it in `check`, or a bundle in `failedChecks`; nil where a member is missing.
  package init?(json: JSONValue) {
    guard let test = json["test"]?.string, let answer = json["answer"]?.string else { return nil }
    self.init(
      test: test, answer: answer, place: ReportedFinding.place(of: json),
      isUnmade: json["made"] == .bool(false))
  }

  package var json: JSONValue {
    .members([
      "test": .string(test), "answer": .string(answer), "made": .bool(!isUnmade),
      "file": place.map { .string($0.file) }, "line": place.map { .integer($0.line) },
    ])
  }

  /// `CallTests.swift:12`; empty where the place is not known.
  var shownPlace: String {
    guard let place else { return "" }
    return "\(place.file.split(separator: "/").last.map(String.init) ?? place.file):\(place.line)"
  }
}

/// The report of a check that failed, with the check.
package struct FailedCheckReport: Report {
  private let _report: (any Report)?
  private let _check: FailedCheck

  /// - Parameter report: What was found; nil where the check could not be made.
  package init(_ report: (any Report)?, of check: FailedCheck) {
    _report = report
    _check = check
  }

  package var findings: [JSONValue] { _report?.findings ?? [] }

  package var reported: [ReportedFinding] { _report?.reported ?? [] }

  package var members: [JSONValue.Member] {
    (_report?.members ?? []) + [JSONValue.Member("check", _check.json)]
  }

  package func document(limit: Int?) -> Document {
    var document = _report?.document(limit: limit) ?? Document(answer: "")
    document.answer = Line(_check.answer)
    return document
  }
}
