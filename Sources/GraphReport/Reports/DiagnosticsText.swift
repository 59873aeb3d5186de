// DiagnosticsText: what a capture could not do, in words.

internal import SnapshotFormat

/// What a capture could not do, in words.
enum DiagnosticsText {
  /// A line that says that there are some; nothing where there are none.
  static func hint(_ snapshot: Snapshot) -> [Document.Block] {
    let count = snapshot.diagnostics.count
    guard count > 0 else { return [] }
    return [
      .paragraph(
        Line(
          "The capture had \(Units.count(count, "gap")); memgraph summary lists \(count == 1 ? "it" : "them").",
          .faint))
    ]
  }

  /// All of them.
  static func list(_ snapshot: Snapshot) -> [Document.Block] {
    guard !snapshot.diagnostics.isEmpty else { return [] }
    return [
      .heading("What the capture could not do"),
      .table(
        Document.Table(
          columns: [.init("times", .right), .init("what")],
          rows: snapshot.diagnostics.map { [Line(Units.number($0.count)), Line($0.text)] })),
    ]
  }
}
