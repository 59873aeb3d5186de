// Tests of the heap walked from outside: the agent's table says which blocks there are.

import Glibc
import SnapshotFormat
import Testing

@testable import HeapCapture

@Suite(.serialized) struct GlibcHeapTests {
  struct Run: Sendable, CustomTestStringConvertible {
    var seed: Int
    var threads: Int
    var tunables = ""
    var mode = "churn"
    var testDescription: String { "\(mode), seed \(seed), \(threads) threads \(tunables)" }
  }

  static let runs =
    (1...12).map { Run(seed: $0, threads: [1, 2, 4, 20][$0 % 4]) } + [
      Run(seed: 13, threads: 3, tunables: "glibc.malloc.tcache_count=0"),
      Run(seed: 14, threads: 3, tunables: "glibc.malloc.tcache_max=64"),
      Run(seed: 15, threads: 3, tunables: "glibc.malloc.tcache_count=200"),
      Run(seed: 16, threads: 5, tunables: "glibc.malloc.arena_max=1"),
      Run(seed: 17, threads: 3, tunables: "glibc.malloc.mmap_threshold=4096"),
      Run(seed: 18, threads: 3, tunables: "glibc.malloc.mxfast=160"),
      Run(seed: 19, threads: 3, tunables: "glibc.malloc.mmap_max=0"),
    ]
    + (1...8).map { Run(seed: $0, threads: [1, 2, 5][$0 % 3], mode: "hand-over") } + [
      Run(seed: 9, threads: 3, tunables: "glibc.malloc.tcache_count=0", mode: "hand-over"),
      Run(seed: 10, threads: 3, tunables: "glibc.malloc.arena_max=1", mode: "hand-over"),
      Run(seed: 11, threads: 3, tunables: "glibc.malloc.mxfast=160", mode: "hand-over"),
    ]

  @Test("The walk finds the blocks that the agent recorded, and no others", arguments: runs)
  func agreesWithTheAgent(_ run: Run) throws {
    let program = try OutsideProgram(
      [run.mode, "\(run.seed)", "\(run.threads)"], withAgent: true, tunables: run.tunables)
    let stopped = try copyProcess(program.pid)
    let images = loadImages(of: stopped.memory)
    let tables = try #require(
      agentTables(in: stopped.memory, images: images, pid: UInt32(program.pid)))
    var expected: [HeapBlock] = []
    tables.forEachBlock { expected.append($0) }
    let heap = try GlibcHeap(
      memory: stopped.memory, images: images, threads: stopped.threads, pid: UInt32(program.pid))
    var found: [UInt64: UInt64] = [:]
    heap.forEachBlock { found[$0.address] = $0.size }
    #expect(found.count == heap.count)
    #expect(heap.diagnostics == [:])
    #expect(!heap.facts.isPartial)

