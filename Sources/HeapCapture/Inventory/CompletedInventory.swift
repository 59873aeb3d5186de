// CompletedInventory: the tables of an agent that started late, and the blocks that it never saw.

internal import SnapshotFormat

/// The blocks of an agent that started when the program was already running, completed by a walk of the
/// C heap.
///
/// A linked agent starts after the program's libraries, or wherever the program says so. What was
/// allocated before has no cell, and an object that only such a block holds would look leaked. The walk
/// finds those blocks: of generation 0, without a stack, with the size that can be used.
struct CompletedInventory: HeapInventory {
  private let _tables: AgentTables
  private let _older: [HeapBlock]
  let facts: InventoryFacts
  let diagnostics: [String: Int]

  /// Walks the heap for what the tables lack.
  ///
  /// - Throws: ``CaptureError/unknownAllocator(_:)`` where the program's heap is not glibc's.
  init(
    _ tables: AgentTables, memory: TargetMemory, threads: [ThreadState]
  ) throws(CaptureError) {
    var facts = tables.facts
    let heap = try GlibcHeap(
      memory: memory, images: loadImages(of: memory), threads: threads, pid: facts.pid)
    facts.isPartial = heap.facts.isPartial
    var recorded = Set<UInt64>()
    tables.forEachBlock { recorded.insert($0.address) }
    var older: [HeapBlock] = []
    heap.forEachBlock { if !recorded.contains($0.address) { older.append($0) } }
    _tables = tables
    _older = older
    self.facts = facts
    var diagnostics = tables.diagnostics.merging(heap.diagnostics) { $0 + $1 }
    if !older.isEmpty {
      diagnostics[
        "a block is from before the agent's start; its stack and generation are unknown"] =
        older.count
    }
    self.diagnostics = diagnostics
  }

  func forEachBlock(_ body: (HeapBlock) -> Void) {
    var next = _older.startIndex
    _tables.forEachBlock { block in
      while next < _older.endIndex, _older[next].address < block.address {
        body(_older[next])
        next += 1
      }
      body(block)
    }
    while next < _older.endIndex {
      body(_older[next])
      next += 1
    }
  }

  func stackTrie() -> (parents: [UInt32], pcs: [UInt64]) { _tables.stackTrie() }
  func trieRow(ofStack slot: UInt32, trieCount: Int) -> UInt32 {
    _tables.trieRow(ofStack: slot, trieCount: trieCount)
  }
  func marks() -> [Snapshot.Mark] { _tables.marks() }
  func registrations() -> [Registration] { _tables.registrations() }
  func declaredEdges() -> [DeclaredEdge] { _tables.declaredEdges() }
  func ownRanges() -> [Range<UInt64>] { _tables.ownRanges() }
}
