// MemoryUsage: what the memory of a program is used for, in figures that add up.

/// What the resident memory of a program is used for.
///
/// Each resident byte counts once: `resident` is `liveSwift` and `liveOther` without `untouched`, with
/// `heapSlack`, `pools`, `mappedFiles`, `stacks` and `agent`.
struct MemoryUsage {
  /// The figures by name, as `Snapshot.ProcessFacts.memory` has them.
  let figures: [String: UInt64]

  /// Counts.
  ///
  /// - Parameters:
  ///   - pages: What is in memory; nil where that is not known, as of a core file: then only live blocks
  ///     are told.
  ///   - isSwift: Whether the block of each row is Swift's own.
  ///   - ownRanges: The agent's own memory.
  /// - Complexity: O(blocks + pages).
  init(
    pages: ResidentPages?, residentBytes: UInt64, mappings: [MemoryMapping], nodes: HeapNodes,
    threads: [ThreadState], ownRanges: [Range<UInt64>], isSwift: (Int) -> Bool
  ) {
    var figures: [String: UInt64] = ["liveSwift": 0, "liveOther": 0]
    func add(_ name: String, _ bytes: UInt64) { figures[name, default: 0] += bytes }
    guard let pages else {
      for row in 0..<nodes.count { add(isSwift(row) ? "liveSwift" : "liveOther", nodes.size[row]) }
      if residentBytes > 0 { figures["resident"] = residentBytes }
      self.figures = figures
      return
    }

    for name in ["untouched", "heapSlack", "pools", "stacks", "agent"] { figures[name] = 0 }
    figures["mappedFiles"] = pages.fileBytes
    // Neighbouring mappings are one for the kernel where they are alike, so what is known to be a stack
    // or the agent's is taken out of them page by page.
    var claims = ownRanges.map { (range: $0, name: "agent") }
    claims += threads.compactMap { $0.stackBounds.map { (range: $0, name: "stacks") } }
    claims.sort { $0.range.lowerBound < $1.range.lowerBound }
    let stackPlaces = threads.map(\.stackPointer)
    var row = 0
    var nextClaim = 0
    var nextFile = 0
    for mapping in pages.mappings {
      var rest = mapping.ownBytes
      func take(_ bytes: UInt64) -> UInt64 {
        let taken = min(bytes, rest)
        rest -= taken
        return taken
      }
      while nextClaim < claims.count, claims[nextClaim].range.upperBound <= mapping.range.lowerBound
      {
        nextClaim += 1
      }
      var claim = nextClaim
      while claim < claims.count, claims[claim].range.lowerBound < mapping.range.upperBound {
        // A mapping too large to look at is whose part of it is: nobody else maps such.
        let bytes = mapping.bits.isEmpty ? rest : mapping.ownBytes(in: claims[claim].range)
        add(claims[claim].name, take(bytes))
        claim += 1
      }
      while nextFile < mappings.count, mappings[nextFile].end <= mapping.range.lowerBound {
        nextFile += 1
      }
      let path = nextFile < mappings.count ? mappings[nextFile].path : ""

      while row < nodes.count, nodes.address[row] < mapping.range.lowerBound { row += 1 }
      let firstRow = row
      var live: UInt64 = 0
      var heap = HeapPages(mapping: mapping, isAllHeap: path == "[heap]")
      while row < nodes.count, nodes.address[row] < mapping.range.upperBound {
        let start = nodes.address[row]
        let size = nodes.size[row]
        let end = start &+ min(size, mapping.range.upperBound - start)
        let resident = mapping.ownBytes(in: start..<end)
        add(isSwift(row) ? "liveSwift" : "liveOther", size)
        add("untouched", size - min(size, resident))
        live += min(size, resident)
        heap.add(start..<end)
        row += 1
      }
      let blocks = take(live)
      if row > firstRow || path == "[heap]" {
        // What the allocator has beside its blocks, and after that what is not the allocator's.
        add("heapSlack", take(heap.bytes - min(blocks, heap.bytes)))
        add("pools", rest)
      } else if path.hasPrefix("/") {
        add("mappedFiles", rest)
      } else if path.hasPrefix("[stack") || stackPlaces.contains(where: mapping.range.contains) {
        add("stacks", rest)
      } else {
        add("pools", rest)
      }
    }
    var resident: UInt64 = 0
    for (name, bytes) in figures where name != "untouched" { resident += bytes }
    figures["resident"] = resident - min(figures["untouched"] ?? 0, resident)
    self.figures = figures
  }
}

/// The pages of a mapping that are the allocator's: those with blocks, and those of glibc's arenas of threads.
private struct HeapPages {
  private let _mapping: ResidentPages.Mapping
  private let _isAllHeap: Bool
  private var _pageBytes: UInt64 = 0
  private var _lastPage: UInt64 = .max
  private var _arenaBytes: UInt64 = 0
  private var _lastArena: UInt64 = .max

  /// The size of an arena of a thread and what its address is a multiple of: glibc's `HEAP_MAX_SIZE`.
  private static let _arenaSize: UInt64 = 64 << 20

  init(mapping: ResidentPages.Mapping, isAllHeap: Bool) {
    _mapping = mapping
    _isAllHeap = isAllHeap
  }

  /// Adds the next block.
  mutating func add(_ block: Range<UInt64>) {
    if _isAllHeap { return }
    let size = ResidentPages.pageSize
    let arena = block.lowerBound / Self._arenaSize * Self._arenaSize
    if arena == _lastArena { return }
    // A block with a mapping of its own starts 16 bytes behind a page's start, or aligned; one of an arena
    // mostly elsewhere, and the arena's start is mapped with it.
    let isOfArena =
      block.lowerBound % size != 0 && block.lowerBound % size != 16
      && arena >= _mapping.range.lowerBound
    if isOfArena {
      _lastArena = arena
      _arenaBytes += _mapping.ownBytes(in: arena..<(arena + Self._arenaSize))
      return
    }
    let first = block.lowerBound / size
    let last = max(block.lowerBound, block.upperBound &- 1) / size
    let start = first == _lastPage ? first + 1 : first
    if start <= last { _pageBytes += _mapping.ownBytes(in: start * size..<(last + 1) * size) }
    _lastPage = last
  }

  /// The bytes in memory of those pages.
  var bytes: UInt64 { _isAllHeap ? _mapping.ownBytes : _pageBytes + _arenaBytes }
}
