// FindingText: a finding in words, as an item of a document and as JSON.

internal import GraphAnalysis
package import GraphPrimitives
internal import SnapshotFormat
internal import Symbolication

/// A finding in words.
struct FindingText {
  let finding: Finding
  let names: Names

  /// What is said behind the cut of how it goes with those of other findings of the report.
  var relation = ""

  /// How many addresses of examples a report shows.
  private static let exampleCount = 3

  var type: String {
    names.typeName(of: finding.representative, reachedBy: finding.cycle.last?.edges.last)
  }

  // MARK: - For people

  /// What the finding is of: the type, and of what has no name of its own the list that it is in.
  var head: Line {
    let name = Line(type, .code)
    guard let path = finding.path, let last = path.steps.last,
      last.edges.last.map({ names.isElement($0) }) == true
    else { return name }
    switch names.kind(of: finding.representative) {
    case .box, .task, .block, .cBlock, .cStorage: break
    default: return name
    }
    let list =
      path.steps.count == 1 && names.isFolded(last.node)
      ? EdgeName(root: path.root, step: last, names: names)
      : EdgeName(last, reachedBy: nil, names: names, isFolded: true)
    let isFinished = names.task(finding.representative)?.info.state == .complete
    return (isFinished ? Line("finished ") : Line("")) + name + Line(" in ")
      + Line(list.title, .code)
  }

  /// The finding as an item of a list.
  ///
  /// - Parameters:
  ///   - told: What the title says instead of how much there is; nil for that.
  ///   - more: Details that come first.
  ///   - foldsIndices: Whether the path is that of many, and shows no index.
  func item(
    number: Int?, told: Line? = nil, more: [Document.Detail] = [],
    foldsIndices: Bool = false
  ) -> Document.Item {
    var title = Line("\(Units.number(finding.own.count)) × ") + head
    title += Line(", \(finding.kindText), ", finding.kind == .leak ? .bad : .plain)
    title += Line(Units.bytes(finding.own.bytes))
    if finding.retained.bytes > finding.own.bytes {
      title += Line(
        "; \(Units.bytes(finding.retained.bytes)) in \(Units.count(finding.retained.count, "object"))"
          + " would go with \(finding.own.count == 1 ? "it" : "them")")
    }
    if let told { title = told }
    var details = more
    if !finding.cycle.isEmpty {
      details.append(
        Document.Detail("cycle", chain: StepText.chain(ofCycle: finding.cycle, names: names)))
    }
    if let path = finding.path {
      let chain = PathText(path: path, names: names).chain
      details.append(
        Document.Detail("path", chain: foldsIndices ? chain.map(Names.foldingIndices) : chain))
    }
    if var cut {
      // What a title of a report's own counts is something else.
      if told != nil { (cut.staying, cut.besides) = (.zero, .zero) }
      details += cut.details
    }
    if let site = Names.site(in: made.frames, type: type) {
      let part = made.samples.map {
        Line(" (\(Units.number($0.there)) of \(Units.count($0.all, "sample")))")
      }
      details.append(Document.Detail("made", site.shown + (part ?? Line(""))))
    }
    if let generations = generationsText {
      details.append(Document.Detail("born", Line(generations)))
    }
    details.append(Document.Detail("at", Line(examples, .faint)))
    details.append(Document.Detail("id", Line(finding.fingerprint, .faint)))
    return Document.Item(number: number, title: title, details: details)
  }

  private var cut: CutText? {
    finding.cuts.first.map {
      CutText(
        cut: $0, cycle: finding.cycle, path: finding.path, goneCount: finding.goneCount,
        target: type,
        names: names, relation: relation, staying: finding.staying, besides: finding.besides)
    }
  }

