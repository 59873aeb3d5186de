// LeaksReport: what is unreachable, grouped, each group with its cycle and the edge to cut.

package import GraphAnalysis
package import GraphPrimitives

/// What no root reaches.
package struct LeaksReport: Report {
  private let _findings: [Finding]
  private let _totals: Totals
  private let _names: Names
  private let _isFiltered: Bool
  private let _unattributed: Cost

  /// Creates a report.
  ///
  /// - Parameters:
  ///   - findings: What to show, the worst first.
  ///   - totals: Everything in the snapshot, filters aside.
  ///   - unattributed: Blocks without a type that nothing was found to point at; they are no leaks.
  ///   - isFiltered: Whether the caller asked for some findings only.
  package init(
    findings: [Finding], totals: Totals, unattributed: Cost, isFiltered: Bool, names: Names
  ) {
    _findings = findings
    _totals = totals
    _unattributed = unattributed
    _isFiltered = isFiltered
    _names = names
  }

  package var findings: [JSONValue] { texts.map(\.json) }

  package var members: [JSONValue.Member] {
    [JSONValue.Member("unattributedBlocks", _unattributed.json)]
  }

  package var reported: [ReportedFinding] { texts.map { $0.reported() } }

  private var texts: [FindingText] { _findings.map { FindingText(finding: $0, names: _names) } }

  package func document(limit: Int?) -> Document {
    var document = Document(answer: answer)
    document.blocks += Document.items(FindingText.related(texts), limit: limit) {
      $0.item(number: $1)
    }
    if let rest = Document.omission(_findings.count, limit: limit, "group") {
      document.blocks.append(rest)
    }
    document.blocks += notes
    return document
  }

  private var answer: Line {
    let leaks = _findings.filter { $0.kind == .leak }
    let zombies = _findings.filter { $0.kind == .zombie }
    let abandoned = _findings.filter { $0.kind == .abandoned }
    var parts: [String] = []
    if !leaks.isEmpty {
      // With a filter the totals are of more than what is shown.
      let cost = _isFiltered ? leaks.reduce(Cost.zero) { $0 + $1.retained } : _totals.leaked.total
      parts.append(
        "\(Units.count(cost.count, "leaked object")) in \(Units.count(leaks.count, "group")),"
          + " \(Units.bytes(cost.bytes))")
    }
    if !zombies.isEmpty {
      let cost = zombies.reduce(Cost.zero) { $0 + $1.own }
      parts.append(
        "\(Units.count(cost.count, "destroyed object")) whose memory is still kept,"
          + " \(Units.bytes(cost.bytes))")
    }
    if !abandoned.isEmpty {
      let cost = abandoned.reduce(Cost.zero) { $0 + $1.own }
      let isAll = leaks.isEmpty && zombies.isEmpty
      parts.append(
        "\(Units.count(cost.count, "abandoned object")) in \(Units.count(abandoned.count, "group")),"
          + " \(Units.bytes(cost.bytes))" + (isAll ? ", nothing leaked" : ""))
    }
    if parts.isEmpty {
      if _isFiltered { return Line("No leaks match.", .good) }
      return Line(
        "No leaks: roots reach all of \(Units.count(_totals.live.total.count, "object")).", .good)
    }
    var line = Line(parts.joined(separator: "; ") + ": ")
    let types = (leaks + zombies + abandoned).map { FindingText(finding: $0, names: _names).type }
    line += types.prefix(3).map { Line(_: $0, .code) }.joined(", ")
    return types.count > 3 ? line + Line(", …") : line
  }

  private var notes: [Document.Block] {
    var notes: [Document.Block] = []
    if _unattributed.count > 0 {
      notes.append(
        .paragraph(
          Line(
            "\(Units.count(_unattributed.count, "block"))"
              + " (\(Units.bytes(_unattributed.bytes))), to which no pointer was found, "
              + "\(_unattributed.count == 1 ? "is" : "are") not counted: C libraries hide pointers, and "
              + "Foundation never frees a Timer. memgraph stacks says who asked for a malloc block.",
            .faint)))
    }
    return notes + DiagnosticsText.hint(_names.snapshot)
  }
}
