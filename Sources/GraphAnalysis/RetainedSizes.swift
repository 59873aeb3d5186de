// RetainedSizes: for each object what would go with it.

internal import GraphKit
package import GraphPrimitives
package import HeapGraph
internal import SnapshotFormat

/// The dominator tree of a heap with the retained size of each node.
///
/// A node's *retained size* is the size of all that it dominates: what no path from outside, or from leaked
/// memory, reaches without going through it. What two objects share is retained by neither, but by what dominates both; so the
/// sizes of a node's children in the tree never sum to more than its own, while those of any two
/// objects may count the same memory twice.
///
/// A side table is held by each weak reference to its object, as it is by the object: it goes when all of them have gone.
/// What no root reaches is entered by the nodes that its findings are told of.
package struct RetainedSizes: Sendable {
  /// The immediate dominator of each node; the number of nodes stands for the world outside.
  package let dominatorByNode: [UInt32]

  /// The nodes by which what no root reaches is entered, one a source component, ascending.
  package let unreachableEntries: [NodeIndex]

  /// All nodes, each after its dominator.
  package let order: [UInt32]

  private let _bytes: [UInt64]
  private let _counts: [UInt64]

  /// Computes the tree and the sizes.
  ///
  /// - Throws: `CancellationError` where `cancel` says so.
  /// - Complexity: O((*V* + *E*) log *V*), nearly linear in practice.
  package init(
    of graph: HeapGraph, cancel: any CancelSignal = NeverCancelled()
  ) throws(CancellationError) {
    let held = graph.holdingSideTables()
    let tree = try DominatorTree(
      of: held.graph, predecessors: held.predecessors, roots: [graph.outside],
      entries: try Self._entries(of: held.graph, in: graph, cancel: cancel), cancel: cancel)
    let outside = graph.outside
    var bytes = [UInt64](repeating: 0, count: graph.nodeCount + 1)
    for node in graph.nodes {
      bytes[node.position] = UInt64(graph.size(of: node).rawValue)
    }
    var counts = [UInt64](repeating: 1, count: graph.nodeCount + 1)
    counts[graph.nodeCount] = 0
    _bytes = tree.retained(sizeByNode: bytes)
    _counts = tree.retained(sizeByNode: counts)
    unreachableEntries = tree.unreachableEntries.sorted().map { NodeIndex(rawValue: $0) }
    // The graph's own node for the outside and the tree's virtual root are the same to a reader.
    dominatorByNode = tree.dominatorByNode.dropLast().map { $0 > outside ? outside : $0 }
    order = tree.order.filter { $0 < outside }
  }

  /// One node of each component that no root reaches and nothing outside it leads to: the one that its cycle is told of.
  ///
  /// - Complexity: O(*V* + *E*).
  private static func _entries(
    of held: CSRGraph, in graph: HeapGraph, cancel: any CancelSignal
  ) throws(CancellationError) -> [UInt32] {
    let reached = try BreadthFirstForest(of: held, from: [graph.outside], cancel: cancel)
    let rest = (0..<graph.outside).filter { reached.parentByNode[Int($0)] == .absent }
    if rest.isEmpty { return [] }
    var scratch = [UInt32](repeating: .absent, count: graph.nodeCount + 1)
    let whole = InducedSubgraph(of: held, keeping: rest, localByNode: &scratch)
    let components = try StrongComponents(of: whole.graph, cancel: cancel)
    // Side tables hold nothing, so what is on a cycle is on one of the references that have fields.
    var cycles: CycleSearch?
    var entries: [UInt32] = []
    for component in components.sources(in: whole.graph) {
      let members = components.members(of: component)
      guard let first = members.first else { continue }
      var entry = rest[Int(first)]
      if members.count > 1 {
        var search =
          cycles
          ?? CycleSearch(
            graph: graph,
            part: InducedSubgraph(of: graph.strong, keeping: rest, localByNode: &scratch),
            costByEdge: EdgeCosts.all(in: graph), order: ReadingOrder(of: graph))
        cycles = nil
        if let told = try search.cycle(in: members, cancel: cancel).first {
          entry = told.node.rawValue
        }
        cycles = search
      }
      entries.append(entry)
    }
    return entries
  }

  /// What would go with a node, itself included.
  package func retained(by node: NodeIndex) -> Cost {
    Cost(
      count: Int(_counts[node.position]), bytes: ByteCount(Int64(_bytes[node.position])))
  }

  /// The node that all paths to a node go through last; nil where there is none but the outside.
  package func dominator(of node: NodeIndex) -> NodeIndex? {
    let dominator = dominatorByNode[node.position]
    return Int(dominator) == dominatorByNode.count ? nil : NodeIndex(rawValue: dominator)
  }
}
