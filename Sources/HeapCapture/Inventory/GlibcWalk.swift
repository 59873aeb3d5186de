// GlibcWalk: the walk over the chunks of all arenas, which of them are free, and blocks with a mapping of
// their own.

/// One walk over a program's heap. Its steps are taken in the order in which they stand here.
struct GlibcWalk {
  /// A row of chunks.
  private struct Region {
    /// The first chunk.
    var start: UInt64
    /// Where chunks end at the latest.
    var end: UInt64
    /// The arena's unused rest; 0 where it lies in another region.
    var top: UInt64
    /// Whether memory of others may lie between its chunks, as when they moved the program's break.
    var isShared: Bool
  }

  private let _memory: TargetMemory
  private var _regions: [Region] = []

  /// Memory that the arenas are in, where no block has a mapping of its own.
  private var _covered: [Range<UInt64>] = []
  private var _parameters: GlibcParameters?

  /// Chunks that count as used but are in a fast bin or a thread's cache, or are such a cache; sorted.
  private var _cached: [UInt64] = []

  private(set) var blocks: [HeapBlock] = []
  private(set) var diagnostics: [String: Int] = [:]

  /// Whether the program has blocks that were not found, or may have.
  private(set) var isIncomplete = false

  init(memory: TargetMemory) { _memory = memory }

  private mutating func _note(_ text: String, count: Int = 1) {
    diagnostics[text, default: 0] += count
  }

  /// Notes what may have hidden blocks: an object that only they hold must not look leaked.
  private mutating func _noteMissing(_ text: String, count: Int = 1) {
    _note(text, count: count)
    isIncomplete = true
  }

  // MARK: Regions

  /// Finds the rows of chunks of all arenas.
  mutating func collectRegions(mainArena: UInt64, parameters: GlibcParameters?) {
    _parameters = parameters
    _collectMain(mainArena, breakBase: parameters?.breakBase ?? 0)
    _collectFastBins(of: mainArena)
    var arena = _memory.word(at: mainArena + GlibcLayout.nextArena) ?? mainArena
    var count = 1
    while arena != mainArena {
      guard count < 1 << 16, _collectHeaps(of: arena) else {
        _noteMissing("an arena of the C heap could not be read; its blocks are missing")
        break
      }
      _collectFastBins(of: arena)
      count += 1
      arena = _memory.word(at: arena + GlibcLayout.nextArena) ?? 0
    }
    _regions.sort { $0.start < $1.start }
    _covered.sort { $0.lowerBound < $1.lowerBound }
  }

  /// The main arena grows by moving the program's break; where that fails, by mappings.
  private mutating func _collectMain(_ arena: UInt64, breakBase: UInt64) {
    guard let top = _memory.word(at: arena + GlibcLayout.top), top != arena + GlibcLayout.top else {
      return
    }
    guard let mapping = _mapping(of: top), let head = _memory.word(at: top + 8) else {
      _noteMissing("the main arena of the C heap could not be read; its blocks are missing")
      return
    }
    let end = min(mapping.end, top &+ (head & ~7))
    var start = mapping.start
    if mapping.start <= breakBase && breakBase < top {
      start = (breakBase + 15) & ~15
    } else if let base = _mapping(of: breakBase), base.end <= mapping.start {
      // The break could not be moved any more: what lies below is another region, and there may be
      // more of them that nothing points to.
      _regions.append(
        Region(start: (breakBase + 15) & ~15, end: base.end, top: 0, isShared: true))
      _covered.append(base.start..<base.end)
      _noteMissing("the program's break could not grow; blocks of the C heap may be missing")
    }
    _regions.append(Region(start: start, end: end, top: top, isShared: true))
    _covered.append(
      mapping.path == "[heap]" || start == mapping.start ? mapping.start..<mapping.end : start..<end
    )
  }

