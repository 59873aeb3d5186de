// What a leak case's `Expected` file says, and how a recording is held against it.
internal import Foundation
internal import Testing

struct CaseExpectation: Decodable, Sendable, CustomTestStringConvertible {
  enum Kind: String, Decodable {
    case leak
    case abandoned
    case zombie
    case none
  }

  var name = ""
  var kind: Kind
  var counts: [String: Int]
  var cycles: [[String]]?
  var through: [String]?
  var path: [String]?
  var overRetained: [String: Int]?

  /// For each cause the edge whose cut is the true mending, and what the advice has to say.
  var fixes: [String: String]?

  private enum CodingKeys: CodingKey {
    case kind
    case counts
    case cycles
    case through
    case path
    case overRetained
    case fixes
  }

  var testDescription: String { name }

  /// Every case, by the files in the sample's folder.
  static let all: [CaseExpectation] = {
    let folder = packageFolder.appendingPathComponent("samples/LeakCases/Expected")
    let files = try? FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil)
    return (files ?? []).sorted { $0.path < $1.path }.compactMap { file in
      guard let data = try? Data(contentsOf: file),
        var expectation = try? JSONDecoder().decode(CaseExpectation.self, from: data)
      else { return nil }
      expectation.name = file.deletingPathExtension().lastPathComponent
      return expectation
    }
  }()

  /// What in a recording is not as expected, a sentence each; nothing where all is.
  func problems(in recording: Recording) throws -> [String] {
    guard recording.outcome.status == 0 else {
      return ["exit status \(recording.outcome.status): \(recording.outcome.errors)"]
    }
    let last = recording.mark("round-3")
    let leaks = try Report.of("leaks", last)
    var problems = liveProblems(leaks, recording)
    switch kind {
    case .leak:
      problems += leakProblems(leaks)
    case .abandoned:
      problems += noneLeaked(leaks)
      problems += try growthProblems(recording)
      problems += try pathProblems(last)
    case .zombie:
      for (type, count) in counts {
        let zombies = leaks.findings.filter { $0.kind == "zombie" && $0.type == type }
        let found = zombies.reduce(0) { $0 + $1.count }
        if found != count {
          problems.append("\(count) zombies of \(type) expected, \(found) found")
        }
      }
    case .none:
      problems += noneLeaked(leaks)
      for (type, count) in counts {
        let found = leaks.totals?.live?.count(of: type) ?? 0
        if found != count { problems.append("\(count) live \(type) expected, \(found) found") }
      }
    }
    return problems
  }

  /// What the audit does not explain but should, a sentence each.
  func auditProblems(in recording: Recording) throws -> [String] {
    guard let audit = try Report.of("audit", recording.mark("round-3")).audit else {
      return ["no audit"]
    }
    var problems = audit.types.flatMap { row in
      [
        (row.unexplained - (overRetained?[row.type] ?? 0), "with retains that nothing explains"),
        (row.overCounted, "with an edge too many"),
        (row.unexplainedUnowned, "unowned references missing"),
        (row.unexplainedWeak, "weak references missing"),
      ].filter { $0.0 != 0 }.map { "\($0.0) \(row.type) \($0.1)" }
    }
    for type in (overRetained ?? [:]).keys where !audit.types.contains(where: { $0.type == type }) {
      problems.append("no \(type) retained too often")
    }
    return problems
  }

  /// The tool's live counts against the program's own.
  private func liveProblems(_ report: Report, _ recording: Recording) -> [String] {
    guard let truth = recording.liveCounts.last else { return ["the program printed no counts"] }
    return truth.sorted { $0.key < $1.key }.compactMap { type, count in
      // The program names types as the runtime does, reports as the source does.
      let type = type.replacing("Swift.", with: "")
      let found = report.totals?.live?.count(of: type) ?? 0
      return found == count ? nil : "the program counts \(count) live \(type), the tool \(found)"
    }
  }

  private func leakProblems(_ report: Report) -> [String] {
    let leaked = ownTypes(of: report.totals?.leaked)
    var problems: [String] = []
    if leaked != counts { problems.append("leaked: \(counts) expected, \(leaked) found") }
    let found = report.findings.filter { $0.kind == "leak" }.compactMap(\.cycle)
    for wanted in cycles ?? [] where !found.contains(where: { Self.matches($0, wanted) }) {
      let texts = found.map { $0.map(\.text).joined(separator: " -> ") }
      problems.append("no cycle \(wanted.joined(separator: " -> ")) in \(texts)")
    }
    for name in through ?? [] {
      let steps = found.joined().map(\.text)
      if !steps.contains(where: { $0.contains(name) }) {
        problems.append("no step through \(name) in \(steps)")
      }
    }
    return problems
  }

  private func noneLeaked(_ report: Report) -> [String] {
    ownTypes(of: report.totals?.leaked).map { type, count in
      "\(count) \(type) called leaked, none is"
    }
  }

  private func growthProblems(_ recording: Recording) throws -> [String] {
    let difference = try Report.of("diff", recording.mark("round-1"), recording.mark("round-3"))
    return counts.compactMap { type, count in
      // Three rounds of the same; two of them lie between the marks.
      let found = difference.born?.count(of: type) ?? 0
      return found == count / 3 * 2
        ? nil : "\(count / 3 * 2) \(type) born between round 1 and 3, \(found) found"
    }
  }

  private func pathProblems(_ mark: String) throws -> [String] {
    guard let path, let type = counts.keys.min() else { return [] }
    let texts = try (Report.of("paths", mark, type, "--max", "5").paths ?? []).map(\.text)
    let isThere = texts.contains { text in
      var rest = text[...]
      return path.allSatisfy { token in
        guard let range = rest.range(of: token) else { return false }
        rest = rest[range.upperBound...]
        return true
      }
    }
    return isThere ? [] : ["no path with \(path.joined(separator: " … ")) in \(texts)"]
  }

  private func ownTypes(of tally: Report.Tally?) -> [String: Int] {
    (tally?.byType ?? [:]).compactMapValues { $0.count > 0 ? $0.count : nil }
      .filter { Self.isOwnClass($0.key) }
  }

  /// Whether the steps of a cycle that start at a class of the sample are those wanted, from wherever
  /// the cycle is begun.
  static func matches(_ cycle: [Report.Step], _ wanted: [String]) -> Bool {
    let fields = cycle.filter { isOwnClass($0.type ?? "") }.map { step in
      let type = (step.type ?? "").dropFirst("LeakCases.".count)
      let field = (step.field ?? "").replacing(/\[[^\]]*\]/, with: "")
      return (String(type), field)
    }
    guard fields.count == wanted.count, !cycle.isEmpty else { return false }
    return fields.isEmpty
      || fields.indices.contains { start in
        zip(fields[start...] + fields[..<start], wanted).allSatisfy { field, wanted in
          wanted == "\(field.0).*" || "\(field.0).\(field.1)" == wanted
            || "\(field.0).\(field.1)".hasPrefix(wanted + ".")
        }
      }
  }

  /// A class of the sample, and not a closure, box or storage that is named by one.
  static func isOwnClass(_ type: String) -> Bool {
    type.hasPrefix("LeakCases.")
  }
}
