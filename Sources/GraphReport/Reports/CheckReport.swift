// CheckReport: that a file is a snapshot, and what is in it.

internal import SnapshotFormat

/// A file that has been found to be a valid snapshot.
package struct CheckReport: Report {
  private let _input: ReportInput

  package init(_ input: ReportInput) { _input = input }

  package var findings: [JSONValue] { [] }

  private var tables: [(name: String, count: Int)] {
    let snapshot = _input.snapshot
    return [
      ("nodes", snapshot.nodes.count), ("edges", snapshot.edges.count),
      ("roots", snapshot.roots.count), ("types", snapshot.types.count),
      ("labels", snapshot.labels.count), ("stacks", snapshot.stacks.count),
      ("strings", snapshot.strings.count), ("modules", snapshot.modules.count),
      ("threads", snapshot.threads.count), ("marks", snapshot.marks.count),
    ]
  }

  package var members: [JSONValue.Member] {
    [
      JSONValue.Member("valid", .bool(true)),
      JSONValue.Member(
        "tables", .object(tables.map { JSONValue.Member($0.name, .integer($0.count)) })),
    ]
  }

  package func document(limit: Int?) -> Document {
    var document = Document(answer: Line(_input.path, .code) + Line(": a valid snapshot", .good))
    document.blocks.append(
      .table(
        Document.Table(
          columns: [.init("rows", .right), .init("table")],
          rows: tables.map { [Line(Units.number($0.count)), Line($0.name)] })))
    document.blocks += DiagnosticsText.list(_input.snapshot)
    return document
  }
}
