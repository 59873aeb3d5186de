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

  /// What JSON has beside the findings and totals.
  var members: [JSONValue.Member] { get }
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

  package var json: JSONValue {
    let process = snapshot.process
    return .members([
      "path": .string(path),
      "mark": process.mark.isEmpty ? nil : .string(process.mark),
      "executable": .string(process.executable),
      "pid": .integer(Int(process.pid)),
      "objects": .integer(snapshot.nodes.count),
      "references": .integer(snapshot.edges.count),
      "diagnostics": snapshot.diagnostics.json,
    ])
  }
}

/// How a report is written.
package enum ReportFormat: Hashable, Sendable {
  case text(TextStyle)
  case json
  case markdown
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
    }
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
