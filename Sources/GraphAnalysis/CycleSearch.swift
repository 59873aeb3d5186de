// CycleSearch: the cycle of a component that is worth showing.

internal import GraphKit
internal import GraphPrimitives
internal import HeapGraph
internal import SnapshotFormat

/// Finds cycles in strongly connected components of a part of a graph.
struct CycleSearch {
  let graph: HeapGraph

  /// The part in which components are looked at.
  let part: InducedSubgraph

  /// The costs of the whole graph's edges, by slot.
  let costByEdge: [UInt8]

  private var _localByNode: [UInt32]

  init(graph: HeapGraph, part: InducedSubgraph, costByEdge: [UInt8]) {
    self.graph = graph
    self.part = part
    self.costByEdge = costByEdge
    _localByNode = [UInt32](repeating: .absent, count: part.graph.nodeCount)
  }

  /// A short cycle through the best node of a component, as slots of the whole graph, and the node at
  /// which it starts; nil where the component has no cycle.
  ///
  /// The best node is one of the program's own types that is rare in the component: of a socket with
  /// a hundred channels the socket. The cycle is turned so that it starts where equal cycles elsewhere
  /// start too: at what a closure or a task on it has captured, which is the object that the closure was written
  /// for and not one of those that only keep the closure.
  ///
  /// - Parameters:
  ///   - members: The component's nodes, as nodes of the part.
  ///   - isClosed: Edges, by slot of the whole graph, that count as cut.
  /// - Complexity: O(nodes and edges of the component).
  mutating func cycle(
    in members: ArraySlice<UInt32>, isClosed: Set<UInt32> = [],
    cancel: any CancelSignal
  ) throws(CancellationError) -> [ReferenceStep] {
    guard let start = _best(of: members) else { return [] }
    if members.count == 1 {
      let loop = part.graph.edges(from: start).filter {
        part.graph.targets[$0] == start && !isClosed.contains(part.edgeByLocal[$0])
      }.min {
        costByEdge[Int(part.edgeByLocal[$0])] < costByEdge[Int(part.edgeByLocal[$1])]
      }
      guard let loop else { return [] }
      return graph.steps(
        along: [part.edgeByLocal[loop]], from: part.nodeByLocal[Int(start)])
    }

    let component = InducedSubgraph(
      of: part.graph, keeping: Array(members), localByNode: &_localByNode)
    let costs = component.edgeByLocal.map { slot -> UInt8 in
      let whole = part.edgeByLocal[Int(slot)]
      return isClosed.contains(whole) ? ShortestPathForest.closed : costByEdge[Int(whole)]
    }
    guard let first = component.nodeByLocal.firstIndex(of: start) else { return [] }
    let forest = try ShortestPathForest(
      of: component.graph, from: UInt32(first), costByEdge: costs, cancel: cancel)
    var least = UInt32.max
    var closing: (node: UInt32, slot: Int)?
    for node in 0..<UInt32(component.graph.nodeCount) where forest.isReachable(node) {
      for slot in component.graph.edges(from: node)
      where component.graph.targets[slot] == UInt32(first)
        && costs[slot] != ShortestPathForest.closed
      {
        let cost = forest.distanceByNode[Int(node)] + UInt32(costs[slot])
        if cost < least {
          least = cost
          closing = (node, slot)
        }
      }
    }
    guard let closing else { return [] }
    let path = forest.path(to: closing.node) + [UInt32(closing.slot)]
    let slots = path.map { part.edgeByLocal[Int(component.edgeByLocal[Int($0)])] }
    return _turned(slots, from: part.nodeByLocal[Int(start)])
  }

  /// The steps of a cycle, starting at the node that says most about it.
  private func _turned(_ slots: [UInt32], from first: UInt32) -> [ReferenceStep] {
    // Folding needs a start that isn't folded itself.
    var nodes = [first]
    for slot in slots.dropLast() { nodes.append(graph.strong.targets[Int(slot)]) }
    let start =
      nodes.firstIndex { !graph.kind(of: NodeIndex(rawValue: $0)).isFolded } ?? 0
    let turned = Array(slots[start...] + slots[..<start])
    if graph.kind(of: NodeIndex(rawValue: nodes[start])).isFolded {
      // Nothing but boxes and storage: each is a step.
      return zip(nodes, slots).map { node, slot in
        ReferenceStep(
          node: NodeIndex(rawValue: node), edges: [EdgeIndex(rawValue: graph.rowBySlot[Int(slot)])])
      }
    }
    let steps = graph.steps(along: turned, from: nodes[start])

    struct Order: Comparable {
      var rank: Int
      var isCaptured: Int
      var isContainer: Int
      var text: String
      var address: UInt32

      static func < (left: Order, right: Order) -> Bool {
        (left.rank, left.isCaptured, left.isContainer, left.text, left.address)
          < (right.rank, right.isCaptured, right.isContainer, right.text, right.address)
      }
    }
    let orders = steps.indices.map { place in
      let step = steps[place]
      let before = steps[place > 0 ? place - 1 : steps.count - 1]
      return Order(
        rank: graph.rank(of: step.node), isCaptured: graph.isCapturing(before) ? 0 : 1,
        isContainer: graph.isContainer(step) ? 0 : 1,
        text: graph.stableText(of: step), address: step.node.rawValue)
    }
    guard let best = orders.indices.min(by: { orders[$0] < orders[$1] }) else { return steps }
    return Array(steps[best...] + steps[..<best])
  }

  /// The node of a component that is best to tell a cycle of.
  private func _best(of members: ArraySlice<UInt32>) -> UInt32? {
    if members.count == 1 { return members.first }
    struct Candidate {
      var rank: Int
      var count: Int
      var first: UInt32
    }
    var byName: [UInt64: Candidate] = [:]
    for member in members {
      let node = NodeIndex(rawValue: part.nodeByLocal[Int(member)])
      let key = graph.nameKey(of: node)
      if byName[key] == nil {
        byName[key] = Candidate(rank: graph.rank(of: node), count: 0, first: member)
      }
      byName[key]?.count += 1
    }
    func name(_ candidate: Candidate) -> String {
      graph.typeName(of: NodeIndex(rawValue: part.nodeByLocal[Int(candidate.first)]))
    }
    return byName.values.min { left, right in
      (left.rank, left.count) != (right.rank, right.count)
        ? (left.rank, left.count) < (right.rank, right.count) : name(left) < name(right)
    }?.first
  }
}

extension HeapGraph {
  /// Whether what a step holds was captured: by a closure, with a context or without, or by a task's.
  fileprivate func isCapturing(_ step: ReferenceStep) -> Bool {
    switch kind(of: step.node) {
    case .closureContext, .cBlock, .task: true
    default: function(of: step) != nil
    }
  }

  /// Whether a step goes through an element of a container: its node holds many of the next.
  func isContainer(_ step: ReferenceStep) -> Bool {
    step.edges.contains {
      let label = Int(snapshot.edges.label[$0.position])
      return snapshot.labels.index[label] != Snapshot.Labels.noIndex
        && !snapshot.isCapture(label: label)
    }
  }
}
