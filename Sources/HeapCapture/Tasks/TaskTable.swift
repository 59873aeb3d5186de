// TaskTable: all tasks of the captured program, and what the words of their memory are called.

internal import GraphPrimitives
internal import SnapshotFormat

/// The tasks of the captured program.
struct TaskTable {
  /// A task as it was found.
  struct Row {
    /// The node that is the task.
    var node: Int
    var address: UInt64
    var id: UInt64
    var info: TaskInfo
    var parent: UInt64?

    /// The functions in which it goes on, the innermost first.
    var functions: [UInt64]
  }

  private(set) var rows: [Row] = []

  /// The blocks in which groups keep the children that have finished.
  private(set) var queueBlocks: Set<Int> = []

  /// What a range of words is called.
  private struct Part {
    var range: Range<UInt64>
    var name: String
    var function: UInt64
  }

  /// In ascending order of start; where parts overlap the later one is the more exact. A part without
  /// a name is of no interest, and hides those around it.
  private var _parts: [Part] = []

  /// The greatest end of a part and of all parts before it.
  private var _ends: [UInt64] = []

  private static let _chunkSize: UInt64 = 512

  init() {}

  /// Reads all tasks.
  ///
  /// - Complexity: O(*f* log *f*) for *f* frames and other parts of all tasks.
  init(layout: TaskLayout, nodes: HeapNodes, memory: TargetMemory) {
    for node in 0..<nodes.count where nodes.kind[node] == .task && nodes.state[node] == .live {
      let task = nodes.address[node]
      guard layout.isTask(at: task) else { continue }
      let frames = layout.frames(of: task)
      // Around a child of `async let` lies its parent's frame, whose name is not the child's.
      if layout.isAsyncLet(task) {
        _parts.append(Part(range: task..<task + nodes.size[node], name: "", function: 0))
      }
      rows.append(
        Row(
          node: node, address: task, id: layout.id(of: task), info: layout.info(of: task),
          parent: layout.parent(of: task), functions: frames.map(\.function)))
      _addFrames(
        frames, of: task..<task + nodes.size[node], allocations: layout.allocations(of: task))
      for item in layout.localItems(of: task) {
        _parts.append(Part(range: item.value, name: "task-local", function: item.key))
      }
      for group in layout.groups(of: task) {
        _parts.append(Part(range: group, name: "group", function: 0))
        _collectQueue(of: group, nodes: nodes, memory: memory)
      }
    }
    // Stable: of parts that start at the same place the one that was added last is the more exact.
    let order = _parts.indices.sorted {
      (_parts[$0].range.lowerBound, $0) < (_parts[$1].range.lowerBound, $1)
    }
    _parts = order.map { _parts[$0] }
    var end: UInt64 = 0
    _ends = _parts.map {
      end = max(end, $0.range.upperBound)
      return end
    }
  }

  /// Says which function's frame each allocation belongs to.
  ///
  /// A frame's memory starts with its context. What was allocated after it, without a context of its
  /// own, is of the same function, since allocations go in the order of a stack.
  private mutating func _addFrames(
    _ frames: [TaskLayout.Frame], of block: Range<UInt64>, allocations: [Range<UInt64>]
  ) {
    if frames.isEmpty { return }
    let contexts = frames.compactMap { frame in frame.context.map { ($0, frame.function) } }
      .sorted { $0.0 < $1.0 }
    func function(in range: Range<UInt64>) -> UInt64? {
      var low = 0
      var high = contexts.count
      while low < high {
        let middle = (low + high) / 2
        if contexts[middle].0 < range.lowerBound { low = middle + 1 } else { high = middle }
      }
      return low < contexts.count && range.contains(contexts[low].0) ? contexts[low].1 : nil
    }
    // The first function's frame lies in the task itself, behind its header.
    var current: UInt64 = 0
    if let first = contexts.first(where: { block.contains($0.0) }) {
      current = first.1
      _parts.append(
        Part(range: first.0..<block.upperBound, name: "frame", function: current))
    }
    for allocation in allocations where !allocation.isEmpty {
      current = function(in: allocation) ?? current
      _parts.append(Part(range: allocation, name: "frame", function: current))
    }
  }

  /// Finds the blocks of a group's queue: an index of chunks, and chunks of finished children, which
  /// are of 512 bytes each. The slots of a chunk that are not in use hold old words of others.
  private mutating func _collectQueue(
    of group: Range<UInt64>, nodes: HeapNodes, memory: TargetMemory
  ) {
    var pending = [(group, 0)]
    while let (range, depth) = pending.popLast() {
      for place in stride(from: range.lowerBound, to: range.upperBound & ~7, by: 8) {
        guard let word = memory.word(at: place), nodes.bounds.contains(word),
          let block = nodes.row(containing: word), nodes.kind[block] == .block,
          nodes.size[block] == Self._chunkSize || depth == 0 && nodes.size[block] <= 1 << 16,
          queueBlocks.insert(block).inserted
        else { continue }
        let start = nodes.address[block]
        if depth < 1, nodes.size[block] != Self._chunkSize {
          pending.append((start..<start + nodes.size[block], depth + 1))
        }
      }
    }
  }

  /// What the word at an address is called; nil where it is in no part that is known.
  ///
  /// - Complexity: O(log *p*) for *p* parts, unless many overlap.
  func part(at address: UInt64) -> (name: String, function: UInt64)? {
    var low = 0
    var high = _parts.count
    while low < high {
      let middle = (low + high) / 2
      if _parts[middle].range.lowerBound <= address { low = middle + 1 } else { high = middle }
    }
    while low > 0, _ends[low - 1] > address {
      low -= 1
      let part = _parts[low]
      if part.range.contains(address) {
        return part.name.isEmpty ? nil : (part.name, part.function)
      }
    }
    return nil
  }
}

/// Adds the places where tasks wait to a trie of stacks.
struct TaskStacks {
  private struct Key: Hashable {
    var parent: UInt32
    var pc: UInt64
  }

  private var _rowByKey: [Key: UInt32] = [:]

  /// The row of a stack of functions, the innermost first.
  ///
  /// Rows hold return addresses, and readers look up the byte before: so that they find the function,
  /// its address plus one is what stands there.
  mutating func row(
    of functions: [UInt64], parents: inout [UInt32], pcs: inout [UInt64]
  ) -> StackIndex {
    var row: UInt32 = 0
    for function in functions.reversed() {
      let key = Key(parent: row, pc: function + 1)
      if let known = _rowByKey[key] {
        row = known
        continue
      }
      row = UInt32(parents.count)
      parents.append(key.parent)
      pcs.append(key.pc)
      _rowByKey[key] = row
    }
    return StackIndex(rawValue: row)
  }
}
