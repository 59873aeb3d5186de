// HeapGraphTests: which references are in the graph, what is reachable, and how nodes are found.

import GraphKit
import GraphPrimitives
import SnapshotDSL
import SnapshotFormat
import Testing

@testable import HeapGraph

@Suite struct HeapGraphTests {
  @Test("Strong references and roots are edges; others and those of the destroyed are not")
  func edges() throws {
    var heap = SnapshotDSL()
    let hub = heap.object("App.Hub")
    let screen = heap.object("App.Screen")
    let gone = heap.object("App.Gone", strongCount: 0, state: .deinited)
    heap.root(.global, address: 0x1000, to: hub)
    heap.root(.stack, address: 0x7000, to: screen, strength: .unmanaged)
    heap.edge(hub, "weak", to: screen, strength: .weak)
    heap.edge(hub, "screen", to: screen)
    heap.edge(hub, "unowned", to: gone, strength: .unowned)
    heap.edge(gone, "stale", to: screen)
    let graph = try HeapGraph(heap.snapshot())
    #expect(graph.strong.nodeCount == 4)
    #expect(Array(graph.strong.successors(of: 0)) == [1])
    #expect(Array(graph.strong.successors(of: 2)).isEmpty)
    #expect(Array(graph.strong.successors(of: graph.outside)) == [0])
    #expect(graph.reference(atSlot: 0) == .edge(EdgeIndex(1)))
    #expect(graph.reference(atSlot: 1) == .root(RootIndex(0)))
    #expect(Array(graph.holders.graph.successors(of: 1)) == [0])
    #expect(graph.isReachable == [true, true, false, true])
    #expect(graph.source(of: EdgeIndex(1)) == NodeIndex(0))
    #expect(graph.source(of: EdgeIndex(3)) == NodeIndex(2))
  }

  @Test("What is being destroyed and what is immortal hold as roots do")
  func heldAnyway() throws {
    var heap = SnapshotDSL()
    let dying = heap.object("App.Dying", strongCount: 0, state: .deiniting)
    let immortal = heap.object("App.Immortal", strongCount: Snapshot.Nodes.uncounted)
    let block = heap.block()
    for (number, holder) in [dying, immortal, block].enumerated() {
      heap.edge(holder, "held", to: heap.object("App.Held\(number)"))
    }
    let graph = try HeapGraph(heap.snapshot())
    #expect(graph.isReachable == [true, true, false, true, true, false, true])
  }

  @Test("A node is found by its address and by those inside it")
  func byAddress() throws {
    var heap = SnapshotDSL()
    heap.object("App.A", bytes: 48, address: 0x1000)
    heap.object("App.B", bytes: 16, address: 0x2000)
    heap.node(.resource, "Handle", bytes: 0, address: 0x3000)
    let graph = try HeapGraph(heap.snapshot())
    let found = [0x0FFF, 0x1000, 0x102F, 0x1030, 0x2000, 0x3000, 0x3001].map {
      graph.node(at: Address($0))?.position
    }
    #expect(found == [nil, 0, 0, nil, 1, 2, nil])
    let empty = try HeapGraph(SnapshotDSL().snapshot())
    #expect(empty.node(at: Address(0x1000)) == nil && empty.nodeCount == 0)
  }

  struct Pattern: Sendable, CustomTestStringConvertible {
    var text: String
    var name: String
    var matches: Bool
    var testDescription: String { "\(text) on \(name)" }
  }

  static let patterns = [
    Pattern(text: "App.Cache<Swift.Int>", name: "App.Cache<Swift.Int>", matches: true),
    Pattern(text: "App.Cache", name: "App.Cache<Swift.Int>", matches: true),
    Pattern(text: "Cache", name: "App.Cache<Swift.Int>", matches: true),
    Pattern(text: "Cache<Int>", name: "App.Cache<Swift.Int>", matches: true),
    Pattern(text: "Cache<Swift.Int>", name: "App.Cache<Swift.Int>", matches: true),
    Pattern(text: "DispatchWorkItem", name: "Dispatch.DispatchWorkItem", matches: true),
    Pattern(text: "Dispatch.DispatchWorkItem", name: "Dispatch.DispatchWorkItem", matches: true),
    Pattern(text: "Timer", name: "Other.Timer", matches: false),
    Pattern(text: "Cache<*>", name: "App.Cache<Swift.Int>", matches: true),
    Pattern(text: "*Cache", name: "App.ImageCache", matches: true),
    Pattern(text: "App.*", name: "App.ImageCache", matches: true),
    Pattern(text: "Image?ache", name: "App.ImageCache", matches: true),
    Pattern(text: "Outer.Inner", name: "App.Outer.Inner", matches: true),
    Pattern(text: "Inner", name: "App.Outer.Inner", matches: false),
    Pattern(text: "cache", name: "App.Cache", matches: false),
    Pattern(text: "Cach", name: "App.Cache", matches: false),
    Pattern(text: "", name: "App.Cache", matches: false),
    Pattern(text: "*", name: "App.Cache", matches: true),
    Pattern(text: "*a*b*c*", name: "xaxbxc", matches: true),
    Pattern(text: "*a*b*c", name: "xcxbxa", matches: false),
    // Raw identifiers, as they are typed and as they are printed.
    Pattern(text: "a screen", name: "App.`a\u{A0}screen`", matches: true),
    Pattern(text: "App.a screen", name: "App.`a\u{A0}screen`", matches: true),
    Pattern(text: "App.`a screen`", name: "App.`a\u{A0}screen`", matches: true),
    Pattern(text: "`a\u{A0}screen`", name: "App.`a\u{A0}screen`", matches: true),
    Pattern(text: "ascreen", name: "App.`a\u{A0}screen`", matches: false),
    Pattern(text: "`Cache`", name: "App.Cache", matches: false),
  ]

