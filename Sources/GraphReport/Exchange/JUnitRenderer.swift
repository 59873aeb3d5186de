// JUnitRenderer: findings as failed tests, for build hosts that show test results.

/// Writes findings as JUnit's XML, with the elements and attributes that the schema of Jenkins's xUnit plugin has.
///
/// A test is a finding, named by its fingerprint, so that a host that keeps a history knows it again. What is fixed
/// has passed, what was accepted is skipped. Where there is nothing at all one test says so and passes: a file without
/// tests is taken for a fault. Times are 0, so that the same report is the same bytes.
enum JUnitRenderer {
  /// - Complexity: O(*n*) for *n* characters.
  static func render(_ content: ExchangeContent) -> String {
    let suite = "\(content.tool) \(content.verb)"
    var cases: [String] = []
    for (finding, name) in zip(content.findings, content.names) {
      cases.append(
        opening(type: finding.type, name: name) + ">\n"
          + "      <failure\(attribute("message", finding.message))\(attribute("type", finding.kind))>"
          + XMLText.escaped(failure(finding, root: content.root)) + "</failure>\n    </testcase>\n")
    }
    var skippedCount = 0
    for settled in content.settled {
      let start = opening(type: settled.type, name: settled.fingerprint)
      switch settled.state {
      case .fixed: cases.append(start + "/>\n")
      case .known(let reason):
        skippedCount += 1
        cases.append(
          start
            + ">\n      <skipped\(attribute("message", "known: " + reason))/>\n    </testcase>\n")
      }
    }
    if cases.isEmpty {
      cases.append(
        opening(type: content.tool, name: content.verb) + ">\n      <system-out>"
          + XMLText.escaped(content.answer) + "</system-out>\n    </testcase>\n")
    }
    let counts =
      attribute("tests", "\(cases.count)") + attribute("failures", "\(content.findings.count)")
      + attribute("errors", "0")
    return """
      <?xml version="1.0" encoding="UTF-8"?>
      <testsuites\(attribute("name", suite))\(counts) time="0">
        <testsuite\(attribute("name", suite))\(counts)\(attribute("skipped", "\(skippedCount)")) time="0">
      \(cases.joined())  </testsuite>
      </testsuites>

      """
  }

  private static func opening(type: String, name: String) -> String {
    "    <testcase" + attribute("classname", type) + attribute("name", name) + " time=\"0\""
  }

  private static func attribute(_ name: String, _ value: String) -> String {
    " \(name)=\"\(XMLText.escaped(value))\""
  }

  /// The finding in full, after the place as compilers write it, which hosts turn into a link.
  private static func failure(_ finding: ReportedFinding, root: SourceRoot) -> String {
    guard let place = finding.place else { return finding.text }
    return "\(root.shown(place.file)):\(place.line): \(finding.text)"
  }
}
