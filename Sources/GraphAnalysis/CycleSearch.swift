// CycleSearch: the cycle of a component that is worth showing.

internal import GraphKit
internal import GraphPrimitives
internal import HeapGraph
internal import SnapshotFormat

/// Finds cycles in strongly connected components of a part of a graph.
///
/// Which of several cycles that is follows from the names of types and fields alone: components that look the same have
/// the same cycle, wherever their objects lie in memory.
struct CycleSearch {
  let graph: HeapGraph

  /// The part in which components are looked at.
  let part: InducedSubgraph

  /// The costs of the whole graph's edges, by slot.
  let costByEdge: [UInt8]

  /// How things that are equally good are ordered.
  let order: ReadingOrder

  private var _localByNode: [UInt32]

  /// Of how many nodes that are equally good to tell a cycle of each is tried; of more only some of those that look alike.
  private static let _mostStarts = 256
  private static let _mostAlike = 16

  init(graph: HeapGraph, part: InducedSubgraph, costByEdge: [UInt8], order: ReadingOrder) {
    self.graph = graph
    self.part = part
    self.costByEdge = costByEdge
    self.order = order
    _localByNode = [UInt32](repeating: .absent, count: part.graph.nodeCount)
  }

  /// A short cycle through one of the best nodes of a component, as steps; empty where the component has no cycle.
  ///
  /// The best nodes are those of one of the program's own types that is rare in the component: of a socket with
  /// a hundred channels the socket. Of the shortest cycles through one of them it is the first one in the order of
  /// their names. It is turned so that it starts where equal cycles elsewhere
  /// start too: at what a closure or a task on it has captured, which is the object that the closure was written
  /// for and not one of those that only keep the closure.
  ///
  /// - Parameters:
  ///   - members: The component's nodes, as nodes of the part.
  ///   - isClosed: Edges, by slot of the whole graph, that count as cut.
  /// - Complexity: O(nodes and edges of the component), and for each of the best nodes but the first what is
  ///   nearer to it than the cycle is long.
  mutating func cycle(
    in members: ArraySlice<UInt32>, isClosed: Set<UInt32> = [],
    cancel: any CancelSignal
  ) throws(CancellationError) -> [ReferenceStep] {
    let best = _best(of: members)
    guard let start = best.first else { return [] }
    if members.count == 1 {
      let loop = part.graph.edges(from: start).filter {
        part.graph.targets[$0] == start && !isClosed.contains(part.edgeByLocal[$0])
      }.min { left, right in
        let slots = (part.edgeByLocal[left], part.edgeByLocal[right])
        let costs = (costByEdge[Int(slots.0)], costByEdge[Int(slots.1)])
        return costs.0 != costs.1
          ? costs.0 < costs.1 : order.rank(ofSlot: slots.0) < order.rank(ofSlot: slots.1)
      }
      guard let loop else { return [] }
      return graph.steps(
        along: [part.edgeByLocal[loop]], from: part.nodeByLocal[Int(start)])
    }

    let component = InducedSubgraph(
      of: part.graph, keeping: Array(members), localByNode: &_localByNode)
    let slots = component.edgeByLocal.map { part.edgeByLocal[Int($0)] }
    var search = LeastCycleSearch(
      of: component.graph,
      costByEdge: slots.map {
        isClosed.contains($0) ? ShortestPathForest.closed : costByEdge[Int($0)]
      }, rankByEdge: slots.map { order.rank(ofSlot: $0) })
    let isBest = Set(best)
    func node(_ local: UInt32) -> NodeIndex {
      NodeIndex(rawValue: part.nodeByLocal[Int(component.nodeByLocal[Int(local)])])
    }
    let found = try search.cycle(
      through: _starts(
        (0..<UInt32(component.graph.nodeCount)).filter {
          isBest.contains(component.nodeByLocal[Int($0)])
        }, of: component),
      mostWork: 16 * (component.graph.nodeCount + component.graph.edgeCount),
      precedes: { order.precedes(node($0), node($1)) }, cancel: cancel)
    guard let found else { return [] }
    return _turned(
      found.slots.map { slots[Int($0)] }, from: node(found.start).rawValue)
  }

