// Tests of ReferenceCounts: which words can be the counts of an object.

import Testing

@testable import HeapCapture

@Suite struct ReferenceCountsTests {
  private func counts(_ word: UInt64) -> ReferenceCounts? {
    ReferenceCounts(word: word, memory: TargetMemory(FakeMemory(0x1000..<0x2000)), object: 0x1000)
  }

  @Test("Counts of objects are read, those of a popular one, too")
  func objects() throws {
    #expect(try #require(counts(3)).strong == 1)
    let popular = try #require(counts(UInt64(2_000_000) << 33 | 7))
    #expect(popular.strong == 2_000_001 && popular.unowned == 3)
    // An owner to which a million parts refer back.
    #expect(try #require(counts(2_500_000 << 1)).unowned == 2_500_000)
    #expect(try #require(counts(0x8000_0000_ffff_ffff)).strong == nil)
  }

  @Test("A word of C memory is none: zero, an address, anything without an unowned reference")
  func others() {
    #expect(counts(0) == nil)
    #expect(counts(1 << 33) == nil)
    for address in [0x7f34_1189_9800, 0x55cc_5196_3080, 0x7ffe_1a07_6110] as [UInt64] {
      #expect(counts(address) == nil)
    }
  }
}
