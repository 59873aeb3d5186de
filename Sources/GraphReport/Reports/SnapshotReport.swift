// SnapshotReport: one snapshot by itself: what is alive and what of it is leaked.

/// A summary with the leaks below it.
package struct SnapshotReport: Report {
  private let _summary: SummaryReport
  private let _leaks: LeaksReport

  package init(summary: SummaryReport, leaks: LeaksReport) {
    _summary = summary
    _leaks = leaks
  }

  package var findings: [JSONValue] { _leaks.findings }

  package var reported: [ReportedFinding] { _leaks.reported }

  package var members: [JSONValue.Member] { _summary.members + _leaks.members }

  package func document(limit: Int?) -> Document {
    var document = _summary.document(limit: limit)
    let leaks = _leaks.document(limit: limit)
    document.blocks.append(.heading("Leaks"))
    document.blocks.append(.paragraph(leaks.answer))
    document.blocks += leaks.blocks
    return document
  }
}
