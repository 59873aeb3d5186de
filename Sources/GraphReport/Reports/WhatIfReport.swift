// WhatIfReport: what would be freed if some references were weak.

package import GraphAnalysis
internal import GraphPrimitives

/// What would be freed if some references were weak or cleared.
package struct WhatIfReport: Report {
  /// An edge that the caller asked for.
  package struct Question: Sendable {
    /// As the caller wrote it.
    package var asked: String

    /// The kinds of edges that it names.
    package var kinds: [EdgeName]

    /// How many references those are.
    package var referenceCount: Int

    package init(asked: String, kinds: [EdgeName], referenceCount: Int) {
      self.asked = asked
      self.kinds = kinds
      self.referenceCount = referenceCount
    }
  }

  private let _questions: [Question]
  private let _answer: WhatIfAnswer
  private let _names: Names

  /// - Parameter questions: In the order in which `answer` was asked for them.
  package init(_ questions: [Question], answer: WhatIfAnswer, names: Names) {
    _questions = questions
    _answer = answer
    _names = names
  }

  package var findings: [JSONValue] { [] }

  package var members: [JSONValue.Member] {
    [
      JSONValue.Member(
        "whatif",
        .members([
          "weakened": .array(
            zip(_questions, _answer.freedAlone).map { question, alone in
              .members([
                "asked": .string(question.asked),
                "edges": .array(question.kinds.map { .string($0.whole) }),
                "references": .integer(question.referenceCount),
                "freesAlone": alone.json,
              ])
            }),
          "freed": _answer.freed.json,
          "freedLeaked": _answer.freedLeaked.json,
          "freedReachable": _answer.freedReachable.json,
          "freedDestroyed": _answer.freedDestroyed.count == 0 ? nil : _answer.freedDestroyed.json,
          "stillLeaked": _answer.stillLeaked.json,
          "leftBehind": _answer.leftBehind.count == 0 ? nil : _answer.leftBehind.json,
          "alsoHeldBy": _answer.otherHolders.isEmpty
            ? nil
            : .array(
              _answer.otherHolders.map { _names.json(of: $0) }),
        ]))
    ]
  }

  package func document(limit: Int?) -> Document {
    let freed = _answer.freed.total
    var document = Document(answer: answer)
    let details = zip(_questions, _answer.freedAlone).map { question, alone -> Document.Detail in
      var line = question.kinds.prefix(5).map { Line($0.whole, .code) }.joined(", ")
      if question.kinds.count > 5 { line += Line(", and \(question.kinds.count - 5) more") }
      line += Line("; " + Units.count(question.referenceCount, "reference"))
      if _questions.count > 1 {
        line += Line(
          alone.count > 0
            ? "; alone it frees \(Units.count(alone.count, "object")), \(Units.bytes(alone.bytes))"
            : "; alone it frees nothing")
      }
      return Document.Detail("edge", line)
    }
    document.blocks.append(.item(Document.Item(title: Line("Weak or cleared"), details: details)))
    if freed.count > 0 {
      document.blocks.append(.heading("What would be freed"))
      document.blocks.append(.table(Document.table(of: _answer.freed, limit: limit)))
    }
    if _answer.leftBehind.count > 0 {
      document.blocks.append(.paragraph(Line(CutText.behind(_answer.leftBehind), .bad)))
    }
    if !_answer.otherHolders.isEmpty {
      document.blocks.append(.heading("What would stay, and what else holds it"))
      for other in _answer.otherHolders.prefix(limit ?? .max) {
        document.blocks.append(
          .paragraph(
            Line("\(Units.number(other.count)) × ") + Line(_names.typeName(of: other.kept), .code)
              + Line(" by ") + holder(other)))
      }
      if let rest = Document.omission(_answer.otherHolders.count, limit: limit, "holder") {
        document.blocks.append(rest)
      }
    }
    document.blocks += DiagnosticsText.hint(_names.snapshot)
    return document
  }

  private var answer: Line {
    let freed = _answer.freed.total
    let references = _questions.reduce(0) { $0 + $1.referenceCount }
    let what =
      references == 1
      ? "Weak or cleared, this reference"
      : "Weak or cleared, these \(Units.number(references)) references"
    guard freed.count > 0 else {
      return Line(
        what + " would free nothing: what \(references == 1 ? "it leads" : "they lead") to is held"
          + " by something else, too.", .bad)
    }
    var line = Line(
      what + " would free \(Units.count(freed.count, "object")), \(Units.bytes(freed.bytes)): ")
    line += Line(
      parts.joined(separator: ", "), _answer.stillLeaked.total.count > 0 ? .plain : .good)
    return line
  }

  /// What of it is leaked and reachable, and what stays leaked.
  private var parts: [String] {
    var parts: [String] = []
    let leaked = _answer.freedLeaked.count
    let reachable = _answer.freedReachable.count
    if leaked > 0 { parts.append("\(Units.number(leaked)) leaked") }
    let destroyed = _answer.freedDestroyed.count
    if destroyed > 0 {
      parts.append(
        "\(Units.number(destroyed)) destroyed \(destroyed == 1 ? "one" : "ones") whose memory unowned references keep"
      )
    }
    if reachable > 0 { parts.append("\(Units.number(reachable)) that roots reach") }
    let rest = _answer.stillLeaked.total
    if rest.count > 0 {
      parts.append("\(Units.count(rest.count, "object")) would stay leaked")
    } else if leaked > 0 {
      parts.append("nothing would stay leaked")
    }
    return parts
  }

  /// A holder that stays.
  private func holder(_ other: OtherHolder) -> Line { _names.line(of: other.holder) }
}
