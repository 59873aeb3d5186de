// RunRecord: what is kept of a run when its snapshots are gone: a line for the run, and one for each finding.

internal import GraphAnalysis
internal import GraphPrimitives
internal import GraphReport
internal import HeapGraph
internal import SnapshotFormat

/// The lines that are kept of a run; `docs/fleet.md` and `docs/record.schema.json` say what is in them.
struct RunRecord {
  /// The name of the schema that each line keeps to.
  static let schema = "memory-graph/record/1"

  /// Names the run: when it was, and a number made of all that is recorded and of what tells one process from another.
  /// The same snapshots recorded again with the same facts have the same name.
  let name: String

  /// The day of the run, by which a folder of records is divided.
  let day: String

  /// How many findings there are.
  let findingCount: Int

  /// The kinds of the findings, as JSON has them.
  let kinds: Set<String>

  /// The lines, each ended by a newline: the run, then its findings by what they retain.
  let text: String

  /// Makes the record of a run.
  ///
  /// - Parameters:
  ///   - inputs: Its snapshots, oldest first.
  ///   - findings: What leaked in the last one.
  ///   - growth: What keeps growing over the snapshots; nil for one alone.
  init(
    _ facts: RunFacts, time: UTCTime, inputs: [ReportInput], totals: Totals,
    findings: [VerifyReport.Row], growth: [Growth]?
  ) {
    let entries = Self.entries(of: findings, growth: growth)
    let program =
      inputs.last.map { $0.snapshot.process.executable.split(separator: "/").last.map(String.init) }
      ?? nil
    func common(_ line: String, run: String) -> [JSONValue.Member] {
      let members: KeyValuePairs<String, JSONValue?> = [
        "schema": .string(Self.schema), "line": .string(line), "run": .string(run),
        "time": .string(time.text), "commit": facts.commit.map { .string($0) },
        "host": facts.host.map { .string($0) }, "test": facts.test.map { .string($0) },
        "program": program.map { .string($0) }, "tool": .string(toolVersion),
      ]
      return members.compactMap { name, value in value.map { JSONValue.Member(name, $0) } }
    }
    let leaked = totals.leaked.total
    let live = totals.live.total
    let run: KeyValuePairs<String, Int> = [
      "marks": inputs.count, "findings": entries.count, "liveObjects": live.count,
      "liveBytes": Int(live.bytes.rawValue), "leakedObjects": leaked.count,
      "leakedBytes": Int(leaked.bytes.rawValue),
    ]
    let runMembers = run.map { JSONValue.Member($0, .integer($1)) }
    func lines(run: String) -> String {
      let values =
        [JSONValue.object(common("run", run: run) + runMembers)]
        + entries.map { .object(common("finding", run: run) + $0.members) }
      return values.map { $0.line + "\n" }.joined()
    }
    let digits = fingerprint(of: [lines(run: "")] + inputs.flatMap { Self.origin(of: $0.snapshot) })
    name = time.compactText + "-" + digits
    day = time.day
    findingCount = entries.count
    kinds = Set(entries.map(\.kind))
    text = lines(run: name)
  }

  /// What tells one process and moment from another.
  private static func origin(of snapshot: Snapshot) -> [String] {
    let process = snapshot.process
    return [
      String(process.runIdentity), String(process.pid), process.executable, process.mark,
      String(snapshot.nodes.count), String(snapshot.edges.count),
    ] + snapshot.marks.map { String($0.time) }
      + process.memory.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
  }

  /// A place that keeps growing.
  struct Growth {
    var row: VerifyReport.Row

    /// How many more objects, and bytes of them, there are in the last snapshot than in the first.
    var increase: Cost
  }

  /// A finding's line.
  private struct Entry {
    var row: VerifyReport.Row
    var retainedBytes: Int

    /// nil where there is but one snapshot.
    var growth: Cost?

    var kind: String { row.kind }

    var members: [JSONValue.Member] {
      let cut = row.json["cut"]
      let members: KeyValuePairs<String, JSONValue?> = [
        "fingerprint": .string(row.fingerprint), "kind": .string(row.kind),
        "type": .string(row.type), "module": row.json["module"], "count": .integer(row.cost.count),
        "bytes": .integer(Int(row.cost.bytes.rawValue)), "retainedBytes": .integer(retainedBytes),
        "growth": growth.map { .integer($0.count) },
        "growthBytes": growth.map { .integer(Int($0.bytes.rawValue)) },
        "cut": cut?["edge"], "advice": cut?["advice"],
        "place": row.reported.place.map { place in
          // The folder differs from machine to machine.
          .string("\(place.file.split(separator: "/").last ?? ""):\(place.line)")
        },
      ]
      return members.compactMap { name, value in value.map { JSONValue.Member(name, $0) } }
    }
  }

  /// One entry a fingerprint: those with the same one have one cause.
  private static func entries(of findings: [VerifyReport.Row], growth: [Growth]?) -> [Entry] {
    var entries: [Entry] = []
    var placeByFingerprint: [String: Int] = [:]
    for row in findings {
      let retained = row.json["retainedBytes"]?.integer ?? 0
      if let place = placeByFingerprint[row.fingerprint] {
        entries[place].row.cost += row.cost
        entries[place].retainedBytes += retained
      } else {
        placeByFingerprint[row.fingerprint] = entries.count
        entries.append(
          Entry(row: row, retainedBytes: retained, growth: growth == nil ? nil : .zero))
      }
    }
    for place in growth ?? [] {
      let row = place.row
      if let known = placeByFingerprint[row.fingerprint] {
        entries[known].growth = (entries[known].growth ?? .zero) + place.increase
      } else {
        placeByFingerprint[row.fingerprint] = entries.count
        entries.append(
          Entry(
            row: row, retainedBytes: row.json["retainedBytes"]?.integer ?? 0,
            growth: place.increase))
      }
    }
    return entries.sorted {
      $0.retainedBytes != $1.retainedBytes
        ? $0.retainedBytes > $1.retainedBytes : $0.row.fingerprint < $1.row.fingerprint
    }
  }
}
