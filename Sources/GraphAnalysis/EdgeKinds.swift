// EdgeKinds: the references of a graph by type and path of fields, as a change of the source would name them.

internal import GraphKit
package import GraphPrimitives
package import HeapGraph
internal import SnapshotFormat

/// The references that one place in the source stands for: the same path of fields of the same type.
///
/// Storage and boxes are folded, as in paths and cycles: `channels` is the reference to the storage of the
/// array, `channels[_]` are the references to its elements.
package struct EdgeKind: Sendable {
  /// What has the first field.
  package enum Holder: Hashable, Sendable {
    /// A node, of which there may be many: this is the first.
    case node(NodeIndex)

    /// A variable that refers to storage or a box itself, as a global array does, or that is the
    /// reference; a place in a stack that refers to storage, as a list in a local variable does.
    case root(RootIndex)
  }

  package var holder: Holder

  /// The path from the holder to the last reference, of the first of its kind; empty for a root that is the
  /// reference itself.
  package var edges: [EdgeIndex]

  /// The last references of all paths of the kind, as slots of the graph, each once.
  package var slots: [UInt32]
}

/// All kinds of strong references of a graph, in the order in which their first is found.
///
/// Paths of fields are followed through eight pieces of storage at most.
///
/// - Complexity: O(*V* + *E*) for references without folded storage, and for those with it once for each
///   kind of path that leads to a piece of storage.
package func edgeKinds(in graph: HeapGraph) -> [EdgeKind] {
  var search = EdgeKindSearch(graph: graph)
  return search.kinds()
}

/// Sorts references into kinds by a trie of labels.
private struct EdgeKindSearch {
  private static let _deepest = 8

  let graph: HeapGraph
  private var _kinds: [EdgeKind] = []

  /// The kinds below a kind, or below a holder.
  private var _kindByLabel: [_Key: Int] = [:]

  /// The kinds of whole holders: negative numbers, so that they are none of `_kinds`.
  private var _holderByKey: [[UInt64]: Int] = [:]

  /// Which storage has been followed for which kind.
  private var _followed: Set<UInt64> = []
  private let _functions: ContextFunctions

  private struct _Key: Hashable {
    var parent: Int
    var name: UInt64
    var function: UInt64
  }

  init(graph: HeapGraph) {
    self.graph = graph
    _functions = ContextFunctions(of: graph)
  }

  mutating func kinds() -> [EdgeKind] {
    for row in 0..<graph.snapshot.roots.count {
      let root = RootIndex(row)
      switch graph.kind(of: root) {
      case .global, .declared: _addRoot(root)
      case .stack, .register, .threadLocal, .task, .mapped, .runtime: _followUnnamed(root)
      }
    }
    for node in graph.nodes where !graph.kind(of: node).isFolded {
      let slots = graph.strong.edges(from: node.rawValue)
      if slots.isEmpty { continue }
      let parent = _number(
        ofHolder: [graph.nameKey(of: node), _functions.function(of: node)]
          + graph.making(ofBlock: node))
      for slot in slots { _add(UInt32(slot), below: parent, holder: .node(node), path: []) }
    }
    return _kinds
  }

  private mutating func _number(ofHolder key: [UInt64]) -> Int {
    if let number = _holderByKey[key] { return number }
    let number = -1 - _holderByKey.count
    _holderByKey[key] = number
    return number
  }

  private mutating func _addRoot(_ root: RootIndex) {
    guard let slot = _slot(of: root) else { return }
    let row = root.position
    // Each variable is one of its own; what a registered root is called is its label.
    let parent = _number(ofHolder: [
      .max, graph.snapshot.roots.address[row], UInt64(graph.snapshot.roots.label[row]),
    ])
    let key = _Key(parent: parent, name: 0, function: 0)
    let kind = _kind(key, holder: .root(root), path: [])
    _kinds[kind].slots.append(slot)
    _follow(graph.target(of: root).rawValue, from: kind, holder: .root(root), path: [])
  }

  /// Adds the references of storage that a root refers to which is no variable with a name. The root itself is
  /// no kind of reference: who asks for all of them doesn't mean the stacks of the threads.
  private mutating func _followUnnamed(_ root: RootIndex) {
    switch graph.kind(of: graph.target(of: root)) {
    case .storage, .box: break
    default: return
    }
    if _slot(of: root) == nil { return }
    let roots = graph.snapshot.roots
    let row = root.position
    let parent = _number(ofHolder: [
      .max - 1, roots.address[row], roots.pc[row],
      UInt64(roots.thread[row]) << 32 | UInt64(roots.label[row]),
    ])
    _follow(graph.target(of: root).rawValue, from: parent, holder: .root(root), path: [])
  }

