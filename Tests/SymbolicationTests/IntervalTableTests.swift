// Tests of IntervalTable: every search against looking at all rows.

import Testing

@testable import Symbolication

@Suite struct IntervalTableTests {
  @Test("A search finds what looking at all rows finds", arguments: 0..<100 as Range<UInt64>)
  func agreesWithAllRows(seed: UInt64) {
    var random = Generator(seed: seed)
    let rows = (0..<Int.random(in: 0...30, using: &random)).map { index in
      let start = UInt64.random(in: 0...80, using: &random)
      return IntervalTable<Int>.Row(start, start + UInt64.random(in: 1...30, using: &random), index)
    }
    let table = IntervalTable(rows)
    for address in 0..<120 as Range<UInt64> {
      let containing = rows.filter { $0.start <= address && address < $0.end }
      let last = containing.map(\.start).max()
      let row = table.row(containing: address)
      #expect(row?.start == last)
      #expect(row.map { address < $0.end } ?? containing.isEmpty)
      // Of those that start there, the innermost.
      #expect(row?.end == containing.filter { $0.start == last }.map(\.end).min())
      #expect(table.countOfStarts(through: address) == rows.filter { $0.start <= address }.count)
      #expect((table.row(startingAt: address) != nil) == rows.contains { $0.start == address })
    }
  }
}
