// StorageWaste: strings that are there more than once, and collections with room that they don't use.

internal import GraphKit
package import GraphPrimitives
package import HeapGraph
internal import SnapshotFormat

/// What strings and collections take up without need. No finding: programs are fast by it, as a rule.
package struct StorageWaste: Sendable {
  /// Strings with the same text.
  package struct EqualStrings: Hashable, Sendable {
    /// The first of them.
    package var node: NodeIndex
    package var count: Int

    /// The bytes of the text.
    package var length: Int

    /// What all of them but one cost.
    package var unneeded: ByteCount

    /// The reference that holds most of them; nil where only roots do.
    package var holder: ReferenceStep?
  }

  /// Collections of a type, or strings, that have room for twice as much as they hold, and more.
  package struct SpareRoom: Hashable, Sendable {
    /// One of them.
    package var node: NodeIndex
    package var count: Int

    /// What the room costs in which nothing is.
    package var bytes: ByteCount
  }

  /// How many strings have storage of their own.
  package var stringCount = 0

  /// Those that cost most first.
  package var equal: [EqualStrings] = []
  package var spare: [SpareRoom] = []
}

/// Finds strings that are there more than once, and collections with room that they don't use.
///
/// - Parameter nodes: Which objects to look at.
/// - Complexity: O(*V*), and O(*s* log *s*) for *s* strings and collections.
package func storageWaste(of nodes: [NodeIndex], in graph: HeapGraph) -> StorageWaste {
  let storage = graph.snapshot.storage
  var isWanted = [Bool](repeating: false, count: graph.nodeCount)
  for node in nodes { isWanted[node.position] = true }
  var waste = StorageWaste()
  var stringsByText: [UInt32: [Int]] = [:]
  var spareByName: [UInt64: StorageWaste.SpareRoom] = [:]
  let isString = (0..<graph.snapshot.types.count).map {
    graph.name(of: TypeIndex($0)) == "Swift.__StringStorage"
  }
  for row in 0..<storage.rowCount where isWanted[Int(storage.node[row])] {
    let node = NodeIndex(rawValue: storage.node[row])
    if isString[graph.type(of: node).position] { waste.stringCount += 1 }
    if storage.text[row] != 0 { stringsByText[storage.text[row], default: []].append(row) }
    let (count, capacity) = (storage.count[row], storage.capacity[row])
    guard capacity > 0, capacity - count > count else { continue }
    // All but the header, which is of 32 bytes in most.
    let room = Double(max(graph.size(of: node).rawValue, 32) - 32)
    let unused = ByteCount(Int64(room * Double(capacity - count) / Double(capacity)))
    let key = graph.nameKey(of: node)
    var entry = spareByName[key] ?? StorageWaste.SpareRoom(node: node, count: 0, bytes: .zero)
    entry.count += 1
    entry.bytes += unused
    spareByName[key] = entry
  }
  for (_, rows) in stringsByText where rows.count > 1 {
    let strings = rows.map { NodeIndex(rawValue: storage.node[$0]) }
    waste.equal.append(
      StorageWaste.EqualStrings(
        node: strings[0], count: strings.count, length: Int(clamping: storage.count[rows[0]]),
        unneeded: graph.cost(of: strings.dropFirst()).bytes,
        holder: graph.commonHolder(of: strings)))
  }
  waste.equal.sort {
    ($1.unneeded, $1.count, $0.node) < ($0.unneeded, $0.count, $1.node)
  }
  waste.spare = spareByName.values.sorted { ($1.bytes, $0.node) < ($0.bytes, $1.node) }
  return waste
}

extension HeapGraph {
  /// The kind of reference that holds most of some nodes, container storage folded; one of that kind.
  fileprivate func commonHolder(of nodes: [NodeIndex]) -> ReferenceStep? {
    var counts: [[UInt64]: (step: ReferenceStep, count: Int)] = [:]
    for node in nodes {
      guard let step = _holder(of: node) else { continue }
      counts[key(of: step), default: (step, 0)].count += 1
    }
    return counts.values.max {
      ($0.count, $1.step.edges[0].rawValue) < ($1.count, $0.step.edges[0].rawValue)
    }?.step
  }

  /// The first reference to a node from another.
  private func _holder(of node: NodeIndex) -> ReferenceStep? {
    var step: ReferenceStep?
    var node = node.rawValue
    for _ in 0..<4 {
      let place = holders.graph.edges(from: node).first { place in
        holders.edgeBySlot[place] < UInt32(firstRootSlot)
      }
      guard let place else { return step }
      let edge = EdgeIndex(rawValue: rowBySlot[Int(holders.edgeBySlot[place])])
      let holder = NodeIndex(rawValue: holders.graph.targets[place])
      step = ReferenceStep(node: holder, edges: [edge] + (step?.edges ?? []))
      if !kind(of: holder).isFolded { return step }
      node = holder.rawValue
    }
    return step
  }
}
