// record: keeps what was found in a run in a folder of records, of which scripts/fleet asks questions.

internal import GraphPrimitives
internal import GraphReport

extension Option {
  static let records = Option(
    "to", .text("DIR"), help: "the folder of records, which is made where there is none")
  static let commit = Option(
    "commit", .text("COMMIT"),
    help: "what was run (default: as the build host or git in the working folder says)")
  static let host = Option(
    "host", .text("NAME"), help: "where it was run (default: the build host's or machine's name)")
  static let test = Option(
    "test", .text("NAME"), help: "the test or job (default: as the build host says)")
  static let time = Option(
    "time", .text("TIME"),
    help: "when it was run, as 2027-03-31T14:05:00Z (default: when the last snapshot was written)")
}

extension Verb {
  package static let record = Verb(
    "record", operands: "SNAP... --to DIR", operandCount: 1...10_000,
    summary: "keep the findings of a run in a folder of records of many runs",
    discussion: """
      Appends a file to DIR/date=YYYY-MM-DD: a line of JSON for the run, and one for each
      finding, with its fingerprint, kind, type, counts, bytes and cut. That is little, and
      stays when the snapshots are gone. With more than one snapshot of a run, growth is
      looked for as well; snapshots of several runs give a file each. Any number of
      processes may record into one folder at once. The same run recorded again is not
      counted twice.

      docs/fleet.md describes the lines; scripts/fleet answers over all runs of a folder:
      what is new since a commit, what grows, on how many hosts, first and last seen.

      Exits with 0, or with 1 where --fail-on asks for it.
      """,
    options: [.records, .commit, .host, .test, .time, .failOn] + Option.naming
      + [.folder, .config],
    examples: [
      Example(
        "memgraph record exit.mgraph --to fleet --test CallTests",
        "One run, which may be clean: then it is known that a finding is fixed."),
      Example(
        "memgraph record --in marks call-1 call-2 call-5 --to fleet --host ci-7",
        "The marks of a run, with what grows from one to the next."),
    ]
  ) { call in
    guard let folder = call.arguments.text(.records), !folder.isEmpty else {
      throw UsageError("--to", "it is missing", mend: "name the folder of records, as --to fleet")
    }
    let failOn = try FailOn(call.arguments, standard: .none, comparesMarks: true)
    let facts = try RunFacts(call)
    let progress = call.progress
    defer { progress.finish() }
    let inputs = try call.arguments.operands.map { try call.read($0, progress: progress) }
    // All are looked into before the first is written.
    let records = try RecordedRuns.grouped(inputs).map {
      try call.record($0, facts: facts, progress: progress)
    }
    for record in records {
      let written = try record.write(to: folder)
      progress.finish()
      guard !call.arguments.has(.quiet) else { continue }
      let what =
        record.findingCount == 0 ? "no findings" : Units.count(record.findingCount, "finding")
      try call.console.tell(
        "\(written.path): \(what)\(written.isNew ? "" : ", recorded before")")
    }
    return failOn.status(FailOn.Found(kinds: records.reduce(into: []) { $0.formUnion($1.kinds) }))
  }
}