    var missing: [HeapBlock] = []
    var wrongSizes: [String] = []
    for block in expected {
      guard let size = found.removeValue(forKey: block.address) else {
        missing.append(block)
        continue
      }
      // Sizes are rounded up to 16 bytes, and a rest that is no more than the smallest chunk stays with
      // its block. A mapping is a page larger, and keeps what its alignment took: 8 KiB at most.
      let isMapped = (stopped.memory.word(at: block.address - 8) ?? 0) & 2 != 0
      let slack: UInt64 = isMapped ? 4096 + 8192 + 64 : 15 + 32
      if size < block.size || size > max(block.size, 24) + slack {
        wrongSizes.append("\(block.size) in \(size)")
      }
    }
    #expect(expected.count > 300)
    #expect(missing == [])
    #expect(wrongSizes == [])
    // What the loader allocated before the agent began.
    #expect(found.count <= 1)
    #expect(found.values.allSatisfy { $0 < 1_024 })
  }

  @Test("A program whose break others move too")
  func sharedBreak() throws {
    let program = try OutsideProgram(["shared-break"], withAgent: true)
    let stopped = try copyProcess(program.pid)
    let images = loadImages(of: stopped.memory)
    let tables = try #require(
      agentTables(in: stopped.memory, images: images, pid: UInt32(program.pid)))
    let heap = try GlibcHeap(
      memory: stopped.memory, images: images, threads: stopped.threads, pid: UInt32(program.pid))
    var found = Set<UInt64>()
    heap.forEachBlock { found.insert($0.address) }
    var missing = 0
    var expected = 0
    tables.forEachBlock {
      expected += 1
      if found.remove($0.address) == nil { missing += 1 }
    }
    #expect(expected > 1_000)
    #expect(missing == 0)
    #expect(found.count <= 1)
    #expect(heap.diagnostics == [:])
  }

  @Test(
    "An arena is found where it lies, whichever fast bins have blocks and lists are being changed")
  func findsTheArena() {
    let data: Range<UInt64> = 0x7000_0000_0000..<0x7000_0000_4000
    let heap: Range<UInt64> = 0x5000_0000_0000..<0x5000_0001_0000
    let arena = data.lowerBound + 0x1c60
    var random = SplitMix(4)
    for fastBins in 0..<(1 << GlibcLayout.fastBinCount) {
      let arena = arena - UInt64.random(in: 0..<0x100, using: &random) * 16
      let source = FakeMemory(heap, data)
      var free = heap.lowerBound
      func chunk() -> UInt64 {
        free += 64
        return free
      }
      for bin in 0..<GlibcLayout.fastBinCount where fastBins >> bin & 1 != 0 {
        source.set(arena + GlibcLayout.fastBins + UInt64(bin) * 8, chunk())
      }
      source.set(arena + GlibcLayout.top, chunk())
      if Bool.random(using: &random) { source.set(arena + GlibcLayout.top + 8, chunk()) }
      let used = UInt64.random(in: 1..<40, using: &random)
      for bin in 0..<GlibcLayout.binCount {
        let head = arena + GlibcLayout.bins + bin * 16 - 16
        let isUsed = UInt64.random(in: 0..<used, using: &random) == 0 && bin != 5
        let first = isUsed ? chunk() : head
        let last = isUsed ? Bool.random(using: &random) ? chunk() : first : head
        source.set(head + 16, first)
        source.set(head + 24, last)
        source.set(first + 24, head)
        source.set(last + 16, head)
      }
      // Stopped between two stores: a list begins with a chunk that doesn't lead back.
      for limit in [GlibcLayout.binCount, 100].prefix(Int.random(in: 0...2, using: &random)) {
        let bin = UInt64.random(in: 6..<limit, using: &random)
        source.set(arena + GlibcLayout.bins + bin * 16, chunk())
      }
      let map = GlibcLayout.bins + GlibcLayout.binCount * 16
      source.set(arena + map, UInt64.random(in: 0 ... .max, using: &random))
      source.set(arena + GlibcLayout.nextArena, fastBins % 3 == 0 ? arena : 0x7000_1000_0030)
      source.set(arena + GlibcLayout.systemMemory, 0x42000)
      #expect(findArena(in: data, memory: TargetMemory(source)) == arena)
    }
  }
}

/// A program's memory in which one word is another.
private final class DamagedMemory: MemorySource {
  private let _base: any MemorySource
  private let _place: UInt64
  private let _value: UInt64

  init(_ base: any MemorySource, word place: UInt64, value: UInt64) {
    _base = base
    _place = place
    _value = value
  }

  var mappings: [MemoryMapping] { _base.mappings }
  var name: String { _base.name }
  var executable: String { _base.executable }
  var residentBytes: UInt64 { _base.residentBytes }

  func read(_ address: UInt64, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    let count = _base.read(address, into: buffer)
    if address <= _place, _place + 8 <= address + UInt64(count) {
      buffer.storeBytes(of: _value, toByteOffset: Int(_place - address), as: UInt64.self)
    }
    return count
  }
}
