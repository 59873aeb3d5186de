// Histogram: what a set of nodes costs, by the names of their types.

public import GraphPrimitives
package import HeapGraph
internal import SnapshotFormat

/// What a set of nodes costs, by type.
public struct Histogram: Hashable, Sendable {
  /// The cost of each type that occurs, by its name.
  public var costByType: [String: Cost]

  public var total: Cost

  public init(costByType: [String: Cost], total: Cost) {
    self.costByType = costByType
    self.total = total
  }

  /// Nothing at all.
  public static let empty = Histogram(costByType: [:], total: .zero)
}

/// What some nodes cost by the names under which reports count them.
///
/// - Complexity: O(nodes + types).
package func histogram(of nodes: some Sequence<NodeIndex>, in graph: HeapGraph) -> Histogram {
  var costByRow = [Cost](repeating: .zero, count: graph.snapshot.types.count)
  var costByType: [String: Cost] = [:]
  var total = Cost.zero
  let hasNames = !graph.snapshot.nodeNames.isEmpty
  for node in nodes {
    let cost = graph.cost(of: node)
    total += cost
    if hasNames && graph.snapshot.nodeNames[node] != nil {
      costByType[graph.typeName(of: node), default: .zero] += cost
    } else {
      costByRow[graph.type(of: node).position] += cost
    }
  }
  for (row, cost) in costByRow.enumerated() where cost != .zero {
    costByType[graph.name(of: TypeIndex(row)), default: .zero] += cost
  }
  return Histogram(costByType: costByType, total: total)
}

/// What is live: every node but destroyed objects and the runtime's own memory, leaked ones included.
///
/// - Complexity: O(*V*).
package func liveNodes(of graph: HeapGraph) -> [NodeIndex] {
  graph.nodes.filter { graph.isAlive($0) }
}

extension HeapGraph {
  /// Whether a node counts as live: it isn't destroyed, and isn't the runtime's own.
  package func isAlive(_ node: NodeIndex) -> Bool {
    state(of: node) != .deinited && kind(of: node) != .runtime
  }

  /// Those of some nodes that count as live, which alone a report tells as freed.
  package func alive(_ rows: [UInt32]) -> [NodeIndex] {
    rows.lazy.map { NodeIndex(rawValue: $0) }.filter { isAlive($0) }
  }

  /// Whether a node's type belongs to the program rather than to Swift's own libraries.
  package func isOfProgram(_ node: NodeIndex) -> Bool {
    kind(of: node) == .resource || Self.isProgramModule(module(of: node))
  }

  /// Whether a module belongs to the program: it is neither unknown nor one of those that come with Swift.
  package static func isProgramModule(_ module: String) -> Bool {
    !module.isEmpty && !ToolchainModules.names.contains(module)
  }
}
