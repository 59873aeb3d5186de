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
/// written on purpose come first (continuations, captures of closures and blocks, the closures of tasks), then
/// globals, then what is reachable in the heap, then thread-local data and stacks, then the unreachable rest. In
/// each part the frames of tasks come last, since allocations that follow each other leave their old words there.
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

  /// The references that are known beforehand.
  private let _exact: [EdgeRows]

  private(set) var isReached: [Bool]
  private var _isScanned: [Bool]
  private var _queue: [Int32] = []
  private var _unscanned: [Int32] = []

  /// Slabs, and tasks with a frame of their own, whose frames have not been looked at, and those where what is near their
  /// task has been believed.
  private var _frames: [Int] = []
  private var _oldFrames: [Int] = []

  /// The task of each slab, and what the task's own words hold.
  private var _taskBySlab: [Int: Int] = [:]
  private var _targetsOfTask: [Int: [Int32]] = [:]

  /// Tasks whose own frame has been looked at.
  private var _tasksWithoutFrame: Set<Int> = []

  /// Unreached slabs and tasks whose frames are looked at later.
  private var _collected: Set<Int> = []

  /// Words of frames that were believed before the rest of their slab was looked at.
  private var _believedPlaces: Set<UInt64> = []

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

  /// The task of a slab that a place of a block leads to, where that is the context of a source of libdispatch; by the
  /// block's row, the place in it, and the slab's row.
  private let _taskOfContext: (Int, UInt64, Int) -> Int?

  /// Where in a task's own memory its first frame begins, by the task's row; nil where it has none.
  private let _frameStart: (Int) -> UInt64?

  init(
    memory: TargetMemory, nodes: HeapNodes, exactEdges: [EdgeRows], ranges: UntypedRanges,
    isStringStorage: [Bool], labelOfWord: @escaping (Int, UInt64) -> LabelIndex,
    parentOfChildTask: @escaping (UInt64) -> Int? = { _ in nil },
    frameStart: @escaping (Int) -> UInt64? = { _ in nil },
    taskOfContext: @escaping (Int, UInt64, Int) -> Int? = { _, _, _ in nil }
  ) {
    _memory = memory
    _nodes = nodes
    _bounds = nodes.bounds
    _ranges = ranges
    _firstRange = ranges.firstRange(nodeCount: nodes.count)
    _exact = exactEdges.filter { $0.count > 0 }
    _isStringStorage = isStringStorage
    isReached = [Bool](repeating: false, count: nodes.count)
    _isScanned = isReached
    _isOverCounted = nodes.strong.indices.map {
      nodes.strong[$0] >= 0 && nodes.explained[$0] > nodes.strong[$0]
    }
    var objects: [Int: Int] = [:]
    for (row, address) in nodes.sideTable {
      if let table = nodes.row(startingAt: address), nodes.kind[table] == .sideTable {
        objects[table] = row
      }
    }
    _objectByTable = objects
    _labelOfWord = labelOfWord
    _parentOfChildTask = parentOfChildTask
    _frameStart = frameStart
    _taskOfContext = taskOfContext
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

  /// Believes the words of blocks that hold nothing but what was put there, captures, and of tasks the word for the
  /// context of the closure that each runs: the runtime has retained that until the task is complete.
  mutating func resolveCaptures() {
    for row in 0..<_nodes.count {
      switch _nodes.kind[row] {
      case .cBlock, .closureContext, .box:
        _scan(row)
      case .task where _nodes.state[row] != .deinited:
        // The context's word is the last before the frame.
        guard let frame = _frameStart(row) else { continue }
        _scanRanges(of: row, in: (frame - 8)..<frame, isLookedAtAgain: true)
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
          if _objectByTable[row] != nil {
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
    guard let row = _rootHolder(of: word), _objectByTable[row] == nil else { return }
    roots.append(
      Root(kind: .register, target: row, address: 0, pc: pc, thread: thread, label: label))
    _reach(row)
  }

  /// Follows everything from what is reached: typed references first, then the words of reached blocks.
  mutating func propagate() {
    while true {
      while let row = _queue.popLast() {
        for table in _exact {
          for edge in table.edges(of: Int(row)) where table.info[edge].isStrong {
            _reach(Int(table.to[edge]))
          }
        }
        if let more = _targetsByUnreached[Int(row)] {
          for target in more { _reach(Int(target)) }
        }
      }
      if let row = _unscanned.popLast() {
        if _isScanned[Int(row)] { continue }
        _scan(Int(row))
        if _nodes.kind[Int(row)] == .task { _frames.append(Int(row)) }
      } else if !_frames.isEmpty {
        let frames = _frames.sorted()
        _frames = []
        for row in frames where _hasFrames(row) { _scanOwn(row) }
        _oldFrames += frames.reversed()
      } else if let row = _oldFrames.popLast() {
        if _hasFrames(row) { _scanFrames(row) }
      } else {
        break
      }
    }
  }

  /// Draws the references of what nothing reaches, so that a leak's shape is known.
  ///
  /// Swift objects and the blocks that they lead to come first: what they hold was put there by the
  /// program, while a forgotten buffer is full of old pointers.
  mutating func resolveUnreached() {
    var frames: [Int] = []
    for row in 0..<_nodes.count where !isReached[row] && !_isForgotten(row) {
      _draw(from: [row], frames: &frames)
    }
    // More are found on the way.
    var number = 0
    while number < frames.count {
      let firstNew = edges.count
      _scanOwn(frames[number])
      _draw(from: _targets(ofEdgesFrom: firstNew), frames: &frames)
      number += 1
    }
    number = 0
    while number < frames.count {
      let firstNew = edges.count
      if _hasFrames(frames[number]) { _scanFrames(frames[number]) }
      _draw(from: _targets(ofEdgesFrom: firstNew), frames: &frames)
      number += 1
    }
    for row in 0..<_nodes.count where !isReached[row] && !_isScanned[row] { _scan(row) }
  }

  /// Draws the references of unreached blocks and of those that they lead to, but for slabs, which it collects.
  private mutating func _draw(from rows: [Int], frames: inout [Int]) {
    var pending = rows
    while let next = pending.popLast() {
      if _isScanned[next] || isReached[next] { continue }
      if _nodes.kind[next] == .taskSlab {
        if _collected.insert(next).inserted { frames.append(next) }
        continue
      }
      let firstNew = edges.count
      _scan(next)
      if _nodes.kind[next] == .task, _collected.insert(next).inserted { frames.append(next) }
      pending += _targets(ofEdgesFrom: firstNew)
    }
  }

  private func _targets(ofEdgesFrom first: Int) -> [Int] {
    (first..<edges.count).filter { edges.info[$0].isStrong }.map { Int(edges.to[$0]) }
  }

  /// Counts objects as held that have more retains than holders, now that all words have been looked at.
  ///
  /// - Parameter isWanted: Which ones, by row.
  mutating func holdUnexplained(_ kind: RootKind, where isWanted: (Int) -> Bool) {
    for row in 0..<_nodes.count
    where !isReached[row] && _nodes.strong[row] > _nodes.explained[row]
      && _nodes.state[row] == .live && isWanted(row)
    {
      roots.append(
        Root(kind: kind, target: row, address: 0, pc: 0, thread: .max, label: .none))
      _reach(row)
    }
    propagate()
  }

  /// Whether a block is no object, so that it may be full of old pointers.
  private func _isForgotten(_ row: Int) -> Bool {
    switch _nodes.kind[row] {
    case .block: true
    case .cStorage: _nodes.typeID[row] < 0
    default: false
    }
  }

  // MARK: One word

  private mutating func _reach(_ row: Int) {
    if isReached[row] { return }
    isReached[row] = true
    _queue.append(Int32(row))
    if _nodes.kind[row] == .taskSlab { _frames.append(row) } else { _unscanned.append(Int32(row)) }
  }

  /// Scans the words of a block that no type describes, but for a task's own frame.
  private mutating func _scan(_ row: Int) {
    _isScanned[row] = true
    if _nodes.state[row] == .deinited { return }
    let frame = _nodes.kind[row] == .task ? _frameStart(row) : nil
    _scanRanges(of: row, in: 0..<(frame ?? .max))
  }

  /// Whether a slab, or a task with a frame of its own, has frames that were not looked at.
  private func _hasFrames(_ row: Int) -> Bool {
    _nodes.kind[row] == .task ? !_tasksWithoutFrame.contains(row) : !_isScanned[row]
  }

  /// Scans the words of a slab, or those of a task's own frame.
  private mutating func _scanFrames(_ row: Int) {
    guard _nodes.kind[row] == .task else { return _scan(row) }
    _tasksWithoutFrame.insert(row)
    if _nodes.state[row] == .deinited { return }
    if let frame = _frameStart(row) { _scanRanges(of: row, in: frame..<(.max)) }
  }

  /// Scans the words of frames that lead to the next slab, or to what its task leads to by its closure and what
  /// that captured.
  ///
  /// Frames hold what they work with, and in between are full of old words, of other tasks' frames, too, which
  /// had the memory before: they must not take the retains of those.
  private mutating func _scanOwn(_ row: Int) {
    guard _nodes.kind[row] == .task else {
      guard let task = _taskBySlab[row] else { return }
      return _scanRanges(of: row, near: _near(task))
    }
    guard let frame = _frameStart(row) else { return }
    _scanRanges(of: row, in: frame..<(.max), near: _near(row))
  }

  /// What a task leads to in a few steps that are known, other tasks and slabs left out.
  private func _near(_ task: Int) -> Set<Int> {
    var found: Set<Int> = [task]
    var rows = [task]
    for _ in 1...4 where found.count < 64 {
      var next: [Int] = []
      for row in rows {
        var targets: [Int] = []
        for table in _exact {
          for edge in table.edges(of: row) where table.info[edge].isStrong {
            targets.append(Int(table.to[edge]))
          }
        }
        targets += (_targetsOfTask[row] ?? _targetsByUnreached[row] ?? []).map(Int.init)
        for target in targets where _nodes.kind[target] != .task && _nodes.kind[target] != .taskSlab
        {
          if found.insert(target).inserted { next.append(target) }
        }
      }
      rows = next
    }
    found.remove(task)
    return found
  }

  /// - Parameters:
  ///   - bounds: Where words are looked at.
  ///   - isLookedAtAgain: Whether the same words of a task will be once more.
  private mutating func _scanRanges(
    of row: Int, in bounds: Range<UInt64> = 0..<(.max), near: Set<Int>? = nil,
    isLookedAtAgain: Bool = false
  ) {
    for range in Int(_firstRange[row])..<Int(_firstRange[row + 1]) {
      _scanWords(
        of: row, from: max(_ranges.start[range], bounds.lowerBound),
        to: min(_ranges.end[range], bounds.upperBound), label: _ranges.label[range], near: near,
        isLookedAtAgain: isLookedAtAgain || near != nil)
    }
  }

  /// - Parameter near: The only blocks, but for slabs, that words are believed to hold; nil for any.
  private mutating func _scanWords(
    of row: Int, from start: UInt64, to end: UInt64, label: LabelIndex, near: Set<Int>?,
    isLookedAtAgain: Bool
  ) {
    let start = (start + 7) & ~7
    guard end > start else { return }
    let isTasks = _nodes.kind[row] == .task || _nodes.kind[row] == .taskSlab
    let count = Int((end - start) / 8)
    guard count > 0, let words = _memory.bytes(at: start, count: count * 8) else { return }
    for index in 0..<count {
      let word = words.load(fromByteOffset: index * 8, as: UInt64.self)
      let place = start + UInt64(index) * 8
      if isTasks {
        if _believedPlaces.contains(place) { continue }
        if let near, !_leads(word, to: near) { continue }
      }
      guard let held = _holder(of: word, within: row) else { continue }
      // A task's frames point to each other; that a slab is the task's is said once, by its start.
      if isTasks, _isTaskMemory(held, at: word) { continue }
      guard let target = isTasks ? held : _notSlab(held, word, owner: row, place: place)
      else { continue }
      if isTasks { _note(target, ofTaskMemory: row) }
      if isLookedAtAgain { _believedPlaces.insert(place) }
      let name = label == .none ? _labelOfWord(row, place - _nodes.address[row]) : label
      // The table of an object that is gone is held by a word like other memory.
      if _objectByTable[target] != nil {
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

  /// Whether a word is the start of a slab, or of one of some blocks.
  private func _leads(_ word: UInt64, to near: Set<Int>) -> Bool {
    guard let row = _nodes.row(startingAt: word & 0x00ff_ffff_ffff_fff8) else { return false }
    return _nodes.kind[row] == .taskSlab || near.contains(row)
  }

  /// Remembers what a task's own words hold, and which slabs are its.
  private mutating func _note(_ target: Int, ofTaskMemory row: Int) {
    if _nodes.kind[row] == .task {
      if _nodes.kind[target] == .taskSlab {
        _taskBySlab[target] = row
      } else {
        _targetsOfTask[row, default: []].append(Int32(target))
      }
    } else if _nodes.kind[target] == .taskSlab {
      _taskBySlab[target] = _taskBySlab[row]
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
  private mutating func _rootHolder(of word: UInt64) -> Int? {
    _holder(of: word).flatMap { _notSlab($0, word, owner: -1) }
  }

  /// What a word of no task holds that leads to some block.
  ///
  /// A slab is its task's, and who runs or resumes the task has the task itself in its words: a word that points into
  /// a slab is borrowed, or left over. It holds only where a child task begins there, and then what it
  /// holds is the parent; and as the context of a timer, which will run the task.
  private mutating func _notSlab(
    _ row: Int, _ word: UInt64, owner: Int, place: UInt64 = 0
  ) -> Int? {
    guard _nodes.kind[row] == .taskSlab else { return row }
    if owner >= 0, let task = _taskOfContext(owner, place - _nodes.address[owner], row) {
      return _claim(task, owner: owner) ? task : nil
    }
    guard let parent = _parentOfChildTask(word & 0x00ff_ffff_ffff_fff8) else { return nil }
    return _claim(parent, owner: owner) ? parent : nil
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
    guard let object = _objectByTable[table],
      _nodes.weakFound[object, default: 0] < _nodes.weak[object, default: 0]
    else { return nil }
    _nodes.weakFound[object, default: 0] += 1
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
