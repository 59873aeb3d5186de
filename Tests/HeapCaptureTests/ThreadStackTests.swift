// ThreadStackTests: the frames of a thread, from registers that may hold anything.

import Testing

@testable import HeapCapture

@Suite struct ThreadStackTests {
  private static let stack: Range<UInt64> = 0x7f00_0000_0000..<0x7f00_0000_2000
  private static let pointer: UInt64 = 0x7f00_0000_1000

  private static func frames(framePointer: UInt64, _ words: [UInt64: UInt64] = [:]) -> ThreadStack?
  {
    let memory = FakeMemory(stack)
    for (address, word) in words { memory.set(address, word) }
    var registers = [UInt64](repeating: 0, count: 16)
    registers[6] = framePointer
    return ThreadStack(
      thread: ThreadState(
        id: 1, name: "", isStopped: true, registers: registers, pc: 0x40_1000,
        stackPointer: pointer, threadPointer: 0),
      memory: TargetMemory(memory), mappings: memory.mappings, threadLocalSize: 0)
  }

  @Test("Frames follow from the frame pointer, each with its function")
  func chain() throws {
    let frame = Self.pointer + 0x40
    let stack = try #require(
      Self.frames(framePointer: frame, [frame: frame + 0x100, frame + 8: 0x40_2000]))
    #expect(stack.live == Self.pointer..<Self.stack.upperBound)
    #expect(stack.pc(ofWordAt: Self.pointer) == 0x40_1000)
    #expect(stack.pc(ofWordAt: frame + 0x20) == 0x40_2000)
  }

  @Test(
    "A function without frame pointers keeps any number in the register, and the stack is read all the same",
    arguments: [
      .max, .max - 7, .max - 15, .max - 23, 1 << 63, 0, 8, stack.upperBound,
      stack.upperBound - 8, stack.upperBound - 16, pointer + 1, pointer - 16,
    ] as [UInt64])
  func anyNumber(framePointer: UInt64) throws {
    let stack = try #require(Self.frames(framePointer: framePointer))
    #expect(stack.live == Self.pointer..<Self.stack.upperBound)
    #expect(stack.pc(ofWordAt: Self.pointer) == 0x40_1000)
  }

  @Test("A chain that leads to the end of all addresses ends", arguments: [8, 16, 24] as [UInt64])
  func chainToTheEnd(below: UInt64) throws {
    let frame = Self.pointer + 0x40
    let next = UInt64.max - below + 1
    let stack = try #require(Self.frames(framePointer: frame, [frame: next, frame + 8: 0x40_2000]))
    #expect(stack.pc(ofWordAt: frame + 0x20) == 0x40_2000)
  }
}
