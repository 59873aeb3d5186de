// GlibcHeap: the live blocks of a program's C heap, found from the outside by walking glibc's chunks.

package import SnapshotFormat

/// The blocks of a program that glibc's allocator serves and that has no agent.
///
/// Every arena is a row of chunks, each with its size in front. A chunk is free where the next one says
/// so, or where a fast bin or a thread's cache lists it. Large blocks have a mapping and a header of
/// their own. Sizes are those that can be used, up to 24 bytes more than was asked for.
///
/// Every step is checked: a heap that a bug has damaged, or that was stopped in the middle of a change,
/// gives fewer blocks, a diagnostic, and facts that say that the inventory is partial, never a crash.
package struct GlibcHeap: HeapInventory {
  private var _addresses: [UInt64] = []
  private var _sizes: [UInt64] = []

  /// How many blocks there are.
  package var count: Int { _addresses.count }

  /// What could not be made sense of, each with the number of times.
  package private(set) var diagnostics: [String: Int] = [:]

  package var facts: InventoryFacts

  private let _mainArena: UInt64

  /// Walks the heap.
  ///
  /// - Parameters:
  ///   - threads: whose caches hold free blocks.
  ///   - pid: what the snapshot says of the process.
  /// - Throws: ``CaptureError/unknownAllocator(_:)`` where the program's heap is not glibc's.
  /// - Complexity: O(*c* log *r*) for *c* chunks in *r* regions, and O(*p*) for *p* pages of anonymous
  ///   memory.
  package init(
    memory: TargetMemory, images: [LoadedImage], threads: [ThreadState], pid: UInt32
  ) throws(CaptureError) {
    facts = InventoryFacts()
    facts.pid = pid
    if let name = foreignAllocator(among: images) { throw .unknownAllocator(name) }
    guard let mainArena = findMainArena(in: memory, images: images) else {
      throw .unknownAllocator("")
    }
    _mainArena = mainArena
    var walk = GlibcWalk(memory: memory)
    walk.collectRegions(
      mainArena: mainArena,
      parameters: findParameters(in: memory, images: images, mainArena: mainArena))
    walk.collectCached(
      threads: threads,
      threadLocalSize: images.reduce(UInt64(4096)) { $0 + UInt64($1.tlsTemplateSize) + 64 })
    walk.collectBlocks()
    _addresses = walk.blocks.map(\.address)
    _sizes = walk.blocks.map(\.size)
    diagnostics = walk.diagnostics
    facts.isPartial = walk.isIncomplete
  }

  package func forEachBlock(_ body: (HeapBlock) -> Void) {
    for index in _addresses.indices {
      body(HeapBlock(address: _addresses[index], size: _sizes[index]))
    }
  }

  /// Whether a block starts at an address.
  ///
  /// - Complexity: O(log *n*) for *n* blocks.
  func hasBlock(at address: UInt64) -> Bool {
    var low = 0
    var high = _addresses.count
    while low < high {
      let middle = (low + high) / 2
      if _addresses[middle] < address { low = middle + 1 } else { high = middle }
    }
    return low < _addresses.count && _addresses[low] == address
  }

  package func stackTrie() -> (parents: [UInt32], pcs: [UInt64]) { ([0], [0]) }
  package func trieRow(ofStack slot: UInt32, trieCount: Int) -> UInt32 { 0 }
  package func marks() -> [Snapshot.Mark] { [] }
  package func registrations() -> [Registration] { [] }
  package func declaredEdges() -> [DeclaredEdge] { [] }

  /// The main arena: its lists of free chunks lead to the last word of the blocks before them.
  package func ownRanges() -> [Range<UInt64>] {
    [_mainArena..<(_mainArena + GlibcLayout.arenaSize)]
  }
}

/// The name of an allocator that serves a program instead of glibc's; nil for none.
private func foreignAllocator(among images: [LoadedImage]) -> String? {
  let symbols = [
    ("mallctl", "jemalloc"), ("mi_malloc", "mimalloc"), ("tc_malloc", "tcmalloc"),
    ("__asan_init", "AddressSanitizer's allocator"), ("__tsan_init", "ThreadSanitizer's allocator"),
  ]
  for image in images {
    let file = fileName(of: image.module.path)
    if file.hasPrefix("ld-musl") || file.hasPrefix("libc.musl") { return "musl's allocator" }
    for (symbol, name) in symbols where image.address(ofExportedSymbol: symbol) != nil {
      return name
    }
  }
  return nil
}
