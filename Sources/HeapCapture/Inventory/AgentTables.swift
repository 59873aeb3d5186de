// AgentTables: the agent's tables in the captured program's memory: blocks, stacks, marks, threads,
// registrations.

internal import CMemoryGraphLayout
package import SnapshotFormat

/// The agent's tables, read from the memory of the program that the agent is in.
///
/// `mg_layout.h` says what lies where. Every read is checked, since the memory may be a damaged core
/// file's.
package struct AgentTables: HeapInventory {
  private let _memory: TargetMemory
  private let _state: mg_state_layout

  /// Finds the tables.
  ///
  /// - Throws: ``CaptureError/badAgentState(_:)`` where there are none, or those of another version.
  package init(memory: TargetMemory, state address: UInt64) throws(CaptureError) {
    _memory = memory
    // An agent of version 2 may end before the fields of samples, which it does not have.
    let least = MemoryLayout<mg_state_layout>.offset(of: \.sample_interval) ?? 0
    guard let head = memory.bytes(at: address, count: least) else {
      throw .badAgentState("no memory at \(String(address, radix: 16))")
    }
    var state = mg_state_layout()
    withUnsafeMutableBytes(of: &state) {
      $0.copyMemory(from: UnsafeRawBufferPointer(start: head, count: least))
    }
    guard state.magic == stateMagic else {
      throw .badAgentState("no tables at \(String(address, radix: 16))")
    }
    switch state.version {
    case UInt32(MG_LAYOUT_VERSION): break
    case UInt32(MG_LAYOUT_VERSION_SAMPLED):
      guard let whole = memory.load(mg_state_layout.self, at: address), whole.sample_interval > 0
      else { throw .badAgentState("tables of samples without an interval") }
      state = whole
    default:
      throw .badAgentState(
        "the agent's tables have version \(state.version), this tool reads \(MG_LAYOUT_VERSION)"
          + " and \(MG_LAYOUT_VERSION_SAMPLED)")
    }
    _state = state
  }

  /// Whether births and deaths are recorded.
  package var isTracking: Bool { _state.tracking != 0 }

  package var facts: InventoryFacts {
    var facts = InventoryFacts()
    facts.pid = _state.pid
    facts.hasAgent = true
    facts.isPartial = _state.tracking == 0 || _state.is_complete == 0
    facts.markName = _state.mark_name == 0 ? "" : _memory.text(at: _state.mark_name) ?? ""
    switch _state.stack_mode {
    case 1: facts.stackMode = "fast"
    case 2: facts.stackMode = "full"
    default: facts.stackMode = "none"
    }
    facts.runIdentity = _state.run_identity
    facts.pauseNanoseconds = _state.pause_nanoseconds
    facts.sampleInterval = UInt64(_state.sample_interval)
    return facts
  }

  /// What is recorded of single blocks where blocks are sampled, by address; empty where all are recorded.
  ///
  /// A block that the program registered is there without being a sample.
  func samples() -> [UInt64: HeapBlock] {
    guard _state.sample_interval > 0 else { return [:] }
    var blocks: [UInt64: HeapBlock] = [:]
    for row in _rows(mg_sample.self, at: _state.samples, count: _state.sample_capacity)
    where row.address != 0 && row.cell != 0 {
      var block = _block(at: row.address, row.cell)
      if row.cell & (1 << 36) != 0 { block.sampledBytes = block.size }
      blocks[row.address] = block
    }
    return blocks
  }

  package var diagnostics: [String: Int] {
    var lost: [String: Int] = [:]
    if _state.lost_stacks > 0 {
      lost["a stack was not recorded: the stack table was full"] = Int(clamping: _state.lost_stacks)
    }
    if _state.lost_blocks > 0 {
      lost["a block was not recorded: the agent had no memory for its table"] =
        Int(clamping: _state.lost_blocks)
    }
    return lost
  }

  /// All live blocks, in ascending order of address.
  ///
  /// - Complexity: O(*p*) for *p* pages of heap, 256 cells each.
  package func forEachBlock(_ body: (HeapBlock) -> Void) {
    let tables = 1 << Int(MG_DIRECTORY_BITS)
    let chunks = 1 << Int(MG_TABLE_BITS)
    guard let directory = _memory.bytes(at: _state.directory, count: tables * 8) else { return }
    for table in 0..<tables {
      let tableAddress = directory.load(fromByteOffset: table * 8, as: UInt64.self)
      if tableAddress == 0 { continue }
      guard let chunkPointers = _memory.bytes(at: tableAddress, count: chunks * 8) else { continue }
      for chunk in 0..<chunks {
        let chunkAddress = chunkPointers.load(fromByteOffset: chunk * 8, as: UInt64.self)
        if chunkAddress == 0 { continue }
        guard let cells = _memory.bytes(at: chunkAddress, count: Int(MG_CELLS_PER_PAGE) * 8) else {
          continue
        }
        let page = UInt64(table) << UInt64(MG_TABLE_BITS) | UInt64(chunk)
        for cell in 0..<Int(MG_CELLS_PER_PAGE) {
          let bits = cells.load(fromByteOffset: cell * 8, as: UInt64.self)
          if bits & (1 << 36) == 0 { continue }
          body(_block(at: page << UInt64(MG_PAGE_SHIFT) + UInt64(cell) * 16, bits))
        }
      }
    }
  }

  private func _block(at address: UInt64, _ bits: UInt64) -> HeapBlock {
    var size = bits >> 37
    if size == UInt64(MG_SIZE_LARGE) {
      // Too large for the cell: the allocator's chunk header has the size, of which one or two words
      // are its own.
      if let header = _memory.word(at: address - 8) {
        size = max(size, (header & ~7) &- (header & 2 != 0 ? 16 : 8))
      }
    }
    return HeapBlock(
      address: address, size: size, generation: UInt16((bits >> 22) & 0x1fff),
      stack: UInt32(bits & 0x3f_ffff), isRegistered: bits & (1 << 35) != 0)
  }

  /// The trie of stacks as parents and return addresses; row 0 is the root.
  package func stackTrie() -> (parents: [UInt32], pcs: [UInt64]) {
    let count = Int(clamping: min(_state.trie_count, 1 << 28))
    guard count > 0,
      let rows = _memory.bytes(at: _state.trie, count: count * MemoryLayout<mg_trie_node>.stride)
    else { return ([0], [0]) }
    var parents = [UInt32](repeating: 0, count: count)
    var pcs = [UInt64](repeating: 0, count: count)
    for row in 1..<max(count, 1) {
      let node = rows.loadUnaligned(
        fromByteOffset: row * MemoryLayout<mg_trie_node>.stride, as: mg_trie_node.self)
      // A damaged row becomes a stack's outermost frame.
      parents[row] = node.parent < UInt32(row) ? node.parent : 0
      pcs[row] = node.pc
    }
    return (parents, pcs)
  }

  /// The trie row of a stack slot; 0 where the slot is empty.
  package func trieRow(ofStack slot: UInt32, trieCount: Int) -> UInt32 {
    guard slot != 0, UInt64(slot) < _state.stacks_capacity,
      let entry = _memory.load(
        mg_stack_entry.self,
        at: _state.stacks + UInt64(slot) * UInt64(MemoryLayout<mg_stack_entry>.stride)),
      entry.hash != 0, Int(entry.trie_node) < trieCount
    else { return 0 }
    return entry.trie_node
  }

  package func marks() -> [Snapshot.Mark] {
    _rows(mg_mark_entry.self, at: _state.marks, count: _state.mark_count).map { entry in
      Snapshot.Mark(
        name: _memory.text(at: entry.name) ?? "", generation: UInt16(clamping: entry.generation),
        time: entry.time)
    }
  }

  package func registrations() -> [Registration] {
    _rows(mg_registration.self, at: _state.registrations, count: _state.registration_capacity)
      .filter { $0.address != 0 }
      .map { entry in
        Registration(
          address: entry.address, bytes: entry.bytes, name: _memory.text(at: entry.name) ?? "",
          isResource: Int(entry.kind) == Int(MG_REGISTERED_RESOURCE),
          generation: UInt16(clamping: entry.generation), stack: entry.stack,
          isBlock: entry.is_block != 0)
      }
  }

  package func declaredEdges() -> [DeclaredEdge] {
    _rows(mg_declared_edge.self, at: _state.declared_edges, count: _state.declared_edge_capacity)
      .filter { $0.from != 0 }
      .map { DeclaredEdge(from: $0.from, to: $0.to, label: _memory.text(at: $0.label) ?? "") }
  }

  package func ownRanges() -> [Range<UInt64>] {
    _rows(mg_own_range.self, at: _state.own_ranges, count: _state.own_range_count)
      .filter { $0.start < $0.end }
      .map { $0.start..<$0.end }
  }

  /// The threads as they stood when the twin was made.
  package func threads() -> [ThreadState] {
    _rows(mg_thread_entry.self, at: _state.threads, count: _state.thread_count).map { entry in
      let registers = withUnsafeBytes(of: entry.registers) { Array($0.bindMemory(to: UInt64.self)) }
      let name = withUnsafeBytes(of: entry.name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      return ThreadState(
        id: entry.tid, name: name, isStopped: entry.stopped != 0, registers: registers,
        pc: entry.pc, stackPointer: entry.stack_pointer, threadPointer: entry.thread_pointer,
        stackBounds: entry.stack_low < entry.stack_high ? entry.stack_low..<entry.stack_high : nil,
        vectorState: _rows(
          UInt64.self, at: entry.vector_state, count: min(entry.vector_bytes, 1 << 14) / 8))
    }
  }

  private func _rows<T: BitwiseCopyable>(_ type: T.Type, at address: UInt64, count: UInt64) -> [T] {
    // A table larger than this is no table.
    guard count > 0, count < 1 << 26,
      let bytes = _memory.bytes(at: address, count: Int(count) * MemoryLayout<T>.stride)
    else { return [] }
    return (0..<Int(count)).map {
      bytes.loadUnaligned(fromByteOffset: $0 * MemoryLayout<T>.stride, as: T.self)
    }
  }
}

/// `MG_STATE_MAGIC`, whose macro Swift does not import.
private let stateMagic: UInt64 = 0x3148_5041_5247_4d4d
