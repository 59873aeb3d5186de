// SampledInventory: all blocks of a program whose agent records a sample of them.

internal import SnapshotFormat

/// The blocks of the C heap, each with what the agent recorded of it where it is a sample.
///
/// Which blocks there are, and their sizes, the allocator says: nothing that is not a sample is missing, and what the
/// agent does not know of a block stays unknown. A sample without a block is one that was just being freed.
struct SampledInventory: HeapInventory {
  private let _tables: AgentTables
  private let _heap: GlibcHeap
  private let _samples: [UInt64: HeapBlock]
  let facts: InventoryFacts
  let diagnostics: [String: Int]

  /// Walks the heap.
  ///
  /// - Throws: ``CaptureError/unknownAllocator(_:)`` where the program's heap is not glibc's.
  /// - Complexity: As ``GlibcHeap``'s.
  init(
    _ tables: AgentTables, memory: TargetMemory, threads: [ThreadState]
  ) throws(CaptureError) {
    var facts = tables.facts
    _heap = try GlibcHeap(
      memory: memory, images: loadImages(of: memory), threads: threads, pid: facts.pid)
    facts.isPartial = _heap.facts.isPartial
    _tables = tables
    _samples = tables.samples()
    self.facts = facts
    diagnostics = tables.diagnostics.merging(_heap.diagnostics) { $0 + $1 }
  }

  func forEachBlock(_ body: (HeapBlock) -> Void) {
    _heap.forEachBlock { block in
      guard var known = _samples[block.address] else { return body(block) }
      // The size is the allocator's, as that of all others.
      known.size = block.size
      if known.sampledBytes == nil { (known.generation, known.stack) = (0, 0) }
      body(known)
    }
  }

  func stackTrie() -> (parents: [UInt32], pcs: [UInt64]) { _tables.stackTrie() }
  func trieRow(ofStack slot: UInt32, trieCount: Int) -> UInt32 {
    _tables.trieRow(ofStack: slot, trieCount: trieCount)
  }
  func marks() -> [Snapshot.Mark] { _tables.marks() }

  /// What the program registered. Which of it is a block, an agent without cells could not tell.
  func registrations() -> [Registration] {
    _tables.registrations().map { registration in
      var told = registration
      told.isBlock = _heap.hasBlock(at: registration.address)
      return told
    }
  }
  func declaredEdges() -> [DeclaredEdge] { _tables.declaredEdges() }

  /// The agent's memory, and the main arena, whose lists lead to free memory.
  func ownRanges() -> [Range<UInt64>] { _tables.ownRanges() + _heap.ownRanges() }
}
