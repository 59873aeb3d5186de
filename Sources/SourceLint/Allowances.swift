// Allowances: comments that allow a finding, with a reason.

internal import SwiftSyntax

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

  /// - Complexity: O(*n* log *n*) in the length of the file.
  init(in tree: SourceFileSyntax, _ converter: SourceLocationConverter) {
    let marker = "// memgraph:allow"
    /// The lines that a token begins in: where there is code.
    var codeLines: [Int] = []
    for token in tree.tokens(viewMode: .sourceAccurate) {
      var position = token.position
      func note(_ trivia: Trivia) {
        for piece in trivia {
          if case .lineComment(let text) = piece, text.hasPrefix(marker) {
            let location = converter.location(for: position)
            let parts = text.dropFirst(marker.count)
              .split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            entries.append(
              Entry(
                line: location.line, column: location.column, target: location.line,
                ruleName: Self.trim(parts[0]), reason: parts.count > 1 ? Self.trim(parts[1]) : ""))
          }
          position += piece.sourceLength
        }
      }
      note(token.leadingTrivia)
      if token.tokenKind != .endOfFile {
        let line = converter.location(for: token.positionAfterSkippingLeadingTrivia).line
        if codeLines.last != line { codeLines.append(line) }
      }
      position = token.endPositionBeforeTrailingTrivia
      note(token.trailingTrivia)
    }
    // Above a line of code it is about that one.
    var next = 0
    for number in entries.indices {
      let line = entries[number].line
      while next < codeLines.count, codeLines[next] < line { next += 1 }
      entries[number].target = next < codeLines.count ? codeLines[next] : line
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

  private static func trim(_ text: Substring) -> String {
    let start = text.drop(while: \.isWhitespace)
    return String(start.reversed().drop(while: \.isWhitespace).reversed())
  }
}
