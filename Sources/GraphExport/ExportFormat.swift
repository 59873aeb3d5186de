// ExportFormat: the formats of other people's tools, and how each is written.

package import GraphReport

/// A format of other people's tools.
package enum ExportFormat: String, CaseIterable, Sendable {
  /// Chrome's developer tools, VS Code, memlab.
  case heapsnapshot

  /// What is alive as a profile, by stack or by what holds it.
  case pprof

  /// A heap graph in a trace of Perfetto.
  case perfetto

  /// A heap dump of Java, for VisualVM and Eclipse MAT.
  case hprof

  /// A database with tables and views.
  case sqlite

  /// One table as comma-separated values.
  case csv

  /// All tables, or one, as JSON.
  case json

  /// One line a stack, for flame graphs.
  case collapsed

  /// The picture of a finding or of the way to an object, for Graphviz.
  case dot

  /// The same for Mermaid, which hosts of code draw in Markdown.
  case mermaid

  /// What files of the format are called.
  package var suffixes: [String] {
    switch self {
    case .heapsnapshot: [".heapsnapshot"]
    case .pprof: [".pb.gz", ".pprof"]
    case .perfetto: [".perfetto-trace", ".pftrace"]
    case .hprof: [".hprof"]
    case .sqlite: [".sqlite", ".sqlite3", ".db"]
    case .csv: [".csv"]
    case .json: [".json"]
    case .collapsed: [".collapsed", ".folded"]
    case .dot: [".dot", ".gv"]
    case .mermaid: [".mmd", ".mermaid"]
    }
  }

  /// How many snapshots one file of the format can have in it.
  package var snapshotCount: ClosedRange<Int> {
    switch self {
    case .heapsnapshot, .hprof, .collapsed, .dot, .mermaid: 1...1
    case .pprof: 1...2
    case .sqlite, .csv, .json, .perfetto: 1...10_000
    }
  }

  /// Whether it is no text.
  package var isBinary: Bool { [.sqlite, .pprof, .perfetto, .hprof].contains(self) }

  /// Whether it is written into a file that the writer must be able to go back in, and not as a stream of bytes.
  package var needsFile: Bool { self == .sqlite }
}

/// What is asked for.
package struct ExportRequest: Sendable {
  package var format: ExportFormat

  /// The table that is wanted; nil for the format's own choice.
  package var table: ExportTable?

  /// What profiles are told by, and what a line of collapsed stacks counts.
  package var profile = ProfileKind.stack
  package var value = ProfileValue.bytes

  /// What a picture shows; nil for nothing to show.
  package var diagram: Diagram?

  package init(format: ExportFormat) { self.format = format }
}

/// Writes exports.
package enum GraphExport {
  /// Writes a format that is a stream of bytes.
  ///
  /// - Precondition: The format is one, and takes so many snapshots.
  /// - Returns: What the format can't say, in sentences without a full stop.
  /// - Throws: ``ExportError``, what an analysis throws, and what the stream's taker throws.
  package static func write(
    _ request: ExportRequest, of snapshots: [ExportedSnapshot], to stream: ExportStream
  ) throws -> [String] {
    switch request.format {
    case .heapsnapshot: return try HeapSnapshotExport.write(snapshots[0], to: stream)
    case .csv: try CSVExport.write(request.table ?? .objects, of: snapshots, to: stream)
    case .json:
      try JSONExport.write(
        request.table.map { [$0] } ?? ExportTable.allCases, of: snapshots, to: stream)
    case .pprof: return try PprofExport.write(snapshots, by: request.profile, to: stream)
    case .perfetto: return try PerfettoExport.write(snapshots, to: stream)
    case .hprof: return try HprofExport.write(snapshots[0], to: stream)
    case .collapsed:
      try CollapsedExport.write(
        snapshots[0], by: request.profile, value: request.value, to: stream)
    case .dot, .mermaid:
      if let diagram = request.diagram {
        stream.put(
          request.format == .dot ? DotRenderer.render(diagram) : MermaidRenderer.render(diagram))
      }
      try stream.flush()
    case .sqlite: preconditionFailure("a database is no stream")
    }
    return []
  }
}