  /// The findings of a report in its order, each with what it has to do with the cuts of others.
  ///
  /// An edge that is cut in two findings frees the objects of both; and one that leaves an object which another
  /// finding is of goes by itself when that is mended: that is said of findings that come before, so that none goes with one
  /// that goes with it.
  static func related(_ texts: [FindingText]) -> [FindingText] {
    var numbersByEdge: [String: [Int]] = [:]
    var numberByNode: [NodeIndex: Int] = [:]
    let edges = texts.map { text in
      text.cut.map { cut in cut.parts.map { (part: $0, name: cut.name(of: $0)) } } ?? []
    }
    for (place, text) in texts.enumerated() {
      for name in Set(edges[place].map(\.name)) {
        numbersByEdge[name, default: []].append(place + 1)
      }
      for node in text.finding.members + (text.finding.cuts.first?.freed ?? [])
      where numberByNode[node] == nil { numberByNode[node] = place + 1 }
    }
    return texts.enumerated().map { place, text in
      var text = text
      guard edges[place].count > 1 else { return text }
      var told: Set<Substring> = []
      for (part, name) in edges[place] {
        let title = name.components(upTo: " -> ")
        if !told.insert(title).inserted { continue }
        let shared = (numbersByEdge[name] ?? []).filter { $0 != place + 1 }
        if let other = shared.first {
          text.relation +=
            "; \(title) is in the cut of finding \(other), too, and frees its objects as well"
        } else if text.names.kind(of: part.step.node) == .object,
          let other = numberByNode[part.step.node], other <= place
        {
          text.relation += "; with finding \(other) mended \(title) goes by itself"
        }
      }
      return text
    }
  }

  private var made: (frames: [SourceFrame], samples: (there: Int, all: Int)?) {
    names.allocation(ofAnyOf: finding.members, first: finding.representative)
  }

  private var countByGeneration: [(name: String, count: Int)] {
    names.births(of: finding.members).counts
  }

  private var isSampled: Bool { names.snapshot.sampling != nil }

  private var generationsText: String? {
    let (counts, known) = names.births(of: finding.members)
    guard let first = counts.first, let last = counts.last else { return nil }
    if isSampled {
      let shown = counts.prefix(6).map { "\(Units.estimate($0.count)) in \($0.name)" }
      return shown.joined(separator: ", ") + (counts.count > 6 ? ", …" : "")
        + ", estimated from \(Units.count(known, "sample"))"
    }
    if counts.count == 1 { return "in \(first.name)" }
    if counts.allSatisfy({ $0.count == first.count }) {
      let list =
        counts.count > 4
        ? "\(first.name) … \(last.name)" : counts.map(\.name).joined(separator: ", ")
      return
        "\(Units.number(first.count)) in each of \(Units.count(counts.count, "generation")): \(list)"
    }
    let shown = counts.prefix(6).map { "\(Units.number($0.count)) in \($0.name)" }.joined(
      separator: ", ")
    return shown + (counts.count > 6 ? ", …" : "")
  }

  private var examples: String {
    let shown = finding.members.prefix(Self.exampleCount).map { names.address(of: $0).description }
    return shown.joined(separator: " ") + (finding.members.count > shown.count ? " …" : "")
  }

  // MARK: - For programs

  /// The finding as formats of other tools want it.
  ///
  /// - Parameter item: How the report tells it; nil for the way of most reports.
  func reported(as item: Document.Item? = nil) -> ReportedFinding {
    ReportedFinding(json: json, item: item ?? self.item(number: nil))
  }

  /// Which step of the cycle or path is the one to cut, as JSON counts them: those of a path from 1, since its root
  /// is the first element. Nil for a cut elsewhere.
  private var cutStep: Int? {
    guard let cut = finding.cuts.first else { return nil }
    if let place = finding.cycle.firstIndex(of: cut.step) { return place }
    guard let path = finding.path,
      let place = path.steps.firstIndex(where: { $0.begins(with: cut.step) })
    else {
      return nil
    }
    return max(0, place + 1 - PathText(path: path, names: names).foldedCount)
  }

  /// Where to look first in the source: the capture to cut, else the closure on the cycle or path that is nearest to
  /// it, else where the object was made.
  private var location: JSONValue? {
    func json(_ of: String, _ file: String?, _ line: Int?) -> JSONValue? {
      guard let file, let line, line > 0 else { return nil }
      return .members(["of": .string(of), "file": .string(file), "line": .integer(line)])
    }
    func capture(_ step: StepText) -> JSONValue? {
      step.place == nil
        ? nil : json("capture", step.via?.file ?? step.file, step.via?.line ?? step.line)
    }
    if let found = cut.flatMap({ capture($0.stepText) }) { return found }
    if !finding.cycle.isEmpty {
      let steps = StepText.texts(ofCycle: finding.cycle, names: names)
      // From the cut on, once round.
      let start = cutStep ?? 0
      let found = (steps[start...] + steps[..<start]).lazy.compactMap(capture).first
      if let found { return found }
    } else if let path = finding.path {
      // The step that is nearest to the object is the one that its writer knows.
      let found = PathText(path: path, names: names).steps.reversed().lazy.compactMap(capture)
      if let found = found.first { return found }
    }
    guard let site = Names.site(in: made.frames, type: type) else { return nil }
    return json("allocation", site.file, site.line)
  }

