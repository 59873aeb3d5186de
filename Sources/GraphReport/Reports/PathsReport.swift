// PathsReport: who retains something: the ways that lead to it from the roots.

package import GraphAnalysis
package import GraphPrimitives

/// The ways that lead from roots to some objects.
package struct PathsReport: Report {
  /// Ways that read the same, or a single one.
  package struct Way: Sendable {
    package var path: RetainPath

    /// How many objects are held in this way; nil where that was not asked.
    package var count: Int?

    package init(path: RetainPath, count: Int? = nil) {
      self.path = path
      self.count = count
    }
  }

  private let _ways: [Way]
  private let _subject: String
  private let _targets: Cost
  private let _unreachableCount: Int
  private let _isMerged: Bool
  private let _isCutOff: Bool
  private let _suggestion: String?
  private let _names: Names

  /// Creates a report.
  ///
  /// - Parameters:
  ///   - subject: What was asked for: a type, a pattern or an address.
  ///   - targets: The objects that it names.
  ///   - unreachableCount: How many of them no root reaches.
  ///   - isMerged: Whether each object has one way only, its shortest.
  ///   - suggestion: A type of the snapshot that may have been meant where there are no targets.
  ///   - isCutOff: Whether there are more ways than were asked for.
  package init(
    ways: [Way], subject: String, targets: Cost, unreachableCount: Int, isMerged: Bool,
    isCutOff: Bool,
    suggestion: String?, names: Names
  ) {
    _ways = ways
    _subject = subject
    _targets = targets
    _unreachableCount = unreachableCount
    _isMerged = isMerged
    _isCutOff = isCutOff
    _suggestion = suggestion
    _names = names
  }

  package var findings: [JSONValue] { [] }

  package var members: [JSONValue.Member] {
    [
      JSONValue.Member(
        "paths",
        .array(
          _ways.map { way in
            guard case .object(var members) = PathText(path: way.path, names: _names).json else {
              preconditionFailure("a path is an object")
            }
            if let count = way.count { members.append(JSONValue.Member("count", .integer(count))) }
            return .object(members)
          })),
      JSONValue.Member(
        "targets",
        .members([
          "subject": .string(_subject), "count": .integer(_targets.count),
          "bytes": .integer(Int(_targets.bytes.rawValue)),
          "unreachable": .integer(_unreachableCount),
        ])),
      JSONValue.Member("more", .bool(_isCutOff)),
    ]
  }

  package func document(limit: Int?) -> Document {
    guard _targets.count > 0 else {
      return Document(
        answer: Line("No object of type ") + Line(_subject, .code)
          + Line(" is alive" + (_suggestion.map { "; did you mean \($0)?" } ?? ".")))
    }
    var answer = Line("\(Units.number(_targets.count)) × ") + Line(_subject, .code)
    if _ways.isEmpty {
      answer += Line(
        _unreachableCount == _targets.count
          ? ": no root reaches \(_targets.count == 1 ? "it" : "them"); memgraph leaks shows what does hold \(_targets.count == 1 ? "it" : "them")."
          : ": no way from a root keeps to --through and --avoid.")
      return Document(answer: answer)
    }
    answer += Line(
      ", held in \(Units.count(_ways.count, "way"))"
        + (_ways.count < 2
          ? ":" : _targets.count > 1 ? ", the most objects first:" : ", the shortest first:"))
    var document = Document(answer: answer)
    for (place, way) in _ways.prefix(limit ?? .max).enumerated() {
      let text = PathText(path: way.path, names: _names)
      let root = _names.root(way.path.root)
      var title = Line(way.count.map { "\(Units.number($0)) × " } ?? "") + Line(text.target, .code)
      title += Line(", from \(Self.phrase(ofRoot: root.kind))")
      var details = [Document.Detail("path", chain: text.chain)]
      details.append(
        Document.Detail("at", Line(_names.address(of: way.path.target).description, .faint)))
      document.blocks.append(
        .item(Document.Item(number: place + 1, title: title, details: details)))
    }
    if let rest = Document.omission(_ways.count, limit: limit, "way") {
      document.blocks.append(rest)
    }
    if _isCutOff {
      document.blocks.append(.paragraph(Line("… and there are more (--all, or --max N)", .faint)))
    }
    if _unreachableCount > 0 {
      document.blocks.append(
        .paragraph(
          Line(
            "No root reaches \(Units.number(_unreachableCount)) of \(Units.number(_targets.count)); memgraph leaks shows them."
          )))
    }
    document.blocks += DiagnosticsText.hint(_names.snapshot)
    return document
  }

  private static func phrase(ofRoot kind: String) -> String {
    switch kind {
    case "global": "a global variable"
    case "stack": "a thread's stack"
    case "register": "a register"
    case "threadLocal": "thread-local data"
    case "task": "a task that will run"
    case "mapped": "memory that the program mapped"
    case "declared": "a root that the program registered"
    default: "the Swift runtime"
    }
  }
}
