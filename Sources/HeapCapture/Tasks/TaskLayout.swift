// TaskLayout: where the concurrency runtime keeps what in a task and in its memory.

internal import SnapshotFormat

/// Reads tasks of Swift concurrency.
///
/// The layout has a version, which the runtime exports for debuggers; this is version 1 (Swift 5.5 to 6.3)
/// on 64 bits. A task is a job of 64 bytes, the context to resume, and its private storage; behind them
/// lie, each where the flags say so, the parent and next sibling, the group, the result, and the first
/// context.
struct TaskLayout {
  private let _memory: TargetMemory

  /// Where functions can be.
  private let _code: CodeRanges

  /// What a task that has not started yet is to run: the runtime's own function, which calls the one that
  /// stands before the first context.
  private let _startFunctions: Set<UInt64>

  /// The first word of each task, and of each slab of a task's allocator.
  let taskMetadata: UInt64
  let slabMetadata: UInt64

  /// The bytes of a task before what its flags add.
  let headerSize: UInt64

  /// The bytes of a slab before its allocations, and of an allocation before its memory.
  static let slabHeaderSize: UInt64 = 32
  static let allocationHeaderSize: UInt64 = 16

  /// Longer lists are damaged memory.
  private static let _longestList = 4096

  /// - Returns: nil for a program without concurrency, or with a runtime of another layout.
  init?(memory: TargetMemory, images: [LoadedImage]) {
    func word(_ symbol: String) -> UInt64? {
      images.address(ofSymbol: symbol).flatMap { memory.word(at: $0) }
    }
    guard let version = word("_swift_concurrency_debug_internal_layout_version"),
      version & 0xffff_ffff == 1, let task = word("_swift_concurrency_debug_asyncTaskMetadata"),
      let slab = word("_swift_concurrency_debug_asyncTaskSlabMetadata"), task != 0, slab != 0,
      let size = word("_swift_concurrency_debug_asyncTaskSize"), (144...1024).contains(size)
    else { return nil }
    _memory = memory
    _code = CodeRanges(of: memory)
    _startFunctions = Set(
      ["future_adapter", "non_future_adapter"].compactMap { name in
        word("_swift_concurrency_debug_" + name)
      })
    taskMetadata = task
    slabMetadata = slab
    headerSize = size
  }

  // MARK: A task

  /// Whether a task starts at an address; other jobs are none.
  func isTask(at address: UInt64) -> Bool {
    _memory.word(at: address) == taskMetadata && _flags(of: address) & 0xff == 0
  }

  private func _flags(of task: UInt64) -> UInt32 {
    _memory.load(UInt32.self, at: task + 32) ?? 0xff
  }

  private func _status(of task: UInt64) -> UInt32 { _memory.load(UInt32.self, at: task + 96) ?? 0 }

  /// The number that the runtime gave a task: 32 bits in the job, 32 in the private storage.
  func id(of task: UInt64) -> UInt64 {
    UInt64(_memory.load(UInt32.self, at: task + 36) ?? 0)
      | UInt64(_memory.load(UInt32.self, at: task + 144) ?? 0) << 32
  }

  func info(of task: UInt64) -> TaskInfo {
    let status = _status(of: task)
    let flags = _flags(of: task)
    let state: TaskState =
      status & 0x2000 != 0
      ? .complete : status & 0x800 != 0 ? .running : status & 0x1000 != 0 ? .enqueued : .suspended
    let kind: TaskKind =
      isAsyncLet(task) ? .asyncLet : flags & 1 << 26 != 0 ? .groupChild : .unstructured
    return TaskInfo(
      state, kind, isCancelled: status & 0x100 != 0, priority: UInt8(truncatingIfNeeded: flags >> 8)
    )
  }

  /// Whether a task lies in its parent's memory.
  func isAsyncLet(_ task: UInt64) -> Bool { _flags(of: task) & 1 << 28 != 0 }

  /// The task that a task is a child of; nil for none.
  func parent(of task: UInt64) -> UInt64? {
    guard _flags(of: task) & 1 << 24 != 0, let parent = _memory.word(at: task + headerSize),
      isTask(at: parent)
    else { return nil }
    return parent
  }

  // MARK: Where it goes on

  /// A place where a task goes on: the function, and the context of the function's frame where that is
  /// known.
  struct Frame {
    var function: UInt64
    var context: UInt64?
  }

