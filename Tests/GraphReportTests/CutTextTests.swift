// CutTextTests: the line of a report that says what to cut, where there is more than one edge or more than one finding.

import GraphAnalysis
import GraphPrimitives
import HeapGraph
import SnapshotDSL
import SnapshotFormat
import Symbolication
import Testing

@testable import GraphReport

@Suite struct CutTextTests {
  private static func texts(_ heap: SnapshotDSL) throws -> [FindingText] {
    let snapshot = heap.snapshot()
    let names = Names(snapshot, symbols: NoSymbols())
    return FindingText.related(
      try leaks(in: HeapGraph(snapshot)).findings.map { FindingText(finding: $0, names: names) })
  }

  private static func details(_ text: FindingText, _ name: String) -> [String] {
    text.item(number: nil).details.filter { $0.name == name }.map { detail in
      detail.chain.map(\.text).joined()
    }
  }

  /// Objects that hold each other in several ways.
  private static func clique(_ types: [String]) -> SnapshotDSL {
    var heap = SnapshotDSL()
    let nodes = types.map { heap.object($0) }
    for (from, holder) in nodes.enumerated() {
      for (to, held) in nodes.enumerated() where from != to {
        heap.edge(holder, "link\(from)\(to)", to: held)
      }
    }
    return heap
  }

  @Test("Two edges stand in one line; more have a line each, and none stands there twice")
  func lines() throws {
    let two = try #require(try Self.texts(Self.clique(["App.A", "App.B"])).first)
    #expect(Self.details(two, "edge").isEmpty)
    let many = try #require(
      try Self.texts(Self.clique(["App.A", "App.B", "App.C", "App.D"])).first)
    let edges = Self.details(many, "edge")
    #expect(edges.count > 2 && Set(edges).count == edges.count)
    #expect(
      Self.details(many, "cut").first?.hasPrefix("these \(edges.count) edges together free 4")
        == true)
    #expect(edges.allSatisfy { !$0.contains(" and ") })
    // Programs have them all.
    guard case .array(let together)? = many.json["cut"]?["together"] else {
      Issue.record("no further edges")
      return
    }
    #expect(together.count == edges.count - 1)
  }

  @Test(
    "An object goes by itself with another finding where that frees it, not where it frees one of the type"
  )
  func goesByItself() throws {
    var heap = SnapshotDSL()
    // Finding 1: a larger leak of the same types.
    for _ in 0..<3 {
      let (node, other) = (heap.object("App.A", bytes: 4_096), heap.object("App.B"))
      heap.edge(node, "next", to: other)
      heap.edge(other, "back", to: node)
    }
    // Another, of objects of App.A alone, which hold each other in two ways.
    let nodes = (0..<3).map { _ in heap.object("App.A") }
    for place in nodes.indices {
      heap.edge(nodes[place], "other", to: nodes[(place + 1) % 3])
      heap.edge(nodes[place], "third", to: nodes[(place + 2) % 3])
    }
    let texts = try Self.texts(heap)
    #expect(texts.count == 2)
    #expect(texts.contains { Self.details($0, "cut").contains { $0.contains("together") } })
    for text in texts {
      #expect(!Self.details(text, "cut").contains { $0.contains("goes by itself") })
    }
  }

  @Test("Closures in one field are told apart where both have to go")
  func sameTitle() throws {
    var heap = SnapshotDSL()
    let screen = heap.object("App.Screen")
    let list = heap.storage()
    heap.edge(screen, "handlers", to: list)
    for (place, function) in [0x40_1000, 0x40_2000].enumerated() {
      heap.edge(list, "[\(place)]", to: screen, function: UInt64(function))
    }
    let text = try #require(try Self.texts(heap).first)
    let line = try #require(Self.details(text, "cut").first)
    guard let first = text.json["cut"]?["edge"]?.string,
      case .array(let others)? = text.json["cut"]?["together"], let second = others.first?.string
    else {
      Issue.record("no two edges")
      return
    }
    #expect(first != second && line.hasPrefix("\(first) and \(second) together free 2 objects"))
  }

  @Test("Of two findings that lean on each other one alone says that it goes with the other")
  func noRing() throws {
    // Each cut has an edge that leaves an object which the other finding is of.
    var heap = SnapshotDSL()
    func tangle(_ own: String, _ other: String, _ last: String) {
      let (a, b, c) = (heap.object(own), heap.object(other), heap.object(last))
      for (from, to, field) in [
        (a, b, "x"), (b, a, "delegate"), (b, c, "y"), (c, b, "owner"), (c, a, "z"), (a, c, "w"),
      ] {
        heap.edge(from, field, to: to)
      }
    }
    tangle("App.A", "App.B", "App.C")
    tangle("App.B", "App.A", "App.D")
    let texts = try Self.texts(heap)
    let leaning = texts.enumerated().flatMap { place, text in
      texts.indices.filter { text.relation.contains("with finding \($0 + 1) mended") }.map {
        [place, $0]
      }
    }
    #expect(!leaning.contains { leaning.contains([$0[1], $0[0]]) })
  }

  @Test("What a cut frees and what would go with the objects are held against each other in words")
  func differences() throws {
    var heap = SnapshotDSL()
    // Two that a retain keeps besides hang on a screen that leaks.
    let screen = heap.object("App.Screen", bytes: 100)
    heap.edge(screen, "owner", to: screen)
    for _ in 0..<2 { heap.edge(screen, "kept", to: heap.object("App.Kept", strongCount: 2)) }
    heap.edge(screen, "model", to: heap.object("App.Model"))
    let text = try #require(try Self.texts(heap).first)
    #expect(
      Self.details(text, "cut").first?.contains(
        "frees 2 objects, 132 bytes, but not 2 of those above, which something else holds, too")
        == true)
    #expect(text.json["cut"]?["staying"]?["count"]?.integer == 2)
  }

  @Test("What is told of many is told of one in the singular")
  func singular() {
    #expect(
      DiagnosticsText.singular("closures whose captures have no description")
        == "closure whose captures have no description")
    #expect(
      DiagnosticsText.singular("types that are nested too deeply")
        == "type that is nested too deeply")
  }

  @Test(
    "A task of an optimized program is made where its closure stands, if the stack says main alone")
  func madeInMain() {
    func frame(_ function: String, _ file: String? = nil) -> SourceFrame {
      SourceFrame(
        function: function, file: file, line: file.map { _ in 7 }, module: "App", isInlined: false)
    }
    let frames = [frame("App.Feed.loop()"), frame("closure #1 in App.Feed.listen(_:)")]
    #expect(
      TasksReport.made(in: frame("main"), running: frames)?.function == "App.Feed.listen(_:)")
    #expect(
      TasksReport.made(in: frame("static App.Main.main()"), running: frames)?.function
        == "App.Feed.listen(_:)")
    // What is known better stays, and top-level code is main.
    #expect(TasksReport.made(in: frame("main", "main.swift"), running: frames)?.function == "main")
    #expect(TasksReport.made(in: frame("App.start()"), running: frames)?.function == "App.start()")
    #expect(
      TasksReport.made(in: frame("main"), running: [frame("closure #3 in main")])?.function
        == "main")
    #expect(TasksReport.made(in: frame("main"), running: [])?.function == "main")
  }
}
