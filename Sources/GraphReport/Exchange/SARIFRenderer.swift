// SARIFRenderer: findings as a log of SARIF, for what shows them beside the code.

/// Writes findings as SARIF 2.1.0.
///
/// A result stands at the field or capture to cut where its line is known, else where the object was made, else at the
/// program, since hosts refuse results without a place. The cycle or path is a thread flow, the allocation a stack; the
/// fingerprint lets a host know a finding again in the next run. What was accepted is left out: hosts that don't know
/// suppressions would show it.
enum SARIFRenderer {
  private struct Rule {
    var id: String
    var level: String
    var summary: String
    var reason: String
    var help: String
  }

  private static let rules = [
    Rule(
      id: "leak", level: "error", summary: "Leaked objects",
      reason: "No root reaches these objects any more, so nothing can ever release them.",
      help: "Make the reference that is named weak, or clear it when the work ends."),
    Rule(
      id: "abandoned", level: "warning", summary: "Abandoned objects",
      reason: "Roots reach these objects, but they become more with each repetition.",
      help: "Take them out of what holds them when the work ends, or give it a limit."),
    Rule(
      id: "overRetained", level: "warning", summary: "Objects retained more often than held",
      reason: "These objects have more retains than there are references to them.",
      help: "Balance Unmanaged.passRetained with release() or takeRetainedValue()."),
    Rule(
      id: "zombie", level: "warning", summary: "Destroyed objects whose memory is kept",
      reason: "These objects are destroyed, but unowned references keep their memory.",
      help: "Make the reference weak, or let its holder go when the work ends."),
  ]

  /// - Complexity: O(*n*) for *n* characters.
  static func render(_ content: ExchangeContent) -> JSONValue {
    SARIF.log(
      tool: content.tool, version: content.version,
      rules: rules.map { rule in
        .members([
          "id": .string(rule.id),
          "shortDescription": SARIF.message(rule.summary),
          "fullDescription": SARIF.message(rule.reason),
          "help": SARIF.message(rule.help),
          "defaultConfiguration": .members(["level": .string(rule.level)]),
        ])
      },
      results: content.findings.map { result($0, of: content) },
      more: [
        JSONValue.Member(
          "automationDetails", .members(["id": .string("\(content.tool)/\(content.verb)/")])),
        JSONValue.Member("columnKind", "unicodeCodePoints"),
      ])
  }

  private static func result(
    _ finding: ReportedFinding, of content: ExchangeContent
  ) -> JSONValue {
    let rule = rules.firstIndex { $0.id == finding.kind }
    let count = finding.json["count"]?.integer ?? 0
    return .members([
      "ruleId": .string(finding.kind),
      "ruleIndex": rule.map { .integer($0) },
      "level": .string(rule.map { rules[$0].level } ?? "warning"),
      "message": .members([
        "text": .string(finding.message), "markdown": .string(finding.markdown),
      ]),
      "locations": .array([location(of: finding, content)]),
      "partialFingerprints": .members(["memoryGraph/v1": .string(finding.fingerprint)]),
      "occurrenceCount": count > 0 ? .integer(count) : nil,
      "codeFlows": codeFlow(of: finding, content).map { .array([$0]) },
      "stacks": stack(of: finding, content).map { .array([$0]) },
      "baselineState": finding.baseline.map { .string($0.rawValue) },
      "properties": .members([
        "bytes": finding.json["bytes"], "retainedBytes": finding.json["retainedBytes"],
        "cut": finding.json["cut"], "generation": finding.json["generation"],
      ]),
    ])
  }

  private static func location(
    of finding: ReportedFinding, _ content: ExchangeContent
  ) -> JSONValue {
    let place = finding.place
    return .members([
      "physicalLocation": SARIF.physicalLocation(
        place?.file ?? (content.executable.isEmpty ? content.tool : content.executable),
        line: place?.line, root: content.root),
      "logicalLocations": .array([
        .members(["fullyQualifiedName": .string(finding.type), "kind": "type"])
      ]),
    ])
  }

  /// The cycle or path, a location a step.
  private static func codeFlow(
    of finding: ReportedFinding, _ content: ExchangeContent
  ) -> JSONValue? {
    let steps = (finding.json["cycle"] ?? finding.json["path"])?.elements ?? []
    if steps.isEmpty { return nil }
    let locations = steps.map { step -> JSONValue in
      let name = step["type"]?.string ?? step["name"]?.string ?? ""
      let holder = name.contains(" ") ? "(\(name))" : name
      let field = step["field"]?.string ?? ""
      let via = step["via"]?.string.map { " (\($0))" } ?? ""
      let text = holder + (field.isEmpty ? "" : "." + field) + via
      return .members([
        "location": .members([
          "physicalLocation": ReportedFinding.place(of: step).map {
            SARIF.physicalLocation($0.file, line: $0.line, root: content.root)
          },
          "message": SARIF.message(text),
        ])
      ])
    }
    return .members(["threadFlows": .array([.members(["locations": .array(locations)])])])
  }

  /// Where the object was made, the innermost frame first.
  private static func stack(of finding: ReportedFinding, _ content: ExchangeContent) -> JSONValue? {
    let frames = finding.json["allocation"]?.elements ?? []
    if frames.isEmpty { return nil }
    return .members([
      "message": SARIF.message("allocation"),
      "frames": .array(
        frames.map { frame in
          .members([
            "location": .members([
              "physicalLocation": ReportedFinding.place(of: frame).map {
                SARIF.physicalLocation($0.file, line: $0.line, root: content.root)
              },
              "logicalLocations": .array([
                .members([
                  "fullyQualifiedName": .string(frame["function"]?.string ?? ""),
                  "kind": "function",
                ])
              ]),
            ]),
            "module": frame["module"],
          ])
        }),
    ])
  }
}
