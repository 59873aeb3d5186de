// MappedMemory: the memory that the program mapped itself, where nobody tells what is in it.

internal import SnapshotFormat

/// The parts of anonymous memory that the program has from the kernel and not from the allocator.
///
/// An arena, a ring buffer or another allocator may hold objects there, and what only such memory holds
/// is no leak. Left out is what would bring nothing but old pointers: the allocator's memory, the
/// stacks of threads, ended ones too, which the C library keeps for the next thread, and the data of
/// modules.
struct MappedMemory {
  private let _memory: TargetMemory
  private let _nodes: HeapNodes
  private let _images: [LoadedImage]
  private let _threads: [ThreadState]
  private let _mainThread: UInt32
  private let _threadLocalSize: UInt64

  /// The bytes of glibc's descriptor of a thread.
  private static let _descriptorSize: UInt64 = 2304

  /// What glibc reserves for a heap of an arena that is not the main one, and aligns it to.
  private static let _heapSize: UInt64 = 64 << 20
  private static let _pageSize: UInt64 = 4096

  /// - Parameters:
  ///   - mainThread: the number of the thread whose stack has a mapping of its own.
  ///   - threadLocalSize: how much static thread-local storage the modules ask for.
  init(
    memory: TargetMemory, nodes: HeapNodes, images: [LoadedImage], threads: [ThreadState],
    mainThread: UInt32, threadLocalSize: UInt64
  ) {
    _memory = memory
    _nodes = nodes
    _images = images
    _threads = threads
    _mainThread = mainThread
    _threadLocalSize = threadLocalSize
  }

  /// The parts, in ascending order, without untouched pages.
  ///
  /// - Complexity: O(*n*) for *n* bytes of anonymous memory in the worst case.
  func ranges() -> [Range<UInt64>] {
    let mappings = _memory.source.mappings
    var found: [Range<UInt64>] = []
    for (index, mapping) in mappings.enumerated() {
      guard mapping.isReadable, mapping.isWritable, Self._isAnonymous(mapping) else { continue }
      let range = mapping.start..<mapping.end
      // The main thread's stack has no name in a core file.
      if _threads.contains(where: { _isMain($0) && range.contains($0.stackPointer) }) {
        continue
      }
      let below = index > 0 ? mappings[index - 1] : nil
      let hasGuard = below.map { $0.end == mapping.start && !$0.isReadable } ?? false
      var others = _images.map { $0.module.start..<$0.module.end }.filter { $0.overlaps(range) }
      others += _threadMemory(in: range, hasGuard: hasGuard)
      others += _arenas(in: range)
      guard let blocks = _mappedBlocks(in: range) else { continue }
      others += blocks
      others.sort { $0.lowerBound < $1.lowerBound }
      let parts = subtract(others, from: range)
      // Which shared pages were written to is not the process's alone to know.
      found += mapping.isShared ? parts : parts.flatMap(_touched)
    }
    return found
  }

  /// Whether a mapping is of no file. What is shared with processes that are made later is one of this device.
  private static func _isAnonymous(_ mapping: MemoryMapping) -> Bool {
    mapping.isShared
      ? mapping.path.hasPrefix("/dev/zero")
      : mapping.path.isEmpty || mapping.path.hasPrefix("[anon")
  }

  /// Whether a thread is the main one, by its number here or in its container.
  private func _isMain(_ thread: ThreadState) -> Bool {
    thread.id == _mainThread || thread.idInside == _mainThread
  }

  /// The memory of threads: with a guard below it the mapping is a stack from its start on to its
  /// thread's descriptor, which holds its own address twice. The main thread has just its local data here.
  private func _threadMemory(in range: Range<UInt64>, hasGuard: Bool) -> [Range<UInt64>] {
    var pointers: [(UInt64, hasStack: Bool)] = _threads.lazy
      .filter { range.contains($0.threadPointer) }
      .map { ($0.threadPointer, hasGuard && !_isMain($0)) }
    if pointers.isEmpty, hasGuard, let ended = _endedThread(in: range) {
      pointers = [(ended, true)]
    }
    return pointers.map { pointer, hasStack in
      let local = pointer &- min(pointer, _threadLocalSize + Self._pageSize)
      let start = hasStack ? range.lowerBound : max(range.lowerBound, local)
      let end = (pointer + Self._descriptorSize + Self._pageSize - 1) & ~(Self._pageSize - 1)
      return start..<min(max(end, start), range.upperBound)
    }
  }

