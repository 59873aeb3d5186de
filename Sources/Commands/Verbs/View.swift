// view: one HTML file with the whole report, to look at in a browser.

internal import GraphAnalysis
internal import GraphPrimitives
internal import GraphReport
internal import GraphViewer
internal import HeapGraph
internal import SnapshotFormat

extension Option {
  fileprivate static let embed = Option(
    "embed", .choice(ViewerInput.Embedding.allCases.map(\.rawValue)),
    help: "what of the graph goes into the file: all (default), or leaks: what is leaked, the "
      + "findings and what holds them")
  fileprivate static let page = Option(
    "output", letter: "o", .text("FILE"), help: "write the page to FILE")
  fileprivate static let shown = Option(
    "limit", .limit,
    help: "at most N findings or rows in the part without scripts, or all (default: 20)")
}

extension Verb {
  package static let view = Verb(
    "view", operands: "SNAP [SNAP...]", operandCount: 1...10_000,
    summary: "one HTML file to look at in a browser: findings, who retains what, types, stacks",
    discussion: """
      The file needs no network and no other file: open it, send it, keep it with a build.
      Its first part reads without scripts and styles, too. The graph is that of the last
      snapshot; those before it show what grew.

      A million objects make a file of about 14 MB. --embed leaks makes a small one, for
      hosts that limit files. Without -o the page goes to standard output. Exits with 0,
      or with 1 where --fail-on asks for it.
      """,
    options: [.page, .embed, .shown, .failOn] + Option.naming + [.folder],
    examples: [
      Example("memgraph view exit.mgraph -o report.html", "One snapshot, with everything in it."),
      Example(
        "memgraph view --in marks call-1 call-2 call-3 -o report.html",
        "The last mark, and what grew since the first."),
    ]
  ) { call in
    let operands = call.arguments.operands
    let failOn = try FailOn(call.arguments, standard: .none, comparesMarks: operands.count > 1)
    let path = call.arguments.text(.page)
    let embedding =
      call.arguments.text(.embed).flatMap { ViewerInput.Embedding(rawValue: $0) } ?? .all
    let limit = call.arguments.has(.shown) ? call.arguments.number(.shown) : 20
    if path == nil, call.console.output.isTerminal {
      throw UsageError(
        "standard output", "a page is not for a terminal", mend: "give -o report.html")
    }
    let progress = call.progress
    defer { progress.finish() }
    let content = try ViewerContent(call, embedding: embedding, limit: limit, progress: progress)
    let input = content.input
    progress.report(step: "writing the page", done: 0, total: 0)
    var size = 0
    func write(to sink: any TextSink) throws(SinkError) {
      try ViewerPage.write(input) { (piece) throws(SinkError) in
        size += piece.utf8.count
        try sink.write(piece)
      }
    }
    if let path {
      try ReportFile.write(to: path) { (sink) throws(SinkError) in try write(to: sink) }
      progress.finish()
      if !call.arguments.has(.quiet) {
        let answer = input.findingsReport.document(limit: 1).answer.text
        try call.console.tell("\(path), \(Units.bytes(ByteCount(size))): \(answer)")
      }
    } else {
      try write(to: call.console.output)
    }
    if input.part == nil, input.graph.nodeCount > mostNodes {
      call.note(
        "\(Units.number(input.graph.nodeCount)) objects take a browser a while and a GB of memory; "
          + "--embed leaks makes a small page")
    }
    for diagnostic in input.names.symbolDiagnostics.prefix(3) { call.note(diagnostic.text) }
    return failOn.status(content.found)
  }

  /// With more nodes than this a page is slow enough to say so.
  private static let mostNodes = 3_000_000
}
