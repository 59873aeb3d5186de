// Tests of `memgraph view`: what is in the file equals the snapshot and the analysis, and no name becomes markup.

import Foundation
import GoldenFiles
import GraphPrimitives
import GraphReport
import ReportSchema
import SnapshotDSL
import SnapshotFormat
import Testing

@testable import Commands

@Suite struct ViewTests {
  // MARK: - The static part

  @Test(
    "The part without scripts is as it was last found right",
    arguments: [
      ("view", ["call-3.mgraph"]), ("view-two", ["call-1.mgraph", "call-3.mgraph"]),
      ("view-staircase", ["call-1.mgraph", "call-2.mgraph", "call-3.mgraph"]),
      ("view-clean", ["clean.mgraph"]), ("view-tasks", ["waiting.mgraph"]),
      ("view-part", ["call-3.mgraph", "--embed", "leaks", "--limit", "2"]),
    ])
  func staticPart(_ name: String, _ words: [String]) throws {
    let clinic = try Clinic()
    defer { clinic.remove() }
    let call = clinic.call(["view"] + words)
    #expect(call.status == .nothingFound && call.errors.isEmpty)
    #expect(call.output == clinic.call(["view"] + words).output, "the same bytes each time")
    let file = try ViewerFile(call.output)
    try expectGolden("\(file.title)\n\(file.staticPart)\n", named: name + ".html")
    let ids = file.staticPart.matches(of: /id="([^"]*)"/).map { String($0.1) }
    #expect(Set(ids).count == ids.count, "an id stands once")
    #expect(
      call.output.firstRange(of: "</main>")!.lowerBound
        < call.output.firstRange(of: "class=\"data\">")!.lowerBound)
  }

  @Test("Findings have the JSON of reports and the rows of their nodes")
  func findings() throws {
    let clinic = try Clinic()
    defer { clinic.remove() }
    let file = try clinic.view(["call-3.mgraph"])
    let report = try JSON(
      parsing: clinic.call(["leaks", "call-3.mgraph", "--format", "json"]).output)
    let (found, wanted) = (file.summary["findings"].elements, report["findings"].elements)
    try #require(found.count == wanted.count && found.count == 4)
    let addresses = file.addresses
    let edges = file.edges
    for (finding, wanted) in zip(found, wanted) {
      guard case .object(var members) = finding else { throw ViewTestError.shape }
      let graph = members.removeValue(forKey: "graph") ?? .null
      #expect(JSON.object(members) == wanted)
      let rows = graph["members"].elements.compactMap(\.integer)
      #expect(rows.count == wanted["count"].integer && graph["memberCount"].integer == rows.count)
      #expect(
        rows.prefix(3).map { "0x" + String(addresses[$0], radix: 16) }
          == wanted["addresses"].elements.compactMap(\.string))
      let steps = graph["cycle"].elements
      for (place, step) in steps.enumerated() {
        var at = step["node"].integer
        for row in step["edges"].elements.compactMap(\.integer) {
          #expect(edges[row].source == at)
          at = edges[row].target
        }
        #expect(at == steps[(place + 1) % steps.count]["node"].integer)
      }
      for cut in graph["cuts"].elements where wanted["cycle"] != .null {
        #expect(steps.contains(cut), "what is cut is a step of the cycle")
      }
    }
    #expect(file.summary["answer"].string?.hasPrefix("24 leaked objects") == true)
    #expect(file.summary["growth"] == .null)
  }

  // MARK: - The data

  @Test("Every node, edge, root and stack of a random heap is in the data", arguments: 0..<40)
  func isWhole(_ seed: Int) throws {
    let snapshot = ViewHeap.make(seed: UInt64(seed)).snapshot()
    let file = try view(snapshot)
    let nodes = snapshot.nodes
    try #require(file.nodeCount == nodes.count && file.summary["nodes"].integer == nodes.count)
    #expect(file.addresses == nodes.address.map { Int($0) })
    #expect(file["node.bytes"] == nodes.size.map { Int($0) })
    #expect(file["node.kind"] == nodes.kind.map { Int($0) })
    #expect(file["node.flags"].map { $0 & 3 } == nodes.state.map { Int($0) })
    #expect(file["node.generation"] == nodes.generation.map { Int($0) })
    #expect(
      file["node.strong"] == nodes.strongCount.map { $0 == UInt32.max ? 0 : Int($0) + 1 })
    #expect(file["node.weak"] == nodes.weakCount.map { Int($0) })
    for node in 0..<nodes.count {
      let type = Names.sourceSpelling(
        of: snapshot.strings[snapshot.types.name[Int(nodes.type[node])]])
      let registered = snapshot.nodeNames[NodeIndex(node)].map { snapshot.strings[$0] }
      #expect(file.reportName(of: node) == registered ?? type)
      if nodes.kind[node] != NodeKind.closureContext.rawValue {
        #expect(file.typeName(of: node) == registered ?? type)
      }
      var pcs: [String] = []
      var row = Int(nodes.stack[node])
      while row != 0 {
        pcs.append("0x" + String(snapshot.stacks.pc[row], radix: 16))
        row = Int(snapshot.stacks.parent[row])
      }
      #expect(file.functions(ofStack: file["node.stack"][node]) == pcs)
    }
    let edges = file.edges
    try #require(edges.count == snapshot.edges.count)
    for edge in edges {
      let rows =
        snapshot.edges.firstEdge[edge.source]..<snapshot.edges.firstEdge[edge.source + 1]
      #expect(rows.contains(UInt32(edge.row)))
      #expect(edge.target == Int(snapshot.edges.target[edge.row]))
      #expect(edge.info == Int(snapshot.edges.info[edge.row]))
      let label = Int(snapshot.edges.label[edge.row])
      if !snapshot.isCapture(label: label), snapshot.labels.function[label] == 0 {
        #expect(edge.label == ViewHeap.text(ofLabel: label, in: snapshot))
      }
    }
    #expect(file["root.target"] == snapshot.roots.target.map { Int($0) })
    #expect(file["root.kind"] == snapshot.roots.kind.map { Int($0) })
  }

  @Test(
    "Retained sizes and cycles by the document's rules are those of the check", arguments: 0..<60)
  func check(_ seed: Int) throws {
    let file = try view(ViewHeap.make(seed: UInt64(seed) + 1_000).snapshot())
    let oracle = ViewOracle(file)
    let check = file.summary["check"]
    #expect(check["retainedBytesSum"].integer == oracle.retainedBytes.reduce(0, +))
    #expect(check["retainedCountSum"].integer == oracle.retainedCounts.reduce(0, +))
    let cycles = oracle.cyclicComponents
    #expect(check["cyclicComponents"].integer == cycles.count)
    #expect(check["largestComponent"].integer == cycles.map(\.count).max() ?? 0)
    // What is called leaked is not reached, and what is reached is not called so.
    for node in 0..<file.nodeCount where file["node.flags"][node] & 4 != 0 {
      #expect(!oracle.isReached[node])
    }
  }

  @Test("A part has the findings, and the whole graph's retained sizes", arguments: 0..<40)
  func part(_ seed: Int) throws {
    let snapshot = ViewHeap.make(seed: UInt64(seed) + 2_000).snapshot()
    let whole = try view(snapshot)
    let part = try view(snapshot, ["--embed", "leaks"])
    #expect(part.summary["embed"].string == "leaks" && part.summary["check"] == .null)
    let oracle = ViewOracle(whole)
    let rowInWhole = Dictionary(
      uniqueKeysWithValues: whole.addresses.enumerated().map { ($0.element, $0.offset) })
    let rows = try part.addresses.map { try #require(rowInWhole[$0]) }
    #expect(part["node.retainedBytes"] == rows.map { oracle.retainedBytes[$0] })
    #expect(part["node.retainedCount"] == rows.map { oracle.retainedCounts[$0] })
    let kept = Set(rows)
    for node in 0..<whole.nodeCount where whole["node.flags"][node] & 4 != 0 {
      #expect(kept.contains(node), "all that is leaked is there")
    }
    // Every edge between two nodes of the part, and no other.
    let edges = whole.edges.filter { kept.contains($0.source) && kept.contains($0.target) }
    #expect(
      part.edges.map { [rows[$0.source], rows[$0.target]] } == edges.map { [$0.source, $0.target] })
    #expect(part.edges.map(\.label) == edges.map(\.label))
    for (row, gap) in part["node.dominator"].enumerated() where gap != 0 {
      #expect(oracle.dominates(rows[row - gap], rows[row]))
    }
    let findings = zip(part.summary["findings"].elements, whole.summary["findings"].elements)
    for (finding, wanted) in findings {
      #expect(
        finding["graph"]["members"].elements.compactMap(\.integer).map { rows[$0] }
          == wanted["graph"]["members"].elements.compactMap(\.integer))
      #expect(finding["retainedBytes"] == wanted["retainedBytes"])
    }
  }

  @Test("What is born, died and alive by type is what diff and summary say")
  func byType() throws {
    let clinic = try Clinic()
    defer { clinic.remove() }
    let names = ["call-1.mgraph", "call-2.mgraph", "call-3.mgraph"]
    let file = try clinic.view(names)
    let report = try JSON(parsing: clinic.call(["diff"] + names + ["--format", "json"]).output)
    for (row, string) in file["report.name"].enumerated() {
      let name = file.strings[string]
      for (column, member) in [
        ("born", report["born"]), ("died", report["died"]), ("leaked", report["totals"]["leaked"]),
      ] {
        let cost = member["byType"][name]
        #expect(file["report.\(column)Count"][row] == cost["count"].integer ?? 0, "\(name)")
        #expect(file["report.\(column)Bytes"][row] == cost["bytes"].integer ?? 0, "\(name)")
      }
      for (place, snapshot) in names.enumerated() {
        let live = try JSON(
          parsing: clinic.call(["summary", snapshot, "--format", "json"]).output)[
            "types"]["byType"][name]
        #expect(file["report.count"][row * 3 + place] == live["count"].integer ?? 0, "\(name)")
        #expect(file["report.bytes"][row * 3 + place] == live["bytes"].integer ?? 0, "\(name)")
      }
    }
    let born = file["node.flags"].count { $0 & 8 != 0 }
    #expect(born == report["born"]["count"].integer)
    #expect(file.summary["growth"].string?.contains("a mark") == true)
    #expect(file.summary["snapshots"].elements.count == 3)
  }

  @Test("Each node's generation has a row with its number, and the name and cost of summary")
  func generations() throws {
    let clinic = try Clinic()
    defer { clinic.remove() }
    let file = try clinic.view(["call-3.mgraph"])
    let rows = file.summary["generations"].elements
    #expect(Set(rows.compactMap { $0["generation"].integer }) == Set(file["node.generation"]))
    let told = try JSON(
      parsing: clinic.call(["summary", "call-3.mgraph", "--format", "json"]).output)[
        "generations"
      ].elements
    try #require(rows.count == told.count && rows.count > 1)
    for (row, wanted) in zip(rows, told) {
      for member in ["name", "count", "bytes"] { #expect(row[member] == wanted[member]) }
    }
  }

  @Test("Tasks name their rows, closures their functions and captures")
  func names() throws {
    let clinic = try Clinic()
    defer { clinic.remove() }
    let waiting = try clinic.view(["waiting.mgraph"])
    for group in waiting.summary["tasks"].elements {
      let rows = group["rows"].elements.compactMap(\.integer)
      #expect(
        rows.map { waiting["task.id"][$0] } == group["ids"].elements.compactMap(\.integer))
      #expect(!rows.isEmpty)
    }
    let child = try #require(waiting["task.parent"].first { $0 != 0 })
    #expect(waiting["task.id"][child - 1] == 42)
    #expect(waiting.edges.contains { $0.label == "frame of App.Poller.poll()" })
    let actor = waiting.summary["actors"][0]
    #expect(waiting.typeName(of: try #require(actor["node"].integer)) == "App.Dock")

    let file = try clinic.view(["call-3.mgraph"])
    let capture = try #require(file.edges.first { $0.label == "self" })
    #expect(
      file.typeName(of: capture.source) == "closure #1 in App.CallViewController.viewDidLoad()")
    #expect(file.reportName(of: capture.source) == "closure context")
    let tap = try #require(file.edges.first { $0.label == "onBuffer" })
    #expect(tap.via == "method App.SampleTap.handle(_:in:)")
    #expect(file["frame.flags"].contains { $0 & 1 != 0 }, "inlined frames are marked")
  }

  // MARK: - Bad input

  static let hostileNames = [
    "App.</script><script>alert(1)</script>", "App.<!--<img src=x onerror=alert(1)>",
    "App.שלום", "App.\u{202E}evil\u{202C}", "App.🧨", "App.\"'&amp;", "App.\u{0}\u{1B}[31m",
    "App." + String(repeating: "LongName", count: 512), "App.\u{2028}\u{2029}",
  ]

  @Test("A name is text, whatever is in it", arguments: hostileNames)
  func hostile(_ name: String) throws {
    var heap = SnapshotDSL()
    let first = heap.object(name, generation: 0)
    let second = heap.object(name + "2", generation: 1)
    heap.edge(first, name, to: second)
    heap.edge(second, name, to: first)
    let held = heap.node(.object, name, bytes: 48, generation: 0, name: name)
    heap.root(.declared, to: held, label: name)
    heap.mark(name, generation: 1)
    heap.builder.process.executable = "/app/" + name
    heap.builder.note(name)
    heap.builder.process.memory = [name: 7]
    let html = try self.html(heap.snapshot())
    let file = try ViewerFile(html)
    #expect(file.strings.contains(name) && file.typeName(of: 0) == name)
    #expect(file.edges[0].label == name)
    for markup in ["<script", "<img", "<!--", "\u{0}", "\u{1B}"] {
      #expect(!file.staticPart.contains(markup))
      #expect(!file.title.contains(markup))
      #expect(!file.summaryText.contains(markup))
    }
    // Beside the page's own elements there is nothing that a name has opened or closed.
    let empty = try self.html(SnapshotDSL().snapshot())
    for element in ["<script", "</script", "<!--", "<main", "</main"] {
      #expect(
        html.ranges(of: element).count - (file.chunkCount * (element.contains("script") ? 1 : 0))
          == empty.ranges(of: element).count - (element.contains("script") ? 1 : 0), "\(element)")
    }
  }

  @Test("A snapshot without anything makes a page")
  func empty() throws {
    let file = try view(SnapshotDSL().snapshot())
    #expect(file.nodeCount == 0)
    #expect(file.summary["check"]["retainedBytesSum"].integer == 0)
  }

  // MARK: - The call

  @Test("The file is written whole, and the answer said")
  func output() throws {
    let clinic = try Clinic()
    defer { clinic.remove() }
    let path = clinic.folder + "/report.html"
    let call = clinic.call(["view", "call-3.mgraph", "-o", path])
    #expect(call.status == .nothingFound && call.errors.isEmpty)
    let html = try String(contentsOfFile: path, encoding: .utf8)
    #expect(call.output.hasPrefix("marks/report.html, "))
    #expect(call.output.contains(" KB: 24 leaked objects in 3 groups"))
    #expect(call.output.split(separator: "\n").count == 1)
    #expect(
      html.replacingOccurrences(of: clinic.folder, with: "marks")
        == clinic.call(["view", "call-3.mgraph"]).output)
    #expect(clinic.call(["view", "call-3.mgraph", "-o", path, "--quiet"]).output.isEmpty)
    #expect(clinic.call(["view", "call-3.mgraph", "--fail-on", "leaks"]).status == .findings)
    #expect(clinic.call(["view", "clean.mgraph", "--fail-on", "any"]).status == .nothingFound)
    let both = ["view", "call-1.mgraph", "call-3.mgraph", "--fail-on", "growth"]
    #expect(clinic.call(both).status == .findings)
  }

  @Test("A disk without room leaves nothing behind")
  func noRoom() throws {
    let clinic = try Clinic()
    defer { clinic.remove() }
    let full = clinic.call(["view", "call-3.mgraph", "-o", "/dev/full"])
    #expect(full.status == .impossible && full.output.isEmpty)
    #expect(
      full.errors == "memgraph: /dev/full: cannot write the report: No space left on device\n")
    let before = try FileManager.default.contentsOfDirectory(atPath: clinic.folder).sorted()
    let nowhere = clinic.call(["view", "call-3.mgraph", "-o", clinic.folder + "/no/report.html"])
    #expect(nowhere.status == .impossible)
    #expect(try FileManager.default.contentsOfDirectory(atPath: clinic.folder).sorted() == before)
  }

  @Test("A terminal gets a sentence, not a page")
  func terminal() throws {
    let clinic = try Clinic()
    defer { clinic.remove() }
    let call = clinic.call(["view", "call-3.mgraph"], columns: 80)
    #expect(call.status == .usage && call.output.isEmpty)
    #expect(
      call.errors
        == "memgraph: view standard output: a page is not for a terminal; give -o report.html\n")
  }

  // MARK: -

  private func html(_ snapshot: Snapshot, _ words: [String] = []) throws -> String {
    let path = FileManager.default.temporaryDirectory
      .appendingPathComponent("view-\(UUID().uuidString).mgraph").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    try snapshot.write(to: path)
    let call = Call(["view", path] + words)
    #expect(call.status == .nothingFound && call.errors.isEmpty, "\(call.errors)")
    return call.output
  }

  private func view(_ snapshot: Snapshot, _ words: [String] = []) throws -> ViewerFile {
    try ViewerFile(html(snapshot, words))
  }
}

private enum ViewTestError: Error {
  case shape
}

extension Clinic {
  /// The file that `memgraph view` makes of some of the snapshots.
  func view(_ words: [String]) throws -> ViewerFile {
    let call = call(["view"] + words)
    #expect(call.status == .nothingFound && call.errors.isEmpty, "\(call.errors)")
    return try ViewerFile(call.output)
  }
}