  /// The functions in which a task goes on, the innermost first; empty for a task that runs or has
  /// finished, whose contexts are stale.
  ///
  /// A context holds its caller's context and the function that goes on there.
  func frames(of task: UInt64) -> [Frame] {
    switch info(of: task).state {
    case .running, .complete: return []
    case .suspended, .enqueued: break
    }
    guard var resume = _memory.word(at: task + 56), _code.contains(resume),
      var context = _memory.word(at: task + 64)
    else { return [] }
    if _startFunctions.contains(resume), let entry = _memory.word(at: context &- 24),
      _code.contains(entry)
    {
      resume = entry
    }
    var frames: [Frame] = []
    // A continuation's context lies in the frame of the function that it resumes, and has no function of
    // its own.
    if _memory.word(at: context + 8) != resume {
      frames.append(Frame(function: resume, context: context))
    }
    while context != 0, frames.count < Self._longestList,
      let parent = _memory.word(at: context), let function = _memory.word(at: context + 8),
      _code.contains(function)
    {
      frames.append(Frame(function: function, context: parent == 0 ? nil : parent))
      if parent == context { break }
      context = parent
    }
    return frames
  }

  // MARK: Its memory

  /// The memory of the live allocations of a task, the oldest first.
  func allocations(of task: UInt64) -> [Range<UInt64>] {
    var found: [Range<UInt64>] = []
    var ends: [UInt64: UInt64] = [:]
    var allocation = _memory.word(at: task + 112) ?? 0
    while allocation != 0, found.count < Self._longestList,
      let previous = _memory.word(at: allocation), let slab = _memory.word(at: allocation + 8)
    {
      let end = ends[slab] ?? liveEnd(ofSlab: slab)
      let start = allocation + Self.allocationHeaderSize
      guard start <= end else { break }
      found.append(start..<end)
      ends[slab] = allocation
      allocation = previous
    }
    return found.reversed()
  }

  /// The words of a task that can hold something, those that were certainly written first.
  ///
  /// The runtime leaves some words of a task as it got them from the allocator, and those of its first frame
  /// as they were when it has finished: what had the memory before may have left a pointer there, to a closure
  /// that is the task's own, for one. Where the result will lie comes last, since it is written last.
  ///
  /// - Parameter end: where the task's own memory ends; a slab of its own, or others' memory, follows.
  func words(of task: UInt64, until end: UInt64) -> [Range<UInt64>] {
    var place = task + headerSize
    guard place <= end else { return [] }
    // The scheduler's words; voucher and where to go on; exclusive accesses, status and allocator; values of
    // task-locals; what waits for it and the lock of that.
    var words = [
      task + 16..<task + 32, task + 40..<task + 72, task + 80..<task + 128, task + 136..<task + 144,
      task + 152..<place,
    ]
    let start = place
    // What waits for the result, the result's type, the error; the result.
    let result = _result(of: task, behind: &place, until: end)
    guard result.upperBound <= end else { return words + [start..<end] }
    words.append(start..<place)
    if info(of: task).state != .complete {
      // The result may end within a word, and the next one is the first context's then.
      words.append((result.upperBound + 7) & ~7..<end)
    }
    words.append(result.lowerBound..<min((result.upperBound + 7) & ~7, end))
    return words.filter { $0.lowerBound < $0.upperBound }
  }

  /// Where the result of a task lies, and moves a place behind the task's header to where what belongs to it begins.
  private func _result(
    of task: UInt64, behind place: inout UInt64, until end: UInt64
  ) -> Range<UInt64> {
    let flags = _flags(of: task)
    // The parent and the next sibling; the group.
    if flags & 1 << 24 != 0 { place += 16 }
    if flags & 1 << 26 != 0 { place += 8 }
    guard flags & 1 << 25 != 0 else { return place..<place }
    let layout = _memory.word(at: place + 8).flatMap(_valueLayout)
    place += 24
    let first = (place + (layout?.alignmentMask ?? 7)) & ~(layout?.alignmentMask ?? 7)
    return first..<max(first, layout.map { first + $0.size } ?? end)
  }

  /// Where in a task's own memory the first function's frame begins: behind the function that the task was made to call
  /// and its closure's context, which the runtime has certainly written. Nil where there is no such frame.
  ///
  /// What is there is like any frame: its words are written as the function goes, and are old ones before.
  ///
  /// - Parameter end: where the task's own memory ends.
  func frameStart(of task: UInt64, until end: UInt64) -> UInt64? {
    guard info(of: task).state != .complete else { return nil }
    var place = task + headerSize
    let behind = (_result(of: task, behind: &place, until: end).upperBound + 7) & ~7
    // Where the result goes may stand before, or an old word, of a function, too.
    let entries = stride(from: behind, to: behind + 32, by: 8).filter {
      $0 + 16 < end && _isCode(at: $0)
    }
    return (entries.first(where: _isFollowedByFirstContext) ?? entries.first).map { $0 + 16 }
  }

