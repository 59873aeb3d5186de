// HeapGraph+Nodes: what the columns of a snapshot say of one node, edge or root.

package import GraphPrimitives
package import SnapshotFormat

extension HeapGraph {
  /// Where a node starts.
  package func address(of node: NodeIndex) -> Address {
    Address(snapshot.nodes.address[node.position])
  }

  /// The bytes of a node, as they were asked for from the allocator.
  package func size(of node: NodeIndex) -> ByteCount {
    ByteCount(Int64(clamping: snapshot.nodes.bytes(node.position)))
  }

  /// One object and its bytes.
  package func cost(of node: NodeIndex) -> Cost { Cost(count: 1, bytes: size(of: node)) }

  /// What some nodes cost together.
  package func cost(of nodes: some Sequence<NodeIndex>) -> Cost {
    nodes.reduce(into: .zero) { $0 += cost(of: $1) }
  }

  /// What a node is.
  ///
  /// A kind that is newer than this tool counts as a block, of which nothing is known.
  package func kind(of node: NodeIndex) -> NodeKind {
    NodeKind(rawValue: snapshot.nodes.kind[node.position]) ?? .block
  }

  /// How far a node's life has gone.
  package func state(of node: NodeIndex) -> NodeState {
    NodeState(rawValue: snapshot.nodes.state[node.position]) ?? .live
  }

  /// The row of a node's type.
  package func type(of node: NodeIndex) -> TypeIndex {
    TypeIndex(rawValue: snapshot.nodes.type[node.position])
  }

  /// The name of a type, module-qualified and demangled.
  package func name(of type: TypeIndex) -> String {
    snapshot.strings[snapshot.types.name[type.position]]
  }

  /// The name under which reports count a node: the one that the program registered it under, else its
  /// type's.
  package func typeName(of node: NodeIndex) -> String {
    snapshot.nodeNames[node].map { snapshot.strings[$0] } ?? name(of: type(of: node))
  }

  /// The module that defines a node's type; empty for none.
  package func module(of node: NodeIndex) -> String {
    snapshot.strings[snapshot.types.module[type(of: node).position]]
  }

  /// How many marks had been taken when a node was allocated.
  package func generation(of node: NodeIndex) -> Generation {
    Generation(rawValue: UInt32(snapshot.nodes.generation[node.position]))
  }

  /// The name of the mark that ended a generation; nil for the generation that none has ended yet.
  package func mark(ending generation: Generation) -> String? {
    snapshot.marks.first { $0.generation >= generation.rawValue }?.name
  }

  /// Where a node was allocated; `StackIndex.none` where that was not recorded.
  package func stack(of node: NodeIndex) -> StackIndex {
    StackIndex(rawValue: snapshot.nodes.stack[node.position])
  }

  /// Where a node was allocated, for telling kinds of nodes apart: what is known of a few alone, as where allocations
  /// are sampled, would make one kind two.
  package func distinguishingStack(of node: NodeIndex) -> StackIndex {
    snapshot.sampling == nil ? stack(of: node) : .none
  }

  /// What a node adds to figures by generation or by stack: itself where all births are known, else what it stands
  /// for, which is nothing where it is no sample.
  package func birthCost(of node: NodeIndex) -> BirthCost {
    let weight = snapshot.birthWeight(of: node)
    return BirthCost(
      count: weight, bytes: weight * Double(size(of: node).rawValue), samples: weight > 0 ? 1 : 0)
  }

  /// The strong reference count of a node; nil where it has none.
  package func strongCount(of node: NodeIndex) -> UInt32? {
    let count = snapshot.nodes.strongCount[node.position]
    return count == Snapshot.Nodes.uncounted ? nil : count
  }

  /// The rows of the edges that leave a node, of every strength.
  package func edges(of node: NodeIndex) -> Range<Int> {
    Int(snapshot.edges.firstEdge[node.position])..<Int(snapshot.edges.firstEdge[node.position + 1])
  }

  /// The node that an edge leads to.
  package func target(of edge: EdgeIndex) -> NodeIndex {
    NodeIndex(rawValue: snapshot.edges.target[edge.position])
  }

  /// The node that an edge leaves.
  ///
  /// - Complexity: O(log *V*).
  package func source(of edge: EdgeIndex) -> NodeIndex {
    var low = 0
    var high = nodeCount
    while high - low > 1 {
      let middle = (low + high) / 2
      if snapshot.edges.firstEdge[middle] <= edge.rawValue { low = middle } else { high = middle }
    }
    return NodeIndex(low)
  }

