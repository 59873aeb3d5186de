// ViewOracle: retained sizes and cycles by the rules of docs/viewer-format.md, the slow way.

/// What a page has to find in a viewer file, found by taking each node away and looking what is left.
struct ViewOracle {
  private let _successors: [[Int]]
  private let _entries: [Int]

  /// For each node what can't be entered without it, itself included.
  private let _dominated: [Set<Int>]
  let retainedBytes: [Int]

  /// Whether roots reach each node.
  let isReached: [Bool]

  init(_ file: ViewerFile) {
    var successors = [[Int]](repeating: [], count: file.nodeCount)
    for edge in file.edges
    where edge.info & 15 == 0 && file["node.flags"][edge.source] & 3 != 2 {
      successors[edge.source].append(edge.target)
    }
    let roots = zip(file["root.target"], file["root.info"]).filter { $0.1 & 15 == 0 }.map(\.0)
    let entries = roots + file["entry.node"]
    _successors = successors
    _entries = entries
    let reached = Self.reach(from: roots, without: nil, successors)
    isReached = (0..<file.nodeCount).map { reached.contains($0) }
    let all = Set(0..<file.nodeCount)
    _dominated = (0..<file.nodeCount).map {
      all.subtracting(Self.reach(from: entries, without: $0, successors))
    }
    let bytes = file["node.bytes"]
    retainedBytes = _dominated.map { $0.reduce(0) { $0 + bytes[$1] } }
  }

  var retainedCounts: [Int] { _dominated.map(\.count) }

  func dominates(_ above: Int, _ node: Int) -> Bool { _dominated[above].contains(node) }

  /// The sets of nodes that all reach each other by at least one edge.
  var cyclicComponents: Set<Set<Int>> {
    let reach = _successors.indices.map {
      Self.reach(from: _successors[$0], without: nil, _successors)
    }
    return Set(
      _successors.indices.compactMap { node in
        let component = reach[node].filter { reach[$0].contains(node) }
        return component.contains(node) ? component : nil
      })
  }

  private static func reach(
    from starts: [Int], without wall: Int?, _ successors: [[Int]]
  ) -> Set<Int> {
    var seen: Set<Int> = []
    var pending = starts
    while let node = pending.popLast() {
      if node == wall || !seen.insert(node).inserted { continue }
      pending += successors[node]
    }
    return seen
  }
}
