// bundle: one folder with all that a recording has to say, for a build host to keep.

internal import GraphPrimitives
internal import GraphReport
internal import SnapshotFormat

extension Option {
  fileprivate static let bundleFolder = Option(
    "output", letter: "o", .text("DIR"),
    help: "the folder to write, which is replaced if it is a bundle (default: "
      + "./memory-graph-bundle)")
  fileprivate static let maximumSize = Option(
    "max-size", .count("MB"),
    help: "the most megabytes of the folder (default: 100); what does not fit is noted")
}

extension Verb {
  package static let bundle = Verb(
    "bundle", operands: "DIR...", operandCount: 1...100,
    summary: "one folder with snapshots, pages and findings, for a build host to keep",
    discussion: """
      Takes what lies in the folders of recordings: of each run the leaks in its last
      snapshot, of each report that was written there with --format json its findings, and
      each leak check of a test that failed, with the test's name. A leak that a check has
      told and the program's end shows again is one finding, with its tests. The bundle has index.html, which leads to a page for each run; summary.md, for the
      comment of a pull request; report.json, report.sarif, junit.xml and
      code-quality.json; and the snapshots, those with findings first, as far as they
      fit. What was left out and what could not be read is told in each.

      Prints the report as well, in the format that is asked for. Exits with 0, or with 1
      where --fail-on asks for it; with 3 where something could not be read.
      """,
    options: [.bundleFolder, .maximumSize, .findingFormat, .color, .failOn, .sourceRoot]
      + [.limit, .type, .module, .withoutModule, .known] + Option.naming,
    examples: [
      Example(
        "memgraph bundle marks -o artifact", "Everything about the runs that wrote marks."),
      Example(
        "memgraph bundle marks -o artifact --format github --fail-on any",
        "The same in a workflow, with marks beside the code, and failing on findings."),
    ]
  ) { call in
    let failOn = try FailOn(call.arguments, standard: .none, comparesMarks: true)
    let progress = call.progress
    defer { progress.finish() }
    let path = call.arguments.text(.bundleFolder) ?? "memory-graph-bundle"
    let contents = try BundleContents(
      call.arguments.operands, excluding: path, of: call, progress: progress)
    guard !contents.isEmpty else {
      throw CommandError(
        call.arguments.operands.joined(separator: ", "), "no snapshots and no reports in it",
        mend: "`memgraph run --out DIR -- PROGRAM` writes some", status: .unreadable)
    }
    var folder = try BundleFolder(
      path, limit: (call.arguments.number(.maximumSize) ?? 100) * 1_000_000)
    var isFinished = false
    defer { if !isFinished { folder.discard() } }
    let bundle = try BundleWriter(contents, of: call).write(to: &folder, progress: progress)
    try folder.finish()
    isFinished = true
    progress.finish()
    if !call.arguments.has(.quiet) {
      try call.console.output.write(call.text(of: bundle.envelope))
    }
    call.note("\(folder.path): \(Units.bytes(ByteCount(folder.bytes))); open index.html")
    for gap in contents.symbolGaps.prefix(3) { call.note(gap.text) }
    var found = FailOn.Found(kinds: bundle.openKinds)
    if bundle.hasUnmadeCheck { found.other = true }
    let status = failOn.status(found)
    return status == .nothingFound && !contents.unreadable.isEmpty ? .unreadable : status
  }
}