  /// Whether the first context stands where it does behind the function that a task was made to call, the closure's
  /// context and the error: it has no caller's, and a function to go on with.
  private func _isFollowedByFirstContext(_ entry: UInt64) -> Bool {
    _memory.word(at: entry + 24) == 0 && _isCode(at: entry + 32)
  }

  private func _isCode(at place: UInt64) -> Bool {
    _memory.word(at: place).map(_code.contains) ?? false
  }

  /// The size of a type's values, and of their alignment all bits but the highest, as its witness table has
  /// them; nil where it has no such table.
  private func _valueLayout(of type: UInt64) -> (size: UInt64, alignmentMask: UInt64)? {
    guard type != 0, let witnesses = _memory.word(at: type &- 8),
      let size = _memory.word(at: witnesses + 64), size <= 1 << 20,
      let flags = _memory.load(UInt32.self, at: witnesses + 80)
    else { return nil }
    return (size, UInt64(flags & 0xff))
  }

  /// The task of each slab that is a block of its own, by their rows.
  ///
  /// - Complexity: O(*n*) for *n* nodes.
  func taskBySlab(_ nodes: HeapNodes) -> [Int: Int] {
    var tasks: [Int: Int] = [:]
    for row in 0..<nodes.count where nodes.kind[row] == .task {
      var slab = _memory.word(at: nodes.address[row] + 120) ?? 0
      while slab != 0, let block = nodes.row(startingAt: slab), nodes.kind[block] == .taskSlab,
        tasks[block] == nil
      {
        tasks[block] = row
        slab = _memory.word(at: slab + 8) ?? 0
      }
    }
    return tasks
  }

  /// Where the live allocations of a slab end; the slab's start where it is none.
  func liveEnd(ofSlab slab: UInt64) -> UInt64 {
    guard _memory.word(at: slab) == slabMetadata,
      let capacity = _memory.load(UInt32.self, at: slab + 16),
      let used = _memory.load(UInt32.self, at: slab + 20), used <= capacity
    else { return slab }
    return slab + Self.slabHeaderSize + UInt64(used)
  }

  /// The slab that a child of `async let` was made with, which lies behind it in the same memory; nil for
  /// a child that is gone, whose memory still looks like a task.
  func ownSlab(ofChild task: UInt64) -> Range<UInt64>? {
    guard let slab = _memory.word(at: task + 120), slab > task, slab - task < 1 << 20,
      (_memory.load(UInt32.self, at: task + 128) ?? 0) & 1 != 0,
      _memory.word(at: slab) == slabMetadata,
      let capacity = _memory.load(UInt32.self, at: slab + 16)
    else { return nil }
    return slab..<slab + Self.slabHeaderSize + UInt64(capacity)
  }

  // MARK: Lists that hang on it

  /// A value that a task-local has in a task.
  struct LocalItem {
    /// The key's object.
    var key: UInt64
    var value: Range<UInt64>
  }

  /// The values of task-locals that a task has itself; those of its parent are the parent's.
  func localItems(of task: UInt64) -> [LocalItem] {
    var items: [LocalItem] = []
    var item = _memory.word(at: task + 136) ?? 0
    var steps = 0
    while item != 0, steps < Self._longestList, let next = _memory.word(at: item),
      let key = _memory.word(at: item + 8), let type = _memory.word(at: item + 16)
    {
      steps += 1
      if let layout = _valueLayout(of: type) {
        let mask = layout.alignmentMask
        let start = item + ((24 + mask) & ~mask)
        items.append(LocalItem(key: key, value: start..<start + layout.size))
      }
      // Bit 0: the next item is another task's.
      if next & 1 != 0 { break }
      item = next & ~3
    }
    return items
  }

  /// The memory of the groups that a task has open.
  ///
  /// A group is 256 bytes. It starts with its virtual table, and then with the record by which the task
  /// knows it.
  func groups(of task: UInt64) -> [Range<UInt64>] {
    var groups: [Range<UInt64>] = []
    var record = _memory.word(at: task + 104) ?? 0
    var steps = 0
    while record != 0, steps < Self._longestList, let kind = _memory.word(at: record),
      let parent = _memory.word(at: record + 8)
    {
      steps += 1
      if kind & 0xff == 2 { groups.append(record - 8..<record + 248) }
      record = parent
    }
    return groups
  }
}
