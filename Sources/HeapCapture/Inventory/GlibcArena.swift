// GlibcArena: how glibc's allocator lays out its state, and where that lies in a program whose C library
// has lost its symbols.

internal import SnapshotFormat

/// Where the fields of glibc's `malloc_state`, `heap_info` and `malloc_par` lie on x86-64, for the
/// versions from 2.27 on, which have thread caches.
enum GlibcLayout {
  // malloc_state
  static let arenaFlags: UInt64 = 4
  static let fastBins: UInt64 = 16
  static let fastBinCount = 10
  static let top: UInt64 = 96
  static let bins: UInt64 = 112
  static let binCount: UInt64 = 127
  static let nextArena: UInt64 = 2160
  static let systemMemory: UInt64 = 2184
  static let arenaSize: UInt64 = 2200

  // heap_info: arena, previous heap, size. Heaps of arenas other than the main one start at multiples
  // of their greatest size.
  static let heapAlignment: UInt64 = 64 << 20
  static let previousHeap: UInt64 = 8
  static let heapSize: UInt64 = 16

  // malloc_par, counted back from `tcache_bins`, since what lies before differs between versions.
  static let countOfMapped: UInt64 = 44
  static let greatestCountOfMapped: UInt64 = 40
  static let bytesOfMapped: UInt64 = 24
  static let greatestBytesOfMapped: UInt64 = 16
  static let breakBase: UInt64 = 8

  // tcache_perthread_struct: 64 counts of two bytes, 64 lists.
  static let cacheBins = 64
  static let cacheLists: UInt64 = 128
  static let cacheSize: UInt64 = 640

  // Flags in the low bits of a chunk's size.
  static let previousInUse: UInt64 = 1
  static let isMapped: UInt64 = 2

  static let leastChunk: UInt64 = 32
}

/// Finds glibc's main arena.
///
/// Distributions strip the C library, so there is no symbol. But an arena is 127 doubly linked lists
/// whose neighbours point back at it, which nothing else is.
///
/// - Complexity: O(*n*) for *n* words of writable data.
func findMainArena(in memory: TargetMemory, images: [LoadedImage]) -> UInt64? {
  for image in imagesByLikelihood(images) {
    for range in image.dataRanges {
      if let arena = findArena(in: range, memory: memory) { return arena }
    }
  }
  return nil
}

/// The first arena in a range of data.
///
/// A place a few lists too early looks much like the arena behind it, so of places that overlap it is
/// the one with the fewest broken lists.
func findArena(in range: Range<UInt64>, memory: TargetMemory) -> UInt64? {
  var best: (arena: UInt64, broken: Int)?
  var candidate = (range.lowerBound + 15) & ~15
  while candidate + GlibcLayout.arenaSize <= range.upperBound {
    if let best, best.broken == 0 || candidate >= best.arena + GlibcLayout.arenaSize { break }
    if let broken = brokenBins(ofArenaAt: candidate, in: memory), broken < best?.broken ?? .max {
      best = (candidate, broken)
    }
    candidate += 16
  }
  return best?.arena
}

/// Whether an initialised arena lies at an address.
func isArena(_ arena: UInt64, in memory: TargetMemory) -> Bool {
  brokenBins(ofArenaAt: arena, in: memory) != nil
}

