// WordLabels: what words without a type are called, from what the runtime's own structures are.

internal import GraphPrimitives
internal import SnapshotFormat

/// Names words of blocks that no metadata describes.
///
/// Most are called by their place, `+24`. Where the runtime laid the block out, its parts have names.
struct WordLabels {
  private let _memory: TargetMemory
  private let _nodes: HeapNodes
  private let _labels: LabelTable

  /// Where functions can be.
  private let _code: CodeRanges

  private let _tasks: TaskTable
  private let _foreign: ForeignObjects

  /// The bytes of a task before its fragments: children, group, result and closure.
  private let _taskHeaderSize: UInt64

  /// Where in a task's own memory its first frame begins, by the task's row.
  private let _frameStart: (Int) -> UInt64?

  init(
    memory: TargetMemory, nodes: HeapNodes, labels: LabelTable, images: [LoadedImage],
    tasks: TaskTable, foreign: ForeignObjects, frameStart: @escaping (Int) -> UInt64?
  ) {
    _memory = memory
    _nodes = nodes
    _labels = labels
    _code = CodeRanges(of: memory)
    _tasks = tasks
    _foreign = foreign
    _frameStart = frameStart
    let size = images.address(ofSymbol: "_swift_concurrency_debug_asyncTaskSize")
    _taskHeaderSize = size.flatMap { memory.word(at: $0) } ?? 208
  }

  /// What the word at a place in a block is called.
  func label(ofWordAt place: UInt64, in row: Int) -> LabelIndex {
    if let part = _tasks.part(at: _nodes.address[row] + place) {
      return _labels.label(part.name, function: part.function)
    }
    if let (name, isElement) = _foreign.reference(at: place, in: row) {
      return _labels.label(
        name, index: isElement ? Snapshot.Labels.anyIndex : Snapshot.Labels.noIndex)
    }
    switch _nodes.kind[row] {
    case .task: return _labels.label(_taskPart(at: place, of: _nodes.address[row], row: row))
    case .taskSlab: return _labels.label("frame")
    case .cBlock: return _capture(at: place, of: _nodes.address[row])
    case .runtime where _tasks.queueBlocks.contains(row): return _labels.label("finished")
    default: return _labels.place(place)
    }
  }

  /// The parts of a task (Swift 5.5 to 6.3, 64 bits): the job's 64 bytes, the context to resume, then
  /// the private storage with the status, the allocator and the task-local values.
  private func _taskPart(at place: UInt64, of task: UInt64, row: Int) -> String {
    switch place {
    case 16: return "queue"
    case 24: return "scheduler"
    case 64: return "resume"
    case 104: return "status"
    case 112, 120: return "slab"
    case 136: return "locals"
    case _taskHeaderSize where _isChild(task): return "parent"
    case _taskHeaderSize + 8 where _isChild(task): return "sibling"
    case _futureOffset(of: task): return "waiter"
    case _taskHeaderSize...:
      let isComplete = (_memory.load(UInt32.self, at: task + 96) ?? 0) & 0x2000 != 0
      if isComplete { return "result" }
      return _frameStart(row).map { task + place >= $0 } == true ? "frame" : "closure"
    default: return "+\(place)"
    }
  }

  private func _isChild(_ task: UInt64) -> Bool { _flags(of: task) & 1 << 24 != 0 }

  private func _flags(of task: UInt64) -> UInt32 { _memory.load(UInt32.self, at: task + 32) ?? 0 }

  /// Where a task with a result has what waits for it; nil for one without.
  private func _futureOffset(of task: UInt64) -> UInt64? {
    let flags = _flags(of: task)
    guard flags & 1 << 25 != 0 else { return nil }
    return _taskHeaderSize + (flags & 1 << 24 != 0 ? 16 : 0) + (flags & 1 << 26 != 0 ? 8 : 0)
  }

  /// A capture of a block. Swift puts a function value there as two words, the function and its
  /// context: a word behind the address of code is the context.
  private func _capture(at place: UInt64, of block: UInt64) -> LabelIndex {
    guard place >= 40, let before = _memory.word(at: block + place - 8), _code.contains(before)
    else {
      return _labels.label("capture")
    }
    return _labels.label("capture", function: before)
  }
}
