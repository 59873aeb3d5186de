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
          rows: snapshot.diagnostics.map {
            [Line(Units.number($0.count)), Line($0.count == 1 ? singular($0.text) : $0.text)]
          })),
    ]
  }

  /// What is told of many, of one: `closure whose captures have no description`.
  static func singular(_ text: String) -> String {
    let forms = [
      ("closures ", "closure "), ("fields ", "field "), ("classes ", "class "),
      ("types that are ", "type that is "), ("values ", "value "),
      ("generic enums ", "generic enum "), ("existentials ", "existential "), ("deques ", "deque "),
    ]
    for (many, one) in forms where text.hasPrefix(many) {
      return one + text.dropFirst(many.count)
    }
    return text
  }
}
