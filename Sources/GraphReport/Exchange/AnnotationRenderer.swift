// AnnotationRenderer: findings as the marks that hosts show beside the code of a change.

/// Writes findings as workflow commands of GitHub Actions, a line each, after a line with the report's answer.
///
/// The host shows ten errors and ten warnings a step, so the worst come first, as in all reports.
enum GitHubRenderer {
  static func render(_ content: ExchangeContent) -> String {
    var text = plain(content.answer) + "\n"
    for finding in content.findings {
      var properties: [String] = []
      if let place = finding.place {
        properties.append("file=" + property(content.root.shown(place.file)))
        properties.append("line=\(place.line)")
      }
      properties.append("title=" + property("\(finding.kind): \(finding.type)"))
      text +=
        "::\(finding.isLeak ? "error" : "warning") \(properties.joined(separator: ","))"
        + "::\(data(finding.text))\n"
    }
    return text
  }

  /// A line that is no command, whatever names are in it: the host takes two colons at its start for one, spaces before
  /// them aside.
  private static func plain(_ line: String) -> String {
    let line = withoutOldCommands(line)
    let start = line.unicodeScalars.drop { $0.properties.isWhitespace }
    return start.starts(with: "::".unicodeScalars) ? ": " + String(start.dropFirst()) : line
  }

  /// A text in which nothing is a command of the older form, `##[name]`. The host looks for it anywhere in a line, and
  /// has no way to escape it.
  private static func withoutOldCommands(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      // A bracket with an accent is one `Character`, and still the host's bracket.
      if scalar == "[", result.suffix(2).elementsEqual("##".unicodeScalars) { result.append(" ") }
      result.append(scalar)
    }
    return String(result)
  }

  private static func data(_ text: String) -> String {
    escaped(withoutOldCommands(text), "%\r\n".unicodeScalars)
  }

  private static func property(_ text: String) -> String {
    escaped(withoutOldCommands(text), "%\r\n:,".unicodeScalars)
  }

  /// A text with some characters by number. They are looked for one by one: a line break of two is one `Character`.
  private static func escaped(
    _ text: String, _ special: String.UnicodeScalarView
  ) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      if special.contains(scalar) {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        result += "%" + (digits.count == 1 ? "0" : "") + digits
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}

/// Writes findings as a report of GitLab's code quality, which the host compares with that of the target branch.
enum GitLabRenderer {
  static func render(_ content: ExchangeContent) -> JSONValue {
    .array(
      zip(content.findings, content.names).map { finding, name in
        .members([
          "description": .string(finding.message),
          "check_name": .string("memgraph/" + finding.kind),
          "fingerprint": .string(name),
          "severity": .string(severity(finding)),
          "location": .members([
            "path": .string(
              finding.place.map { content.root.shown($0.file) } ?? content.fallbackFile),
            "lines": .members(["begin": .integer(finding.place?.line ?? 1)]),
          ]),
          "content": .members(["body": .string(finding.markdown)]),
        ])
      })
  }

  private static func severity(_ finding: ReportedFinding) -> String {
    switch finding.kind {
    case "leak", "abandoned": "major"
    default: "minor"
    }
  }
}
