// KnownJudging: --known in the verbs that have findings.

internal import Glibc
internal import GraphAnalysis
internal import GraphPrimitives
internal import GraphReport

extension Invocation {
  /// What the file that `--known` names says of some findings; nil where none is named.
  func judge(_ findings: [Finding], names: Names) throws -> KnownFindings.Judgement? {
    guard let path = arguments.text(.known) else { return nil }
    return try KnownFindings(contentsOf: path).judge(findings, today: today, names: names)
  }

  /// What the file that `--known` names says of findings by name; empty where none is named.
  func knownRows(of findings: [VerifyReport.Row]) throws -> [KnownRow] {
    try knownRows { fingerprint in
      let matching = findings.filter { $0.fingerprint == fingerprint }
      return matching.isEmpty
        ? nil : (matching[0].type, matching.reduce(0) { $0 + $1.cost.count })
    }
  }

  /// What the file that `--known` names says of cycles; empty where none is named.
  func knownRows(of groups: [CycleGroup], names: Names) throws -> [KnownRow] {
    try knownRows { fingerprint in
      let matching = groups.filter { $0.fingerprint == fingerprint }
      guard let first = matching.first?.cycle.first else { return nil }
      return (names.typeName(of: first.node), matching.reduce(0) { $0 + $1.members.count })
    }
  }

  private func knownRows(
    found: (String) -> (type: String, count: Int)?
  ) throws -> [KnownRow] {
    guard let path = arguments.text(.known) else { return [] }
    return try KnownFindings(contentsOf: path).rows(today: today, found: found)
  }

  /// The day of this call; `SOURCE_DATE_EPOCH` sets it, so that a report can be made again later.
  var today: Day {
    let fixed = console.environment("SOURCE_DATE_EPOCH").flatMap { Int($0) }
    return Day(secondsSince1970: fixed ?? time(nil))
  }
}

extension KnownFindings.Judgement? {
  /// A report with what is known below it.
  func annotating(_ report: some Report) -> any Report {
    guard let self else { return report }
    return ReportWithKnown(report, rows: self.rows, openCount: self.open.count)
  }
}
