// SummaryReport: what is alive, by type, by root, by generation, and where the process's memory is.

package import GraphAnalysis
package import GraphPrimitives
package import SnapshotFormat

/// What a snapshot holds.
package struct SummaryReport: Report {
  /// The objects born between two marks that are still alive.
  package struct GenerationCost: Sendable {
    package var generation: UInt16
    package var cost: Cost

    /// How many samples the cost is estimated from; nil where it is none.
    package var samples: Int?

    package init(generation: UInt16, cost: Cost, samples: Int? = nil) {
      self.generation = generation
      self.cost = cost
      self.samples = samples
    }
  }

  /// How far the references that were found explain the reference counts.
  package struct CountAudit: Sendable {
    /// Objects whose strong count is the number of holders that were found.
    package var exact: Int

    /// Objects with more retains than holders.
    package var unexplained: Int

    /// Objects with more holders than retains: an edge too many.
    package var overCounted: Int

    package init(exact: Int, unexplained: Int, overCounted: Int) {
      self.exact = exact
      self.unexplained = unexplained
      self.overCounted = overCounted
    }
  }

  private let _input: ReportInput
  private let _histogram: Histogram
  private let _totals: Totals
  private let _rootCounts: [(RootKind, Int)]

  /// What is alive of each generation, oldest first; empty without an agent.
  package let generations: [GenerationCost]

  private let _audit: CountAudit
  private let _waste: StorageWaste
  private let _names: Names

  /// Creates a report.
  ///
  /// - Parameters:
  ///   - histogram: The types to show.
  ///   - totals: Everything in the snapshot, filters aside.
  ///   - rootCounts: The number of roots of each kind that occurs.
  ///   - generations: What is alive of each generation, oldest first.
  package init(
    input: ReportInput, histogram: Histogram, totals: Totals, rootCounts: [(RootKind, Int)],
    generations: [GenerationCost], audit: CountAudit, waste: StorageWaste, names: Names
  ) {
    _input = input
    _histogram = histogram
    _totals = totals
    _rootCounts = rootCounts
    self.generations = generations
    _audit = audit
    _waste = waste
    _names = names
  }

  package var findings: [JSONValue] { [] }

  package var members: [JSONValue.Member] {
    let figures = _input.snapshot.process.memory.sorted { $0.key < $1.key }
    return [
      JSONValue.Member("types", _histogram.json),
      JSONValue.Member(
        "roots", .object(_rootCounts.map { JSONValue.Member($0.name, .integer($1)) })),
      JSONValue.Member(
        "generations",
        .array(
          generations.map { entry in
            .members([
              "name": .string(name(of: entry)), "count": .integer(entry.cost.count),
              "bytes": .integer(Int(entry.cost.bytes.rawValue)),
              "estimated": entry.samples == nil ? nil : .bool(true),
              "samples": entry.samples.map { .integer($0) },
            ])
          })),
      JSONValue.Member(
        "memory",
        .object(figures.map { JSONValue.Member($0.key, .integer(Int(clamping: $0.value))) })),
      JSONValue.Member(
        "referenceCounts",
        .members([
          "exact": .integer(_audit.exact), "unexplained": .integer(_audit.unexplained),
          "overCounted": .integer(_audit.overCounted),
        ])),
      JSONValue.Member("storage", StorageText(_waste, names: _names).json),
    ]
  }

  private func name(of entry: GenerationCost) -> String {
    _names.generation(entry.generation) ?? "all"
  }

  package func document(limit: Int?) -> Document {
    let sampling = _input.snapshot.sampling
    var document = Document(answer: answer)
    if let verdict = memoryText.verdict { document.blocks.append(.paragraph(verdict)) }
    if let sampling {
      document.blocks.append(
        .paragraph(
          Line(
            "Allocations were sampled, one each \(Units.bytes(ByteCount(Int64(clamping: sampling.interval)))): of "
              + "\(Units.count(sampling.node.count, "object")) it is known when and where they were made. "
              + "Objects, holders and leaks are all here.")))
    }
    document.blocks.append(.heading("Types"))
    document.blocks.append(.table(Document.table(of: _histogram, limit: limit)))
    if !_rootCounts.isEmpty {
      document.blocks.append(.heading("Roots"))
      document.blocks.append(
        .table(
          Document.Table(
            columns: [.init("count", .right), .init("kind")],
            rows: _rootCounts.map { [Line(Units.number($1)), Line($0.name)] })))
    }
    if generations.count > 1 || (sampling != nil && !generations.isEmpty) {
      let shown = generations.suffix(limit ?? generations.count)
      document.blocks.append(
        .heading(
          "Generations: born in, still alive"
            + (sampling == nil ? "" : ", estimated from samples")))
      let samples = sampling == nil ? [] : [Document.Table.Column("samples", .right)]
      document.blocks.append(
        .table(
          Document.Table(
            columns: [.init("count", .right), .init("bytes", .right)] + samples
              + [.init("generation")],
            rows: shown.map { entry in
              let sign = sampling == nil ? "" : "~"
              return [
                Line(sign + Units.number(entry.cost.count)),
                Line(sign + Units.bytes(entry.cost.bytes)),
              ] + (entry.samples.map { [Line(Units.number($0))] } ?? [])
                + [Line(name(of: entry))]
            },
            omitted: generations.count - shown.count)))
    }
    document.blocks += StorageText(_waste, names: _names).blocks(limit: limit)
    document.blocks += memory
    document.blocks.append(.heading("Reference counts"))
    document.blocks.append(.paragraph(Line(auditText)))
    document.blocks += DiagnosticsText.list(_input.snapshot)
    return document
  }

  private var answer: Line {
    let process = _input.snapshot.process
    let file = process.executable.split(separator: "/").last.map(String.init) ?? process.executable
    let mark = process.mark.isEmpty ? "" : " at mark \(process.mark)"
    let live = _totals.live.total
    let leaked = _totals.leaked.total
    let line = Line(
      "\(file), process \(process.pid)\(mark): \(Units.count(live.count, "live object")),"
        + " \(Units.bytes(live.bytes)); ")
    return line
      + (leaked.count == 0
        ? Line("none leaked", .good)
        : Line("\(Units.number(leaked.count)) leaked, \(Units.bytes(leaked.bytes))", .bad))
  }

  private var auditText: String {
    let counted = _audit.exact + _audit.unexplained + _audit.overCounted
    var text =
      "\(Units.number(_audit.exact)) of \(Units.count(counted, "object"))"
      + " have as many holders as their reference count says"
    if _audit.unexplained > 0 {
      text += "; \(Units.number(_audit.unexplained)) have retains that no holder explains"
    }
    if _audit.overCounted > 0 {
      text += "; \(Units.number(_audit.overCounted)) have more holders than retains"
    }
    return text + "."
  }

  /// What each figure of the process's memory means, in the order in which they are told.
  package static let meanings =
    [(name: "resident", meaning: "in physical memory, everything together")] + MemoryText.meanings

  /// The figures of the process's memory, without the one that is none: how long it stood still.
  private var memoryText: MemoryText {
    var figures = _input.snapshot.process.memory
    figures["pauseNanoseconds"] = nil
    return MemoryText(figures, leaked: _totals.leaked.total.bytes)
  }

  private var memory: [Document.Block] {
    guard let table = memoryText.table else { return [] }
    let still = _input.snapshot.process.memory["pauseNanoseconds"].map {
      Document.Block.paragraph(
        Line("The program stood still for \(Units.milliseconds($0)) while it was copied."))
    }
    return [.heading("Memory of the process"), .table(table)] + (still.map { [$0] } ?? [])
  }
}
