// ViewerInput: everything that a viewer file is made from. Whoever calls has analysed; here it is written.

package import GraphAnalysis
package import GraphPrimitives
package import GraphReport
package import HeapGraph

/// Everything that a viewer file is made from.
package struct ViewerInput {
  /// How much of the graph goes into the file.
  package enum Embedding: String, Sendable, CaseIterable {
    /// All of it.
    case all

    /// What is leaked, the findings, and what holds them.
    case leaks
  }

  /// What happened from the first snapshot to the last.
  package struct Change {
    /// Nodes of the last snapshot.
    package var born: [NodeIndex]
    package var bornTypes: Histogram
    package var diedTypes: Histogram
    package var isExact: Bool

    /// The comparison, or the staircase of more than two.
    package var report: any Report

    package init(
      born: [NodeIndex], bornTypes: Histogram, diedTypes: Histogram, isExact: Bool,
      report: any Report
    ) {
      self.born = born
      self.bornTypes = bornTypes
      self.diedTypes = diedTypes
      self.isExact = isExact
      self.report = report
    }
  }

  package var toolName: String
  package var toolVersion: String

  /// The snapshots, oldest first; the last one's graph is shown.
  package var inputs: [ReportInput]
  package var graph: HeapGraph
  package var names: Names
  package var totals: Totals
  package var sizes: RetainedSizes
  package var check: AnalysisCheck

  /// What is alive in each snapshot.
  package var liveTypes: [[String: LiveType]]

  /// Everything that was found, those with the most retained bytes first.
  package var findings: [Finding]
  package var leaks: LeakReport

  /// With two or more snapshots.
  package var change: Change?

  package var summary: SummaryReport
  package var findingsReport: LeaksReport
  package var tasks: TasksReport
  package var taskGroups: [TaskGroup]
  package var actorQueues: [ActorQueue]

  /// The nodes that go into the file, ascending; nil for all.
  package var part: [NodeIndex]?

  /// How many findings and rows the static part shows; nil for all.
  package var limit: Int?

  package init(
    toolName: String, toolVersion: String, inputs: [ReportInput], graph: HeapGraph, names: Names,
    totals: Totals, sizes: RetainedSizes, check: AnalysisCheck, liveTypes: [[String: LiveType]],
    findings: [Finding], leaks: LeakReport, change: Change?, summary: SummaryReport,
    findingsReport: LeaksReport, tasks: TasksReport, taskGroups: [TaskGroup],
    actorQueues: [ActorQueue], part: [NodeIndex]?, limit: Int?
  ) {
    self.toolName = toolName
    self.toolVersion = toolVersion
    self.inputs = inputs
    self.graph = graph
    self.names = names
    self.totals = totals
    self.sizes = sizes
    self.check = check
    self.liveTypes = liveTypes
    self.findings = findings
    self.leaks = leaks
    self.change = change
    self.summary = summary
    self.findingsReport = findingsReport
    self.tasks = tasks
    self.taskGroups = taskGroups
    self.actorQueues = actorQueues
    self.part = part
    self.limit = limit
  }
}
