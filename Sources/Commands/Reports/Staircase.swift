// Staircase: how many objects of each type were alive at each of several marks.

internal import GraphAnalysis
internal import GraphPrimitives
internal import GraphReport
internal import HeapGraph
internal import SnapshotFormat

/// Counts objects by type over several snapshots.
enum Staircase {
  /// The types whose numbers are not the same at all marks.
  ///
  /// - Parameter keepsSteady: Whether the others are wanted as well.
  /// - Complexity: O(nodes of all snapshots).
  static func rows(
    of snapshots: [Snapshot], filter: TypeFilter, keepsSteady: Bool = false
  ) -> [StaircaseReport.Row] {
    var countsByType: [String: (isOwn: Bool, counts: [Int])] = [:]
    let none = [Int](repeating: 0, count: snapshots.count)
    for (place, snapshot) in snapshots.enumerated() {
      for (type, count, isOwn) in counts(of: snapshot, filter: filter) {
        countsByType[type, default: (isOwn, none)].counts[place] += count
      }
    }
    return countsByType.sorted { $0.key < $1.key }
      .filter { keepsSteady || Set($0.value.counts).count > 1 }
      .map { StaircaseReport.Row(type: $0.key, isOwn: $0.value.isOwn, counts: $0.value.counts) }
  }

  /// How many of each type are alive, and whether the type is the program's own.
  private static func counts(
    of snapshot: Snapshot, filter: TypeFilter
  ) -> [(type: String, count: Int, isOwn: Bool)] {
    let nodes = snapshot.nodes
    var countByType = [Int](repeating: 0, count: snapshot.types.count)
    var countByName: [StringIndex: Int] = [:]
    var isResource = [Bool](repeating: false, count: snapshot.types.count)
    for row in 0..<nodes.count
    where nodes.state[row] != NodeState.deinited.rawValue
      && nodes.kind[row] != NodeKind.runtime.rawValue
    {
      countByType[Int(nodes.type[row])] += 1
      if nodes.kind[row] == NodeKind.resource.rawValue { isResource[Int(nodes.type[row])] = true }
    }
    for (node, name) in snapshot.nodeNames
    where nodes.state[node.position] != NodeState.deinited.rawValue {
      countByType[Int(nodes.type[node.position])] -= 1
      countByName[name, default: 0] += 1
    }
    let ofTypes = countByType.indices.filter { countByType[$0] > 0 }.map { row in
      let module = snapshot.strings[snapshot.types.module[row]]
      return (
        type: snapshot.strings[snapshot.types.name[row]], module: module, count: countByType[row],
        isOwn: HeapGraph.isProgramModule(module) || isResource[row]
      )
    }
    // What the program registered under a name is its own, whatever type it has.
    let ofNames = countByName.map {
      (type: snapshot.strings[$0.key], module: "", count: $0.value, isOwn: true)
    }
    return (ofTypes + ofNames).filter { filter.includes(type: $0.type, module: $0.module) }
      .map { ($0.type, $0.count, filter.asksForTypes || $0.isOwn) }
  }
}
