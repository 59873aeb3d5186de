// Making: which of two objects made the other, from where they were allocated.

internal import GraphPrimitives
internal import HeapGraph
internal import SnapshotFormat

/// Tells from allocation stacks which objects were made while another one was.
///
/// An object that is allocated below the call that allocated another one, in its initializer for example,
/// belongs to that one more often than not.
struct Making {
  private let _graph: HeapGraph

  /// Where code is that does nothing but allocate: Swift's runtime and the preloaded library.
  private let _runtime: [Range<UInt64>]

  init(in graph: HeapGraph) {
    _graph = graph
    _runtime = graph.snapshot.modules.filter { module in
      let file = module.path.split(separator: "/").last ?? ""
      return file.hasPrefix("libswiftCore") || file.hasPrefix("libMemoryGraphPreload")
        || file.hasPrefix("libc.so")
    }.map { $0.start..<max($0.start, $0.end) }
  }

  /// Whether an object was made within the call that made another one, by something deeper than that.
  ///
  /// - Returns: false where stacks are missing or say nothing.
  /// - Complexity: O(length of the stacks × modules of the runtime).
  func didMake(_ maker: NodeIndex, _ made: NodeIndex) -> Bool {
    // Without the frame that allocated the maker, its initializer, what is left is the call of that.
    guard let call = _rows(of: maker).dropFirst().first,
      let place = _rows(of: made).firstIndex(of: call)
    else { return false }
    return place >= 2
  }

  /// The rows of a node's stack, innermost first, without those of the runtime at the start.
  private func _rows(of node: NodeIndex) -> [Int] {
    let stacks = _graph.snapshot.stacks
    var rows: [Int] = []
    var row = _graph.distinguishingStack(of: node).position
    while row != 0 {
      if !rows.isEmpty || !_runtime.contains(where: { $0.contains(stacks.pc[row]) }) {
        rows.append(row)
      }
      row = Int(stacks.parent[row])
    }
    return rows
  }
}
