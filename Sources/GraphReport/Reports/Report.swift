// Report: what every verb's report has in common, and how it becomes bytes.

package import GraphAnalysis
internal import GraphPrimitives
package import SnapshotFormat

/// What a verb found, ready to be written in any format.
package protocol Report {
  /// The report for people.
  ///
  /// - Parameter limit: How many findings or rows to show at most; nil for all.
  func document(limit: Int?) -> Document

  /// The findings, for JSON.
  var findings: [JSONValue] { get }

  /// The findings, for formats of other tools.
  var reported: [ReportedFinding] { get }

  /// What was found once, or was accepted, and does not count.
  var settled: [SettledFinding] { get }

  /// What JSON has beside the findings and totals.
  var members: [JSONValue.Member] { get }
}

extension Report {
  package var reported: [ReportedFinding] { findings.map { ReportedFinding(json: $0) } }
  package var settled: [SettledFinding] { [] }
}

extension ReportEnvelope {
  /// Leaves the first findings, cycles and paths of a report.
  private static func cut(_ members: inout [JSONValue.Member], to limit: Int) {
    for place in members.indices
    where ["findings", "cycles", "paths", "tasks"].contains(members[place].name) {
      if case .array(let elements) = members[place].value {
        members[place].value = .array(Array(elements.prefix(limit)))
      }
    }
  }
}

extension Totals {
  package var json: JSONValue { .members(["live": live.json, "leaked": leaked.json]) }
}

/// A snapshot that a report was made from.
package struct ReportInput: Sendable {
  /// The file as the caller named it.
  package var path: String
  package var snapshot: Snapshot

  package init(path: String, snapshot: Snapshot) {
    self.path = path
    self.snapshot = snapshot
  }

  /// What people call the snapshot: its mark, else its file.
  package var title: String {
    let mark = snapshot.process.mark
    if !mark.isEmpty { return mark }
    let file = path.split(separator: "/").last.map(String.init) ?? path
    return file.hasSuffix(".mgraph") ? String(file.dropLast(7)) : file
  }

  /// What people call some snapshots of one report: those of the same mark by their files.
  package static func titles(of inputs: [ReportInput]) -> [String] {
    let titles = inputs.map(\.title)
    return zip(inputs, titles).map { input, title in
      zip(inputs, titles).contains { $1 == title && $0.path != input.path } ? input.path : title
    }
  }

  package var json: JSONValue {
    let process = snapshot.process
    return .members([
      "path": .string(path),
      "mark": process.mark.isEmpty ? nil : .string(process.mark),
      "executable": .string(process.executable),
      "pid": .integer(Int(process.pid)),
      "objects": .integer(snapshot.nodes.count),
      "references": .integer(snapshot.edges.count),
      "sampling": snapshot.sampling.map {
        .members([
          "interval": .integer(Int(clamping: $0.interval)), "samples": .integer($0.node.count),
        ])
      },
      "diagnostics": snapshot.diagnostics.json,
    ])
  }
}

/// How a report is written.
package enum ReportFormat: Hashable, Sendable {
  case text(TextStyle)
  case json
  case markdown

  /// A format of other tools, which have paths of sources relative to a folder.
  case exchange(ExchangeFormat, SourceRoot)
}

/// The formats in which other tools take findings.
package enum ExchangeFormat: String, CaseIterable, Sendable {
  /// Failed tests, for what shows the results of tests.
  case junit

  /// For what shows findings beside the code, of any host.
  case sarif

  /// Marks beside the changed code, for the log of a workflow.
  case github

  /// The same as a report of code quality.
  case gitlab
}

