// WordResolver: which words without a type are references. Counts decide.

internal import GraphPrimitives
internal import SnapshotFormat

/// Decides which words without a type hold what they point to, and what the roots reach.
///
/// A Swift object's strong count says how many references there must be. What the typed references do
/// not explain is open, and a word without a type is believed only while something is open: so a stale
/// word can neither hide a leak nor draw a false edge. Blocks without a count believe every word.
///
/// The order matters where a stale word competes with the true holder: words that were certainly
/// written on purpose come first (continuations, captures of closures and blocks), then globals, then what is
/// reachable in the heap, then thread-local data and stacks, then the unreachable rest.
struct WordResolver {
  /// A root as it is found.
  struct Root {
    var kind: RootKind
    var target: Int
    var address: UInt64
    var pc: UInt64
    var thread: UInt32
    var label: LabelIndex
    var strength = EdgeStrength.strong
  }

  private let _memory: TargetMemory
  private let _nodes: HeapNodes
  private let _bounds: Range<UInt64>
  private let _isStringStorage: [Bool]

  /// Objects with more typed references than their count allows: something is wrong with one of them,
  /// so every word is believed rather than calling a live object leaked.
  private var _isOverCounted: [Bool]

  private let _ranges: UntypedRanges
  private let _firstRange: [UInt32]
  private var _successors: (first: [UInt32], target: [UInt32])

  private(set) var isReached: [Bool]
  private var _isScanned: [Bool]
  private var _queue: [Int32] = []
  private var _unscanned: [Int32] = []

  /// References that were found in words without a type.
  private(set) var edges = EdgeTable()
  private(set) var roots: [Root] = []

  /// Words that point to an object all of whose references are explained.
  private(set) var staleWordCount = 0

  /// The object of each side table, by the table's row.
  private let _objectByTable: [Int: Int]

  /// References from words that were believed before their block was reached, by block.
  private var _targetsByUnreached: [Int: [Int32]] = [:]

  /// What a word of a block is called, by the block's row and the word's place in it: `+24`.
  private let _labelOfWord: (Int, UInt64) -> LabelIndex

  /// The row of the task that the child task at an address, in a slab, belongs to.
  private let _parentOfChildTask: (UInt64) -> Int?

  init(
    memory: TargetMemory, nodes: HeapNodes, exactEdges: EdgeTable, ranges: UntypedRanges,
    isStringStorage: [Bool], labelOfWord: @escaping (Int, UInt64) -> LabelIndex,
    parentOfChildTask: @escaping (UInt64) -> Int? = { _ in nil }
  ) {
    _memory = memory
    _nodes = nodes
    _bounds = nodes.bounds
    _ranges = ranges
    _firstRange = ranges.firstRange(nodeCount: nodes.count)
    _successors = exactEdges.strongSuccessors(nodeCount: nodes.count)
    _isStringStorage = isStringStorage
    isReached = [Bool](repeating: false, count: nodes.count)
    _isScanned = isReached
    _isOverCounted = nodes.strong.indices.map {
      nodes.strong[$0] >= 0 && nodes.explained[$0] > nodes.strong[$0]
    }
    var objects: [Int: Int] = [:]
    for row in 0..<nodes.count where nodes.sideTable[row] != 0 {
      if let table = nodes.row(startingAt: nodes.sideTable[row]), nodes.kind[table] == .sideTable {
        objects[table] = row
      }
    }
    _objectByTable = objects
    _labelOfWord = labelOfWord
    _parentOfChildTask = parentOfChildTask
  }

  // MARK: The order of belief

  /// Keeps a block's words from being looked at: they are left over.
  mutating func disregardWords(of row: Int) {
    _isScanned[row] = true
  }

  /// Believes continuations, which say by their type that they hold a task, as far as counts allow.
  mutating func resolveContinuations(_ continuations: EdgeTable) {
    for edge in 0..<continuations.count {
      let from = Int(continuations.from[edge])
      let task = Int(continuations.to[edge])
      guard _claim(task, owner: from) else { continue }
      edges.append(
        from: from, to: task, label: continuations.label[edge],
        info: EdgeInfo(.strong, .reflected))
      _targetsByUnreached[from, default: []].append(Int32(task))
    }
  }

  /// Believes the words of blocks that hold nothing but what was put there: captures.
  mutating func resolveCaptures() {
    for row in 0..<_nodes.count {
      switch _nodes.kind[row] {
      case .cBlock, .closureContext, .box:
        _scan(row)
      default:
        break
      }
    }
  }

