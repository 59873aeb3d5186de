// LibraryTablesTests: what lies in a library's own tables is in one place, wherever in them it lies.

import GraphPrimitives
import HeapGraph
import SnapshotDSL
import SnapshotFormat
import Testing

@testable import GraphAnalysis

@Suite struct LibraryTablesTests {
  /// A program whose timers lie as libdispatch puts them: the next ones that are due in variables of their own, the
  /// others in a heap of pieces, of which the last leads to those before.
  ///
  /// - Parameter isStatic: Whether libdispatch is linked into the program.
  /// - Returns: what the timers lead to, an object each.
  private static func build(
    _ heap: inout SnapshotDSL, timers count: Int, isStatic: Bool = false
  ) -> [SnapshotDSL.Node] {
    heap.module("/app/App", addresses: 0x1000..<0x2000)
    heap.module("/usr/lib/swift/linux/libdispatch.so", addresses: 0x9000..<0xA000)
    heap.builder.process.executable = "/app/App"
    let variables: UInt64 = isStatic ? 0x1000 : 0x9000
    var kept: [SnapshotDSL.Node] = []
    var holders: [(SnapshotDSL.Node, slots: Int)] = []
    var room = 4
    while holders.reduce(2, { $0 + $1.slots }) < count {
      let piece = heap.node(.block, "malloc block", module: "", bytes: UInt64(room * 8))
      if let last = holders.last {
        heap.edge(piece, "+\(room * 8 - 8)", to: last.0, provenance: .scanned)
      }
      holders.append((piece, room))
      room *= 2
    }
    if let last = holders.last {
      heap.root(.global, address: variables + 24, to: last.0)
    }
    var place = 0
    var handlers: [SnapshotDSL.Node] = []
    for number in 0..<count {
      let timer = heap.node(.block, "dispatch timer", module: "Dispatch", bytes: 120)
      if number < 2 {
        heap.root(.global, address: variables + 8 + UInt64(number) * 8, to: timer)
      } else {
        while holders[0].slots == place {
          holders.removeFirst()
          place = 0
        }
        heap.edge(holders[0].0, "+\(place * 8)", to: timer, provenance: .scanned)
        place += 1
      }
      // Every third handler is found by an old link of the one before only.
      let handler = heap.node(.cStorage, "dispatch continuation", module: "Dispatch", bytes: 64)
      if let last = handlers.last, number % 3 == 2 {
        heap.edge(last, "next", to: handler, provenance: .scanned)
      } else {
        heap.edge(timer, "eventHandler", to: handler, provenance: .scanned)
      }
      handlers.append(handler)
      let meter = heap.object("App.Meter", bytes: 48)
      heap.edge(handler, "work", to: meter, provenance: .scanned)
      kept.append(meter)
    }
    return kept
  }

  @Test(
    "Timers are one place that grows, wherever in libdispatch's heap they lie",
    arguments: [false, true])
  func growth(isStatic: Bool) throws {
    let (values, graph) = try GrowthStudyTests.values(calls: 1..<7) { heap, call in
      _ = Self.build(&heap, timers: call * 3, isStatic: isStatic)
    }
    let growing = values.growing.filter { growth in
      graph.typeName(of: growth.finding.representative) == "App.Meter"
    }
    #expect(growing.map(\.counts) == [[3, 6, 9, 12, 15, 18]])
    // The program's own objects count, whoever holds them.
    let told = values.findings.filter { graph.typeName(of: $0.representative) == "App.Meter" }
    #expect(told.map(\.members.count) == [18])
    #expect(Set(values.findings.map(\.fingerprint)).count == values.findings.count)
  }

  @Test("Two marks tell timers as one finding", arguments: [false, true])
  func difference(isStatic: Bool) throws {
    var heap = SnapshotDSL()
    let kept = Self.build(&heap, timers: 18, isStatic: isStatic)
    let graph = try HeapGraph(heap.snapshot())
    let meters = kept.map(heap.index)
    let findings = try abandoned(meters, in: graph).findings
    #expect(findings.map(\.members) == [meters])
    let ways = try paths(to: meters, in: graph, options: PathOptions(isMerged: true))
    #expect(ways.groups.map(\.targets) == [meters])
  }

  @Test("The program's own tables stay apart by variable and place")
  func ownTables() throws {
    var heap = SnapshotDSL()
    heap.module("/app/App", addresses: 0x1000..<0x2000)
    var kept: [SnapshotDSL.Node] = []
    for variable in 0..<2 as Range<UInt64> {
      let table = heap.node(.block, "malloc block", module: "", bytes: 64)
      heap.root(.global, address: 0x1000 + variable * 8, to: table)
      let line = heap.object("App.Line")
      heap.edge(table, "+8", to: line, provenance: .scanned)
      kept.append(line)
    }
    let graph = try HeapGraph(heap.snapshot())
    let ways = try paths(
      to: kept.map(heap.index), in: graph, options: PathOptions(isMerged: true))
    #expect(ways.groups.count == 2)
  }
}
