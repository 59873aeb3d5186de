// PathsReport: who retains something: the ways that lead to it from the roots.

package import GraphAnalysis
package import GraphPrimitives

/// The ways that lead from roots to some objects.
package struct PathsReport: Report {
  /// Ways that read the same, or a single one.
  package struct Way: Sendable {
    package var path: RetainPath

    /// The objects that are held in this way.
    package var own: Cost

    package init(path: RetainPath, own: Cost) {
      self.path = path
      self.own = own
    }
  }

  private let _ways: [Way]
  private let _subject: String
  private let _targets: Cost
  private let _unreachableCount: Int
  private let _leakedCount: Int
  private let _heldCount: Int
  private let _isMerged: Bool
  private let _isCutOff: Bool
  private let _passedOver: (fields: [String], count: Int)
  private let _suggestion: String?
  private let _names: Names

  /// Creates a report.
  ///
  /// - Parameters:
  ///   - subject: What was asked for: a type, a pattern or an address.
  ///   - targets: The objects that it names.
  ///   - unreachableCount: How many of them no root reaches.
  ///   - leakedCount: How many of those are leaked; C memory that nothing leaked holds is not called so.
  ///   - heldCount: How many of them are held in some way that was asked for.
  ///   - isMerged: Whether each object has one way only, its shortest.
  ///   - suggestion: A type of the snapshot that may have been meant where there are no targets.
  ///   - isCutOff: Whether there are more ways than were asked for.
  ///   - passedOver: References that are declared not to own anything, and how many objects are held by
  ///     those alone.
  package init(
    ways: [Way], subject: String, targets: Cost, unreachableCount: Int, leakedCount: Int,
    heldCount: Int, isMerged: Bool, isCutOff: Bool,
    passedOver: (fields: [String], count: Int) = ([], 0), suggestion: String?,
    names: Names
  ) {
    _ways = ways
    _subject = subject
    _targets = targets
    _unreachableCount = unreachableCount
    _leakedCount = leakedCount
    _heldCount = heldCount
    _isMerged = isMerged
    _isCutOff = isCutOff
    _passedOver = passedOver
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
            members.append(JSONValue.Member("count", .integer(way.own.count)))
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
      + (_isMerged
        ? [JSONValue.Member("merged", .array(merged.tops.map { json(of: $0, in: merged) }))] : [])
      + (_passedOver.fields.isEmpty
        ? []
        : [
          JSONValue.Member(
            "nonOwners",
            .members([
              "fields": .array(_passedOver.fields.map { .string($0) }),
              "heldByThemAlone": .integer(_passedOver.count),
            ]))
        ])
  }

  /// The ways as a tree from the roots down: what several ways begin with is one line.
  private var merged: CostTree {
    var costs: [[String]: Cost] = [:]
    var lines: [[String]: [Line]] = [:]
    var order: [[String]] = []
    for way in _ways {
      let chain = PathText(path: way.path, names: _names).chain
      for length in 1...chain.count {
        let key = chain.prefix(length).map { Names.foldingIndices($0.text) }
        if costs[key] == nil {
          order.append(key)
          lines[key] = Array(chain.prefix(length))
        }
        costs[key, default: .zero] += way.own
      }
    }
    var tree = CostTree()
    var rowByKey: [[String]: Int] = [:]
    // Shorter ones first, so that each row's own is there; equal lengths by cost.
    for key in order.enumerated().sorted(by: { left, right in
      if left.element.count != right.element.count {
        return left.element.count < right.element.count
      }
      let (a, b) = (costs[left.element]?.count ?? 0, costs[right.element]?.count ?? 0)
      return a != b ? a > b : left.offset < right.offset
    }).map(\.element) {
      let role = lines[key]?.last?.runs.first?.role ?? .plain
      rowByKey[key] = tree.append(
        Line(key[key.count - 1], role), cost: costs[key] ?? .zero,
        below: rowByKey[Array(key.dropLast())])
    }
    return tree
  }

  private func json(of row: Int, in tree: CostTree) -> JSONValue {
    let line = tree.rows[row]
    return .members([
      "text": .string(line.text.text), "count": .integer(line.cost.count),
      "bytes": .integer(Int(line.cost.bytes.rawValue)),
      "children": .array(line.children.map { json(of: $0, in: tree) }),
    ])
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
          ? ": no root reaches \(_targets.count == 1 ? "it" : "them"); " + unreachableText
          : _passedOver.count > 0
            ? ": held by \(_passedOver.fields.joined(separator: ", ")) alone, which the configuration declares"
              + " to own nothing."
            : ": no way from a root keeps to --through and --avoid.")
      return Document(answer: answer)
    }
    answer += Line(
      (_heldCount < _targets.count ? ", \(Units.number(_heldCount)) of them" : ",")
        + " held in \(Units.count(_ways.count, "way"))"
        + (_ways.count < 2
          ? ":" : _targets.count > 1 ? ", the most objects first:" : ", the shortest first:"))
    if _isMerged { return mergedDocument(limit: limit) }
    var document = Document(answer: answer)
    for (place, way) in _ways.prefix(limit ?? .max).enumerated() {
      let text = PathText(path: way.path, names: _names)
      let root = _names.root(way.path.root)
      var title = Line("\(Units.number(way.own.count)) × ") + Line(text.target, .code)
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
    document.blocks += notes
    return document
  }

  /// The ways as a tree, each line with the number of objects that are held through it.
  private func mergedDocument(limit: Int?) -> Document {
    let held = _ways.reduce(0) { $0 + $1.own.count }
    let answer =
      Line("\(Units.number(_targets.count)) × ") + Line(_subject, .code)
      + Line(
        ": the shortest way of each from a root, "
          + "\(Units.count(held, "object")) in \(Units.count(_ways.count, "way"))")
    return Document(
      answer: answer,
      blocks: Document.tree(
        merged.branches(limit: limit, keepsRuns: false) { [Line(Units.number($0.cost.count))] },
        "line")
        + notes)
  }

  private var notes: [Document.Block] {
    var notes: [Document.Block] = []
    if _isCutOff {
      notes.append(.paragraph(Line("… and there are more (--all, or --max N)", .faint)))
    }
    if _unreachableCount > 0 {
      notes.append(
        .paragraph(
          Line(
            "No root reaches \(Units.number(_unreachableCount)) of \(Units.number(_targets.count)); "
              + unreachableText)))
    }
    if _passedOver.count > 0 {
      notes.append(
        .paragraph(
          Line(
            "\(Units.number(_passedOver.count)) of \(Units.number(_targets.count)) are held by"
              + " \(_passedOver.fields.joined(separator: ", ")) alone, which the configuration declares to own"
              + " nothing.")))
    }
    return notes + DiagnosticsText.hint(_names.snapshot)
  }

  /// What is known of those that no root reaches.
  private var unreachableText: String {
    let rest = _unreachableCount - _leakedCount
    let pronoun = _unreachableCount == 1 ? "it" : "them"
    let unknown =
      "may be held in ways that memory does not show, as C libraries hide pointers: no leak is told of "
    if rest == 0 {
      return _ways.isEmpty
        ? "memgraph leaks shows what does hold \(pronoun)." : "memgraph leaks shows \(pronoun)."
    }
    if _leakedCount == 0 {
      return (_unreachableCount == 1 ? "it " : "they ") + unknown + pronoun + "."
    }
    return "memgraph leaks shows \(Units.number(_leakedCount)) of them; the other"
      + (rest == 1 ? " " : "s ") + unknown + (rest == 1 ? "it." : "them.")
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
