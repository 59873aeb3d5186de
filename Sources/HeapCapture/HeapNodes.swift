// HeapNodes: the blocks of the captured heap in order of address, and how a word finds its block.

internal import SnapshotFormat

/// The blocks of the captured heap, in ascending order of address, as columns.
///
/// Finding the block that a word points to is what capture does most, so the start of each page of
/// heap is indexed: a look-up is two loads and a search among the few blocks of one page.
///
/// One thread works on it. The columns' accesses are not checked for exclusivity at run time, as those of the other
/// tables that capture goes through for each word: that was a sixth of its time.
final class HeapNodes {
  @exclusivity(unchecked) var address: [UInt64] = []
  @exclusivity(unchecked) var size: [UInt64] = []
  @exclusivity(unchecked) var generation: [UInt16] = []
  /// Slot in the agent's stack table.
  @exclusivity(unchecked) var stackSlot: [UInt32] = []
  @exclusivity(unchecked) var isRegistered: [Bool] = []

  /// The type's id in the catalogue, -1 for none.
  @exclusivity(unchecked) var typeID: [Int32] = []
  @exclusivity(unchecked) var kind: [NodeKind] = []
  @exclusivity(unchecked) var state: [NodeState] = []

  /// The strong count from the header; `uncounted` for what has none.
  @exclusivity(unchecked) var strong: [Int32] = []

  /// By row what few objects have: the other counts where they aren't 0, and the addresses of side tables.
  @exclusivity(unchecked) var unowned: [Int: Int32] = [:]
  @exclusivity(unchecked) var weak: [Int: Int32] = [:]
  @exclusivity(unchecked) var sideTable: [Int: UInt64] = [:]

  /// By row the bytes that were asked for, of nodes in blocks that are samples.
  @exclusivity(unchecked) var sampledBytes: [Int: UInt64] = [:]

  /// By row how many typed unowned references have been found.
  @exclusivity(unchecked) var unownedFound: [Int: Int32] = [:]

  /// By row how many weak references have been found: typed ones first, then scanned words.
  @exclusivity(unchecked) var weakFound: [Int: Int32] = [:]

  /// How many strong references have been found so far: exact edges first, then scanned words.
  @exclusivity(unchecked) var explained: [Int32] = []

  static let uncounted: Int32 = -1

  var count: Int { address.count }

  /// For each page of heap the row of the first block that starts in it or after it. Pages are found
  /// by a two-level table like the agent's own.
  @exclusivity(unchecked) private var _firstRowByPage: [UInt64: UnsafeMutablePointer<UInt32>] = [:]
  @exclusivity(unchecked) private var _lastTable: UInt64 = .max
  @exclusivity(unchecked) private var _lastRows: UnsafeMutablePointer<UInt32>?

  private static let _pagesPerTable = 1 << 12
  private static let _none = UInt32.max

  deinit {
    for rows in _firstRowByPage.values { rows.deallocate() }
  }

  func append(_ block: HeapBlock) {
    precondition(address.last.map { $0 < block.address } ?? true, "blocks come in order of address")
    if let bytes = block.sampledBytes { sampledBytes[count] = bytes }
    address.append(block.address)
    size.append(block.size)
    generation.append(block.generation)
    stackSlot.append(block.stack)
    isRegistered.append(block.isRegistered)
    typeID.append(-1)
    kind.append(.block)
    state.append(.live)
    strong.append(Self.uncounted)
    explained.append(0)
  }

  /// Gives up all columns, which a snapshot has taken over.
  func removeAll() {
    address = []
    size = []
    generation = []
    stackSlot = []
    isRegistered = []
    typeID = []
    kind = []
    state = []
    strong = []
    explained = []
    unowned = [:]
    weak = [:]
    sampledBytes = [:]
    sideTable = [:]
    unownedFound = [:]
    weakFound = [:]
  }

  /// Indexes the pages; called once all blocks are there.
  func buildIndex() {
    for row in stride(from: count - 1, through: 0, by: -1) {
      let page = address[row] >> 12
      let table = page / UInt64(Self._pagesPerTable)
      let rows: UnsafeMutablePointer<UInt32>
      if let existing = _firstRowByPage[table] {
        rows = existing
      } else {
        rows = .allocate(capacity: Self._pagesPerTable)
        rows.initialize(repeating: Self._none, count: Self._pagesPerTable)
        _firstRowByPage[table] = rows
      }
      rows[Int(page % UInt64(Self._pagesPerTable))] = UInt32(row)
    }
  }

  /// The row of the block that starts at an address.
  @inline(__always)
  func row(startingAt target: UInt64) -> Int? {
    let page = target >> 12
    let table = page / UInt64(Self._pagesPerTable)
    if table != _lastTable {
      _lastTable = table
      _lastRows = _firstRowByPage[table]
    }
    guard let rows = _lastRows else { return nil }
    let place = Int(page % UInt64(Self._pagesPerTable))
    let first = rows[place]
    if first == Self._none { return nil }
    var low = Int(first)
    var high = min(low + 256, address.count)
    // Most often the next page has a block of its own.
    if place + 1 < Self._pagesPerTable, rows[place + 1] != Self._none {
      high = min(high, Int(rows[place + 1]))
    }
    while low < high {
      let middle = (low + high) / 2
      if address[middle] < target { low = middle + 1 } else { high = middle }
    }
    return low < address.count && address[low] == target ? low : nil
  }

  /// The row of the first block that starts at an address or after it; `count` for none.
  func firstRow(atOrAfter target: UInt64) -> Int {
    var low = 0
    var high = address.count
    while low < high {
      let middle = (low + high) / 2
      if address[middle] < target { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The row of the block that contains an address, its first byte or another.
  func row(containing target: UInt64) -> Int? {
    let row = firstRow(atOrAfter: target &+ 1) - 1
    guard row >= 0 else { return nil }
    // A block of no bytes still has its address.
    return target < address[row] + max(size[row], 1) ? row : nil
  }

  /// The lowest address of a block and the first one past the last.
  var bounds: Range<UInt64> {
    guard let first = address.first, let last = address.last, let bytes = size.last else {
      return 0..<0
    }
    return first..<(last + max(bytes, 1))
  }
}