  /// How strongly an edge holds, and where it comes from.
  package func info(of edge: EdgeIndex) -> EdgeInfo {
    EdgeInfo(rawValue: snapshot.edges.info[edge.position])
  }

  /// What an edge is called.
  package func label(of edge: EdgeIndex) -> EdgeLabel {
    label(snapshot.edges.label[edge.position])
  }

  /// What a root is called within its variable; see `Snapshot.Roots.label`.
  package func label(of root: RootIndex) -> EdgeLabel {
    label(snapshot.roots.label[root.position])
  }

  /// The label in a row.
  package func label(_ row: UInt32) -> EdgeLabel {
    let row = Int(row)
    let index = snapshot.labels.index[row]
    let name = snapshot.strings[snapshot.labels.name[row]]
    if snapshot.isCapture(label: row) {
      return EdgeLabel(
        name: "capture[\(index)]" + name.dropFirst("capture".count), element: .none,
        function: snapshot.closureFunction(ofLabel: row))
    }
    return EdgeLabel(
      name: name,
      element: index == Snapshot.Labels.noIndex
        ? .none : index == Snapshot.Labels.anyIndex ? .keyed : .indexed(Int(index)),
      function: snapshot.closureFunction(ofLabel: row))
  }

  /// What keeps a root's target from outside.
  package func kind(of root: RootIndex) -> RootKind {
    RootKind(rawValue: snapshot.roots.kind[root.position]) ?? .runtime
  }

  /// The node that a root refers to.
  package func target(of root: RootIndex) -> NodeIndex {
    NodeIndex(rawValue: snapshot.roots.target[root.position])
  }

  /// The row of the snapshot that a slot of the graph stands for.
  package func reference(atSlot slot: UInt32) -> StrongReference {
    let row = rowBySlot[Int(slot)]
    return Int(slot) < firstRootSlot
      ? .edge(EdgeIndex(rawValue: row)) : .root(RootIndex(rawValue: row))
  }
}

/// What nodes of one birth cost: a sum, or an estimate of it from samples.
package struct BirthCost: Hashable, Sendable {
  package var count: Double
  package var bytes: Double

  /// How many nodes that the sum is of: an estimate from *n* of them is as a rule off by a part of 1 / √*n*.
  package var samples: Int

  package static let zero = BirthCost(count: 0, bytes: 0, samples: 0)

  package init(count: Double, bytes: Double, samples: Int) {
    self.count = count
    self.bytes = bytes
    self.samples = samples
  }

  /// In whole objects and bytes.
  package var rounded: Cost {
    Cost(count: Int(count.rounded()), bytes: ByteCount(Int64(bytes.rounded())))
  }

  package static func += (left: inout Self, right: Self) {
    left.count += right.count
    left.bytes += right.bytes
    left.samples += right.samples
  }
}

/// A strong reference, from a node or from outside the heap.
package enum StrongReference: Hashable, Sendable {
  case edge(EdgeIndex)
  case root(RootIndex)
}

/// What an edge is called.
package struct EdgeLabel: Hashable, Sendable {
  /// Which element of a container an edge is.
  package enum Element: Hashable, Sendable {
    /// It is no element.
    case none

    /// An element of an array.
    case indexed(Int)

    /// An element of a dictionary or set.
    case keyed
  }

  /// The path of fields; in an element's label what follows the index. Empty for none.
  package var name: String
  package var element: Element

  /// For a closure value the function that it calls, to be symbolized; 0 for none.
  package var function: UInt64

  package init(name: String, element: Element, function: UInt64) {
    self.name = name
    self.element = element
    self.function = function
  }

  /// The label in words: `client.retry`, `[3].handler`, `[_]`.
  package var text: String { _text(folded: false) }

  /// The label in words with every index as `[_]`, for names that must not depend on positions.
  package var foldedText: String { _text(folded: true) }

  private func _text(folded: Bool) -> String {
    let element =
      switch element {
      case .none: ""
      case .indexed(let position): folded ? "[_]" : "[\(position)]"
      case .keyed: "[_]"
      }
    if element.isEmpty { return name }
    return name.isEmpty || name.first == "[" ? element + name : element + "." + name
  }

  /// The labels of a folded chain of edges as one path: `channels` and `[2].handler` make
  /// `channels[2].handler`.
  package static func joined(_ labels: some Sequence<String>) -> String {
    labels.reduce(into: "") { path, label in
      if !path.isEmpty && !label.isEmpty && label.first != "[" { path += "." }
      path += label
    }
  }
}
