// Allowances: comments that allow a finding, with a reason.

/// The allowances of a file: `// memgraph:allow RULE: reason` at the end of a line, or above it.
struct Allowances: Sendable {
  private struct Entry: Sendable {
    /// The line of the comment, from 1.
    var line: Int
    var column: Int

    /// The line of code that it is about.
    var target: Int
    var ruleName: String
    var reason: String
  }

  private var entries: [Entry] = []

  /// - Complexity: O(*n*) in the length of the text.
  init(in text: String) {
    let marker = "// memgraph:allow"
    guard text.contains(marker) else { return }
    let lines = text.split(omittingEmptySubsequences: false) { $0.isNewline }
    for (index, line) in lines.enumerated() {
      guard let start = line.firstRange(of: marker) else { continue }
      let before = line[..<start.lowerBound]
      // In documentation or a string it is an example.
      guard !before.contains("\""), !before.contains("//"), !before.contains("`") else { continue }
      var target = index
      if before.allSatisfy(\.isWhitespace) {
        repeat { target += 1 } while target < lines.count && Self.isCommentOrEmpty(lines[target])
      }
      let rest = line[start.upperBound...]
      let parts = rest.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      entries.append(
        Entry(
          line: index + 1, column: before.utf8.count + 1, target: target + 1,
          ruleName: Self.trim(parts[0]), reason: parts.count > 1 ? Self.trim(parts[1]) : ""))
    }
  }

  /// The findings that are not allowed, and one for each allowance that is not right.
  func apply(to findings: [LintFinding], rules: Set<Rule>, in file: ParsedFile) -> [LintFinding] {
    var left = findings
    for entry in entries {
      let objection: String?
      if let rule = Rule(rawValue: entry.ruleName), rule != .allowance {
        if entry.reason.isEmpty {
          objection = "the allowance of \(rule.rawValue) has no reason"
        } else if !rules.contains(rule) {
          objection = nil
        } else {
          let count = left.count
          left.removeAll { $0.rule == rule && $0.place.line == entry.target }
          objection =
            left.count == count
            ? "nothing is found here that \(rule.rawValue) would have to be allowed for" : nil
        }
      } else {
        objection = "there is no rule called '\(entry.ruleName)'"
      }
      if let objection, rules.contains(.allowance) {
        left.append(
          LintFinding(
            rule: .allowance,
            place: SourcePlace(file: file.path, line: entry.line, column: entry.column),
            message: objection))
      }
    }
    return left
  }

  private static func isCommentOrEmpty(_ line: Substring) -> Bool {
    let text = line.drop(while: \.isWhitespace)
    return text.isEmpty || text.hasPrefix("//")
  }

  private static func trim(_ text: Substring) -> String {
    let start = text.drop(while: \.isWhitespace)
    return String(start.reversed().drop(while: \.isWhitespace).reversed())
  }
}
