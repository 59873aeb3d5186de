// Picture: what a picture is of: a finding, or the way to an object.

internal import Commands
internal import GraphAnalysis
internal import GraphExport
internal import GraphPrimitives
internal import GraphReport
internal import HeapGraph

/// Chooses what a picture shows.
enum Picture {
  /// The finding or way that a call asks for, else the worst finding.
  ///
  /// - Throws: A sentence where there is nothing to draw.
  static func diagram(of exported: ExportedSnapshot, for arguments: Arguments) throws -> Diagram {
    if let subject = arguments.text(.pathTo) { return try way(to: subject, in: exported) }
    let rows = try exported.leaks().findings.map { VerifyReport.Row($0, names: exported.names) }
    guard let id = arguments.text(.finding) else {
      if let picture = Document.picture(of: rows.map(\.json)) { return picture.diagram }
      throw CommandError(
        exported.input.path,
        rows.isEmpty
          ? "nothing is leaked, so there is nothing to draw"
          : "no finding has a cycle or a path to draw",
        mend: "--path TYPE draws what holds an object", status: .usage)
    }
    guard let row = rows.first(where: { $0.fingerprint == id }) else {
      throw CommandError(
        "--finding \(id)", "no such finding",
        mend: rows.isEmpty
          ? "nothing is leaked here"
          : "there are "
            + rows.prefix(5).map { "\($0.fingerprint) (\($0.type))" }.joined(separator: ", "),
        status: .usage)
    }
    guard let diagram = Diagram(ofFinding: row.json) else {
      throw CommandError(
        "--finding \(id)", "it has neither a cycle nor a path to draw", status: .usage)
    }
    return diagram
  }

  private static func way(to subject: String, in exported: ExportedSnapshot) throws -> Diagram {
    let graph = exported.graph
    let targets = try ObjectSearch.nodes(subject, in: graph).filter {
      graph.isAlive($0) || subject.hasPrefix("0x")
    }
    if targets.isEmpty {
      let guess = ObjectSearch.nearestType(to: subject, in: graph).map { "did you mean \($0)?" }
      throw CommandError("--path \(subject)", "no object of that type", mend: guess, status: .usage)
    }
    let found = try paths(to: targets, in: graph, options: PathOptions(maximum: 1))
    guard let group = found.groups.first,
      let diagram = Diagram(of: group.path, names: exported.names)
    else {
      throw CommandError(
        "--path \(subject)", "no root reaches it",
        mend: "without --path the picture is of what keeps it", status: .usage)
    }
    return diagram
  }
}
