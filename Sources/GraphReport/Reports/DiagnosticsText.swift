// DiagnosticsText: what a capture could not do, in words.

internal import SnapshotFormat

/// What a capture could not do, in words.
enum DiagnosticsText {
  /// A line that says what is missing and what that means for the answer; nothing where nothing is.
  static func hint(_ snapshot: Snapshot) -> [Document.Block] {
    // What changes the answer comes before what only leaves something out.
    guard let first = snapshot.diagnostics.min(by: { rank($0.text) < rank($1.text) }) else {
      return []
    }
    let rest = snapshot.diagnostics.count - 1
    let more =
      rest == 0
      ? ""
      : " \(Units.count(rest, "more gap")) of the capture: memgraph summary lists \(rest == 1 ? "it" : "them")."
    return [
      .paragraph(
        Line("The capture had a gap: \(sentence(first))." + more, .faint))
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
          rows: snapshot.diagnostics.map { gap in
            let meaning = meaning(of: gap.text).map { ": " + $0.text } ?? ""
            return [Line(Units.number(gap.count)), Line(counted(gap) + meaning)]
          })),
    ]
  }

  private static func sentence(_ gap: Snapshot.Diagnostic) -> String {
    let times = gap.count > 1 ? " (\(Units.number(gap.count)) times)" : ""
    return counted(gap) + times + (meaning(of: gap.text).map { ": " + $0.text } ?? "")
  }

  private static func counted(_ gap: Snapshot.Diagnostic) -> String {
    gap.count == 1 ? singular(gap.text) : gap.text
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

  /// What a gap does to the answer of a report.
  private struct Meaning {
    var rank: Int
    var text: String
  }

  /// The texts of captures, by a part of each. Those that are not here say themselves what they mean.
  private static let meanings: [(parts: [String], meaning: Meaning)] = [
    (
      ["registers are unknown"],
      Meaning(rank: 0, text: "what such a register alone held at that moment may look leaked")
    ),
    (
      ["may be missing", "blocks are missing", "large blocks, ", "block was not recorded"],
      Meaning(
        rank: 1,
        text:
          "what such a block holds has no holder here, and counts as held where a retain is not explained"
      )
    ),
    (
      [
        "have no description", "has no description", "can't be read", "is not understood",
        "elsewhere than the metadata", "otherwise than the compiler", "nested too deeply",
      ],
      Meaning(
        rank: 2, text: "read as words [unsure], so that a leak may be missed and none is made up")
    ),
    (
      ["leads to no block of the heap"],
      Meaning(rank: 3, text: "what is there is no part of the answer")
    ),
    (
      ["stack was not recorded", "before the agent's start"],
      Meaning(rank: 4, text: "leaks are found all the same")
    ),
  ]

  private static func meaning(of text: String) -> Meaning? {
    // Those that end with a consequence of their own.
    if text.contains("; what only") || text.contains("count as held") { return nil }
    return meanings.first { $0.parts.contains { text.contains($0) } }?.meaning
  }

  private static func rank(_ text: String) -> Int { meaning(of: text)?.rank ?? 1 }
}
