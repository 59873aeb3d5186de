// Tests of the table indices: one machine word of 32 bits each, ordered like their positions.

import GraphPrimitives
import Testing

@Suite struct IndicesTests {
  @Test("An index costs as much as its number")
  func size() {
    #expect(MemoryLayout<NodeIndex>.size == 4 && MemoryLayout<NodeIndex>.stride == 4)
    #expect(MemoryLayout<[LabelIndex]>.size == MemoryLayout<[UInt32]>.size)
  }

  @Test("Position and number agree, and order is the order of positions")
  func positions() {
    for position in [0, 1, 4_294_967_294, Int(UInt32.max)] {
      #expect(NodeIndex(position).position == position)
      #expect(EdgeIndex(position).rawValue == UInt32(position))
    }
    #expect(TypeIndex(1) < TypeIndex(2))
    #expect(!(RootIndex(2) < RootIndex(2)))
    #expect([Generation(2), Generation(0)].min() == Generation(0))
  }

  @Test("The rows that every snapshot has first are number 0")
  func firstRows() {
    #expect(StringIndex.empty.position == 0)
    #expect(LabelIndex.none.position == 0)
    #expect(StackIndex.none.position == 0)
  }
}