  /// The descriptor of a thread that has ended and left its stack: the last one, from above.
  private func _endedThread(in range: Range<UInt64>) -> UInt64? {
    var page = (range.upperBound - 1) & ~(Self._pageSize - 1)
    while page >= range.lowerBound {
      if _memory.source.hasOwnPages(page..<(page + Self._pageSize)) {
        for address in stride(from: page, to: page + Self._pageSize, by: 64)
        where _memory.word(at: address) == address && _memory.word(at: address + 16) == address {
          return address
        }
      }
      if page < Self._pageSize { break }
      page -= Self._pageSize
    }
    return nil
  }

  /// The heaps of glibc's other arenas: each begins with its arena, the heap before, its size and how
  /// much of it can be used.
  private func _arenas(in range: Range<UInt64>) -> [Range<UInt64>] {
    var heaps: [Range<UInt64>] = []
    var start = (range.lowerBound + Self._heapSize - 1) & ~(Self._heapSize - 1)
    while start < range.upperBound {
      if let arena = _memory.word(at: start), arena & 15 == 0, arena != 0,
        let size = _memory.word(at: start + 16), size > 0, size <= Self._heapSize,
        size % Self._pageSize == 0, let usable = _memory.word(at: start + 24), usable >= size,
        usable <= Self._heapSize, _memory.word(at: arena & ~(Self._heapSize - 1)) == arena
      {
        heaps.append(start..<min(start + usable, range.upperBound))
      }
      start += Self._heapSize
    }
    return heaps
  }

  /// The blocks that have a mapping of their own; nil where others lie in the range outside of the heaps
  /// that were found, as those of another allocator do, or of an arena that could not grow in its place.
  private func _mappedBlocks(in range: Range<UInt64>) -> [Range<UInt64>]? {
    let heaps = _arenas(in: range)
    var blocks: [Range<UInt64>] = []
    var row = _nodes.firstRow(atOrAfter: range.lowerBound)
    while row < _nodes.count, _nodes.address[row] < range.upperBound {
      let address = _nodes.address[row]
      defer { row += 1 }
      if _nodes.kind[row] == .resource { continue }
      if let heap = heaps.first(where: { $0.contains(address) }) {
        row = _nodes.firstRow(atOrAfter: heap.upperBound) - 1
        continue
      }
      guard let header = _memory.word(at: address - 8), header & 2 != 0 else { return nil }
      let start = max(range.lowerBound, (address - 16) & ~(Self._pageSize - 1))
      let end = start + (header & ~7)
      guard end >= start else { return nil }
      blocks.append(start..<min(range.upperBound, max(end, address + _nodes.size[row])))
    }
    return blocks
  }

  /// The parts of a range that were ever written to, in steps of 64 pages.
  private func _touched(_ range: Range<UInt64>) -> [Range<UInt64>] {
    var parts: [Range<UInt64>] = []
    var start = range.lowerBound
    while start < range.upperBound {
      let end = min(range.upperBound, (start + 64 * Self._pageSize) & ~(64 * Self._pageSize - 1))
      if _memory.source.hasOwnPages(start..<end) {
        if let last = parts.last, last.upperBound == start {
          parts[parts.count - 1] = last.lowerBound..<end
        } else {
          parts.append(start..<end)
        }
      }
      start = end
    }
    return parts
  }
}

/// What is left of a range without the parts that others cover.
///
/// - Parameter covered: in ascending order.
func subtract(_ covered: [Range<UInt64>], from range: Range<UInt64>) -> [Range<UInt64>] {
  var pieces: [Range<UInt64>] = []
  var start = range.lowerBound
  for hole in covered where hole.overlaps(range) {
    if hole.lowerBound > start { pieces.append(start..<hole.lowerBound) }
    start = max(start, hole.upperBound)
  }
  if start < range.upperBound { pieces.append(start..<range.upperBound) }
  return pieces
}