  /// Adds a node that something outside the heap holds without a word of its own.
  mutating func addRoot(_ kind: RootKind, to row: Int, label: LabelIndex) {
    roots.append(
      Root(kind: kind, target: row, address: 0, pc: 0, thread: .max, label: label))
    _reach(row)
  }

  /// Adds a node that something outside the heap has retained without a word of its own, where the node's
  /// count has a retain left to explain.
  mutating func addCountedRoot(_ kind: RootKind, to row: Int, label: LabelIndex) {
    if _claim(row, owner: -1) { addRoot(kind, to: row, label: label) }
  }

  /// Takes the words of a range outside the heap as roots, where counts allow.
  ///
  /// - Parameter isAllocators: Whether the range has the allocator's own lists of free memory in it.
  ///   They point to the header of a chunk, which lies in the last bytes of the block before.
  mutating func scanRoots(
    _ range: Range<UInt64>, kind: RootKind, thread: UInt32 = .max, isAllocators: Bool = false,
    pc: (UInt64) -> UInt64 = { _ in 0 }
  ) {
    // A mapping may be readable in parts only: take it page by page.
    var address = (range.lowerBound + 7) & ~7
    while address + 8 <= range.upperBound {
      let pageEnd = min((address | 4095) + 1, range.upperBound)
      let count = Int((pageEnd - address) / 8)
      if count > 0, let words = _memory.bytes(at: address, count: count * 8) {
        for index in 0..<count {
          let word = words.load(fromByteOffset: index * 8, as: UInt64.self)
          guard let row = _rootHolder(of: word) else { continue }
          if _nodes.kind[row] == .sideTable {
            // A thread's words are copies at most.
            if kind == .global, let object = _claimWeakly(table: row) {
              roots.append(
                Root(
                  kind: kind, target: object, address: address + UInt64(index) * 8, pc: 0,
                  thread: thread, label: .none, strength: .weak))
            }
            continue
          }
          if isAllocators, word == _nextChunkHeader(after: row) { continue }
          let place = address + UInt64(index) * 8
          roots.append(
            Root(
              kind: kind, target: row, address: place, pc: pc(place), thread: thread, label: .none))
          _reach(row)
        }
      }
      address = pageEnd
    }
  }

  /// Takes one word that lies in no memory, a register's, as a root.
  mutating func scanRegister(_ word: UInt64, label: LabelIndex, pc: UInt64, thread: UInt32) {
    guard let row = _rootHolder(of: word), _nodes.kind[row] != .sideTable else { return }
    roots.append(
      Root(kind: .register, target: row, address: 0, pc: pc, thread: thread, label: label))
    _reach(row)
  }

  /// Follows everything from what is reached: typed references first, then the words of reached blocks.
  mutating func propagate() {
    while true {
      while let row = _queue.popLast() {
        let first = Int(_successors.first[Int(row)])
        let end = Int(_successors.first[Int(row) + 1])
        for edge in first..<end { _reach(Int(_successors.target[edge])) }
        if let more = _targetsByUnreached[Int(row)] {
          for target in more { _reach(Int(target)) }
        }
      }
      guard let row = _unscanned.popLast() else { break }
      if !_isScanned[Int(row)] { _scan(Int(row)) }
    }
  }

  /// Draws the references of what nothing reaches, so that a leak's shape is known.
  ///
  /// Swift objects and the blocks that they lead to come first: what they hold was put there by the
  /// program, while a forgotten buffer is full of old pointers.
  mutating func resolveUnreached() {
    var pending: [Int] = []
    for row in 0..<_nodes.count where !isReached[row] && _nodes.kind[row] != .block {
      pending.append(row)
      while let next = pending.popLast() {
        if _isScanned[next] || isReached[next] { continue }
        let firstNew = edges.count
        _scan(next)
        for edge in firstNew..<edges.count where edges.info[edge].isStrong {
          pending.append(Int(edges.to[edge]))
        }
      }
    }
    for row in 0..<_nodes.count where !isReached[row] && !_isScanned[row] { _scan(row) }
  }

  // MARK: One word

  private mutating func _reach(_ row: Int) {
    if isReached[row] { return }
    isReached[row] = true
    _queue.append(Int32(row))
    _unscanned.append(Int32(row))
  }

  /// Scans the words of a block that no type describes.
  private mutating func _scan(_ row: Int) {
    _isScanned[row] = true
    if _nodes.state[row] == .deinited { return }
    let first = Int(_firstRange[row])
    let end = Int(_firstRange[row + 1])
    for range in first..<end {
      _scanWords(
        of: row, from: _ranges.start[range], to: _ranges.end[range], label: _ranges.label[range])
    }
  }