  /// Any other arena is a list of heaps, the newest first; the oldest holds the arena itself.
  private mutating func _collectHeaps(of arena: UInt64) -> Bool {
    guard arena != 0, isArena(arena, in: _memory),
      let top = _memory.word(at: arena + GlibcLayout.top)
    else { return false }
    let first = arena & ~(GlibcLayout.heapAlignment - 1)
    // The header's size differs between versions; the arena follows it.
    let headerSize = arena - first
    guard headerSize <= 128 else { return false }
    var heap = top & ~(GlibcLayout.heapAlignment - 1)
    var count = 0
    while heap != 0 {
      guard count < 1 << 20, _memory.word(at: heap) == arena,
        let previous = _memory.word(at: heap + GlibcLayout.previousHeap),
        let size = _memory.word(at: heap + GlibcLayout.heapSize),
        size <= GlibcLayout.heapAlignment, size > headerSize
      else { return false }
      let start = heap == first ? arena + GlibcLayout.arenaSize : heap + headerSize
      let isNewest = count == 0
      _regions.append(
        Region(
          start: (start + 15) & ~15, end: heap + size, top: isNewest ? top : 0, isShared: false))
      _covered.append(heap..<(heap + size))
      if heap == first { return true }
      heap = previous
      count += 1
    }
    return false
  }

  private func _mapping(of address: UInt64) -> MemoryMapping? {
    _memory.source.mappings.first { $0.start <= address && address < $0.end }
  }

  private func _region(of address: UInt64) -> Region? {
    var low = 0
    var high = _regions.count
    while low < high {
      let middle = (low + high) / 2
      if _regions[middle].end <= address { low = middle + 1 } else { high = middle }
    }
    return low < _regions.count && _regions[low].start <= address ? _regions[low] : nil
  }

  // MARK: Free chunks that count as used

  /// Pointers in lists of free blocks are mixed with the address that they are stored at.
  private func _link(at place: UInt64) -> UInt64? {
    _memory.word(at: place).map { $0 ^ (place >> 12) }
  }

  private mutating func _collectFastBins(of arena: UInt64) {
    for bin in 0..<GlibcLayout.fastBinCount {
      let size = UInt64(bin + 2) * 16
      var chunk = _memory.word(at: arena + GlibcLayout.fastBins + UInt64(bin) * 8) ?? 0
      var count = 0
      while chunk != 0 {
        guard chunk & 15 == 0, count < 1 << 28, let head = _memory.word(at: chunk + 8),
          head & ~7 == size, let next = _link(at: chunk + 16)
        else {
          _note("a list of free blocks is damaged; blocks on it count as live")
          break
        }
        _cached.append(chunk)
        count += 1
        chunk = next
      }
    }
  }

  /// Finds the caches of the threads, and what they list.
  ///
  /// A cache is a block of the heap that a thread-local variable of the C library points to, at the same
  /// distance from each thread's pointer. What forked threads left behind has no such pointer, and is
  /// recognised by its lists.
  mutating func collectCached(threads: [ThreadState], threadLocalSize: UInt64) {
    let candidates = _cacheCandidates()
    var lists: [UInt64: [UInt64]] = [:]
    for candidate in candidates {
      if let list = _cachedChunks(of: candidate, tolerance: 1) { lists[candidate] = list }
    }
    var hitsByDistance: [UInt64: [UInt64]] = [:]
    for thread in threads where thread.threadPointer > threadLocalSize {
      for distance in stride(from: UInt64(8), through: threadLocalSize, by: 8) {
        guard let word = _memory.word(at: thread.threadPointer - distance) else { break }
        if lists[word] != nil { hitsByDistance[distance, default: []].append(word) }
      }
    }
    func weight(_ hits: [UInt64]) -> Int {
      hits.reduce(hits.count) { $0 + (lists[$1]?.count ?? 0) }
    }
    let owned =
      hitsByDistance.max {
        (weight($0.value), $1.key) < (weight($1.value), $0.key)
      }?.value ?? []
    for candidate in candidates {
      guard let list = lists[candidate] else { continue }
      guard
        owned.contains(candidate)
          || (!list.isEmpty && _cachedChunks(of: candidate, tolerance: 0) != nil)
      else { continue }
      _cached.append(candidate - 16)
      _cached.append(contentsOf: list)
    }
    _cached.sort()
  }

  /// The blocks that have a cache's size.
  private func _cacheCandidates() -> [UInt64] {
    var found: [UInt64] = []
    for region in _regions {
      var damage = 0
      _forEachChunk(of: region, damage: &damage) { chunk, size, isUsed in
        // A chunk may be 16 bytes larger than asked for, where the rest would be no chunk.
        if isUsed && (size == GlibcLayout.cacheSize + 16 || size == GlibcLayout.cacheSize + 32) {
          found.append(chunk + 16)
        }
      }
    }
    return found
  }

