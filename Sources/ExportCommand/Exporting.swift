// Exporting: one call of `memgraph export`, from its command line to the file.

internal import Commands
internal import GraphExport
internal import GraphReport
internal import SnapshotFormat

/// One call of the verb.
struct Exporting {
  private let _call: Invocation
  private var _request: ExportRequest

  /// The file to write; nil for standard output.
  private let _path: String?

  init(_ call: Invocation) throws {
    _call = call
    let path = call.arguments.text(.exportOutput)
    _path = path == "-" ? nil : path
    _request = try Self.request(call.arguments, path: _path)
    let operands = call.arguments.operands
    let most = _request.format.snapshotCount.upperBound
    if operands.count > most {
      throw UsageError(
        "--format \(_request.format.rawValue)",
        "a file has \(most == 1 ? "one snapshot" : "\(most) snapshots") in it, and there are \(operands.count)",
        mend: "export each into a file of its own")
    }
    if _path == nil, call.console.output.isTerminal, _request.format.isBinary {
      throw UsageError(
        "standard output", "\(_request.format.rawValue) is not for a terminal",
        mend: "give -o FILE")
    }
  }

  private static func request(_ arguments: Arguments, path: String?) throws -> ExportRequest {
    var request = ExportRequest(format: try format(arguments, path: path))
    for (option, formats) in formatsByOption where arguments.has(option) {
      if formats.contains(request.format) { continue }
      throw UsageError(
        "--" + option.name, "does not go with \(request.format.rawValue)",
        mend: "it is for " + formats.map(\.rawValue).joined(separator: " and "))
    }
    if arguments.has(.finding), arguments.has(.pathTo) {
      throw UsageError("--finding", "does not go with --path", mend: "give one of them")
    }
    request.table = try arguments.text(.table).map { name in
      if let table = ExportTable(rawValue: name) { return table }
      let known = ExportTable.allCases.map(\.rawValue)
      throw UsageError(
        "--table \(name)", "there is no such table",
        mend: Spelling.nearest(to: name, among: known).map { "did you mean \($0)?" }
          ?? "one of " + known.joined(separator: ", "))
    }
    request.profile = arguments.text(.by).flatMap { ProfileKind(rawValue: $0) } ?? .stack
    request.value = arguments.text(.value).flatMap { ProfileValue(rawValue: $0) } ?? .bytes
    return request
  }

  /// The formats that an option is for.
  private static let formatsByOption: [(Option, [ExportFormat])] = [
    (.table, [.csv, .json]), (.by, [.pprof, .collapsed]), (.value, [.collapsed]),
    (.finding, [.dot, .mermaid]), (.pathTo, [.dot, .mermaid]),
  ]

  private static func format(_ arguments: Arguments, path: String?) throws -> ExportFormat {
    if let name = arguments.text(.exportFormat), let format = ExportFormat(rawValue: name) {
      return format
    }
    let known = ExportFormat.allCases.map(\.rawValue).joined(separator: ", ")
    guard let path else {
      throw UsageError("--format", "which format is wanted", mend: "one of \(known)")
    }
    if let format = ExportFormat.allCases.first(where: {
      $0.suffixes.contains { path.hasSuffix($0) }
    }) {
      return format
    }
    throw UsageError(
      "-o \(path)", "the name tells no format", mend: "give --format: one of \(known)")
  }

  mutating func run() throws {
    let progress = _call.progress
    defer { progress.finish() }
    let snapshots = try _call.arguments.operands.map { operand -> ExportedSnapshot in
      let inspection = try _call.inspect(operand, progress: progress)
      return ExportedSnapshot(
        input: inspection.input, graph: inspection.graph, names: inspection.names)
    }
    if _request.format == .dot || _request.format == .mermaid {
      progress.report(step: "looking for what to draw", done: 0, total: 0)
      _request.diagram = try Picture.diagram(of: snapshots[0], for: _call.arguments)
    }
    progress.report(step: "writing \(_request.format.rawValue)", done: 0, total: 0)
    var notes: [String] = []
    do {
      if _request.format.needsFile {
        try writeFile(of: snapshots)
      } else {
        notes = try writeStream(of: snapshots)
      }
    } catch let error as ExportError {
      throw CommandError(_path ?? error.subject, error.reason, status: .impossible)
    }
    progress.finish()
    if let note = samplingNote(snapshots) { notes.append(note) }
    for note in notes { _call.note(note) }
    for diagnostic in snapshots.flatMap(\.names.symbolDiagnostics).prefix(3) {
      _call.note(diagnostic.text)
    }
  }

  /// What becomes of stacks where few of them are known.
  private func samplingNote(_ snapshots: [ExportedSnapshot]) -> String? {
    guard snapshots.contains(where: { $0.names.snapshot.sampling != nil }) else { return nil }
    switch _request.format {
    case .pprof, .collapsed:
      guard _request.profile == .stack else { return nil }
      return "allocations were sampled: all values are estimates, as the outermost frame says"
    case .heapsnapshot, .hprof, .csv, .json, .sqlite:
      return
        "allocations were sampled: the stacks that are known, of few objects, are left out; --format pprof has"
        + " estimates by stack"
    case .perfetto, .dot, .mermaid: return nil
    }
  }

  private func writeStream(of snapshots: [ExportedSnapshot]) throws -> [String] {
    let request = _request
    guard let path = _path else {
      let output = _call.console.output
      return try GraphExport.write(
        request, of: snapshots, to: ExportStream { try output.write(bytes: $0) })
    }
    var notes: [String] = []
    try ReportFile.write(bytesTo: path) { sink in
      notes = try GraphExport.write(
        request, of: snapshots, to: ExportStream { try sink.write(bytes: $0) })
    }
    return notes
  }

  private func writeFile(of snapshots: [ExportedSnapshot]) throws {
    func write(_ place: String) throws { try SQLiteExport.write(snapshots, to: place) }
    if let path = _path {
      try ReportFile.write(fileTo: path, write)
    } else {
      let output = _call.console.output
      try ReportFile.withTemporaryFile(write) { try output.write(bytes: $0) }
    }
  }
}
