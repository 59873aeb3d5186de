// MemoryUsageTests: resident pages by what they are used for, of made-up address spaces.

import Foundation
import SnapshotDSL
import Testing

@testable import HeapCapture

@Suite struct MemoryUsageTests {
  private static let page: UInt64 = 4096

  /// A mapping of whole pages of which some are in memory.
  private func mapping(_ start: UInt64, pages: [Bool]) -> ResidentPages.Mapping {
    var bits = [UInt64](repeating: 0, count: (pages.count + 63) / 64)
    for (place, isIn) in pages.enumerated() where isIn {
      bits[place / 64] |= 1 << UInt64(place % 64)
    }
    return ResidentPages.Mapping(
      range: start..<(start + UInt64(pages.count) * Self.page),
      ownBytes: UInt64(pages.count { $0 }) * Self.page, bits: bits)
  }

  @Test(
    "Bytes of a range count where their pages are in memory", arguments: 0..<200 as Range<UInt64>)
  func ownBytes(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let pages = (0..<Int.random(in: 1...200, using: &random)).map { _ in Bool.random(using: &random)
    }
    let mapping = mapping(0x10_0000, pages: pages)
    let end = mapping.range.upperBound + 100
    let from = UInt64.random(in: 0x0F_FF00...end, using: &random)
    let to = UInt64.random(in: from...end, using: &random)
    var wanted: UInt64 = 0
    for (place, isIn) in pages.enumerated() where isIn {
      let start = 0x10_0000 + UInt64(place) * Self.page
      let part = (from..<to).clamped(to: start..<(start + Self.page))
      wanted += part.upperBound - part.lowerBound
    }
    #expect(mapping.ownBytes(in: from..<to) == wanted)
  }

  @Test("Each page counts once: blocks, what the allocator keeps, pools, stacks, files, the agent")
  func parts() {
    let heap: UInt64 = 0x1000_0000
    let arena: UInt64 = 0x7000_0000_0000
    let large: UInt64 = 0x7000_2000_0000
    let stack: UInt64 = 0x7000_3000_0000
    let file: UInt64 = 0x7000_4000_0000
    let pages = ResidentPages(
      mappings: [
        mapping(heap, pages: [true, true, true, false]),
        mapping(arena, pages: [true, true]),
        // A block with a mapping of its own, and a pool that the kernel took together with it.
        mapping(large, pages: [true, true, false, true, true]),
        mapping(stack, pages: [true, false, true]),
        mapping(file, pages: [true]),
      ], fileBytes: 5 * Self.page)
    func map(_ start: UInt64, _ count: UInt64, _ path: String) -> MemoryMapping {
      MemoryMapping(
        start: start, end: start + count * Self.page, isReadable: true, isWritable: true,
        isExecutable: false, fileOffset: 0, path: path)
    }
    let nodes = HeapNodes()
    nodes.append(HeapBlock(address: heap + 0x20, size: 100))
    // The last page of this one was never touched.
    nodes.append(HeapBlock(address: heap + 2 * Self.page, size: 2 * Self.page))
    nodes.append(HeapBlock(address: arena + 0x8D0, size: 640))
    nodes.append(HeapBlock(address: large + 16, size: 3 * Self.page - 16))
    let thread = ThreadState(
      id: 1, name: "", isStopped: true, registers: [], pc: 0, stackPointer: stack + 100,
      threadPointer: 0, stackBounds: stack..<(stack + 2 * Self.page))
    let usage = MemoryUsage(
      pages: pages, residentBytes: 1,
      mappings: [
        map(heap, 4, "[heap]"), map(arena, 2, ""), map(large, 5, ""), map(stack, 3, ""),
        map(file, 1, "/lib/libApp.so"),
      ], nodes: nodes, threads: [thread],
      ownRanges: [(stack + 2 * Self.page)..<(stack + 3 * Self.page)], isSwift: { $0 == 0 })
    let live = 100 + Self.page + 640 + 2 * Self.page - 16
    #expect(
      usage.figures == [
        "liveSwift": 100, "liveOther": 2 * Self.page + 640 + 3 * Self.page - 16,
        "untouched": 2 * Self.page,
        // The rest of the heap's pages, of the arena's, and the large block's header.
        "heapSlack": 3 * Self.page - 100 - Self.page + 2 * Self.page - 640 + 16,
        "pools": 2 * Self.page, "stacks": Self.page, "agent": Self.page,
        "mappedFiles": 6 * Self.page, "resident": 17 * Self.page,
      ])
    #expect(
      usage.figures["resident"] == live + [6, 1, 1, 2].reduce(0, +) * Self.page + 4 * Self.page
        - 100 - 640 + 16)
  }

  @Test("Where nothing is known of pages only live blocks are told")
  func unknown() {
    let nodes = HeapNodes()
    nodes.append(HeapBlock(address: 0x1000, size: 64))
    nodes.append(HeapBlock(address: 0x2000, size: 32))
    let usage = MemoryUsage(
      pages: nil, residentBytes: 0, mappings: [], nodes: nodes, threads: [], ownRanges: [],
      isSwift: { $0 == 1 })
    #expect(usage.figures == ["liveSwift": 32, "liveOther": 64])
  }

  static let smaps = """
    00400000-00401000 r-xp 00000000 08:01 12   /bin/app
    Size:                  4 kB
    Rss:                   4 kB
    Anonymous:             0 kB
    VmFlags: rd ex mr mw me
    00600000-00700000 rw-p 00000000 00:00 0    [heap]
    Rss:                 512 kB
    Anonymous:           512 kB

    """

  @Test("The kernel's figures are read, and what is damaged is passed over")
  func parse() {
    let found = ResidentPages.ownBytes(inSmaps: Self.smaps)
    #expect(found.map(\.range) == [0x400000..<0x401000, 0x600000..<0x700000])
    #expect(found.map(\.ownBytes) == [0, 512 << 10])
    #expect(ResidentPages.kilobytes("Rss", in: "Rss:  77 kB\nPss: 3 kB\n") == 77)
    #expect(ResidentPages.kilobytes("Rss", in: "Pss: 3 kB") == 0)
    for cut in 0..<Self.smaps.utf8.count {
      let text = String(decoding: Array(Self.smaps.utf8).prefix(cut), as: UTF8.self)
      #expect(ResidentPages.ownBytes(inSmaps: text).count <= 2)
    }
    #expect(ResidentPages.ownBytes(inSmaps: "Anonymous: 3 kB\n").isEmpty)
  }

  @Test("This process's own pages: what it touches becomes resident")
  func ownProcess() throws {
    let count = 8 << 20
    let memory = try #require(
      mmap(nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
    defer { munmap(memory, count) }
    memset(memory, 1, count / 2)
    let pages = try #require(ResidentPages(pid: getpid(), isTwin: false))
    let start = UInt64(UInt(bitPattern: memory))
    let half = UInt64(count / 2)
    func bytes(_ range: Range<UInt64>) -> UInt64 {
      pages.mappings.reduce(0) { $0 + $1.ownBytes(in: range) }
    }
    #expect(bytes(start..<(start + half)) == half)
    #expect(bytes((start + half)..<(start + 2 * half)) == 0)
    #expect(pages.fileBytes > 0)
  }
}
