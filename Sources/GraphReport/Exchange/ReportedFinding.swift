// ReportedFinding: a finding as formats of other tools want it: what all reports say of it, and its words.

internal import GraphPrimitives

/// A finding of a report, wherever the report has it from.
package struct ReportedFinding: Sendable {
  /// What has become of a finding since an earlier report.
  package enum Baseline: String, Sendable {
    case new
    case unchanged
  }

  /// A place in the source.
  package struct Place: Hashable, Sendable {
    package var file: String
    package var line: Int

    package init(file: String, line: Int) {
      self.file = file
      self.line = line
    }
  }

  /// All that reports say of it, as in `findings` of JSON.
  package var json: JSONValue

  /// The finding as a report tells it to people.
  package var item: Document.Item

  /// Where it was compared with an earlier report: what has become of it.
  package var baseline: Baseline?

  init(json: JSONValue, item: Document.Item) {
    self.json = json
    self.item = item
  }

  /// A finding of which nothing but its JSON is left.
  package init(json: JSONValue) {
    self.json = json
    item = Document.Item(title: Line([]), details: [])
    let count = json["count"]?.integer ?? 0
    item.title =
      Line("\(Units.number(count)) × ") + Line.code(type) + Line(", \(kindInWords)")
      + Line(", \(Units.bytes(bytes))")
    if let advice {
      item.details.append(Document.Detail("cut", Line.code(cutEdge) + Line(": \(advice)")))
    }
    if let place = place {
      let name = place.file.split(separator: "/").last.map(String.init) ?? place.file
      item.details.append(Document.Detail("at", Line("\(name):\(place.line)")))
    }
    item.details.append(Document.Detail("id", Line(fingerprint, .faint)))
  }

  /// The finding of a report told with its cycle or path, as the JSON has it.
  package func tellingWay() -> ReportedFinding {
    let cycle = json["cycle"]?.elements ?? []
    let steps = cycle.isEmpty ? json["path"]?.elements ?? [] : cycle
    guard !steps.isEmpty else { return self }
    var chain = steps.flatMap { step -> [Line] in
      if step["root"] != nil { return [Line.code(step["name"]?.string ?? "")] }
      let field = step["field"]?.string ?? ""
      let name = Line.code((step["type"]?.string ?? "") + (field.isEmpty ? "" : "." + field))
      guard let via = step["via"]?.string else { return [name] }
      return [name, Line("(") + Line.code(via) + Line(")")]
    }
    chain.append(Line.code(cycle.first?["type"]?.string ?? type))
    var told = self
    told.item.details.insert(
      Document.Detail(cycle.isEmpty ? "path" : "cycle", chain: chain), at: 0)
    return told
  }

  package var kind: String { json["kind"]?.string ?? "leak" }
  package var fingerprint: String { json["fingerprint"]?.string ?? "" }
  package var type: String { json["type"]?.string ?? "" }

  private var bytes: ByteCount { ByteCount(json["bytes"]?.integer ?? 0) }

  private var advice: String? { json["cut"]?["advice"]?.string }

  /// The edge to cut, without what it leads to.
  private var cutEdge: String {
    let edge = json["cut"]?["edge"]?.string ?? ""
    return edge.firstRange(of: " -> ").map { String(edge[..<$0.lowerBound]) } ?? edge
  }

  /// Where to look first.
  package var place: Place? { json["location"].flatMap(Self.place) }

  /// The place that a step of a cycle or path, a frame or a location names.
  static func place(of json: JSONValue) -> Place? {
    guard let file = json["file"]?.string, let line = json["line"]?.integer, line > 0 else {
      return nil
    }
    return Place(file: file, line: line)
  }

  /// What is wrong, for those who have only the kind.
  private var kindInWords: String {
    switch kind {
    case "leak": json["cycle"] == nil ? "leaked" : "leaked in a cycle"
    case "overRetained": "retained too often"
    case "zombie": "destroyed, memory kept"
    default: kind
    }
  }

  /// The finding of a run of tests, told with the call furthest out that somebody wrote: that of a test, as far as the
  /// stack reaches.
  package func tellingCaller() -> ReportedFinding {
    let caller = (json["allocation"]?.elements ?? []).last { frame in
      guard let file = Self.place(of: frame)?.file, file.hasSuffix(".swift") else { return false }
      // SwiftPM's and the macros' own code.
      return ["/swift-generated-sources/", ".derived/"].allSatisfy { !file.contains($0) }
    }
    guard let caller, let function = caller["function"]?.string,
      let place = Self.place(of: caller), case .object(let members) = json
    else { return self }
    var told = self
    told.json = .object(
      members + [
        JSONValue.Member(
          "from",
          .members([
            "function": .string(function), "file": .string(place.file),
            "line": .integer(place.line),
          ]))
      ])
    let file = place.file.split(separator: "/").last.map(String.init) ?? place.file
    let detail = Document.Detail("from", Line.code(function) + Line(" at \(file):\(place.line)"))
    let made = item.details.firstIndex { $0.name == "made" }
    told.item.details.insert(detail, at: made.map { $0 + 1 } ?? item.details.count)
    return told
  }

  /// Whether nothing reaches it, so that it never goes.
  var isLeak: Bool { kind == "leak" }

  /// What it is, in one line.
  var title: String { item.title.text }

  /// The title, and what to do.
  var message: String {
    guard let advice else { return title }
    return "\(title). Cut \(cutEdge): \(advice)"
  }

  /// All that a text report says of it.
  var text: String {
    var text = TextRenderer.render(
      Document(answer: "", blocks: [.item(item)]), style: TextStyle())
    while text.first == "\n" { text.removeFirst() }
    while text.last == "\n" { text.removeLast() }
    return text
  }

  /// The title and details as Markdown.
  var markdown: String {
    var item = item
    item.number = nil
    return MarkdownRenderer.render(item)
  }
}

/// A finding that does not count: it is fixed, or was accepted.
package struct SettledFinding: Sendable {
  package enum State: Sendable {
    case fixed

    /// Accepted, for a reason.
    case known(String)
  }

  package var fingerprint: String
  package var type: String
  package var state: State
}

/// What the formats of other tools are made of.
struct ExchangeContent {
  var tool: String
  var version: String
  var verb: String

  /// The answer of the report, in one line.
  var answer: String
  var findings: [ReportedFinding]
  var settled: [SettledFinding]

  /// The program that was looked at; empty where that is not known.
  var executable: String
  var root: SourceRoot

  /// A name for each finding: its fingerprint, with a number where another one before has the same.
  var names: [String] {
    var countByName: [String: Int] = [:]
    return findings.map { finding in
      countByName[finding.fingerprint, default: 0] += 1
      let count = countByName[finding.fingerprint] ?? 1
      return count == 1 ? finding.fingerprint : "\(finding.fingerprint)-\(count)"
    }
  }

  /// The file that a finding is shown at where no place in the source is known: the program.
  var fallbackFile: String { executable.isEmpty ? tool : root.shown(executable) }
}