/// How many lists of an initialised arena don't lead back to it, as when the program was stopped while
/// it changed one; nil where no arena lies at the address.
private func brokenBins(ofArenaAt arena: UInt64, in memory: TargetMemory) -> Int? {
  guard let bytes = memory.bytes(at: arena, count: Int(GlibcLayout.arenaSize)) else { return nil }
  func word(_ offset: UInt64) -> UInt64 {
    bytes.loadUnaligned(fromByteOffset: Int(offset), as: UInt64.self)
  }
  // The quick test first: most candidates are ordinary data. The arenas are a ring, so the next one is
  // this or another, never a place within.
  let next = word(GlibcLayout.nextArena)
  guard next != 0, next & 7 == 0, word(GlibcLayout.top) & 15 == 0, word(GlibcLayout.top) != 0,
    next == arena || next < arena || next >= arena + GlibcLayout.arenaSize
  else {
    return nil
  }
  var emptyBins = 0
  var brokenBins = 0
  for bin in 0..<GlibcLayout.binCount {
    let offset = GlibcLayout.bins + bin * 16
    // A list's head is a chunk of which only the two links exist.
    let head = arena + offset - 16
    let first = word(offset)
    let last = word(offset + 8)
    if first == head && last == head {
      emptyBins += 1
      continue
    }
    // No step of a change leaves a link that leads nowhere. Fast bins do, and they lie in front of the
    // lists: with them, a place before the arena would pass for one.
    guard first != 0, last != 0, first & 15 == 0, last & 15 == 0 else { return nil }
    if first == head || last == head || memory.word(at: first &+ 24) != head
      || memory.word(at: last &+ 16) != head
    {
      brokenBins += 1
      if brokenBins > 2 { return nil }
    }
  }
  return emptyBins > 0 ? brokenBins : nil
}

/// What the allocator says of blocks that have a mapping of their own, and where its heap begins.
struct GlibcParameters {
  var mappedCount: Int
  var mappedBytes: UInt64
  var breakBase: UInt64
}

/// Finds glibc's `mp_`, near its main arena.
func findParameters(
  in memory: TargetMemory, images: [LoadedImage], mainArena: UInt64
) -> GlibcParameters? {
  guard let range = images.lazy.flatMap(\.dataRanges).first(where: { $0.contains(mainArena) })
  else {
    return nil
  }
  let top = memory.word(at: mainArena + GlibcLayout.top) ?? 0
  let heap = memory.source.mappings.first { $0.start <= top && top < $0.end }
  var relaxed: GlibcParameters?
  for place in stride(from: (range.lowerBound + 7) & ~7, to: range.upperBound, by: 8) {
    guard let bins = memory.word(at: place), bins <= UInt64(GlibcLayout.cacheBins),
      place >= range.lowerBound + 48,
      let base = memory.word(at: place - GlibcLayout.breakBase), base & 7 == 0,
      let bytes = memory.word(at: place - GlibcLayout.bytesOfMapped), bytes & 4095 == 0,
      let greatest = memory.word(at: place - GlibcLayout.greatestBytesOfMapped),
      greatest >= bytes, greatest & 4095 == 0,
      let count = memory.load(Int32.self, at: place - GlibcLayout.countOfMapped), count >= 0,
      let greatestCount = memory.load(Int32.self, at: place - GlibcLayout.greatestCountOfMapped),
      greatestCount >= 0, (count == 0) == (bytes == 0)
    else { continue }
    let found = GlibcParameters(mappedCount: Int(count), mappedBytes: bytes, breakBase: base)
    // The usual settings of the thread caches follow.
    if bins == UInt64(GlibcLayout.cacheBins), memory.word(at: place + 8) == 1032,
      memory.word(at: place + 16) == 7
    {
      return found
    }
    // A program may have been started with others (GLIBC_TUNABLES). The heap's beginning tells too.
    if let heap, heap.start <= base, base < top { relaxed = relaxed ?? found }
  }
  return relaxed
}

/// The C library first, then the executable, which may have a static one, then the rest.
private func imagesByLikelihood(_ images: [LoadedImage]) -> [LoadedImage] {
  let isLibrary = { (image: LoadedImage) in
    fileName(of: image.module.path).hasPrefix("libc.so")
      || fileName(of: image.module.path).hasPrefix("libc-2")
  }
  return images.filter(isLibrary) + images.filter { !isLibrary($0) }
}

/// What follows the last slash of a path.
func fileName(of path: String) -> Substring {
  path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path[...]
}
