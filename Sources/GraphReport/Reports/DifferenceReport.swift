// DifferenceReport: what was born between two marks and is still alive, and what died.

package import GraphAnalysis
package import GraphPrimitives
internal import SnapshotFormat

/// What happened between two marks, by type.
package struct DifferenceReport: Report {
  /// What happened to a type.
  package struct Change: Sendable {
    package var type: String

    /// Whether the type is the program's own, so that its growth is a finding.
    package var isOwn: Bool
    package var born: Cost
    package var died: Cost

    /// Born less died: how the number of living objects changed.
    package var net: Cost { born - died }

    package init(type: String, isOwn: Bool, born: Cost, died: Cost) {
      self.type = Names.sourceSpelling(of: type)
      self.isOwn = isOwn
      self.born = born
      self.died = died
    }
  }

  private let _from: ReportInput
  private let _to: ReportInput
  private let _changes: [Change]
  private let _born: Histogram
  private let _died: Histogram
  private let _survivedCount: Int
  private let _isExact: Bool
  private let _markCount: Int
  private let _findings: [Finding]
  private let _omittedCount: Int
  private let _omitted: Cost
  private let _longer: [LengthenedContainer]
  private let _names: Names

  /// Names of the last snapshot.
  var names: Names { _names }

  /// The types that findings are of: what holds the growth.
  let culprits: Set<String>

  /// Creates a report.
  ///
  /// - Parameters:
  ///   - from: The first mark.
  ///   - to: The last mark.
  ///   - changes: The types that changed.
  ///   - born: Born after the first mark and alive at the last.
  ///   - died: Alive at the first mark and gone at the last.
  ///   - survivedCount: How many objects were alive at both.
  ///   - isExact: Whether objects were told apart by identity.
  ///   - markCount: How many marks lie between the two, the last one included; 0 where unknown.
  ///   - findings: What the growth of the program's own types is held by.
  ///   - omittedCount: How many further ways that objects are held are not among the findings.
  ///   - omitted: What is held in those.
  ///   - longer: Containers of the program's own that became longer by what has no type of the program's.
  ///   - names: Names of the last snapshot.
  package init(
    from: ReportInput, to: ReportInput, changes: [Change], born: Histogram, died: Histogram,
    survivedCount: Int, isExact: Bool, markCount: Int, findings: [Finding],
    omittedCount: Int = 0, omitted: Cost = .zero, longer: [LengthenedContainer] = [],
    names: Names
  ) {
    _longer = longer
    _from = from
    _to = to
    _findings = findings
    _omittedCount = omittedCount
    _omitted = omitted
    _names = names
    culprits = Set(findings.map { FindingText(finding: $0, names: names).type })
    let culprits = culprits
    // The program's own growth first, what holds it before what is only dragged along.
    func rank(_ change: Change) -> Int {
      guard change.isOwn, change.net.count > 0 else { return 2 }
      return culprits.contains(change.type) ? 0 : 1
    }
    _changes = changes.sorted { left, right in
      if rank(left) != rank(right) { return rank(left) < rank(right) }
      let leftKey = (left.net.bytes.rawValue.magnitude, left.born.count + left.died.count)
      let rightKey = (right.net.bytes.rawValue.magnitude, right.born.count + right.died.count)
      return leftKey != rightKey ? leftKey > rightKey : left.type < right.type
    }
    _born = born
    _died = died
    _survivedCount = survivedCount
    _isExact = isExact
    _markCount = markCount
  }

  package var findings: [JSONValue] { texts.map(\.json) }

  package var reported: [ReportedFinding] { texts.map { $0.reported() } }

  private var texts: [FindingText] { _findings.map { FindingText(finding: $0, names: _names) } }

  package var members: [JSONValue.Member] {
    [
      JSONValue.Member("born", _born.json),
      JSONValue.Member("died", _died.json),
      JSONValue.Member("survived", .integer(_survivedCount)),
      JSONValue.Member("exact", .bool(_isExact)),
      JSONValue.Member("marksBetween", .integer(_markCount)),
      JSONValue.Member(
        "lengthened",
        .array(
          _longer.map { container in
            .members([
              "name": .string(name(of: container).text), "before": .integer(container.before),
              "now": .integer(container.now),
            ])
          })),
    ]
      + (_omittedCount == 0
        ? []
        : [
          JSONValue.Member("findingsOmitted", .integer(_omittedCount)),
          JSONValue.Member("omitted", _omitted.json),
        ])
  }

  /// What the two snapshots are called.
  private var _titles: [String] { ReportInput.titles(of: [_from, _to]) }

  package func document(limit: Int?) -> Document {
    var document = Document(answer: answer)
    document.blocks.append(
      .paragraph(
        Line(
          "From \(_titles[0]) to \(_titles[1]): \(number(_born.total.count)) born and still alive"
            + " (\(bytes(_born.total.bytes))), \(number(_died.total.count)) gone"
            + " (\(bytes(_died.total.bytes))), \(number(_survivedCount)) alive at both."
        )))
    if isSampled {
      document.blocks.append(
        .paragraph(
          Line(
            "Allocations were sampled, so what was born and what is gone is an estimate: an object that is no sample"
              + " counts as the one of its type and size that was at its address."
          )))
    } else if !_isExact {
      document.blocks.append(
        .paragraph(
          Line(
            "The snapshots are of two runs, or one was taken without the agent: objects are paired by type"
              + " and size, within one run by address as well. Numbers compare; which object is which"
              + " may not."
          )))
    }
    if !_changes.isEmpty { document.blocks.append(.table(table(limit: limit))) }
    if !_longer.isEmpty {
      document.blocks.append(.heading("Longer, by what is not of the program's types"))
      document.blocks.append(
        .table(
          Document.Table(
            columns: [.init("before", .right), .init("now", .right), .init("elements of")],
            rows: _longer.map {
              [Line(Units.number($0.before)), Line(Units.number($0.now)), name(of: $0)]
            }, omitted: 0)))
    }
    if !_findings.isEmpty {
      document.blocks.append(.heading("What holds them"))
      document.blocks += Document.items(FindingText.related(texts), limit: limit) {
        $0.item(number: $1)
      }
      if let rest = Document.omission(_findings.count, limit: limit, "group") {
        document.blocks.append(rest)
      }
      if _omittedCount > 0 {
        document.blocks.append(
          .paragraph(
            Line(
              "Not told here, since those above hold more: \(Units.count(_omittedCount, "further way")),"
                + " with \(Units.count(_omitted.count, "object")), \(Units.bytes(_omitted.bytes));"
                + " --type tells those of one type.")))
      }
    }
    return document
  }

  /// Whether numbers of what was born and what is gone are estimates.
  private var isSampled: Bool { _from.snapshot.sampling != nil || _to.snapshot.sampling != nil }

  private func number(_ count: Int) -> String { (isSampled ? "~" : "") + Units.number(count) }

  private func signed(_ count: Int) -> String { (isSampled ? "~" : "") + Units.signed(count) }

  private func bytes(_ bytes: ByteCount) -> String { (isSampled ? "~" : "") + Units.bytes(bytes) }

  /// The field or variable that a container is.
  private func name(of container: LengthenedContainer) -> Line {
    PathText(path: container.path, names: _names).container
  }

  private var answer: Line {
    let grown = _changes.filter { $0.isOwn && $0.net.count > 0 }
    guard !grown.isEmpty else {
      if !_findings.isEmpty {
        func count(_ isWanted: (Finding) -> Bool) -> Int {
          _findings.filter(isWanted).reduce(0) { $0 + $1.members.count }
        }
        let leaked = count { $0.kind != .abandoned }
        let kept = count { $0.kind == .abandoned }
        let lists = _findings.filter { $0.kind == .abandoned }.count
        var parts: [String] = []
        if leaked > 0 {
          parts.append(
            "\(Units.count(leaked, "object")) born in between \(leaked == 1 ? "is" : "are") leaked")
        }
        if kept > 0 {
          parts.append(
            "\(Units.count(lists, "list")) grew by"
              + " \(Units.count(kept, "closure, task or box", plural: "closures, tasks or boxes"))")
        }
        return Line(
          "No type of the program's own grew from \(_titles[0]) to \(_titles[1]), but "
            + parts.joined(separator: " and ") + ": see what holds them, below.", .bad)
      }
      if let first = _longer.first {
        return Line(
          "No type of the program's own grew from \(_titles[0]) to \(_titles[1]), but ")
          + name(of: first)
          + Line(
            " has \(Units.count(first.now - first.before, "more element", plural: "more elements"))"
              + (_longer.count > 1 ? ", and others are longer, too." : "."))
      }
      return Line(
        "No type of the program's own grew from \(_titles[0]) to \(_titles[1]).", .good)
    }
    let total = grown.reduce(Cost.zero) { $0 + $1.net }
    var line = Line(
      "\(signed(total.count)) \(total.count == 1 ? "object" : "objects") from \(_titles[0])"
        + " to \(_titles[1]), \(bytes(total.bytes))\(withOthers(total.bytes)): ")
    line += grown.prefix(3).map { change in
      Line(change.type, .code) + Line(" \(signed(change.net.count))\(perMark(change))")
    }.joined(", ")
    return grown.count > 3
      ? line + Line(", and \(Units.count(grown.count - 3, "more type"))") : line
  }

  /// What all types grew by, where that is more than the program's own did: they hold it, as a rule.
  private func withOthers(_ own: ByteCount) -> String {
    let all = _born.total.bytes - _died.total.bytes
    return all > own ? " (\(bytes(all)) with what is not of the program's types)" : ""
  }

  private func perMark(_ change: Change) -> String {
    _markCount < 2
      ? ""
      : " (\(isSampled ? "~" : "")\(Units.signedQuotient(change.net.count, over: _markCount)) a mark)"
  }

  private func table(limit: Int?) -> Document.Table {
    let shown = _changes.prefix(limit ?? _changes.count)
    var columns: [Document.Table.Column] = [
      .init("born", .right), .init("died", .right), .init("net", .right), .init("bytes", .right),
    ]
    if _markCount > 1 { columns.append(.init("a mark", .right)) }
    columns.append(.init("type"))
    return Document.Table(
      columns: columns,
      rows: shown.map { change in
        let grew = change.isOwn && change.net.count > 0
        var row = [
          Line(number(change.born.count)), Line(number(change.died.count)),
          Line(signed(change.net.count), grew ? .bad : .plain),
          Line(
            (isSampled ? "~" : "") + (change.net.bytes > .zero ? "+" : "")
              + Units.bytes(change.net.bytes)),
        ]
        if _markCount > 1 {
          row.append(
            Line(
              (isSampled ? "~" : "") + Units.signedQuotient(change.net.count, over: _markCount)))
        }
        row.append(Line(change.type, change.isOwn ? .code : .faint))
        return row
      },
      omitted: _changes.count - shown.count)
  }
}
