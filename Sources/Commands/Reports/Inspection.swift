// Inspection: a snapshot that a verb looks into: read, made a graph, with names.

internal import Glibc
package import GraphAnalysis
package import GraphPrimitives
package import GraphReport
package import HeapGraph
internal import SnapshotFormat
internal import Symbolication

/// A snapshot and what verbs ask of it.
package struct Inspection {
  package let input: ReportInput
  package let graph: HeapGraph
  package let names: Names
  package let totals: Totals
}

extension Invocation {
  /// Where the snapshots are that the operands name.
  private var place: SnapshotPlace {
    SnapshotPlace(folder: arguments.text(.folder), environment: console.environment)
  }

  /// The file that an operand names.
  package func path(of operand: String) throws -> String {
    try session?.path(of: operand) ?? place.path(of: operand)
  }

  /// Reads the snapshot that an operand names.
  package func read(_ operand: String, progress: some ProgressSink) throws -> ReportInput {
    if let session { return try session.input(operand) }
    let path = try place.path(of: operand)
    progress.report(step: "reading \(path)", done: 0, total: 0)
    return ReportInput(path: path, snapshot: try Snapshot(contentsOf: path))
  }

  /// Reads the snapshot that an operand names and makes it a graph.
  package func inspect(_ operand: String, progress: some ProgressSink) throws -> Inspection {
    try inspect(try read(operand, progress: progress), progress: progress)
  }

  /// Makes a snapshot a graph.
  package func inspect(_ input: ReportInput, progress: some ProgressSink) throws -> Inspection {
    if let known = session?.inspection(of: input) { return known }
    progress.report(step: "following references of \(input.title)", done: 0, total: 0)
    let graph = try HeapGraph(input.snapshot)
    let totals = try GraphAnalysis.totals(of: graph)
    let symbols: any Symbolizing =
      arguments.has(.noSymbols)
      ? NoSymbols()
      : console.symbolizer(input.snapshot.modules, arguments.texts(.symbols))
    let inspection = Inspection(
      input: input, graph: graph, names: Names(input.snapshot, symbols: symbols), totals: totals)
    session?.keep(inspection)
    return inspection
  }

  /// A sink for the progress of a call.
  package var progress: TerminalProgress {
    TerminalProgress(on: console.errors, isWanted: !arguments.has(.quiet))
  }

  /// Writes a report in the format and to the place that the options name.
  ///
  /// - Parameters:
  ///   - inspections: What the report was made from; its names and totals are the last one's.
  ///   - progress: Taken away before the report is written.
  func write(
    _ report: any Report, of inputs: [ReportInput], _ last: Inspection, progress: TerminalProgress
  ) throws {
    let envelope = ReportEnvelope(
      tool: tool, version: toolVersion, verb: verb.name, inputs: inputs, totals: last.totals,
      names: last.names, report: report)
    try write(envelope, progress: progress)
    for diagnostic in last.names.symbolDiagnostics.prefix(3) { note(diagnostic.text) }
  }

  /// Writes a report that need not be of snapshots.
  func write(_ envelope: ReportEnvelope, progress: TerminalProgress) throws {
    if let session {
      session.take(envelope)
      return
    }
    progress.report(step: "writing the report", done: 0, total: 0)
    let text = text(of: envelope)
    progress.finish()
    try write(text)
  }

  /// A report in the format that the options name.
  func text(of envelope: ReportEnvelope) -> String { envelope.render(format, limit: limit) }

  /// Writes a document that is no report: as text or Markdown.
  func write(_ document: Document) throws {
    try write(
      arguments.text(.format) == "markdown"
        ? MarkdownRenderer.render(document) : TextRenderer.render(document, style: style))
  }

  /// Writes text to the place that the options name.
  func write(_ text: String) throws {
    if let path = arguments.text(.output) {
      try ReportFile.write(text, to: path)
    } else if !arguments.has(.quiet) {
      try console.output.write(text)
    }
  }

  /// How the report is to be written.
  private var format: ReportFormat {
    switch arguments.text(.format) {
    case "json": .json
    case "markdown": .markdown
    case let name?:
      ExchangeFormat(rawValue: name).map { .exchange($0, sourceRoot) } ?? .text(style)
    case nil: .text(style)
    }
  }

  /// The folder that other tools want paths of sources to be relative to.
  var sourceRoot: SourceRoot {
    let given =
      arguments.text(.sourceRoot)
      ?? ["GITHUB_WORKSPACE", "CI_PROJECT_DIR"].lazy.compactMap { console.environment($0) }
      .first { !$0.isEmpty }
    // A relative folder, and none at all, are told by the folder that the call is made in.
    guard let path = realpath(given ?? ".", nil) else { return SourceRoot(given ?? "/") }
    defer { free(path) }
    return SourceRoot(given?.hasPrefix("/") == true ? given ?? "/" : String(cString: path))
  }

  /// What the place where text goes can show.
  private var style: TextStyle {
    let isElsewhere = verb.options.contains(.output) && arguments.has(.output)
    let isTerminal = !isElsewhere && console.output.isTerminal
    let hasColor =
      switch arguments.text(.color) {
      case "always": true
      case "never": false
      default:
        isTerminal && (console.environment("NO_COLOR") ?? "").isEmpty
          && console.environment("TERM") != "dumb"
      }
    return TextStyle(
      width: isTerminal ? console.output.columns.map { max(40, $0) } : nil, hasColor: hasColor,
      isUnicode: console.isUTF8)
  }

  /// How many findings or rows to show; nil for all.
  private var limit: Int? {
    if arguments.has(.limit) { return arguments.number(.limit) }
    switch arguments.text(.format) {
    case nil, "text", "markdown": return 20
    default: return nil
    }
  }
}
