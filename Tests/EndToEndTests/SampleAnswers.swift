// What the tool says about a sample, as far as it is the same in every run, held against a golden.
internal import GoldenFiles
internal import Testing

extension Recording {
  /// What the program printed in the line `name: Type=1 collectors=40 ...`.
  func facts(_ name: String) -> [String: Int] {
    let line = outcome.output.split(separator: "\n").first { $0.hasPrefix("\(name): ") }
    var facts: [String: Int] = [:]
    for field in line?.split(separator: " ") ?? [] {
      guard let equals = field.lastIndex(of: "=") else { continue }
      facts[String(field[..<equals])] = Int(field[equals...].dropFirst())
    }
    return facts
  }

  /// What is alive at a mark.
  func live(_ mark: String) throws -> Report.Tally {
    try #require(try Report.of("summary", self.mark(mark)).totals?.live)
  }

  /// Holds the first finding of a verb's text against a golden beside the test.
  func expectAnswer(
    _ verb: String, marks: String..., type: String? = nil, options: [String] = [],
    named name: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let arguments = [verb] + marks.map(mark) + [type].compactMap(\.self) + options
    let outcome = try run("memgraph", arguments)
    #expect(outcome.status <= 1, "\(outcome.errors)", sourceLocation: sourceLocation)
    let shown = ["memgraph", verb] + marks + [type].compactMap(\.self) + options
    let answer = firstFinding(in: outcome.output)
    #expect(!answer.isEmpty, "no finding", sourceLocation: sourceLocation)
    try expectGolden(
      "$ \(shown.joined(separator: " "))\n\(answer)", named: name, sourceLocation: sourceLocation)
  }
}

/// The first numbered finding of a report, without what differs from run to run: addresses, indices, and
/// sizes, which other tests hold against the story's. How many objects are told in one way differs, too: a
/// task's way depends on where it waits.
func firstFinding(in text: String) -> String {
  let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
  let finding = lines.drop { !$0.hasPrefix("1. ") }.prefix { !$0.isEmpty }
  return finding.filter { $0.prefixMatch(of: #/ {3}(at|born|tasks) /#) == nil }
    .map { line in
      line.replacing(/\[\d+\]/, with: "[_]")
        .replacing(/Task \d+/, with: "Task _")
        .replacing(/thread \d+/, with: "thread _")
        .replacing(/\d[\d,.]* (×|bytes?|KB|MB)/) { "_ \($0.1)" }
        .replacing(/\d[\d,]* objects?/, with: "_ objects")
        .replacing(/\d[\d,]* of them not/, with: "_ of them not")
        .replacing(/_ (bytes|KB|MB)/, with: "_ bytes")
        .replacing(/; _ bytes in _ objects( would go with (it|them))?/, with: "") + "\n"
    }.joined()
}