  /// The slot of a root; nil for one that is not strong.
  private func _slot(of root: RootIndex) -> UInt32? {
    var low = graph.firstRootSlot
    var high = graph.rowBySlot.count
    while low < high {
      let middle = (low + high) / 2
      if graph.rowBySlot[middle] < root.rawValue { low = middle + 1 } else { high = middle }
    }
    return low < graph.rowBySlot.count && graph.rowBySlot[low] == root.rawValue ? UInt32(low) : nil
  }

  private mutating func _kind(_ key: _Key, holder: EdgeKind.Holder, path: [EdgeIndex]) -> Int {
    if let kind = _kindByLabel[key] { return kind }
    _kindByLabel[key] = _kinds.count
    _kinds.append(EdgeKind(holder: holder, edges: path, slots: []))
    return _kinds.count - 1
  }

  private mutating func _add(
    _ slot: UInt32, below parent: Int, holder: EdgeKind.Holder, path: [EdgeIndex]
  ) {
    let edge = EdgeIndex(rawValue: graph.rowBySlot[Int(slot)])
    let label = graph.labelKey(of: edge)
    let key = _Key(parent: parent, name: label.name, function: label.function)
    let whole = path + [edge]
    let kind = _kind(key, holder: holder, path: whole)
    _kinds[kind].slots.append(slot)
    _follow(graph.strong.targets[Int(slot)], from: kind, holder: holder, path: whole)
  }

  /// Goes on through storage or a box that a reference leads to.
  ///
  /// - Parameter kind: The kind that leads to it, or the holder's number.
  private mutating func _follow(
    _ node: UInt32, from kind: Int, holder: EdgeKind.Holder, path: [EdgeIndex]
  ) {
    guard path.count < Self._deepest, node != graph.outside else { return }
    let index = NodeIndex(rawValue: node)
    guard graph.kind(of: index).isFolded,
      _followed.insert(UInt64(UInt32(truncatingIfNeeded: kind)) << 32 | UInt64(node)).inserted
    else { return }
    for slot in graph.strong.edges(from: node) {
      let target = graph.strong.targets[slot]
      if graph.kind(of: index) == .taskSlab,
        graph.kind(of: NodeIndex(rawValue: target)) == .taskSlab
      {
        // In which of a task's slabs something lies makes no difference.
        _follow(target, from: kind, holder: holder, path: path)
      } else {
        _add(UInt32(slot), below: kind, holder: holder, path: path)
      }
    }
  }
}

/// The function of the closure that each closure context belongs to.
struct ContextFunctions {
  let graph: HeapGraph

  init(of graph: HeapGraph) { self.graph = graph }

  /// The function of a context; 0 where no reference to it says one, and for other nodes.
  ///
  /// - Complexity: O(references to the node).
  func function(of node: NodeIndex) -> UInt64 {
    guard graph.kind(of: node) == .closureContext else { return 0 }
    // Where references say several, always the same one.
    var least: UInt64 = 0
    for place in graph.holders.graph.edges(from: node.rawValue) {
      let slot = graph.holders.edgeBySlot[place]
      guard Int(slot) < graph.firstRootSlot else { continue }
      let label = graph.snapshot.edges.label[Int(graph.rowBySlot[Int(slot)])]
      let function = graph.snapshot.closureFunction(ofLabel: Int(label))
      if function != 0, least == 0 || function < least { least = function }
    }
    return least
  }
}

extension HeapGraph {
  /// What reports call a block without a type by: its size and who asked for it. Empty for other nodes.
  func making(ofBlock node: NodeIndex) -> [UInt64] {
    guard kind(of: node) == .block, module(of: node).isEmpty else { return [] }
    return [snapshot.nodes.bytes(node.position), UInt64(distinguishingStack(of: node).rawValue)]
  }

  /// The last references of all paths that begin in some nodes and read like a step: from nodes of the same
  /// type, and of the same closure, by the same fields.
  ///
  /// - Returns: slots of the graph, ascending, each once.
  /// - Complexity: O(references of the nodes, and of the storage between).
  func slots(like step: ReferenceStep, from nodes: some Sequence<NodeIndex>) -> [UInt32] {
    guard !step.edges.isEmpty else { return [] }
    let functions = ContextFunctions(of: self)
    let name = nameKey(of: step.node)
    let function = functions.function(of: step.node)
    let keys = step.edges.map { labelKey(of: $0) }
    var found: [UInt32] = []
    var front: [UInt32] = []
    for node in nodes where nameKey(of: node) == name && functions.function(of: node) == function {
      front.append(node.rawValue)
      for (depth, key) in keys.enumerated() {
        var next: [UInt32] = []
        for holder in front {
          for slot in strong.edges(from: holder)
          where labelKey(of: EdgeIndex(rawValue: rowBySlot[slot])) == key {
            if depth == keys.count - 1 {
              found.append(UInt32(slot))
            } else {
              next.append(strong.targets[slot])
            }
          }
        }
        front = next.ascending()
      }
    }
    return found.ascending()
  }
}
