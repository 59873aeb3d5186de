// CheckFailure: what a check tells: the text, and the files that go with it.

internal import Commands
internal import GraphAnalysis
internal import GraphReport
internal import HeapGraph
internal import Symbolication

/// What is checked, for names of files and messages.
struct CheckSubject: Sendable {
  /// The test: `CallTests.endingACall`.
  var test: String

  /// How its files are called.
  var name: String { Artifacts.fileName(of: test) }

  /// The file of the test.
  var source: String

  /// The line of the check, or of the test; nil where the framework doesn't tell it.
  var line: Int?

  /// What functions of the test have in their names; the place of an allocation below them is the test's own.
  var functionMark: String?
}

/// What is wrong, ready to be reported.
struct CheckFailure: Sendable {
  /// A file that belongs to the failure.
  struct Artifact: Sendable {
    var name: String
    var bytes: [UInt8]
  }

  var text: String
  var artifacts: [Artifact] = []

  /// The line in the test from which the first of the objects comes; nil where none is known.
  var place: (file: String, line: Int)?

  /// Whether the check could not be made.
  private var _isUnmade = false

  /// A check that could not be made.
  init(_ problem: CheckProblem) {
    text = "The leak check could not be made, so it says nothing: \(problem)"
    _isUnmade = true
  }

  /// What a check found, with the snapshot, a page to look at it and the report.
  ///
  /// - Parameter answer: What is told instead of the report's first line; nil for that.
  init(
    _ report: any Report, answer: Line? = nil, findings: [Finding], of subject: CheckSubject,
    in examination: Examination
  ) {
    var document = report.document(limit: 5)
    if let answer { document.answer = answer }
    text = TextRenderer.render(document, style: TextStyle())
    while text.last == "\n" { text.removeLast() }
    place =
      findings.lazy.compactMap { finding in
        examination.names.allocation(of: finding.representative)
          .first { frame in
            subject.functionMark.map { frame.function.contains($0) } ?? false
          }
          .flatMap { frame in frame.file.flatMap { file in frame.line.map { (file, $0) } } }
      }.first
    let files = examination.files
    if let problem = files.problem { text += "\n\nThere is no page to look at: \(problem)" }
    let check = subject.failed(document.answer.text, place: place)
    let kept = Artifacts.keep(
      as: subject.name, endings: files.list.map(\.ending) + [CheckSubject.reportEnding]
    ) { name in
      let json = ReportEnvelope(
        tool: "memgraph", version: toolVersion, verb: CheckSubject.verb,
        inputs: [ReportInput(path: name + ".mgraph", snapshot: examination.graph.snapshot)],
        totals: examination.totals, names: examination.names,
        report: FailedCheckReport(report, of: check)
      ).render(.json, limit: nil)
      return files.list.map { Artifact(name: name + $0.ending, bytes: $0.bytes) }
        + [Artifact(name: name + CheckSubject.reportEnding, bytes: Array(json.utf8))]
    }
    artifacts = kept.artifacts
    text += kept.lines
  }

  /// The failure with its report, also where the check could not be made: what collects the failures of a run is told
  /// of that, too.
  func withReport(of subject: CheckSubject) -> CheckFailure {
    guard _isUnmade else { return self }
    let check = subject.failed(text, place: nil, isUnmade: true)
    let kept = Artifacts.keep(as: subject.name, endings: [CheckSubject.reportEnding]) { name in
      let json = ReportEnvelope(
        tool: "memgraph", version: toolVersion, verb: CheckSubject.verb, inputs: [],
        totals: Totals(live: .empty, leaked: .empty).json,
        report: FailedCheckReport(nil, of: check)
      ).render(.json, limit: nil)
      return [Artifact(name: name + CheckSubject.reportEnding, bytes: Array(json.utf8))]
    }
    var failure = self
    failure.artifacts = kept.artifacts
    failure.text += kept.lines
    return failure
  }
}

extension CheckSubject {
  /// The verb of the reports of failed checks, as that of `memgraph` in other reports.
  fileprivate static let verb = "leak-test"

  fileprivate static let reportEnding = ".json"

  /// The check as its report tells it.
  ///
  /// - Parameter place: the line of the test from which the first object comes.
  fileprivate func failed(
    _ answer: String, place: (file: String, line: Int)?, isUnmade: Bool = false
  ) -> FailedCheck {
    let place = place ?? line.map { (source, $0) }
    return FailedCheck(
      test: test, answer: answer,
      place: place.map { ReportedFinding.Place(file: $0.0, line: $0.1) }, isUnmade: isUnmade)
  }
}
