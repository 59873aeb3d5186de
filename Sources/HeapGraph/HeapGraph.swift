// HeapGraph: a snapshot as a graph of the references that hold memory.

package import GraphKit
package import GraphPrimitives
package import SnapshotFormat

/// A snapshot as a graph: its nodes, the strong references between them, and the world outside the heap.
///
/// The graph has one node more than the snapshot, ``outside``: its edges are the roots. Weak, unowned
/// and unmanaged references hold nothing and are not in the graph, nor are the stale words in the memory
/// of a destroyed object. An edge of the graph is named by its *slot*; `reference(atSlot:)` says which row
/// of the snapshot it is.
///
/// It never changes once it is made, so any number of threads may use it.
///
/// - Complexity: O(*V* + *E*) to make for *V* nodes and *E* references; 12 bytes an edge and 13 bytes a
///   node beside the snapshot.
package final class HeapGraph: Sendable {
  package let snapshot: Snapshot

  /// The strong references: node *v* of the snapshot is node *v* here, and the last node is ``outside``.
  package let strong: CSRGraph

  /// The strong references turned round: what holds a node.
  package let holders: TransposedGraph

  /// For each slot of `strong` the row in the snapshot's edges; from `firstRootSlot` on, in its roots.
  package let rowBySlot: [UInt32]

  /// The first slot that is a root.
  package let firstRootSlot: Int

  /// The nodes that are children of `async let`: their count is not used, since their parent's memory
  /// holds them.
  package let asyncLetChildren: Set<UInt32>

  /// Whether each node can be reached from a root, or is on its way out anyway; see ``init(_:cancel:)``.
  package let isReachable: [Bool]

  /// The nodes that something outside holds though no root refers to them, ascending; see
  /// ``init(_:cancel:)``.
  package let heldWithoutRoot: [NodeIndex]

  /// Whether blocks are missing from the snapshot, so that a holder may be unknown: the agent started
  /// late, or there is nothing but what the program registered.
  package let isPartial: Bool

  /// The node that stands for everything outside the heap.
  package var outside: UInt32 { UInt32(snapshot.nodes.count) }

  /// The number of nodes of the snapshot.
  package var nodeCount: Int { snapshot.nodes.count }

  /// All nodes of the snapshot, in ascending order of address.
  package var nodes: some RandomAccessCollection<NodeIndex> {
    (0..<nodeCount).lazy.map { NodeIndex($0) }
  }

  /// Makes the graph of a snapshot.
  ///
  /// Reachable is what a strong path from a root leads to. Two kinds of nodes count as held from outside
  /// too, with what they hold: objects whose deinitializer is running, since a thread is about to release
  /// their fields, and Swift objects without a reference count, which are immortal. In a partial
  /// snapshot so do objects with more retains than holders and resources without a holder, since what
  /// holds them need not be in it: only what explains itself, a cycle, can be called leaked there. The side
  /// table of a leaked object is held by each weak reference to the object.
  ///
  /// - Throws: `CancellationError` where `cancel` says so.
  package init(
    _ snapshot: Snapshot, cancel: any CancelSignal = NeverCancelled()
  ) throws(CancellationError) {
    self.snapshot = snapshot
    let nodeCount = snapshot.nodes.count
    let state = snapshot.nodes.state
    let deinited = NodeState.deinited.rawValue

    var offsets: [UInt32] = [0]
    offsets.reserveCapacity(nodeCount + 2)
    var targets: [UInt32] = []
    targets.reserveCapacity(snapshot.edges.count + snapshot.roots.count)
    var rows = targets
    rows.reserveCapacity(snapshot.edges.count + snapshot.roots.count)
    snapshot.edges.firstEdge.withUnsafeBufferPointer { firstEdge in
      snapshot.edges.target.withUnsafeBufferPointer { target in
        snapshot.edges.info.withUnsafeBufferPointer { info in
          for node in 0..<nodeCount {
            if state[node] != deinited {
              for row in Int(firstEdge[node])..<Int(firstEdge[node + 1])
              where EdgeInfo(rawValue: info[row]).isStrong {
                targets.append(target[row])
                rows.append(UInt32(truncatingIfNeeded: row))
              }
            }
            offsets.append(UInt32(truncatingIfNeeded: targets.count))
          }
        }
      }
    }
    firstRootSlot = targets.count
    for row in 0..<snapshot.roots.count
    where EdgeInfo(rawValue: snapshot.roots.info[row]).isStrong {
      targets.append(snapshot.roots.target[row])
      rows.append(UInt32(truncatingIfNeeded: row))
    }
    offsets.append(UInt32(truncatingIfNeeded: targets.count))
    strong = CSRGraph(checkedOffsets: offsets, targets: targets)
    rowBySlot = rows
    holders = strong.transposed()

    isPartial = snapshot.process.isPartial
    let holderOffsets = holders.graph.offsets
    var children: Set<UInt32> = []
    for task in 0..<snapshot.tasks.count {
      let node = snapshot.tasks.node[task]
      if TaskInfo(rawValue: snapshot.tasks.info[task]).kind == .asyncLet,
        snapshot.tasks.address[task] == snapshot.nodes.address[Int(node)]
      {
        children.insert(node)
      }
    }
    asyncLetChildren = children

    var sources = [UInt32(truncatingIfNeeded: nodeCount)]
    for node in 0..<nodeCount {
      let found = holderOffsets[node + 1] - holderOffsets[node]
      let isCounted = NodeKind(rawValue: snapshot.nodes.kind[node])?.isCounted == true
      if isPartial && (isCounted ? snapshot.nodes.strongCount[node] > found : found == 0) {
        sources.append(UInt32(truncatingIfNeeded: node))
        continue
      }
      let isImmortal =
        snapshot.nodes.strongCount[node] == Snapshot.Nodes.uncounted && isCounted
        && !children.contains(UInt32(truncatingIfNeeded: node))
      if isImmortal || state[node] == NodeState.deiniting.rawValue {
        sources.append(UInt32(truncatingIfNeeded: node))
      }
    }
    let reached = try BreadthFirstForest(of: strong, from: sources, cancel: cancel)
    var isReachable = reached.parentByNode.map { $0 != .absent }
    let tables = Self._sideTables(heldWeaklyIn: snapshot, holders: holders.graph, isReachable)
    for table in tables { isReachable[Int(table)] = true }
    self.isReachable = isReachable
    heldWithoutRoot = (sources.dropFirst() + tables).sorted().map { NodeIndex(rawValue: $0) }
  }

  /// The side tables of objects that no root reaches, but to which something that is reached has a weak reference: that
  /// keeps the table, also when the object is gone.
  ///
  /// - Complexity: O(*V*), and O(*E*) where there are side tables that no root reaches.
  private static func _sideTables(
    heldWeaklyIn snapshot: Snapshot, holders: CSRGraph, _ isReachable: [Bool]
  ) -> [UInt32] {
    var tableByObject: [UInt32: UInt32] = [:]
    let kinds = snapshot.nodes.kind
    for node in 0..<snapshot.nodes.count
    where kinds[node] == NodeKind.sideTable.rawValue && !isReachable[node] {
      for object in holders.successors(of: UInt32(truncatingIfNeeded: node)) {
        tableByObject[object] = UInt32(truncatingIfNeeded: node)
      }
    }
    if tableByObject.isEmpty { return [] }
    var held: Set<UInt32> = []
    func look(at target: UInt32, _ info: EdgeInfo) {
      guard info.strength == .weak, let table = tableByObject[target] else { return }
      held.insert(table)
    }
    for node in 0..<snapshot.nodes.count
    where isReachable[node] && snapshot.nodes.state[node] != NodeState.deinited.rawValue {
      let first = snapshot.edges.firstEdge
      for row in Int(first[node])..<Int(first[node + 1]) {
        look(at: snapshot.edges.target[row], EdgeInfo(rawValue: snapshot.edges.info[row]))
      }
    }
    for row in 0..<snapshot.roots.count {
      look(at: snapshot.roots.target[row], EdgeInfo(rawValue: snapshot.roots.info[row]))
    }
    return held.sorted()
  }
}

extension NodeKind {
  /// Whether nodes of this kind have a Swift reference count, unless they are immortal.
  package var isCounted: Bool {
    switch self {
    case .object, .closureContext, .box, .storage, .task: true
    case .block, .taskSlab, .sideTable, .cBlock, .coreFoundation, .resource, .runtime, .cStorage:
      false
    }
  }

  /// Whether nodes of this kind have no name of their own in the source: paths and cycles fold them into
  /// the field that holds them.
  package var isFolded: Bool {
    switch self {
    case .storage, .box, .taskSlab, .sideTable, .cStorage: true
    case .block, .object, .closureContext, .task, .cBlock, .coreFoundation, .resource, .runtime:
      false
    }
  }
}
