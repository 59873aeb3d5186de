// export: the graph in the formats of other people's tools.

package import Commands
internal import GraphExport

extension Option {
  static let exportFormat = Option(
    "format", letter: "f", .choice(ExportFormat.allCases.map(\.rawValue)),
    help: "the format; without it the name of FILE tells, as in app.heapsnapshot")
  static let exportOutput = Option(
    "output", letter: "o", .text("FILE"),
    help: "write to FILE; - or nothing for standard output")
  static let table = Option(
    "table", .text("NAME"),
    help: "csv, json: which table (default: objects in csv, all in json): "
      + ExportTable.allCases.map(\.rawValue).joined(separator: ", "))
  static let by = Option(
    "by", .choice(ProfileKind.allCases.map(\.rawValue)),
    help:
      "pprof, collapsed: by allocation stack (default), or by path: what holds each object, from its root on"
  )
  static let value = Option(
    "value", .choice(ProfileValue.allCases.map(\.rawValue)),
    help: "collapsed: what a line counts (default: bytes)")
  static let finding = Option(
    "finding", .text("ID"), help: "dot, mermaid: the picture of this finding (default: the worst)")
  static let pathTo = Option(
    "path", .text("TYPE|ADDRESS"),
    help:
      "dot, mermaid: the picture of the shortest way to an object of TYPE, or to the one at ADDRESS"
  )
}

extension Verb {
  package static let export = Verb(
    "export", operands: "SNAP [SNAP...]", operandCount: 1...10_000,
    summary: "the graph for other people's tools: Chrome, pprof, VisualVM, SQL prompts, pictures",
    discussion: """
      heapsnapshot is for the Memory panel of Chrome's developer tools: ids stay the same from mark to mark, so its
      Comparison works. pprof is a profile of what is alive, for go tool pprof and others, by stack or by what holds it
      (--by path); of two snapshots it is what became more. perfetto is a heap graph for ui.perfetto.dev, hprof a heap dump of Java for VisualVM and Eclipse MAT. sqlite is a database with tables and views of everything, of one
      snapshot or several; csv and json are the same tables. collapsed is for flame graphs. dot and mermaid are pictures of
      a finding or of a way.

      docs/export.md says what becomes of what, with queries to begin with. What a format can't say is told once on standard
      error.
      """,
    options: [.exportFormat, .exportOutput, .by, .value, .table, .finding, .pathTo] + Option.naming
      + [.folder],
    examples: [
      Example(
        "memgraph export exit.mgraph -o app.heapsnapshot",
        "Load it in Chrome: Memory, Load profile."),
      Example(
        "memgraph export --in marks call-1 call-5 -o calls.sqlite",
        "Two marks in one database; then: sqlite3 calls.sqlite 'SELECT * FROM live_types'."),
    ]
  ) { call in
    var exporting = try Exporting(call)
    try exporting.run()
    return .nothingFound
  }
}