  private mutating func _scanWords(
    of row: Int, from start: UInt64, to end: UInt64, label: LabelIndex
  ) {
    let start = (start + 7) & ~7
    guard end > start else { return }
    let isTasks = _nodes.kind[row] == .task || _nodes.kind[row] == .taskSlab
    let count = Int((end - start) / 8)
    guard count > 0, let words = _memory.bytes(at: start, count: count * 8) else { return }
    for index in 0..<count {
      let word = words.load(fromByteOffset: index * 8, as: UInt64.self)
      guard let target = _holder(of: word, within: row) else { continue }
      // A task's frames point to each other; that a slab is the task's is said once, by its start.
      if isTasks, _isTaskMemory(target, at: word) { continue }
      let place = start + UInt64(index) * 8
      let name = label == .none ? _labelOfWord(row, place - _nodes.address[row]) : label
      if _nodes.kind[target] == .sideTable {
        if let object = _claimWeakly(table: target) {
          edges.append(from: row, to: object, label: name, info: EdgeInfo(.weak, .scanned))
        }
        continue
      }
      edges.append(
        from: row, to: target, label: name, info: EdgeInfo(.strong, .scanned))
      if isReached[row] {
        _reach(target)
      } else {
        _targetsByUnreached[row, default: []].append(Int32(target))
      }
    }
  }

  /// Whether a word of a task leads to memory of a task that is reached otherwise: to a child in its
  /// parent's memory, or to somewhere in a slab.
  private func _isTaskMemory(_ target: Int, at word: UInt64) -> Bool {
    switch _nodes.kind[target] {
    case .taskSlab: word != _nodes.address[target]
    case .task: _nodes.strong[target] < 0
    default: false
    }
  }

  /// The block that a word holds, if the word can be a reference and the block has one left to explain.
  @inline(__always)
  private mutating func _holder(of word: UInt64, within owner: Int = -1) -> Int? {
    // Enums keep their case in bits that no pointer uses.
    let address = word & 0x00ff_ffff_ffff_fff8
    if address &+ 32 < _bounds.lowerBound || address >= _bounds.upperBound { return nil }

    if let row = _nodes.row(startingAt: address) {
      return _claim(row, owner: owner) ? row : nil
    }
    // A native string's object word points 32 bytes before its storage.
    if let row = _nodes.row(startingAt: address &+ 32), _isStringStorage[row], word >> 60 != 0 {
      return _claim(row, owner: owner) ? row : nil
    }
    // A pointer into a block holds it; one into a counted object is borrowed from somebody who holds
    // the object.
    if let row = _nodes.row(containing: word & 0x00ff_ffff_ffff_ffff), _nodes.strong[row] < 0,
      row != owner
    {
      return row
    }
    return nil
  }

  /// The block that a word outside the heap holds.
  ///
  /// A slab is its task's, and a thread that runs the task has the task itself in its words: one that
  /// points into a slab is borrowed, or left over. It holds only where a child task begins there, and
  /// then what it holds is the parent.
  private mutating func _rootHolder(of word: UInt64) -> Int? {
    guard let row = _holder(of: word) else { return nil }
    guard _nodes.kind[row] == .taskSlab else { return row }
    guard let parent = _parentOfChildTask(word & 0x00ff_ffff_ffff_fff8) else { return nil }
    return _claim(parent, owner: -1) ? parent : nil
  }

  /// Where glibc keeps the header of the chunk that follows a block: the block's last 8 bytes are its
  /// first.
  private func _nextChunkHeader(after row: Int) -> UInt64 {
    _nodes.address[row] + max(32, (_nodes.size[row] + 8 + 15) & ~15) - 16
  }

  /// The object of a side table that a word points to, if the object has a weak reference left to explain.
  ///
  /// Nothing but weak references and the object itself points to a side table, and it goes with its object and
  /// the last of them.
  private func _claimWeakly(table: Int) -> Int? {
    guard let object = _objectByTable[table], _nodes.weakFound[object] < _nodes.weak[object] else {
      return nil
    }
    _nodes.weakFound[object] += 1
    return object
  }

  private mutating func _claim(_ row: Int, owner: Int) -> Bool {
    let strong = _nodes.strong[row]
    if strong < 0 { return row != owner }
    if _nodes.explained[row] >= strong && !_isOverCounted[row] {
      staleWordCount += 1
      return false
    }
    _nodes.explained[row] += 1
    return true
  }
}
