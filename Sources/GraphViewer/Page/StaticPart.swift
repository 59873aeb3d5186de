// StaticPart: the report as plain HTML, for readers whose host allows neither scripts nor styles.

internal import GraphAnalysis
internal import GraphPrimitives
internal import GraphReport
internal import HeapGraph
internal import SnapshotFormat

/// The report as plain HTML.
struct StaticPart {
  let input: ViewerInput
  let text: ReportTexts

  /// The elements that stand in the page's `main`.
  var html: String {
    var html = "<main id=\"static\">\n<header><h1>\(HTMLRenderer.render(text.answer))</h1>\n"
    if let growth = text.growth {
      html += "<p class=\"growth\">\(HTMLRenderer.render(growth))</p>\n"
    }
    html += "<p class=\"source\">\(HTMLRenderer.escaped(origin))</p></header>\n"
    html += section("findings", "Findings", findings)
    let rest = SummaryParts(input.summary.document(limit: input.limit).blocks)
    let growth = (input.change.map { growthBlocks(of: $0.report) } ?? []) + rest.growth
    html += section(
      "growth", input.change == nil ? "What was born when" : "What grew",
      HTMLRenderer.render(growth, level: 3))
    html += section("types", "What is alive", HTMLRenderer.render(rest.types, level: 3))
    html += section("memory", "Memory of the process", HTMLRenderer.render(rest.memory, level: 3))
    html += section(
      "capture", "How the snapshot was taken",
      HTMLRenderer.render(taken + rest.capture, level: 3))
    return html + "</main>\n"
  }

  private func section(_ name: String, _ heading: String, _ content: String) -> String {
    if content.isEmpty { return "" }
    return
      "<section id=\"\(name)\">\n<h2>\(HTMLRenderer.escaped(heading))</h2>\n\(content)</section>\n"
  }

  /// What the file is of, in a line.
  private var origin: String {
    let process = input.graph.snapshot.process
    let names = input.inputs.map(\.title)
    let shown = names.count > 6 ? names.prefix(3) + ["…"] + names.suffix(2) : names[...]
    let program = text.program.isEmpty ? "" : " of " + text.program
    return "Process \(process.pid)\(program); "
      + "\(Units.count(names.count, "snapshot")): \(shown.joined(separator: ", ")). "
      + "Written by \(input.toolName) \(input.toolVersion)."
  }

  /// The findings as a list, and what is said below it.
  private var findings: String {
    let blocks = input.findingsReport.document(limit: input.limit).blocks
    var items = ""
    var notes: [Document.Block] = []
    var place = 0
    for block in blocks {
      guard case .item(var item) = block else {
        notes.append(block)
        continue
      }
      // The list counts by itself.
      item.number = nil
      let kind = input.findings[place].kind.name
      place += 1
      items +=
        "<li class=\"finding \(kind)\" id=\"finding-\(place)\">\n"
        + HTMLRenderer.content(of: item, level: 3) + "</li>\n"
    }
    let list =
      items.isEmpty ? "<p>Nothing was found.</p>\n" : "<ol class=\"findings\">\n\(items)</ol>\n"
    return list + HTMLRenderer.render(notes, level: 3)
  }

  /// What a comparison shows before its findings, which stand among the others.
  private func growthBlocks(of report: any Report) -> [Document.Block] {
    let blocks = report.document(limit: input.limit).blocks
    return Array(
      blocks.prefix {
        if case .heading = $0 { return false }
        return true
      })
  }

  private var taken: [Document.Block] {
    let snapshot = input.graph.snapshot
    let process = snapshot.process
    let source =
      switch process.source {
      case "twin": "a copy of the process, made at a mark"
      case "pid": "the process, stopped for a moment"
      case "core": "a core file"
      default: process.source
      }
    var facts: [(String, Line)] = [
      ("program", Line(process.executable, .code)),
      ("process", Line("\(process.pid)")),
      ("read from", Line(source)),
      ("agent", Line(process.hasAgent ? "yes, stacks: \(process.stackMode)" : "no")),
      ("objects", Line(Units.number(snapshot.nodes.count))),
      ("references", Line(Units.number(snapshot.edges.count))),
      ("roots", Line(Units.number(snapshot.roots.count))),
    ]
    if !snapshot.marks.isEmpty {
      let names = snapshot.marks.map(\.name)
      let shown = names.count > 12 ? names.prefix(6) + ["…"] + names.suffix(5) : names[...]
      facts.append(("marks", Line("\(names.count): " + shown.joined(separator: ", "))))
    }
    var blocks: [Document.Block] = [
      .table(
        Document.Table(
          columns: [.init("what"), .init("value")], rows: facts.map { [Line($0.0), $0.1] }))
    ]
    let gaps = input.names.symbolDiagnostics
    if !text.limits.isEmpty || !gaps.isEmpty {
      blocks.append(.heading("What is not known"))
      blocks += text.limits.map { .paragraph(Line($0)) }
      blocks += gaps.map { .paragraph(Line("\($0.text) (\(Units.count($0.count, "time")))")) }
    }
    return blocks
  }
}

/// The blocks of a summary by the section of the page that they belong to.
private struct SummaryParts {
  private(set) var growth: [Document.Block] = []
  private(set) var types: [Document.Block] = []
  private(set) var memory: [Document.Block] = []
  private(set) var capture: [Document.Block] = []

  init(_ blocks: [Document.Block]) {
    var place = \Self.types
    for block in blocks {
      if case .heading(let heading) = block {
        // A heading that is not known here goes with the types, so that nothing is lost.
        switch heading.prefix(while: { $0 != " " && $0 != ":" }) {
        case "Generations": place = \.growth
        case "Memory": place = \.memory
        case "Reference", "What": place = \.capture
        default: place = \.types
        }
        // The section's own heading says it already.
        if place == \.memory { continue }
      }
      self[keyPath: place].append(block)
    }
  }
}