  @Test("Patterns for types", arguments: patterns)
  func typePatterns(pattern: Pattern) {
    let module = pattern.name.hasPrefix("App.") ? "App" : ""
    #expect(TypePattern(pattern.text).matches(pattern.name, module: module) == pattern.matches)
  }

  @Test("Nodes are found by their types, and by the names that the program gave them")
  func byType() throws {
    var heap = SnapshotDSL()
    heap.object("App.Screen")
    heap.object("App.Handle", name: "PeerConnection")
    heap.object("App.Screen")
    let graph = try HeapGraph(heap.snapshot())
    #expect(graph.nodes(ofType: TypePattern("Screen")) == [NodeIndex(0), NodeIndex(2)])
    #expect(graph.nodes(ofType: TypePattern("Peer*")) == [NodeIndex(1)])
    #expect(graph.nodes(ofType: TypePattern("Handle")) == [NodeIndex(1)])
    #expect(graph.nodes(ofType: TypePattern("*")).count == 3)
    #expect(graph.typeName(of: NodeIndex(1)) == "PeerConnection")
    #expect(graph.module(of: NodeIndex(0)) == "App")
  }

  @Test("Labels in words")
  func labels() throws {
    var heap = SnapshotDSL()
    let node = heap.object("App.A")
    for label in ["", "client.retry", "[3]", "[3].handler", "[_]", "[_].owner"] {
      heap.edge(node, label, to: node)
    }
    let graph = try HeapGraph(heap.snapshot())
    let labels = graph.edges(of: NodeIndex(0)).map { graph.label(of: EdgeIndex($0)) }
    #expect(labels.map(\.text) == ["", "client.retry", "[3]", "[3].handler", "[_]", "[_].owner"])
    #expect(
      labels.map(\.foldedText) == ["", "client.retry", "[_]", "[_].handler", "[_]", "[_].owner"])
    #expect(
      EdgeLabel.joined(["channels", "[2].handler", "", "self"]) == "channels[2].handler.self")
  }

  @Test("A generation is named after the mark that ended it")
  func generations() throws {
    var heap = SnapshotDSL()
    for generation in 0...2 as ClosedRange<UInt16> {
      heap.object("App.A", generation: generation, strongCount: 1)
    }
    heap.mark("call 1", generation: 0)
    heap.mark("call 2", generation: 1)
    let graph = try HeapGraph(heap.snapshot())
    let names = graph.nodes.map { graph.mark(ending: graph.generation(of: $0)) }
    #expect(names == ["call 1", "call 2", nil])
  }

  @Test(
    "Reachable is what going round and round finds", arguments: 0..<300 as Range<UInt64>)
  func reachable(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var heap = SnapshotDSL()
    let nodes = (0..<Int.random(in: 1...20, using: &random)).map { _ in heap.object("App.A") }
    var strong: [(Int, Int)] = []
    for _ in 0..<Int.random(in: 0...40, using: &random) {
      let from = Int.random(in: 0..<nodes.count, using: &random)
      let to = Int.random(in: 0..<nodes.count, using: &random)
      let strength = EdgeStrength.allCases[Int.random(in: 0..<4, using: &random)]
      heap.edge(nodes[from], "next", to: nodes[to], strength: strength)
      if strength == .strong { strong.append((from, to)) }
    }
    var reached: Set<Int> = []
    for _ in 0..<Int.random(in: 0...2, using: &random) {
      let to = Int.random(in: 0..<nodes.count, using: &random)
      heap.root(.global, address: 0x1000, to: nodes[to])
      reached.insert(to)
    }
    var grew = true
    while grew {
      grew = false
      for (from, to) in strong where reached.contains(from) && reached.insert(to).inserted {
        grew = true
      }
    }
    let graph = try HeapGraph(heap.snapshot())
    #expect(Set(graph.nodes.filter { graph.isReachable[$0.position] }.map(\.position)) == reached)
    #expect(graph.strong.edgeCount == strong.count + heap.builder.roots.count)
  }

  @Test(
    "The side table of a leaked object is no leak while something that is reached has a weak reference to it"
  )
  func sideTables() throws {
    for (isWeaklyHeld, isWatcherLeaked, isGlobal) in [
      (true, false, false), (true, true, false), (false, false, false), (false, false, true),
    ] {
      var heap = SnapshotDSL()
      let watcher = heap.object("App.Watcher")
      heap.edge(watcher, "self", to: watcher)
      if !isWatcherLeaked { heap.root(.global, address: 0x1000, to: watcher) }
      let leak = heap.object("App.Leak", weakCount: 1)
      heap.edge(leak, "self", to: leak)
      let table = heap.node(.sideTable, "weak reference side table", module: "")
      heap.edge(leak, "side table", to: table)
      if isWeaklyHeld { heap.edge(watcher, "leak", to: leak, strength: .weak) }
      if isGlobal { heap.root(.global, address: 0x2000, to: leak, strength: .weak) }
      let snapshot = heap.snapshot()
      let graph = try HeapGraph(snapshot)
      let isHeld = isWeaklyHeld && !isWatcherLeaked || isGlobal
      for node in graph.nodes {
        switch graph.typeName(of: node) {
        case "App.Watcher": #expect(graph.isReachable[node.position] == !isWatcherLeaked)
        case "App.Leak": #expect(!graph.isReachable[node.position])
        default: #expect(graph.isReachable[node.position] == isHeld)
        }
      }
      #expect(graph.heldWithoutRoot.count == (isHeld ? 1 : 0))
    }
  }
}
