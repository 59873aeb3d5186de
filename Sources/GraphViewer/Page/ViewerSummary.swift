// ViewerSummary: what the page shows before it has inflated anything. docs/viewer-format.md has the members.

internal import GraphAnalysis
internal import GraphPrimitives
internal import GraphReport
internal import HeapGraph
internal import SnapshotFormat

/// What the page shows before it has inflated anything, and what it needs to inflate.
struct ViewerSummary {
  /// The version of the format; its number is the major one.
  static let format = "memory-graph/view/1"

  /// How the payload was made smaller.
  struct Payload {
    var encoding: String
    var byteCount: Int
    var rawByteCount: Int
  }

  /// How many members of a finding are named.
  private static let mostMembers = 1_000

  let input: ViewerInput
  let graph: GraphPayload
  let payload: Payload
  let text: ReportTexts

  var json: JSONValue {
    .members([
      "format": .string(Self.format),
      "tool": .members([
        "name": .string(input.toolName), "version": .string(input.toolVersion),
      ]),
      "title": .string(text.title),
      "answer": .string(text.answer.text),
      "growth": text.growth.map { .string($0.text) },
      "payload": .members([
        "encoding": .string(payload.encoding),
        "bytes": .integer(payload.byteCount),
        "rawBytes": .integer(payload.rawByteCount),
        "chunks": .integer(Base64Chunks.count(ofBytes: payload.byteCount)),
      ]),
      "columns": .array(
        graph.columns.map { column in
          .members([
            "name": .string(column.name), "encoding": .string(column.encoding.rawValue),
            "count": .integer(column.count), "bytes": .integer(column.bytes.count),
          ])
        }),
      "nodes": .integer(graph.nodeCount),
      "edges": .integer(graph.edgeCount),
      "embed": .string(input.part == nil ? "all" : "leaks"),
      "snapshots": .array(input.inputs.indices.map(head)),
      "generations": .array(generations),
      "totals": .members([
        "live": input.totals.live.total.json, "leaked": input.totals.leaked.total.json,
      ]),
      "findings": .array(findings),
      "tasks": .array(tasks),
      "actors": .array(actors),
      "memory": .array(memory),
      "referenceCounts": member("referenceCounts", of: input.summary),
      "diagnostics": snapshot.diagnostics.json,
      "symbolGaps": input.names.symbolDiagnostics.json,
      "limits": .array(text.limits.map { .string($0) }),
      "check": input.part == nil ? check : nil,
    ])
  }

  private var snapshot: Snapshot { input.graph.snapshot }

  private var check: JSONValue {
    .members([
      "retainedBytesSum": .integer(Int(input.check.retainedBytesSum)),
      "retainedCountSum": .integer(Int(input.check.retainedCountSum)),
      "cyclicComponents": .integer(input.check.cyclicComponents),
      "largestComponent": .integer(input.check.largestComponent),
    ])
  }

  private func member(_ name: String, of report: some Report) -> JSONValue? {
    report.members.first { $0.name == name }?.value
  }

  /// As the summary tells them, with the number by which the nodes name theirs.
  private var generations: [JSONValue] {
    input.summary.generations.map { entry in
      .members([
        "generation": .integer(Int(entry.generation)),
        "name": .string(input.names.generation(entry.generation) ?? "all"),
        "count": .integer(entry.cost.count),
        "bytes": .integer(Int(entry.cost.bytes.rawValue)),
        "estimated": entry.samples == nil ? nil : .bool(true),
        "samples": entry.samples.map { .integer($0) },
      ])
    }
  }

  // MARK: - Snapshots

  private func head(_ place: Int) -> JSONValue {
    let input = self.input.inputs[place]
    let process = input.snapshot.process
    let live = self.input.liveTypes[place].values.reduce(Cost.zero) { $0 + $1.cost }
    return .members([
      "path": .string(input.path),
      "title": .string(input.title),
      "process": .integer(Int(process.pid)),
      "executable": .string(process.executable),
      "mark": .string(process.mark),
      "source": .string(process.source),
      "hasAgent": .bool(process.hasAgent),
      "isPartial": .bool(process.isPartial),
      "stackMode": .string(process.stackMode),
      "objects": .integer(input.snapshot.nodes.count),
      "references": .integer(input.snapshot.edges.count),
      "live": live.json,
      "leaked": place == self.input.inputs.count - 1 ? self.input.totals.leaked.total.json : nil,
      "marks": .array(
        input.snapshot.marks.map { mark in
          .members([
            "name": .string(mark.name), "generation": .integer(Int(mark.generation)),
            "nanoseconds": .integer(Int(clamping: mark.time)),
          ])
        }),
    ])
  }

  private var memory: [JSONValue] {
    let figures = snapshot.process.memory
    let known = SummaryReport.meanings.filter { figures[$0.name] != nil }
    let meanings = Dictionary(uniqueKeysWithValues: known.map { ($0.name, $0.meaning) })
    let others = figures.keys.filter { meanings[$0] == nil }.sorted()
    return (known.map(\.name) + others).map { name in
      .members([
        "name": .string(name), "bytes": .integer(Int(clamping: figures[name] ?? 0)),
        "meaning": meanings[name].map { .string($0) },
      ])
    }
  }

  // MARK: - Findings

  private var findings: [JSONValue] {
    zip(input.findings, input.findingsReport.findings).map { finding, json in
      guard case .object(let members) = json else { return json }
      return .object(members + [JSONValue.Member("graph", rows(of: finding))])
    }
  }

  private func rows(of finding: Finding) -> JSONValue {
    let cut = finding.cuts.first.map { [$0.step] + $0.together.map(\.step) } ?? []
    return .members([
      "representative": graph.row(of: finding.representative).map { .integer($0) },
      "members": .array(
        finding.members.prefix(Self.mostMembers).compactMap { graph.row(of: $0) }.map {
          .integer($0)
        }),
      "memberCount": .integer(finding.members.count),
      "cycle": finding.cycle.isEmpty ? nil : .array(finding.cycle.map(rows)),
      "path": finding.path.map { path in
        .members([
          "root": graph.row(of: path.root).map { .integer($0) },
          "steps": .array(path.steps.map(rows)),
          "target": graph.row(of: path.target).map { .integer($0) },
        ])
      },
      "cuts": .array(cut.map(rows)),
    ])
  }

  private func rows(of step: ReferenceStep) -> JSONValue {
    .members([
      "node": graph.row(of: step.node).map { .integer($0) },
      "edges": .array(step.edges.compactMap { graph.row(of: $0) }.map { .integer($0) }),
    ])
  }

  // MARK: - Tasks

  private var tasks: [JSONValue] {
    guard case .array(let groups)? = member("tasks", of: input.tasks) else { return [] }
    let rowByTask = graph.rowByTask(of: input)
    return zip(groups, input.taskGroups).map { json, group in
      guard case .object(let members) = json else { return json }
      let rows = group.tasks.compactMap { rowByTask[$0] }.map { JSONValue.integer($0) }
      return .object(members + [JSONValue.Member("rows", .array(rows))])
    }
  }

  private var actors: [JSONValue] {
    guard case .array(let queues)? = member("actors", of: input.tasks) else { return [] }
    return zip(queues, input.actorQueues).map { json, queue in
      guard case .object(let members) = json, let row = graph.row(of: queue.actor) else {
        return json
      }
      return .object(members + [JSONValue.Member("node", .integer(row))])
    }
  }
}
