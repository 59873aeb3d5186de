// known: the file of findings that were accepted.

internal import GraphReport

extension Option {
  static let reason = Option(
    "reason", .text("TEXT"), help: "why the finding is accepted; with add it must be given")
  static let until = Option(
    "until", .text("DATE"), help: "the last day on which it is accepted, as 2027-03-31")
}

extension Verb {
  package static let known = Verb(
    "known", operands: "add SNAP FINGERPRINT | list FILE", operandCount: 2...3,
    summary: "accept a finding for now, with a reason; list what is accepted",
    discussion: """
      `known add` puts a finding into the file that -o names, which is made where there is
      none, and else is extended; without -o it prints the file. SNAP is a snapshot, or a
      report that was written with --format json. Leaks, diff, growth, audit and verify
      take the file as --known FILE: they show what it accepts apart, and don't count it
      for the exit status. After its last day a finding counts again.
      """,
    options: [.reason, .until, .output, .format, .color] + Option.naming + [.folder],
    examples: [
      Example(
        "memgraph known add exit.mgraph 9f2c41d0a7be --reason upstream -o known.json",
        "Accept a finding; reports show its fingerprint after id."),
      Example("memgraph known list known.json", "What is accepted, why, and until when."),
    ]
  ) { call in
    let operands = call.arguments.operands
    switch operands[0] {
    case "add":
      guard operands.count == 3 else {
        throw CommandError(
          "known add", "a snapshot and a fingerprint are wanted",
          mend: "usage: memgraph known add SNAP FINGERPRINT --reason TEXT -o known.json",
          status: .usage)
      }
      return try addKnown(call)
    case "list":
      guard operands.count == 2 else {
        throw CommandError(
          "known list", "too many operands: \(operands[2])",
          mend: "usage: memgraph known list FILE", status: .usage)
      }
      return try listKnown(call)
    default:
      throw CommandError(
        "known \(operands[0])", "it knows add and list",
        mend: Spelling.nearest(to: operands[0], among: ["add", "list"]).map {
          "did you mean \($0)?"
        }
          ?? "usage: memgraph known list FILE", status: .usage)
    }
  }

  private static func addKnown(_ call: Invocation) throws -> ExitStatus {
    let (snap, asked) = (call.arguments.operands[1], call.arguments.operands[2])
    guard let reason = call.arguments.text(.reason), !reason.isEmpty else {
      throw UsageError("--reason", "it is missing", mend: "say why the finding is accepted")
    }
    var until: Day?
    if let text = call.arguments.text(.until) {
      until = Day(text)
      if until == nil {
        throw UsageError("--until", "\"\(text)\" is no day", mend: "write it as 2027-03-31")
      }
    }
    let progress = call.progress
    defer { progress.finish() }
    let found = try FindingSource(snap, of: call, progress: progress).findings
    let matching = Set(found.map(\.fingerprint).filter { $0.hasPrefix(asked) })
    guard matching.count == 1, asked.utf8.count >= 4,
      let row = found.first(where: { matching.contains($0.fingerprint) })
    else {
      let all = found.prefix(8).map { "\($0.fingerprint) (\($0.type))" }.joined(separator: ", ")
      throw CommandError(
        asked,
        matching.isEmpty ? "no finding of \(snap) has this fingerprint" : "not enough digits",
        mend: found.isEmpty
          ? "it has no findings; growth is found by diff and growth, whose JSON can be given instead"
          : "it has \(all)" + (found.count > 8 ? " and \(found.count - 8) more" : ""),
        status: .usage)
    }
    var known = KnownFindings()
    let path = call.arguments.text(.output)
    if let path, InputFile.exists(path) { known = try KnownFindings(contentsOf: path) }
    known.put(
      KnownFindings.Entry(
        fingerprint: row.fingerprint, reason: reason, until: until, kind: row.kind, type: row.type))
    progress.finish()
    if let path {
      try ReportFile.write(known.text, to: path)
      call.note("\(path): \(row.fingerprint) is known now: \(row.type)")
    } else {
      try call.console.output.write(known.text)
    }
    return .nothingFound
  }

  private static func listKnown(_ call: Invocation) throws -> ExitStatus {
    let path = call.arguments.operands[1]
    let known = try KnownFindings(contentsOf: path)
    if call.arguments.text(.format) == "json" {
      try call.write(known.text)
      return .nothingFound
    }
    let today = call.today
    let rows = known.entries.map { entry in
      KnownListing.Row(
        fingerprint: entry.fingerprint, kind: entry.kind ?? "", type: entry.type ?? "",
        reason: entry.reason, until: entry.until?.description ?? "",
        isOver: entry.until.map { $0 < today } ?? false)
    }
    try call.write(KnownListing(rows: rows).document)
    return .nothingFound
  }
}