  var json: JSONValue {
    let module = names.module(of: finding.representative)
    return .members([
      "kind": .string(finding.kind.name),
      "fingerprint": .string(finding.fingerprint),
      "type": .string(type),
      "count": .integer(finding.own.count),
      "bytes": .integer(Int(finding.own.bytes.rawValue)),
      "retainedBytes": .integer(Int(finding.retained.bytes.rawValue)),
      "gone": finding.goneCount == 0 ? nil : .integer(finding.goneCount),
      "module": module.isEmpty ? nil : .string(module),
      "cycle": finding.cycle.isEmpty
        ? nil : .array(StepText.texts(ofCycle: finding.cycle, names: names).map(\.json)),
      "path": finding.path.map { .array(PathText(path: $0, names: names).findingJSON) },
      "cut": cut?.json(step: cutStep),
      "location": location,
      "generation": names.generation(of: finding.representative).map { .string($0) },
      "generations": countByGeneration.isEmpty
        ? nil : .object(countByGeneration.map { JSONValue.Member($0.name, .integer($0.count)) }),
      "allocation": .array(made.frames.map(\.json)),
      "births": isSampled
        ? .members([
          "estimated": .bool(true),
          "samples": .integer(finding.members.count { names.snapshot.knowsBirth(of: $0) }),
        ]) : nil,
      "addresses": .array(
        finding.members.prefix(Self.exampleCount).map { .string(names.address(of: $0).description) }
      ),
    ])
  }
}

extension Finding {
  /// What is wrong, in the words of the field.
  fileprivate var kindText: String {
    switch kind {
    case .leak: cycle.isEmpty ? "leaked" : "leaked in a cycle"
    case .abandoned:
      goneCount > 0 ? "held while \(Units.count(goneCount, "other")) went" : "abandoned"
    case .overRetained: "retained more often than it has holders"
    case .zombie: "destroyed, memory kept by unowned references"
    }
  }
}

extension Finding.Kind {
  /// The kind as JSON has it.
  package var name: String {
    switch self {
    case .leak: "leak"
    case .abandoned: "abandoned"
    case .overRetained: "overRetained"
    case .zombie: "zombie"
    }
  }
}

extension SourceFrame {
  /// The place in the source: `Call.swift:17`; nil without debug information.
  var place: String? {
    guard let file else { return nil }
    let name = file.split(separator: "/").last.map(String.init) ?? file
    return line.map { "\(name):\($0)" } ?? name
  }

  /// The function as reports write it.
  var name: String { Names.sourceSpelling(of: function) }

  /// The function and its place: `App.startCall() at Call.swift:17`.
  var shown: Line {
    let name = Line(name, .code)
    return place.map { name + Line(" at " + $0) } ?? name
  }

  var json: JSONValue {
    .members([
      "function": .string(name),
      "file": file.map { .string($0) },
      "line": line.map { .integer($0) },
      "module": module.map { .string($0) },
    ])
  }
}

extension Cost {
  package var json: JSONValue {
    .members(["count": .integer(count), "bytes": .integer(Int(bytes.rawValue))])
  }
}

extension Histogram {
  /// The cost of each type by its name as reports write it. Types of two libraries that are written the same
  /// are told as one.
  var costByName: [String: Cost] {
    costByType.reduce(into: [:]) { costs, entry in
      costs[Names.sourceSpelling(of: entry.key), default: .zero] += entry.value
    }
  }

  /// The total and the cost of each type, by name.
  var json: JSONValue {
    .members([
      "count": .integer(total.count),
      "bytes": .integer(Int(total.bytes.rawValue)),
      "byType": .object(
        costByName.sorted { $0.key < $1.key }.map { JSONValue.Member($0.key, $0.value.json) }),
    ])
  }
}

extension String {
  /// What stands before the first place of a text; all where it doesn't occur.
  fileprivate func components(upTo text: String) -> Substring {
    firstRange(of: text).map { self[..<$0.lowerBound] } ?? self[...]
  }
}
