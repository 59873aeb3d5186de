// WordingTests: figures and names in words: they add up, and say which is which.

import GraphPrimitives
import SnapshotDSL
import SnapshotFormat
import Testing

@testable import GraphReport

@Suite struct WordingTests {
  // MARK: - Leak or allocator?

  /// Figures that sum up to what is resident.
  private func figures(live: UInt64, untouched: UInt64, slack: UInt64) -> [String: UInt64] {
    var figures: [String: UInt64] = [
      "liveSwift": live / 4, "liveOther": live - live / 4, "untouched": untouched,
      "heapSlack": slack, "pools": 0, "mappedFiles": 4_000_000, "stacks": 80_000, "agent": 200_000,
    ]
    figures["resident"] = live - untouched + slack + 4_280_000
    return figures
  }

  private func verdict(
    live: UInt64, untouched: UInt64 = 0, slack: UInt64 = 0, leaked: Int64
  ) throws -> String {
    let text = MemoryText(
      figures(live: live, untouched: untouched, slack: slack), leaked: ByteCount(leaked))
    return try #require(text.verdict).text
  }

  @Test("What live blocks asked for is told apart from what of it is in memory")
  func askedAndResident() throws {
    // A hundred leaked buffers of a megabyte, of which one page each was written.
    let untouched = try verdict(
      live: 105_000_000, untouched: 104_500_000, slack: 1_000, leaked: 104_400_000)
    #expect(
      untouched.contains(
        "live blocks take 488 KB of the 100 MB that they asked for, 99.6 MB of that leaked"))
    #expect(untouched.hasSuffix("most of their memory was never touched and costs none."))
    let written = try verdict(live: 105_000_000, slack: 1_000, leaked: 104_857_600)
    #expect(written.contains("live blocks take 100 MB, 100 MB of it leaked"))
    #expect(written.hasSuffix("the leaks, which memgraph leaks tells."))
    let little = try verdict(live: 90_000_000, untouched: 60_000_000, slack: 500, leaked: 100)
    #expect(little.contains("live blocks take 28.6 MB of the 85.8 MB that they asked for"))
    #expect(little.contains("mostly live blocks"))
  }

  @Test("What is called the most is the most, and leaks are no more than what holds them")
  func verdictsAddUp() throws {
    for live in [0, 1_000, 4_000_000, 400_000_000] as [UInt64] {
      for part in 0..<4 as Range<UInt64> {
        for slack in [0, 5_000_000, 500_000_000] as [UInt64] {
          for leakedPart in 0..<3 as Range<UInt64> {
            let untouched = live / 4 * part
            let leaked = live / 2 * leakedPart
            let text = try verdict(
              live: live, untouched: untouched, slack: slack, leaked: Int64(leaked))
            let inMemory = live - untouched
            if text.hasSuffix("memgraph leaks tells.") {
              #expect(leaked > untouched && leaked - untouched >= slack)
            }
            if text.contains("mostly live blocks") { #expect(inMemory >= max(slack, 4_000_000)) }
            if text.contains("which keeps what was freed") { #expect(slack > inMemory) }
            if text.contains("costs none") { #expect(leaked > inMemory) }
          }
        }
      }
    }
  }

  // MARK: - Names

  @Test("Snapshots of the same mark are told apart by their files")
  func titles() {
    func input(_ path: String, _ mark: String) -> ReportInput {
      var heap = SnapshotDSL()
      heap.builder.process.mark = mark
      return ReportInput(path: path, snapshot: heap.snapshot())
    }
    let inputs = [
      input("old/doc-6.mgraph", "doc-6"), input("new/doc-6.mgraph", "doc-6"),
      input("new/doc-7.mgraph", "doc-7"), input("exit.mgraph", ""),
    ]
    #expect(
      ReportInput.titles(of: inputs) == [
        "old/doc-6.mgraph", "new/doc-6.mgraph", "doc-7", "exit",
      ])
    #expect(ReportInput.titles(of: [inputs[0], inputs[2]]) == ["doc-6", "doc-7"])
  }

  @Test(
    "Functions of C++ are named without what fills a page, others as they are",
    arguments: [
      (
        "void swift::ConcurrentReadableHashMap<swift::HashMapElementWrapper<swift::GenericCacheEntry>, "
          + "swift::Mutex>::getOrInsertExternallyLocked<swift::MetadataCacheKey>(swift::MetadataCacheKey, "
          + "swift::Map::{lambda(swift::Entry*, bool)#1} const&)",
        "swift::ConcurrentReadableHashMap::getOrInsertExternallyLocked"
      ),
      (
        "swift::threading_impl::once_slow(swift::threading_impl::once_t&, void (*)(void*), void*)",
        "swift::threading_impl::once_slow"
      ),
      (
        "(anonymous namespace)::_swift_initRootPath(void*)",
        "(anonymous namespace)::_swift_initRootPath"
      ),
      (
        "std::vector<int> app::(anonymous namespace)::make<int>(int) const",
        "app::(anonymous namespace)::make"
      ),
      (
        "operator new(unsigned long, std::align_val_t)",
        "operator new(unsigned long, std::align_val_t)"
      ),
      ("App.Store.load<A>(_:from:)", "App.Store.load<A>(_:from:)"),
      ("open_connection", "open_connection"),
    ])
  func plainFunctions(_ name: String, _ plain: String) {
    #expect(Names.plainFunction(name) == plain)
  }
}