  /// The chunks that a thread's cache lists; nil where the block can be no cache.
  ///
  /// - Parameter tolerance: how many lists may differ by one from their count, since the thread may have
  ///   been stopped between the two.
  private func _cachedChunks(of cache: UInt64, tolerance: Int) -> [UInt64]? {
    guard let bytes = _memory.bytes(at: cache, count: Int(GlibcLayout.cacheSize)) else {
      return nil
    }
    var chunks: [UInt64] = []
    var differences = 0
    var key: UInt64?
    for bin in 0..<GlibcLayout.cacheBins {
      let count = Int(bytes.loadUnaligned(fromByteOffset: bin * 2, as: UInt16.self))
      var entry = bytes.loadUnaligned(
        fromByteOffset: Int(GlibcLayout.cacheLists) + bin * 8, as: UInt64.self)
      let size = UInt64(bin + 2) * 16
      var length = 0
      while entry != 0 {
        guard entry & 15 == 0, entry >= 16, length <= count, let head = _memory.word(at: entry - 8),
          head & ~7 == size, let next = _link(at: entry), let mark = _memory.word(at: entry + 8),
          mark == key ?? mark
        else { return nil }
        key = mark
        chunks.append(entry - 16)
        length += 1
        entry = next
      }
      if length != count {
        differences += 1
        if abs(length - count) > 1 || differences > tolerance { return nil }
      }
    }
    return chunks
  }

  // MARK: Blocks

  /// Collects the live blocks in ascending order of address.
  mutating func collectBlocks() {
    var found: [HeapBlock] = []
    var damage = 0
    var cursor = 0
    for region in _regions {
      let cached = _cached
      _forEachChunk(of: region, damage: &damage) { chunk, size, isUsed in
        guard isUsed else { return }
        while cursor < cached.count, cached[cursor] < chunk { cursor += 1 }
        if cursor < cached.count, cached[cursor] == chunk { return }
        found.append(HeapBlock(address: chunk + 16, size: size - 8))
      }
    }
    if damage > 0 {
      _noteMissing(
        "the C heap is damaged at a chunk; blocks after it may be missing", count: damage)
    }
    let mapped = _mappedBlocks()
    if !mapped.isEmpty {
      found.append(contentsOf: mapped)
      found.sort { $0.address < $1.address }
    }
    blocks = found
  }

  /// Calls `body` with each chunk of a region: its address, its size, and whether the next chunk says
  /// that it is used.
  private func _forEachChunk(
    of region: Region, damage: inout Int, _ body: (UInt64, UInt64, Bool) -> Void
  ) {
    guard region.start < region.end,
      let base = _memory.bytes(at: region.start, count: Int(region.end - region.start))
    else {
      damage += 1
      return
    }
    let chunks = Chunks(base: base, start: region.start, end: region.end, top: region.top)
    var chunk = region.start
    while true {
      switch chunks.step(at: chunk) {
      case .chunk(let size, let isUsed):
        body(chunk, size, isUsed)
        chunk += size
      case .end:
        return
      case .fence(let after):
        // Where an arena's memory was continued elsewhere, its old end is fenced off.
        guard region.isShared, let next = chunks.resume(from: after) else { return }
        chunk = next
      case .damaged:
        damage += 1
        guard let next = chunks.resume(from: chunk + 16) else { return }
        chunk = next
      }
    }
  }

  // MARK: Blocks with a mapping of their own

  /// The blocks that have a mapping of their own.
  ///
  /// Their header has only the flag that says so, and size and place are those of whole pages. The
  /// allocator keeps their number and their bytes, against which the result is held.
  private mutating func _mappedBlocks() -> [HeapBlock] {
    if let parameters = _parameters, parameters.mappedCount == 0 { return [] }
    var found: [HeapBlock] = []
    for mapping in _memory.source.mappings
    where mapping.isReadable && mapping.isWritable && mapping.isAnonymous {
      for range in subtract(_covered, from: mapping.start..<mapping.end) {
        var place = (range.lowerBound + 4095) & ~4095
        while place + 4096 <= range.upperBound {
          if let block = _mappedBlock(at: place, limit: range.upperBound) {
            found.append(block)
            place = block.address + block.size
          } else {
            place += 4096
          }
        }
      }
    }
    if let parameters = _parameters, found.count != parameters.mappedCount {
      let text =
        "the C heap counts \(parameters.mappedCount) large blocks, \(found.count) were found"
      if found.count < parameters.mappedCount { _noteMissing(text) } else { _note(text) }
    }
    return found
  }

