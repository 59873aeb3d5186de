// Tests of MappedMemory: which anonymous memory is the program's own.

import Testing

@testable import HeapCapture

@Suite struct MappedMemoryTests {
  static let mapping: UInt64 = 0x7f00_0010_0000
  static let size: UInt64 = 0x4_0000
  static var range: Range<UInt64> { mapping..<(mapping + size) }

  private func ranges(
    _ source: FakeMemory, _ nodes: HeapNodes = HeapNodes(), threads: [ThreadState] = []
  ) -> [Range<UInt64>] {
    MappedMemory(
      memory: TargetMemory(source), nodes: nodes, images: [], threads: threads,
      mainThread: 1, threadLocalSize: 64
    ).ranges()
  }

  @Test("Memory in which nobody knows anything is the program's own")
  func plain() {
    #expect(ranges(FakeMemory(Self.range)) == [Self.range])
  }

  @Test("The main thread's stack is left out, though a core file does not name it")
  func mainStack() {
    let thread = ThreadState(
      id: 1, name: "", isStopped: true, registers: [], pc: 0,
      stackPointer: Self.mapping + 0x2_0000, threadPointer: 0)
    #expect(ranges(FakeMemory(Self.range), threads: [thread]) == [])
  }

  @Test("What only may be read is not")
  func readOnly() {
    let source = FakeMemory(Self.range)
    source.protect(Self.mapping, isReadable: true, isWritable: false)
    #expect(ranges(source) == [])
  }

  @Test("A large block's mapping is left out, and what is mapped beside it stays")
  func largeBlock() {
    let source = FakeMemory(Self.range)
    let nodes = HeapNodes()
    nodes.append(HeapBlock(address: Self.mapping + 0x1_0010, size: 0x1_ff00))
    nodes.buildIndex()
    source.set(Self.mapping + 0x1_0008, 0x2_0000 | 2)
    #expect(
      ranges(source, nodes) == [
        Self.mapping..<(Self.mapping + 0x1_0000),
        (Self.mapping + 0x3_0000)..<(Self.mapping + Self.size),
      ])
  }

  @Test("Memory with other blocks is an allocator's")
  func smallBlock() {
    let source = FakeMemory(Self.range)
    let nodes = HeapNodes()
    nodes.append(HeapBlock(address: Self.mapping + 0x1_0010, size: 64))
    nodes.buildIndex()
    source.set(Self.mapping + 0x1_0008, 0x50 | 1)
    #expect(ranges(source, nodes) == [])
  }

  @Test("An arena's heap is left out though no block is in it")
  func arena() {
    let heap: UInt64 = 64 << 20
    let start: UInt64 = 0x7f00_0000_0000
    let source = FakeMemory((start - 0x1000)..<(start + 0x4_0000))
    source.set(start, start + 48)
    source.set(start + 16, 0x2_1000)
    source.set(start + 24, 0x2_1000)
    #expect(start % heap == 0)
    #expect(
      ranges(source) == [
        (start - 0x1000)..<start, (start + 0x2_1000)..<(start + 0x4_0000),
      ])
  }

  @Test("The stack that an ended thread has left is left out, what is mapped above it is not")
  func endedThread() {
    let source = FakeMemory((Self.mapping - 0x1000)..<Self.mapping, Self.range)
    source.protect(Self.mapping - 0x1000, isReadable: false, isWritable: false)
    let descriptor = Self.mapping + 0x1_f6c0
    source.set(descriptor, descriptor)
    source.set(descriptor + 16, descriptor)
    #expect(ranges(source) == [(Self.mapping + 0x2_0000)..<(Self.mapping + Self.size)])
    source.set(descriptor + 16, 0)
    #expect(ranges(source) == [Self.range])
  }
}
