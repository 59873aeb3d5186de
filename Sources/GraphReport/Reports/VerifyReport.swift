// VerifyReport: what has become of the findings of an earlier snapshot.

package import GraphAnalysis
package import GraphPrimitives

/// Two sets of findings compared by fingerprint.
package struct VerifyReport: Report {
  /// A finding by name.
  package struct Row: Sendable {
    package var fingerprint: String
    package var kind: String
    package var type: String

    /// The members alone.
    package var cost: Cost

    /// All that reports say of it.
    package var reported: ReportedFinding

    package var json: JSONValue { reported.json }

    package init(fingerprint: String, kind: String, type: String, cost: Cost, json: JSONValue) {
      self.fingerprint = fingerprint
      self.kind = kind
      self.type = type
      self.cost = cost
      reported = ReportedFinding(json: json)
    }

    /// A finding of a snapshot.
    package init(_ finding: Finding, names: Names) {
      let text = FindingText(finding: finding, names: names)
      fingerprint = finding.fingerprint
      kind = finding.kind.name
      type = text.type
      cost = finding.own
      reported = text.reported()
    }
  }

  /// What a report compares.
  package enum Subject: Sendable {
    /// The leaks of two snapshots, and nothing else.
    case leaks

    /// What a verb has found, as its reports have it.
    case findings(ofVerb: String)
  }

  private let _subject: Subject
  private let _titles: (old: String, new: String)
  private let _fixed: [Row]
  private let _still: [(old: Row, new: Row)]
  private let _new: [Row]
  private let _accepted: [KnownRow]

  /// The kinds of what is still there or new; empty where nothing is.
  package var openKinds: Set<String> { Set(_still.map(\.new.kind) + _new.map(\.kind)) }

  /// Compares findings.
  ///
  /// - Parameters:
  ///   - subject: What findings those are.
  ///   - titles: What people call the two sets.
  ///   - accepted: Fingerprints of findings that do not count, with what is known of them.
  package init(
    _ subject: Subject, old: [Row], new: [Row], titles: (old: String, new: String),
    accepted: [KnownRow] = []
  ) {
    _subject = subject
    let hidden = Set(accepted.filter { $0.state == .known }.map(\.fingerprint))
    func byFingerprint(_ rows: [Row]) -> [Row] {
      // Findings with one fingerprint are one cause.
      var order: [String] = []
      var rowByName: [String: Row] = [:]
      for row in rows where !hidden.contains(row.fingerprint) {
        if rowByName[row.fingerprint] == nil {
          order.append(row.fingerprint)
          rowByName[row.fingerprint] = row
        } else {
          rowByName[row.fingerprint]?.cost += row.cost
        }
      }
      return order.compactMap { rowByName[$0] }
    }
    let (before, after) = (byFingerprint(old), byFingerprint(new))
    let beforeNames = Dictionary(uniqueKeysWithValues: before.map { ($0.fingerprint, $0) })
    let afterNames = Set(after.map(\.fingerprint))
    _titles = titles
    _fixed = before.filter { !afterNames.contains($0.fingerprint) }
    _still = after.compactMap { row in beforeNames[row.fingerprint].map { ($0, row) } }
    _new = after.filter { beforeNames[$0.fingerprint] == nil }
    _accepted = accepted
  }

  package var findings: [JSONValue] { _still.map(\.new.json) + _new.map(\.json) }

  package var reported: [ReportedFinding] {
    func reported(_ row: Row, _ baseline: ReportedFinding.Baseline) -> ReportedFinding {
      var finding = row.reported
      finding.baseline = baseline
      return finding
    }
    // What a change has brought comes first.
    return _new.map { reported($0, .new) } + _still.map { reported($0.new, .unchanged) }
  }

  package var settled: [SettledFinding] {
    _fixed.map {
      SettledFinding(fingerprint: $0.fingerprint, type: $0.type, state: .fixed)
    }
  }

  package var members: [JSONValue.Member] {
    func json(_ row: Row, before: Cost?) -> JSONValue {
      .members([
        "fingerprint": .string(row.fingerprint), "kind": .string(row.kind),
        "type": .string(row.type), "before": before.map(\.json), "count": .integer(row.cost.count),
        "bytes": .integer(Int(row.cost.bytes.rawValue)),
      ])
    }
    return [
      JSONValue.Member(
        "verify",
        .members([
          "fixed": .array(_fixed.map { json($0, before: nil) }),
          "stillThere": .array(_still.map { json($0.new, before: $0.old.cost) }),
          "new": .array(_new.map { json($0, before: nil) }),
        ]))
    ]
  }

  package func document(limit: Int?) -> Document {
    let parts = [
      Line("\(Units.number(_fixed.count)) fixed", _fixed.isEmpty ? .plain : .good),
      Line("\(Units.number(_still.count)) still there", _still.isEmpty ? .plain : .bad),
      Line("\(Units.number(_new.count)) new", _new.isEmpty ? .plain : .bad),
    ]
    var document = Document(
      answer: Line("\(compared) from \(_titles.old) to \(_titles.new): ") + parts.joined(", "))
    var rows: [[Line]] = []
    func add(_ state: Line, _ old: Int, _ new: Int, _ row: Row) {
      rows.append([
        state, Line(Units.number(old)), Line(Units.number(new)), Line(row.kind),
        Line(row.type, .code), Line(row.fingerprint, .faint),
      ])
    }
    for row in _new { add(Line("new", .bad), 0, row.cost.count, row) }
    for (old, new) in _still {
      add(Line("still there", .bad), old.cost.count, new.cost.count, new)
    }
    for row in _fixed { add(Line("fixed", .good), row.cost.count, 0, row) }
    if !rows.isEmpty {
      let shown = rows.prefix(limit ?? rows.count)
      document.blocks.append(
        .table(
          Document.Table(
            columns: [
              .init("state"), .init("before", .right), .init("now", .right), .init("kind"),
              .init("type"), .init("id"),
            ],
            rows: Array(shown), omitted: rows.count - shown.count)))
    }
    if !_new.isEmpty {
      document.blocks.append(.heading("What is new"))
      document.blocks += Document.items(_new.map(\.reported), limit: limit)
    } else if let picture = Document.picture(of: _still.map(\.new.json)) {
      document.blocks.append(.diagram(picture.diagram))
    }
    if case .leaks = _subject {
      document.blocks.append(
        .paragraph(
          Line(
            "Growth that a root still reaches is not compared: one snapshot does not show it. Give two reports of"
              + " memgraph growth or diff, written with --format json, for that.", .faint)))
    }
    return document
  }

  /// What the first line says that is compared.
  private var compared: String {
    switch _subject {
    case .leaks: "Leaks"
    case .findings(let verb): "What \(verb) found,"
    }
  }
}
