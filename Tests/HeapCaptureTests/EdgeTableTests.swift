// Tests of EdgeTable: what is left of scanned references where the program declared the same.

import GraphPrimitives
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
}
