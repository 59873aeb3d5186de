// LiveTypes: what is alive in a snapshot by type, without making a graph of it.

package import GraphPrimitives
internal import HeapGraph
package import SnapshotFormat

/// What is alive of a type.
package struct LiveType: Hashable, Sendable {
  package var cost: Cost

  /// Whether the type is the program's own, rather than one of Swift, Foundation or the system.
  package var isOwn: Bool

  package init(cost: Cost, isOwn: Bool) {
    self.cost = cost
    self.isOwn = isOwn
  }
}

/// What is alive in a snapshot, by the names under which reports count.
///
/// What the program registered under a name is its own, whatever type it has.
///
/// - Complexity: O(*V* + types); no edge is read.
package func liveTypes(of snapshot: Snapshot) -> [String: LiveType] {
  let nodes = snapshot.nodes
  var costByType = [Cost](repeating: .zero, count: snapshot.types.count)
  var isResource = [Bool](repeating: false, count: snapshot.types.count)
  var found: [String: LiveType] = [:]
  let hasNames = !snapshot.nodeNames.isEmpty
  for row in 0..<nodes.count
  where nodes.state[row] != NodeState.deinited.rawValue
    && nodes.kind[row] != NodeKind.runtime.rawValue
  {
    let cost = Cost(count: 1, bytes: ByteCount(Int64(clamping: nodes.bytes(row))))
    if hasNames, let name = snapshot.nodeNames[NodeIndex(row)] {
      found[snapshot.strings[name], default: LiveType(cost: .zero, isOwn: true)].cost += cost
      continue
    }
    costByType[Int(nodes.type[row])] += cost
    if nodes.kind[row] == NodeKind.resource.rawValue { isResource[Int(nodes.type[row])] = true }
  }
  for (row, cost) in costByType.enumerated() where cost != .zero {
    let name = snapshot.strings[snapshot.types.name[row]]
    let isOwn =
      isResource[row] || HeapGraph.isProgramModule(snapshot.strings[snapshot.types.module[row]])
    found[name, default: LiveType(cost: .zero, isOwn: isOwn)].cost += cost
  }
  return found
}