  /// The block whose mapping starts at a page; nil for none.
  private func _mappedBlock(at base: UInt64, limit: UInt64) -> HeapBlock? {
    func header(at place: UInt64) -> UInt64? {
      guard let before = _memory.word(at: place), before == place - base,
        let head = _memory.word(at: place + 8), head & 7 == GlibcLayout.isMapped
      else { return nil }
      let size = head & ~7
      return size >= GlibcLayout.leastChunk && (before &+ size) & 4095 == 0 ? size : nil
    }
    guard let whole = header(at: base) else { return nil }
    // A block with a large alignment begins further in, with a header of its own. The first header
    // stays as it was, though the mapping may have shrunk or grown with the block.
    var alignment: UInt64 = 64
    while alignment < min(whole, limit - base) {
      let place = base + alignment - 16
      if let size = header(at: place), size <= limit - place {
        return HeapBlock(address: place + 16, size: size - 16)
      }
      alignment += alignment < 4096 ? alignment : 4096
    }
    return whole <= limit - base ? HeapBlock(address: base + 16, size: whole - 16) : nil
  }
}

/// A row of chunks in memory of our own.
private struct Chunks {
  enum Step {
    case chunk(size: UInt64, isUsed: Bool)

    /// The arena's unused rest, or the end of a heap.
    case end

    /// The end of a part; what follows the fence belongs to somebody else at first.
    case fence(after: UInt64)
    case damaged
  }

  let base: UnsafeRawPointer
  let start: UInt64
  let end: UInt64
  let top: UInt64

  private func _word(_ address: UInt64) -> UInt64 {
    base.loadUnaligned(fromByteOffset: Int(address - start), as: UInt64.self)
  }

  /// What lies at an address.
  @inline(__always)
  func step(at chunk: UInt64) -> Step {
    if chunk == top { return .end }
    guard chunk + 16 <= end else { return chunk == end && top == 0 ? .end : .damaged }
    let head = _word(chunk + 8)
    let size = head & ~7
    if size < GlibcLayout.leastChunk {
      // A heap ends with a chunk of no size. A fence is two chunks of nothing but a header.
      if size == 0 && top == 0 && head & GlibcLayout.previousInUse != 0 { return .end }
      guard size == 16, chunk + 32 <= end else { return .damaged }
      let second = _word(chunk + 24)
      guard second & GlibcLayout.previousInUse != 0,
        second & ~7 == 16 || second & ~7 == 0 && top == 0
      else { return .damaged }
      return .fence(after: chunk + 32)
    }
    guard size & 15 == 0, head & GlibcLayout.isMapped == 0, size <= end - chunk,
      chunk + size + 16 <= end || chunk + size == end && top == 0
    else { return .damaged }
    if chunk + size == end { return .chunk(size: size, isUsed: true) }
    let next = _word(chunk + size + 8)
    return .chunk(size: size, isUsed: next & GlibcLayout.previousInUse != 0)
  }

  /// The first place from an address on, from where chunks follow each other up to the end or a fence.
  func resume(from address: UInt64) -> UInt64? {
    var candidate = (address + 15) & ~15
    while candidate + 32 <= end {
      if _leadsToEnd(candidate) { return candidate }
      candidate += 16
    }
    return nil
  }

  private func _leadsToEnd(_ candidate: UInt64) -> Bool {
    var chunk = candidate
    // So many chunks in a row are no accident; the end may be far, or behind the next damage.
    for _ in 0..<64 {
      switch step(at: chunk) {
      case .chunk(let size, let isUsed):
        // A free chunk's size stands at its end too.
        if !isUsed && _word(chunk + size) != size { return false }
        chunk += size
      case .end:
        return top == 0 || chunk == top
      case .fence:
        return chunk != candidate
      case .damaged:
        return false
      }
    }
    return true
  }
}
