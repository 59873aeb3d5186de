// CheckFailure: what a check tells: the text, and the files that go with it.

internal import GraphAnalysis
internal import GraphReport
internal import Symbolication

/// What is checked, for names of files and messages.
struct CheckSubject: Sendable {
  /// The test: `CallTests.endingACall`.
  var test: String

  /// How its files are called.
  var name: String { Artifacts.fileName(of: test) }

  /// The file of the test.
  var source: String

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

  /// A check that could not be made.
  init(_ problem: CheckProblem) {
    text = "The leak check could not be made, so it says nothing: \(problem)"
  }

  /// What a check found, with the snapshot and a page to look at it.
  init(
    _ document: Document, findings: [Finding], of subject: CheckSubject, in examination: Examination
  ) {
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
    artifacts = files.list.map { Artifact(name: subject.name + $0.ending, bytes: $0.bytes) }
    if let problem = files.problem { text += "\n\nThere is no page to look at: \(problem)" }
    text += Artifacts.keep(&artifacts)
  }
}