/// A report and what it was made from and by.
package struct ReportEnvelope {
  /// The name of the schema that the JSON keeps to; `docs/report.schema.json` has it.
  package static let schema = "memory-graph/report/1"

  private let _tool: JSONValue
  private let _inputs: [JSONValue]
  private let _totals: JSONValue
  private let _names: Names?
  private let _report: any Report

  /// A report that was made from snapshots.
  ///
  /// - Parameter names: What the report takes its names from; what it could not name is told.
  package init(
    tool: String, version: String, verb: String, inputs: [ReportInput], totals: Totals,
    names: Names, report: any Report
  ) {
    self.init(
      tool: tool, version: version, verb: verb, inputs: inputs.map(\.json), totals: totals.json,
      names: names, report: report)
  }

  /// A report that was made from other reports, whose inputs and totals are as they had them.
  package init(
    tool: String, version: String, verb: String, inputs: [JSONValue], totals: JSONValue,
    names: Names? = nil, report: any Report
  ) {
    _tool = .members(["name": .string(tool), "version": .string(version), "verb": .string(verb)])
    _inputs = inputs
    _totals = totals
    _names = names
    _report = report
  }

  /// The report's bytes: the same for the same input.
  ///
  /// - Parameter limit: How many findings or rows to show; nil for all.
  package func render(_ format: ReportFormat, limit: Int?) -> String {
    switch format {
    case .text(let style): return TextRenderer.render(_report.document(limit: limit), style: style)
    case .markdown: return MarkdownRenderer.render(_report.document(limit: limit))
    case .json: return json(limit: limit).text
    case .exchange(let format, let root):
      let content = exchangeContent(limit: limit, root: root)
      switch format {
      case .junit: return JUnitRenderer.render(content)
      case .sarif: return SARIFRenderer.render(content).text
      case .github: return GitHubRenderer.render(content)
      case .gitlab: return GitLabRenderer.render(content).text
      }
    }
  }

  /// The report's first line, which answers the verb's question.
  package var answer: String { _report.document(limit: 0).answer.text }

  /// The report's JSON, whole.
  package var value: JSONValue { json(limit: nil) }

  private func exchangeContent(limit: Int?, root: SourceRoot) -> ExchangeContent {
    let findings = _report.reported
    return ExchangeContent(
      tool: _tool["name"]?.string ?? "", version: _tool["version"]?.string ?? "",
      verb: _tool["verb"]?.string ?? "", answer: answer,
      findings: Array(findings.prefix(limit ?? findings.count)), settled: _report.settled,
      executable: _inputs.last?["executable"]?.string ?? "", root: root)
  }

  private func json(limit: Int?) -> JSONValue {
    var members =
      [
        JSONValue.Member("schema", .string(Self.schema)),
        JSONValue.Member("tool", _tool),
        JSONValue.Member("inputs", .array(_inputs)),
        JSONValue.Member("findings", .array(_report.findings)),
        JSONValue.Member("totals", _totals),
      ] + _report.members
    if let limit { Self.cut(&members, to: limit) }
    // What could not be named is known only when all names have been asked for.
    let gaps = _names?.symbolDiagnostics ?? []
    return .object(
      gaps.isEmpty ? members : members + [JSONValue.Member("symbolGaps", gaps.json)])
  }
}

extension [Snapshot.Diagnostic] {
  package var json: JSONValue {
    .array(map { .members(["text": .string($0.text), "count": .integer($0.count)]) })
  }
}

extension Document {
  /// What was left out of a list of items; nil where nothing was.
  static func omission(_ total: Int, limit: Int?, _ noun: String, plural: String? = nil) -> Block? {
    guard let limit, total > limit else { return nil }
    let rest = Units.count(total - limit, "more " + noun, plural: plural.map { "more " + $0 })
    return .paragraph(Line("… and \(rest) (--limit all)", .faint))
  }

  /// Findings as items in a list; below the worst cycle, else the worst path, its picture.
  ///
  /// - Parameter item: The item of a finding with its number.
  static func items(
    _ findings: [FindingText], limit: Int?, item: (FindingText, Int) -> Item
  ) -> [Block] {
    let shown = Array(findings.prefix(limit ?? .max))
    let pictured =
      shown.firstIndex { !$0.finding.cycle.isEmpty } ?? shown.firstIndex { $0.finding.path != nil }
    var blocks: [Block] = []
    for (place, text) in shown.enumerated() {
      blocks.append(.item(item(text, place + 1)))
      if place == pictured, let diagram = Diagram(ofFinding: text.json) {
        blocks.append(.diagram(diagram))
      }
    }
    return blocks
  }

  /// The same for findings of which there is the JSON.
  static func items(_ findings: [ReportedFinding], limit: Int?) -> [Block] {
    let shown = Array(findings.prefix(limit ?? .max))
    let picture = picture(of: shown.map(\.json))
    var blocks: [Block] = []
    for (place, finding) in shown.enumerated() {
      var item = finding.item
      item.number = place + 1
      blocks.append(.item(item))
      if let picture, picture.place == place { blocks.append(.diagram(picture.diagram)) }
    }
    return blocks
  }

  /// The picture of the worst cycle, else of the worst path, and which finding it is of.
  package static func picture(of findings: [JSONValue]) -> (place: Int, diagram: Diagram)? {
    let place =
      findings.firstIndex { $0["cycle"] != nil } ?? findings.firstIndex { $0["path"] != nil }
    guard let place, let diagram = Diagram(ofFinding: findings[place]) else { return nil }
    return (place, diagram)
  }

  /// Costs by type as a table, the most bytes first.
  static func table(of histogram: Histogram, limit: Int?) -> Table {
    let rows = histogram.costByName.sorted {
      ($1.value.bytes, $1.value.count, $0.key) < ($0.value.bytes, $0.value.count, $1.key)
    }
    let shown = rows.prefix(limit ?? rows.count)
    return Table(
      columns: [.init("count", .right), .init("bytes", .right), .init("type")],
      rows: shown.map { name, cost in
        [Line(Units.number(cost.count)), Line(Units.bytes(cost.bytes)), Line(name, .code)]
      },
      omitted: rows.count - shown.count)
  }
}
