// InterruptedThreadTests: which words of a stopped thread beyond its stack are looked at.

import Testing

@testable import HeapCapture

@Suite struct InterruptedThreadTests {
  private static let code: UInt64 = 0x40_0000
  private static let stack: UInt64 = 0x7000_0000

  private func interrupted(
    at pc: UInt64, code: UInt64 = 0, isStopped: Bool = true, vectorState: [UInt64]? = nil
  ) -> InterruptedThread? {
    let source = FakeMemory(
      Self.code..<Self.code + 0x1000, Self.stack..<Self.stack + 0x1000)
    source.set(Self.code + 0x100, code)
    let thread = ThreadState(
      id: 1, name: "", isStopped: isStopped, registers: [], pc: pc,
      stackPointer: Self.stack + 0x808, threadPointer: 0,
      vectorState: vectorState ?? (0..<200).map { 1_000 + $0 })
    return InterruptedThread(thread, memory: TargetMemory(source))
  }

  @Test(
    "In the middle of code there are the words below the stack pointer and the vector registers")
  func running() throws {
    let found = try #require(interrupted(at: Self.code + 0x102))
    #expect(found.redZone == Self.stack + 0x788..<Self.stack + 0x808)
    let words = Dictionary(grouping: found.vectorWords, by: \.name).mapValues { $0.map(\.word) }
    // 160 bytes of control words and of the oldest registers come first.
    #expect(words["xmm0"] == [1_020, 1_021])
    #expect(words["xmm15"] == [1_050, 1_051])
    #expect(words["ymm0"] == [1_072, 1_073])
    #expect(words["ymm15"] == [1_102, 1_103])
    #expect(words["zmm"] == (1_104..<1_200).map { UInt64($0) })
    #expect(words.count == 33)
  }

  @Test("An old processor has the first part alone")
  func oldest() throws {
    let found = try #require(interrupted(at: Self.code + 0x102, vectorState: .init(1...64)))
    #expect(Set(found.vectorWords.map(\.name)).count == 16)
  }

  @Test("A thread that waits in a system call has none, before or behind the instruction")
  func waiting() {
    // syscall; cmp
    #expect(interrupted(at: Self.code + 0x100, code: 0x483d_050f) == nil)
    #expect(interrupted(at: Self.code + 0x102, code: 0x483d_050f) == nil)
    #expect(interrupted(at: Self.code + 0x104, code: 0x483d_050f) != nil)
    #expect(interrupted(at: Self.code + 0x102, isStopped: false) == nil)
    #expect(interrupted(at: Self.code + 0x102, vectorState: []) == nil)
  }

  @Test("A thread whose code can't be read is taken for one that runs")
  func unreadable() {
    #expect(interrupted(at: 0x10) != nil)
  }
}
