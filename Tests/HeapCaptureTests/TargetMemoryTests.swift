// Tests of TargetMemory: which copies are given up, and that they are made again.

import Testing

@testable import HeapCapture

@Suite struct TargetMemoryTests {
  /// A piece is what is copied at a time.
  private static let piece: UInt64 = 1 << 18
  private static let start: UInt64 = 0x10_0000

  private func address(_ piece: UInt64) -> UInt64 { Self.start + piece * Self.piece + 64 }

  /// Four pieces that have been copied; what is given up shows what was written to the program since.
  private func memory() -> (memory: TargetMemory, source: FakeMemory) {
    let source = FakeMemory(Self.start..<(Self.start + 4 * Self.piece))
    let memory = TargetMemory(source)
    for piece in 0..<4 as Range<UInt64> {
      _ = memory.word(at: address(piece))
      source.set(address(piece), 1)
    }
    return (memory, source)
  }

  private func isGivenUp(_ memory: TargetMemory) -> [Bool] {
    (0..<4 as Range<UInt64>).map { memory.word(at: address($0)) == 1 }
  }

  @Test("Copies of whole pieces in a range are given up, and made again when they are asked for")
  func release() {
    let memory = memory().memory
    #expect(isGivenUp(memory) == [false, false, false, false])
    memory.release([(Self.start + 8)..<(Self.start + 3 * Self.piece + 8)])
    #expect(isGivenUp(memory) == [false, true, true, false])
  }

  @Test("A piece with a range that will be asked for again is kept, of any number of pieces")
  func needed() {
    let memory = memory().memory
    let needed = [
      address(0)..<(address(0) + 8),
      (address(2) + Self.piece - 72)..<(address(2) + Self.piece),
      address(1)..<address(1), 0..<8,
    ]
    memory.release([0..<UInt64.max], needed: needed)
    #expect(isGivenUp(memory) == [false, true, false, false])
  }

  @Test("A piece with a pointer that somebody keeps stays until nobody does")
  func kept() throws {
    let memory = memory().memory
    let pointer = try #require(
      memory.keptBytes(at: address(1) + Self.piece - 72, count: 16))
    memory.release([0..<UInt64.max])
    #expect(isGivenUp(memory) == [true, false, false, true])
    #expect(pointer.load(as: UInt64.self) == 0)
    memory.release([0..<UInt64.max], isKeptToo: true)
    #expect(isGivenUp(memory) == [true, true, true, true])
  }
}
