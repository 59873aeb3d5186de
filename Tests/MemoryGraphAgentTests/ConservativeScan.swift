// ConservativeScan: what a scan that knows no types calls reachable. The oracle of the differential test.

import HeapCapture

/// Every aligned word of every block and of all memory outside the heap, taken for a pointer to the block
/// that it points into: what `leaks` and LeakSanitizer do, as simply as it can be said.
struct ConservativeScan {
  /// A word that reached a block first.
  struct Word {
    /// The block that holds the word, by its number; nil for a word outside the heap.
    var holder: Int?

    /// Where the word lies; 0 for a register.
    var place: UInt64
    var word: UInt64
  }

  let blocks: [HeapBlock]

  /// For each block the word that reached it; nil for what nothing reaches.
  private(set) var reachedBy: [Word?]

  init(memory: TargetMemory, tables: AgentTables) {
    var blocks: [HeapBlock] = []
    tables.forEachBlock { blocks.append($0) }
    self.blocks = blocks
    reachedBy = [Word?](repeating: nil, count: blocks.count)
    var pending: [Int] = []

    func look(_ range: Range<UInt64>, holder: Int?) {
      for place in stride(from: (range.lowerBound + 7) & ~7, to: range.upperBound & ~7, by: 8) {
        guard let word = memory.word(at: place) else { continue }
        reach(Word(holder: holder, place: place, word: word))
      }
    }
    func reach(_ word: Word) {
      guard let block = Self.block(containing: word.word, in: blocks), reachedBy[block] == nil
      else { return }
      reachedBy[block] = word
      pending.append(block)
    }

    let threads = tables.threads()
    for range in Self._roots(memory: memory, tables: tables, threads: threads, blocks: blocks) {
      look(range, holder: nil)
    }
    for thread in threads {
      for register in thread.registers { reach(Word(holder: nil, place: 0, word: register)) }
    }
    while let block = pending.popLast() {
      look(blocks[block].address..<(blocks[block].address + blocks[block].size), holder: block)
    }
  }

  /// The number of the block that contains an address.
  func block(containing address: UInt64) -> Int? { Self.block(containing: address, in: blocks) }

  private static func block(containing address: UInt64, in blocks: [HeapBlock]) -> Int? {
    var low = 0
    var high = blocks.count
    while low < high {
      let middle = (low + high) / 2
      if blocks[middle].address <= address { low = middle + 1 } else { high = middle }
    }
    guard low > 0, address < blocks[low - 1].address + max(blocks[low - 1].size, 1) else {
      return nil
    }
    return low - 1
  }

  /// All writable memory but that of the allocator and of the agent; of a stack the part in use.
  private static func _roots(
    memory: TargetMemory, tables: AgentTables, threads: [ThreadState], blocks: [HeapBlock]
  ) -> [Range<UInt64>] {
    let agents = tables.ownRanges()
    var roots: [Range<UInt64>] = []
    for mapping in memory.source.mappings where mapping.isReadable && mapping.isWritable {
      var range = mapping.start..<mapping.end
      // A mapping with a block in it is the allocator's. One of the main thread's has its stack in it.
      if mapping.path == "[heap]" || blocks.contains(where: { range.contains($0.address) }) {
        continue
      }
      if let thread = threads.first(where: { range.contains($0.stackPointer) }) {
        range = thread.stackPointer..<range.upperBound
      }
      var parts = [range]
      for own in agents {
        parts = parts.flatMap { part -> [Range<UInt64>] in
          guard own.overlaps(part) else { return [part] }
          return [
            part.lowerBound..<max(part.lowerBound, own.lowerBound),
            min(part.upperBound, own.upperBound)..<part.upperBound,
          ]
        }
      }
      roots += parts.filter { !$0.isEmpty }
    }
    return roots
  }
}
