// FindingSource: the findings of a snapshot, or of a report that was written as JSON.

internal import GraphAnalysis
internal import GraphPrimitives
internal import GraphReport
internal import HeapGraph
internal import SnapshotFormat

/// Findings by name, wherever they come from.
struct FindingSource {
  var findings: [VerifyReport.Row]

  /// The verb whose findings they are: that of a report, and `leaks` for a snapshot.
  let verb: String

  /// Whether they were looked for in a snapshot, and not read from a report.
  let isSnapshot: Bool

  /// What they come from, as reports have it in `inputs`.
  let inputs: [JSONValue]
  let totals: JSONValue

  /// The leak check of a test whose failure the report tells; nil for other reports.
  let check: FailedCheck?

  /// What could not be named.
  let symbolGaps: [Snapshot.Diagnostic]

  /// The name of the input for people.
  let title: String

  /// Reads what an operand names: a report as JSON where the file begins with a brace, else a snapshot, whose
  /// leaks and zombies are looked for.
  init(_ operand: String, of call: Invocation, progress: some ProgressSink) throws {
    let path = try call.path(of: operand)
    guard try Self._isReport(path) else {
      let inspection = try call.inspect(operand, progress: progress)
      progress.report(step: "looking for leaks", done: 0, total: 0)
      let filter = try TypeFilter(call.arguments, snapshot: inspection.graph.snapshot)
      let found = filter.findings(
        try GraphAnalysis.leaks(in: inspection.graph).findings, in: inspection.graph)
      findings = found.map { VerifyReport.Row($0, names: inspection.names) }
      verb = "leaks"
      isSnapshot = true
      inputs = [inspection.input.json]
      totals = inspection.totals.json
      title = inspection.input.title
      check = nil
      // Names were asked for as the rows were made.
      symbolGaps = inspection.names.symbolDiagnostics
      return
    }
    let file = try InputFile(path)
    guard file.document["schema"]?.string == ReportEnvelope.schema,
      let elements = file.document["findings"]?.elements
    else {
      throw file.error(
        file.document, "JSON, but no report of \(ReportEnvelope.schema)",
        mend: "give a snapshot, or what memgraph wrote with --format json")
    }
    findings = try elements.map { element in
      let fingerprint = try file.text("fingerprint", of: element, "a finding")
      let row = VerifyReport.Row(
        fingerprint: fingerprint, kind: try file.text("kind", of: element, "a finding"),
        type: try file.text("type", of: element, "a finding"),
        cost: Cost(
          count: element["count"]?.integer ?? 0, bytes: ByteCount(element["bytes"]?.integer ?? 0)),
        json: element.json)
      return row
    }
    verb = file.document["tool"]?["verb"]?.string ?? "leaks"
    isSnapshot = false
    inputs = file.document["inputs"]?.elements?.map(\.json) ?? []
    totals = file.document["totals"]?.json ?? .object([])
    check = file.document["check"].flatMap { FailedCheck(json: $0.json) }
    symbolGaps = (file.document["symbolGaps"]?.elements ?? []).compactMap { gap in
      gap["text"]?.string.map { Snapshot.Diagnostic(text: $0, count: gap["count"]?.integer ?? 1) }
    }
    let name = path.split(separator: "/").last.map(String.init) ?? path
    title = name.hasSuffix(".json") ? String(name.dropLast(5)) : name
  }

  /// Whether there is a finding of something that a root reaches: growth, or what is abandoned.
  var hasReachable: Bool { findings.contains { !["leak", "zombie"].contains($0.kind) } }

  /// Refuses to call fixed what the newer source can't have.
  ///
  /// What is reachable and too much is seen in a comparison of marks alone, and each way to compare finds others.
  static func check(_ old: FindingSource, _ new: FindingSource) throws(UsageError) {
    guard old.verb != new.verb, old.hasReachable || new.hasReachable else { return }
    func what(_ source: FindingSource) -> String {
      source.isSnapshot ? "one snapshot" : "a report of \(source.verb)"
    }
    throw UsageError(
      old.title,
      "\(what(old)) can't be held against \(what(new)): what a root reaches is found by comparing marks",
      mend: "give two reports of the same verb, as memgraph diff A B --format json -o old.json")
  }

  private static func _isReport(_ path: String) throws -> Bool {
    try InputFile.start(of: path) == UInt8(ascii: "{")
  }
}

extension LocatedJSON {
  /// The value without its lines, as reports write it.
  var json: JSONValue {
    switch value {
    case .null: .null
    case .bool(let value): .bool(value)
    case .number(let text): Int(text).map { .integer($0) } ?? .string(text)
    case .string(let text): .string(text)
    case .array(let elements): .array(elements.map(\.json))
    case .object(let members):
      .object(members.map { JSONValue.Member($0.name, $0.value.json) })
    }
  }
}
