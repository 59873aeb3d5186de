// LintReport: findings as text, as JSON and as SARIF.

internal import Commands
internal import GraphReport
internal import SourceLint

/// What was found in some files.
struct LintReport {
  var findings: [LintFinding]
  var fileCount: Int

  /// The files and folders that were asked about.
  var inputs: [String]

  /// The rules that something was found for, in their own order.
  private var rules: [Rule] {
    Rule.allCases.filter { rule in findings.contains { $0.rule == rule } }
  }

  // MARK: - Text

  /// The answer, the findings, and for each rule among them why it matters and what to do.
  var text: String {
    let files = Self.count(fileCount, "file")
    guard !findings.isEmpty else { return "nothing found in \(files)\n" }
    let counts = rules.map { rule in "\(rule.rawValue) \(findings.count { $0.rule == rule })" }
    let touched = Set(findings.map(\.place.file)).count
    var text =
      "\(Self.count(findings.count, "finding")) in \(touched) of \(files): \(counts.joined(separator: ", "))\n\n"
    for finding in findings {
      text += "\(Self.place(finding.place)): \(finding.rule.rawValue): \(finding.message)\n"
      for related in finding.related {
        text += "    \(Self.place(related.place)): \(related.text)\n"
      }
    }
    for rule in rules { text += "\n\(rule.rawValue): \(rule.reason)\n    fix: \(rule.fix)\n" }
    return text
  }

  private static func count(_ number: Int, _ noun: String) -> String {
    "\(number) \(noun)\(number == 1 ? "" : "s")"
  }

  private static func place(_ place: SourcePlace) -> String {
    "\(place.file):\(place.line):\(place.column)"
  }

  // MARK: - JSON

  var json: JSONValue {
    .members([
      "schema": "memory-graph/lint/1",
      "tool": .members(["name": "memgraph", "version": .string(toolVersion), "verb": "lint"]),
      "inputs": .array(inputs.map { .string($0) }),
      "files": .integer(fileCount),
      "findings": .array(findings.map(json)),
    ])
  }

  private func json(_ finding: LintFinding) -> JSONValue {
    let related = finding.related.map { related in
      JSONValue.object(
        Self.members(of: related.place) + [.init("message", .string(related.text))])
    }
    let members: [JSONValue.Member] =
      [.init("rule", .string(finding.rule.rawValue))] + Self.members(of: finding.place) + [
        .init("message", .string(finding.message)),
        .init("reason", .string(finding.rule.reason)),
        .init("fix", .string(finding.rule.fix)),
      ]
    return .object(members + (related.isEmpty ? [] : [.init("related", .array(related))]))
  }

  private static func members(of place: SourcePlace) -> [JSONValue.Member] {
    [
      .init("file", .string(place.file)), .init("line", .integer(place.line)),
      .init("column", .integer(place.column)),
    ]
  }

  // MARK: - SARIF

  /// The findings in the format of OASIS SARIF 2.1.0. Columns are left out: they count other units there.
  var sarif: JSONValue {
    let rules = Rule.allCases.map { rule in
      JSONValue.members([
        "id": .string(rule.rawValue),
        "shortDescription": SARIF.message(rule.summary),
        "fullDescription": SARIF.message(rule.reason),
        "help": SARIF.message("To mend it: \(rule.fix)."),
        "defaultConfiguration": .members(["level": "warning"]),
      ])
    }
    return SARIF.log(
      tool: "memgraph lint", version: toolVersion, rules: rules, results: findings.map(sarif))
  }

  private func sarif(_ finding: LintFinding) -> JSONValue {
    let related = finding.related.map { related in
      JSONValue.members([
        "physicalLocation": SARIF.physicalLocation(related.place.file, line: related.place.line),
        "message": SARIF.message(related.text),
      ])
    }
    return .members([
      "ruleId": .string(finding.rule.rawValue),
      "ruleIndex": Rule.allCases.firstIndex(of: finding.rule).map { .integer($0) },
      "level": "warning",
      "message": SARIF.message("\(finding.message); \(finding.rule.fix)"),
      "locations": .array([
        .members([
          "physicalLocation": SARIF.physicalLocation(finding.place.file, line: finding.place.line)
        ])
      ]),
      "relatedLocations": related.isEmpty ? nil : .array(related),
    ])
  }
}
