// TargetMemory: the captured program's memory as pointers of this process, read in large pieces.

internal import Glibc

/// The captured program's memory, copied on demand in large pieces.
///
/// Each mapping has a reservation of its own size here; pieces of it are copied when they are first
/// asked for, since one read of a megabyte costs as much as a few reads of a word. Pointers stay valid
/// as long as the instance lives. Not thread-safe.
package final class TargetMemory {
  /// How much is copied at a time.
  private static let _pieceShift: UInt64 = 18

  private struct Region {
    var start: UInt64
    var end: UInt64
    var local: UnsafeMutableRawPointer
    /// Where the region's pieces start in `_isLoaded`.
    var firstPiece: Int
    /// Where readable bytes end; less than `end` where a read failed halfway.
    var readableEnd: UInt64
  }

  package let source: any MemorySource
  @exclusivity(unchecked) private var _regions: [Region] = []
  @exclusivity(unchecked) private var _isLoaded: [Bool] = []

  /// Pieces into which somebody keeps pointers.
  private var _isKept: [Bool] = []
  @exclusivity(unchecked) private var _last = 0

  /// Whether what was copied can be copied again: the program stands still as long as it is read.
  private var _isStill = true

  package convenience init(_ source: any MemorySource) { self.init(source, room: nil) }

  /// - Parameter room: an instance for an earlier moment of the same program, whose memory is taken where
  ///   mappings are still the same. It is of no use afterwards.
  init(_ source: any MemorySource, room: TargetMemory?) {
    self.source = source
    var rooms: [UInt64: Region] = [:]
    for region in room?._regions ?? [] { rooms[region.start] = region }
    for mapping in source.mappings where mapping.isReadable && mapping.path != "[vsyscall]" {
      let local: UnsafeMutableRawPointer
      if let taken = rooms[mapping.start], taken.end == mapping.end {
        local = taken.local
        rooms[mapping.start] = nil
      } else {
        let made = mmap(
          nil, mapping.count, PROT_READ | PROT_WRITE,
          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
        guard let made, made != MAP_FAILED else { continue }
        local = made
      }
      _regions.append(
        Region(
          start: mapping.start, end: mapping.end, local: local, firstPiece: _isLoaded.count,
          readableEnd: mapping.end))
      let pieces = (mapping.count + (1 << Int(Self._pieceShift)) - 1) >> Int(Self._pieceShift)
      _isLoaded.append(contentsOf: repeatElement(false, count: pieces))
      _isKept.append(contentsOf: repeatElement(false, count: pieces))
    }
    room?._regions = Array(rooms.values)
  }

  deinit {
    for region in _regions { munmap(region.local, Int(region.end - region.start)) }
  }

  /// Has the kernel make the memory that `copyWhatMayChange(pages:)` will fill.
  ///
  /// - Complexity: O(*n*) for *n* bytes.
  func makeRoom(pages: PageMap?) {
    _forEachChangingPiece(pages: pages) { piece, index in
      let region = _regions[index]
      let offset = Int(piece << Self._pieceShift)
      let count = min(1 << Int(Self._pieceShift), Int(region.end - region.start) - offset)
      // MADV_POPULATE_WRITE, of Linux 5.14; without it the copy makes the memory as it goes.
      _ = madvise(region.local + offset, count, 23)
    }
  }

  /// Copies at once all that the program may change later: its writable memory, and pages of its own in
  /// other memory. What it shares with other processes or has in files unchanged is left for later.
  ///
  /// - Parameter pages: which pages were touched; nil copies untouched memory too.
  /// - Complexity: O(*n*) for *n* bytes.
  func copyWhatMayChange(pages: PageMap?) {
    _isStill = false
    _forEachChangingPiece(pages: pages) { piece, index in _load(piece, of: index) }
  }

  /// Gives up copies of some ranges, into which no pointer may be in use any more but those of `keptBytes(at:count:)`. They
  /// are made again where they are asked for; where the program may have gone on meanwhile, they are kept.
  ///
  /// - Parameters:
  ///   - needed: Ranges that will be asked for again, in any order: pieces with any of them are not given up.
  ///   - isKeptToo: Whether nobody uses pointers of `keptBytes(at:count:)` any more.
  /// - Complexity: O(*m* + *n*) for *m* mappings and pieces of the ranges and *n* needed ranges.
  func release(
    _ ranges: [Range<UInt64>], needed: some Sequence<Range<UInt64>> = EmptyCollection(),
    isKeptToo: Bool = false
  ) {
    if !_isStill { return }
    var isNeeded: Set<Int> = []
    var last: Range<UInt64> = 0..<0
    for range in needed where !range.isEmpty {
      // Most lie in the same piece as the one before.
      if last.contains(range.lowerBound), range.upperBound <= last.upperBound { continue }
      guard let index = _region(containing: range.lowerBound) else { continue }
      let region = _regions[index]
      let first = (range.lowerBound - region.start) >> Self._pieceShift
      let end = (min(range.upperBound, region.end) - 1 - region.start) >> Self._pieceShift + 1
      for piece in first..<end { isNeeded.insert(region.firstPiece + Int(piece)) }
      let high = min(region.end, region.start + end << Self._pieceShift)
      last = (region.start + first << Self._pieceShift)..<high
    }
    for range in ranges {
      for region in _regions where region.start < range.upperBound && range.lowerBound < region.end
      {
        let size = UInt64(1) << Self._pieceShift
        let low = max(range.lowerBound, region.start) - region.start
        let high = min(range.upperBound, region.end) - region.start
        // Whole pieces, the last one of a region included.
        let first = (low + size - 1) / size
        let end = high == region.end - region.start ? (high + size - 1) / size : high / size
        for piece in first..<max(first, end) {
          let row = region.firstPiece + Int(piece)
          guard _isLoaded[row], isKeptToo || !_isKept[row], !isNeeded.contains(row) else {
            continue
          }
          let offset = piece * size
          let count = min(size, region.end - region.start - offset)
          madvise(region.local + Int(offset), Int(count), MADV_DONTNEED)
          _isLoaded[row] = false
        }
      }
    }
  }

  /// The bytes of a range for somebody who keeps the pointer: `release` doesn't give them up.
  func keptBytes(at address: UInt64, count: Int) -> UnsafeRawPointer? {
    guard let found = bytes(at: address, count: count) else { return nil }
    if count > 0, let index = _region(containing: address) {
      let region = _regions[index]
      let first = (address - region.start) >> Self._pieceShift
      let last = (address + UInt64(count) - 1 - region.start) >> Self._pieceShift
      for piece in first...last { _isKept[region.firstPiece + Int(piece)] = true }
    }
    return found
  }

  /// Calls `body` with each piece that is the program's own, and its region. Of the rest of writable memory
  /// nothing was written yet, so it holds zeros, as the copy does: it counts as loaded.
  private func _forEachChangingPiece(pages: PageMap?, _ body: (UInt64, Int) -> Void) {
    var index = 0
    for mapping in source.mappings {
      guard index < _regions.count, _regions[index].start == mapping.start else { continue }
      defer { index += 1 }
      if mapping.isShared { continue }
      let region = _regions[index]
      var start = region.start
      var piece: UInt64 = 0
      while start < region.end {
        let end = min(start + 1 << Self._pieceShift, region.end)
        let isOwn = pages?.hasOwnPages(start..<end) ?? mapping.isWritable
        if isOwn || mapping.isWritable && !mapping.isAnonymous {
          body(piece, index)
        } else if mapping.isWritable {
          _isLoaded[region.firstPiece + Int(piece)] = true
        }
        start = end
        piece += 1
      }
    }
  }

  /// The bytes of a range; nil where not all of it is readable.
  ///
  /// - Complexity: O(log *m*) for *m* mappings, O(1) for the mapping that was asked for last; the
  ///   first touch of a piece copies it.
  package func bytes(at address: UInt64, count: Int) -> UnsafeRawPointer? {
    var index = _last
    if !(index < _regions.count && address >= _regions[index].start
      && address < _regions[index].end)
    {
      guard let found = _region(containing: address) else { return nil }
      index = found
      _last = found
    }
    let region = _regions[index]
    guard count >= 0, UInt64(count) <= region.end - address else { return nil }
    if count > 0 {
      let first = (address - region.start) >> Self._pieceShift
      let last = (address + UInt64(count) - 1 - region.start) >> Self._pieceShift
      for piece in first...last where !_isLoaded[region.firstPiece + Int(piece)] {
        _load(piece, of: index)
      }
      guard address + UInt64(count) <= _regions[index].readableEnd else { return nil }
    }
    return UnsafeRawPointer(region.local + Int(address - region.start))
  }

  /// The value at an address; nil where it is not readable.
  package func load<T: BitwiseCopyable>(_ type: T.Type, at address: UInt64) -> T? {
    bytes(at: address, count: MemoryLayout<T>.size)?.loadUnaligned(as: T.self)
  }

  /// The word at an address; nil where it is not readable.
  package func word(at address: UInt64) -> UInt64? { load(UInt64.self, at: address) }

  /// The NUL-terminated text at an address; nil where it is not readable or longer than `limit` bytes.
  package func text(at address: UInt64, limit: Int = 1 << 16) -> String? {
    var bytes: [UInt8] = []
    while bytes.count < limit {
      guard let byte = load(UInt8.self, at: address + UInt64(bytes.count)) else { return nil }
      if byte == 0 { return String(decoding: bytes, as: UTF8.self) }
      bytes.append(byte)
    }
    return nil
  }

  /// The parts of a range that are mapped, in ascending order, each within one mapping.
  ///
  /// What a damaged file says of its size may be most of the address space; what is mapped is no more than
  /// there is.
  ///
  /// - Complexity: O(*m*) for *m* mappings.
  func mappedParts(of range: Range<UInt64>) -> [Range<UInt64>] {
    _regions.compactMap { region in
      let part = range.clamped(to: region.start..<region.end)
      return part.isEmpty ? nil : part
    }
  }

  private func _region(containing address: UInt64) -> Int? {
    var low = 0
    var high = _regions.count
    while low < high {
      let middle = (low + high) / 2
      if _regions[middle].end <= address { low = middle + 1 } else { high = middle }
    }
    return low < _regions.count && _regions[low].start <= address ? low : nil
  }

  private func _load(_ piece: UInt64, of index: Int) {
    let region = _regions[index]
    let start = region.start + piece << Self._pieceShift
    let count = min(1 << Self._pieceShift, region.end - start)
    let buffer = UnsafeMutableRawBufferPointer(
      start: region.local + Int(start - region.start), count: Int(count))
    let read = source.read(start, into: buffer)
    _isLoaded[region.firstPiece + Int(piece)] = true
    if read < Int(count) {
      _regions[index].readableEnd = min(_regions[index].readableEnd, start + UInt64(read))
    }
  }
}
