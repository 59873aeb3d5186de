// Tests of EdgeTable: what is left of scanned references where the program declared the same.

import GraphPrimitives
import SnapshotDSL
import SnapshotFormat
import Testing

@testable import HeapCapture

@Suite struct EdgeTableTests {
  private func table(_ edges: [(Int, Int)]) -> EdgeTable {
    var table = EdgeTable()
    for (from, to) in edges {
      table.append(from: from, to: to, label: .none, info: EdgeInfo(.strong, .scanned))
    }
    return table
  }

  @Test("A scanned reference that was declared is told once; its reverse is another one")
  func without() {
    let scanned = table([(1, 2), (2, 1), (1, 3), (1, 2), (0, 0)])
    let rest = scanned.without(table([(1, 2), (0, 0), (7, 7)]))
    #expect(rest.from == [2, 1])
    #expect(rest.to == [1, 3])
    #expect(scanned.without(EdgeTable()).count == 5)
  }

  @Test(
    "References by block are those of the table in its order, whether it is in order or not",
    arguments: 0..<100 as Range<UInt64>)
  func rows(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let nodeCount = Int.random(in: 1...20, using: &random)
    var edges = (0..<Int.random(in: 0...60, using: &random)).map { edge in
      (Int.random(in: 0..<nodeCount, using: &random), edge)
    }
    if seed % 2 == 0 { edges.sort { $0 < $1 } }
    var table = EdgeTable()
    for (from, edge) in edges {
      table.append(
        from: from, to: edge, label: LabelIndex(edge * 3),
        info: EdgeInfo(edge % 2 == 0 ? .strong : .weak, .reflected))
    }
    let rows = EdgeRows(table, nodeCount: nodeCount)
    for node in 0..<nodeCount {
      let expected = edges.filter { $0.0 == node }.map(\.1)
      #expect(rows.edges(of: node).map { Int(rows.to[$0]) } == expected)
      #expect(rows.edges(of: node).map { rows.label[$0] } == expected.map { LabelIndex($0 * 3) })
      #expect(rows.edges(of: node).map { rows.info[$0].isStrong } == expected.map { $0 % 2 == 0 })
    }
  }

  @Test("Columns of several tables have a block's references in the order of the tables")
  func columns() {
    let first = EdgeRows(table([(0, 1), (2, 0)]), nodeCount: 3)
    let second = EdgeRows(table([(2, 2), (0, 2), (1, 0), (2, 1)]), nodeCount: 3)
    let edges = EdgeRows.columns(
      of: [first, EdgeRows(EdgeTable(), nodeCount: 3), second], nodeCount: 3
    ) { _ in LabelIndex(7) }
    #expect(Array(edges.firstEdge) == [0, 2, 3, 6])
    #expect(Array(edges.target) == [1, 2, 0, 0, 2, 1])
    #expect(edges.label.allSatisfy { $0 == 7 })
    #expect(edges.info.count == 6)
    let none = EdgeRows.columns(of: [], nodeCount: 2) { $0 }
    #expect(Array(none.firstEdge) == [0, 0, 0])
  }
}
