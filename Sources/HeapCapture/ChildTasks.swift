// ChildTasks: tasks that have no block of their own, since they lie inside their parent's.

internal import SnapshotFormat

/// Finds whose task it is that a continuation resumes.
///
/// A child task of `async let` is laid out in a slab of its parent. Whoever can resume the child holds the
/// parent with it: the parent waits for the child and can't end before.
struct ChildTasks {
  private let _memory: TargetMemory

  /// The bytes of a task before its fragments; a child's first fragment begins with its parent.
  private let _taskHeaderSize: UInt64

  /// Of a job's flags: it is the child of another task.
  private static let _isChild: UInt32 = 1 << 24
  private static let _flagsOffset: UInt64 = 32

  init(memory: TargetMemory, images: [LoadedImage]) {
    _memory = memory
    let size = images.address(ofSymbol: "_swift_concurrency_debug_asyncTaskSize")
    _taskHeaderSize = size.flatMap { memory.word(at: $0) } ?? 208
  }

  /// The row of a task, or where it lies in a slab, of the next of its parents that has a block; nil
  /// where there is no such task.
  ///
  /// - Complexity: O(depth log *b*) for *b* blocks; a child more than 64 tasks deep is not looked for.
  func row(ofTask address: UInt64, in nodes: HeapNodes) -> Int? {
    var task = address
    for _ in 0..<64 {
      if let row = nodes.row(startingAt: task) { return nodes.kind[row] == .task ? row : nil }
      guard let slab = nodes.row(containing: task),
        nodes.kind[slab] == .taskSlab || nodes.kind[slab] == .task,
        let flags = _memory.load(UInt32.self, at: task + Self._flagsOffset),
        flags & Self._isChild != 0,
        let parent = _memory.word(at: task + _taskHeaderSize)
      else { return nil }
      task = parent
    }
    return nil
  }
}
