// LeaksTests: leaks told by their causes, on small heaps drawn by hand.

import GraphPrimitives
import HeapGraph
import SnapshotDSL
import SnapshotFormat
import Testing

@testable import GraphAnalysis

@Suite struct LeaksTests {
  /// The steps of a cycle as `Type.field`.
  static func steps(_ finding: Finding, in graph: HeapGraph) -> [String] {
    finding.cycle.map { graph.typeName(of: $0.node) + "." + graph.field(of: $0) }
  }

  @Test("A strong delegate: one finding, the delegate is the edge to cut")
  func delegateCycle() throws {
    var heap = SnapshotDSL()
    for _ in 0..<3 {
      let message = heap.object("App.InboundMessage", bytes: 48)
      let decoder = heap.object("App.FrameDecoder", bytes: 40)
      heap.edge(message, "decoder", to: decoder)
      heap.edge(decoder, "sink", to: message)
    }
    let graph = try HeapGraph(heap.snapshot())
    let report = try leaks(in: graph)
    #expect(report.findings.count == 1)
    let finding = try #require(report.findings.first)
    #expect(finding.kind == .leak)
    #expect(finding.members.count == 3)
    #expect(finding.retained == Cost(count: 6, bytes: ByteCount(3 * 88)))
    #expect(
      Self.steps(finding, in: graph) == ["App.FrameDecoder.sink", "App.InboundMessage.decoder"])
    let cut = try #require(finding.cuts.first)
    #expect(graph.field(of: cut.step) == "sink")
    #expect(cut.advice == .makeWeak)
    #expect(cut.frees == Cost(count: 6, bytes: ByteCount(3 * 88)))
    #expect(report.leaked.costByType["App.FrameDecoder"]?.count == 3)
  }
}
