// Tests of Cost and ByteCount: totals and differences follow the rules of a commutative group.

import GraphPrimitives
import Testing

@Suite struct CostTests {
  static let costs = [
    Cost.zero, Cost(count: 1, bytes: ByteCount(48)), Cost(count: -3, bytes: ByteCount(1 << 40)),
    Cost(count: 1_000_000, bytes: ByteCount(-7)),
  ]

  @Test("Sums do not depend on the order, and what was added can be taken away")
  func group() {
    for first in Self.costs {
      #expect(first + .zero == first)
      #expect(first - first == .zero)
      for second in Self.costs {
        #expect(first + second == second + first)
        #expect(first + second - second == first)
        for third in Self.costs { #expect((first + second) + third == first + (second + third)) }
      }
    }
  }

  @Test("A difference of totals is the total of what came and went")
  func difference() {
    let before = Cost(count: 10, bytes: ByteCount(480))
    let after = Cost(count: 14, bytes: ByteCount(400))
    #expect(after - before == Cost(count: 4, bytes: ByteCount(-80)))
  }

  @Test("Byte counts are signed and ordered")
  func byteCount() {
    #expect(ByteCount(-1) < .zero)
    #expect(ByteCount(3) + ByteCount(4) == ByteCount(7))
    #expect(ByteCount(3) - ByteCount(4) == ByteCount(-1))
    #expect([ByteCount(5), ByteCount(-5), .zero].max() == ByteCount(5))
  }
}