  /// The nodes from which cycles are searched: all where they are few, else some of each shape.
  private func _starts(_ best: [UInt32], of component: InducedSubgraph) -> [UInt32] {
    if best.count <= Self._mostStarts { return best }
    let whole = InducedSubgraph(
      graph: component.graph, nodeByLocal: component.nodeByLocal.map { part.nodeByLocal[Int($0)] },
      edgeByLocal: component.edgeByLocal.map { part.edgeByLocal[Int($0)] })
    let all = Array(0..<UInt32(component.graph.nodeCount))
    let shapes = order.shapes(of: all[...], in: whole)
    let sorted = best.sorted { (shapes[Int($0)], $0) < (shapes[Int($1)], $1) }
    var starts: [UInt32] = []
    var alike = 0
    for (place, node) in sorted.enumerated() {
      alike = place > 0 && shapes[Int(sorted[place - 1])] == shapes[Int(node)] ? alike + 1 : 0
      if alike < Self._mostAlike { starts.append(node) }
    }
    return starts
  }

  /// The steps of a cycle, starting at the node that says most about it.
  private func _turned(_ slots: [UInt32], from first: UInt32) -> [ReferenceStep] {
    // Folding needs a start that isn't folded itself.
    var nodes = [first]
    for slot in slots.dropLast() { nodes.append(graph.strong.targets[Int(slot)]) }
    let start =
      nodes.firstIndex { !graph.kind(of: NodeIndex(rawValue: $0)).isFolded } ?? 0
    let turned = Array(slots[start...] + slots[..<start])
    var steps: [ReferenceStep]
    if graph.kind(of: NodeIndex(rawValue: nodes[start])).isFolded {
      // Nothing but boxes and storage: each is a step.
      steps = zip(nodes, slots).map { node, slot in
        ReferenceStep(
          node: NodeIndex(rawValue: node), edges: [EdgeIndex(rawValue: graph.rowBySlot[Int(slot)])])
      }
    } else {
      steps = graph.steps(along: turned, from: nodes[start])
    }

    struct Order: Hashable, Comparable {
      var rank: Int
      var isCaptured: Int
      var isContainer: Int
      var text: String
      var reading: [UInt32]

      static func < (left: Order, right: Order) -> Bool {
        let (a, b) = (
          (left.rank, left.isCaptured, left.isContainer, left.text),
          (right.rank, right.isCaptured, right.isContainer, right.text)
        )
        return a != b ? a < b : left.reading.lexicographicallyPrecedes(right.reading)
      }
    }
    let orders = steps.indices.map { place in
      let step = steps[place]
      let before = steps[place > 0 ? place - 1 : steps.count - 1]
      return Order(
        rank: graph.rank(of: step.node), isCaptured: graph.isCapturing(before) ? 0 : 1,
        isContainer: graph.isContainer(step) ? 0 : 1,
        text: graph.stableText(of: step), reading: order.reading(of: step))
    }
    var numbers: [Order: Int] = [:]
    for one in Set(orders).sorted() { numbers[one] = numbers.count }
    if numbers.count == 1 {
      // All read the same: the first in another order.
      let least = steps.indices.dropFirst().reduce(0) {
        order.precedes(steps[$1].node, steps[$0].node) ? $1 : $0
      }
      return Array(steps[least...] + steps[..<least])
    }
    let best = Self.leastRotation(of: orders.map { numbers[$0] ?? 0 })
    return Array(steps[best...] + steps[..<best])
  }

  /// Where a ring of numbers starts so that it reads least.
  ///
  /// - Complexity: O(length).
  static func leastRotation(of ring: [Int]) -> Int {
    let count = ring.count
    var (best, other, length) = (0, 1, 0)
    while best < count, other < count, length < count {
      let (a, b) = (ring[(best + length) % count], ring[(other + length) % count])
      if a == b {
        length += 1
        continue
      }
      if a > b { best += length + 1 } else { other += length + 1 }
      if best == other { other += 1 }
      length = 0
    }
    return min(best, other)
  }

  /// The nodes of a component that are best to tell a cycle of: those of one name.
  private func _best(of members: ArraySlice<UInt32>) -> [UInt32] {
    if members.count == 1 { return Array(members) }
    struct Candidate {
      var rank: Int
      var count: Int
      var name: UInt32
    }
    var byName: [UInt64: Candidate] = [:]
    func node(_ member: UInt32) -> NodeIndex {
      NodeIndex(rawValue: part.nodeByLocal[Int(member)])
    }
    for member in members {
      let key = graph.nameKey(of: node(member))
      if byName[key] == nil {
        byName[key] = Candidate(
          rank: graph.rank(of: node(member)), count: 0, name: order.rank(of: node(member)))
      }
      byName[key]?.count += 1
    }
    let best = byName.min { left, right in
      let (a, b) = (left.value, right.value)
      return (a.rank, a.count, Int(a.name)) < (b.rank, b.count, Int(b.name))
    }
    return members.filter { graph.nameKey(of: node($0)) == best?.key }
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
