// ReadingOrder: an order of nodes and references by how they read, which is the same wherever things lie in memory.

internal import GraphKit
internal import GraphPrimitives
internal import HeapGraph
internal import SnapshotFormat

/// Numbers that order nodes and references by the names of their types, fields and functions.
///
/// Choices between things that are equally good go by it, and never by an address or a row: what a report
/// says, and the fingerprint that it says it under, is then the same in each run.
struct ReadingOrder {
  let graph: HeapGraph
  private let _rankByType: [UInt32]
  private let _rankByNodeName: [StringIndex: UInt32]
  private let _rankByLabel: [UInt32]
  private let _functions: ContextFunctions

  /// A type's or a program's name for nodes.
  private struct NodeName: Hashable, Comparable {
    var text: String
    var module: String

    static func < (left: NodeName, right: NodeName) -> Bool {
      (left.text, left.module) < (right.text, right.module)
    }
  }

  /// A label as fields are told apart by.
  private struct LabelName: Hashable, Comparable {
    var text: String

    /// The number of a capture.
    var capture: UInt64

    /// The module of the function, and its place there: in another run all of it has moved together.
    var module: String
    var function: UInt64

    static func < (left: LabelName, right: LabelName) -> Bool {
      (left.text, left.capture, left.module, left.function)
        < (right.text, right.capture, right.module, right.function)
    }
  }

  /// - Complexity: O((types + labels) × log of those).
  init(of graph: HeapGraph) {
    self.graph = graph
    _functions = ContextFunctions(of: graph)
    let snapshot = graph.snapshot
    let types = (0..<snapshot.types.count).map {
      NodeName(
        text: graph.name(of: TypeIndex($0)), module: snapshot.strings[snapshot.types.module[$0]])
    }
    let given = Set(snapshot.nodeNames.values)
    let names = given.map { NodeName(text: snapshot.strings[$0], module: "\u{0}") }
    let rankByName = Self._ranks(of: types + names)
    _rankByType = types.map { rankByName[$0] ?? 0 }
    _rankByNodeName = Dictionary(
      uniqueKeysWithValues: zip(given, names.map { rankByName[$0] ?? 0 }))

    struct Key: Hashable {
      var name: UInt64
      var function: UInt64
    }
    let keys = (0..<snapshot.labels.count).map { row in
      let key = graph.labelKey(ofLabel: row)
      return Key(name: key.name, function: key.function)
    }
    var labelByKey: [Key: LabelName] = [:]
    for row in keys.indices where labelByKey[keys[row]] == nil {
      let module =
        keys[row].function == 0 ? nil : snapshot.module(at: keys[row].function)
      labelByKey[keys[row]] = LabelName(
        text: graph.label(UInt32(row)).foldedText, capture: keys[row].name >> 32,
        module: module?.path ?? "", function: keys[row].function &- (module?.start ?? 0))
    }
    let rankByLabel = Self._ranks(of: Array(labelByKey.values))
    _rankByLabel = keys.map { labelByKey[$0].flatMap { rankByLabel[$0] } ?? 0 }
  }

  private static func _ranks<Name: Hashable & Comparable>(of names: [Name]) -> [Name: UInt32] {
    var ranks: [Name: UInt32] = [:]
    for name in Set(names).sorted() { ranks[name] = UInt32(ranks.count) }
    return ranks
  }

  /// What a node is called.
  func rank(of node: NodeIndex) -> UInt32 {
    if !_rankByNodeName.isEmpty, let name = graph.snapshot.nodeNames[node] {
      return _rankByNodeName[name] ?? 0
    }
    return _rankByType[Int(graph.snapshot.nodes.type[node.position])]
  }

  /// What an edge is called.
  func rank(of edge: EdgeIndex) -> UInt32 {
    _rankByLabel[Int(graph.snapshot.edges.label[edge.position])]
  }

  /// What the reference in a slot is called, with the node that it leads to; a root is called as no edge is.
  func rank(ofSlot slot: UInt32) -> UInt64 {
    let target = UInt64(
      graph.strong.targets[Int(slot)] == graph.outside
        ? .max : rank(of: NodeIndex(rawValue: graph.strong.targets[Int(slot)])))
    guard Int(slot) < graph.firstRootSlot else { return UInt64(UInt32.max) << 32 | target }
    return UInt64(rank(of: EdgeIndex(rawValue: graph.rowBySlot[Int(slot)]))) << 32 | target
  }

  /// What a step is called: its node and its edges, each with what it leads to.
  func reading(of step: ReferenceStep) -> [UInt32] {
    [rank(of: step.node)]
      + step.edges.flatMap { [rank(of: $0), rank(of: graph.target(of: $0))] }
  }

  /// Whether a node comes before another: by its name, its size, when and where it was made; by its row only
  /// where none of that tells them apart.
  func precedes(_ left: NodeIndex, _ right: NodeIndex) -> Bool {
    if left == right { return false }
    let (a, b) = (_order(of: left), _order(of: right))
    if a != b { return a.lexicographicallyPrecedes(b) }
    let generations = (graph.generation(of: left), graph.generation(of: right))
    if generations.0 != generations.1 { return generations.0 < generations.1 }
    let (leftStack, rightStack) = (graph.stack(of: left), graph.stack(of: right))
    if leftStack != rightStack {
      let (a, b) = (_places(of: leftStack), _places(of: rightStack))
      if a != b { return a.lexicographicallyPrecedes(b) }
    }
    return left < right
  }

  private func _order(of node: NodeIndex) -> [UInt64] {
    let nodes = graph.snapshot.nodes
    return [
      UInt64(rank(of: node)), nodes.bytes(node.position),
      UInt64(nodes.strongCount[node.position]), UInt64(nodes.state[node.position]),
      _place(ofFunction: _functions.function(of: node)),
    ]
  }

  /// Where code is in its module.
  private func _place(ofFunction address: UInt64) -> UInt64 {
    address == 0 ? 0 : address &- (graph.snapshot.module(at: address)?.start ?? 0)
  }

  /// The places of a stack, relative to their modules.
  private func _places(of stack: StackIndex) -> [UInt64] {
    let stacks = graph.snapshot.stacks
    var places: [UInt64] = []
    var row = stack.position
    while row != 0 {
      let pc = stacks.pc[row]
      places.append(_place(ofFunction: pc))
      row = Int(stacks.parent[row])
    }
    return places
  }
}

extension ReadingOrder {
  /// Of components with the same cycle the one of which to tell what has to be cut: the largest, since what lets go of
  /// that lets go of others; of equally large ones the first by its shape.
  ///
  /// - Parameter representatives: A node of each component, which decides between those of one shape.
  /// - Returns: its place.
  /// - Complexity: O(nodes and edges of the components).
  func mostTelling(
    of components: [ArraySlice<UInt32>], in part: InducedSubgraph, representatives: [NodeIndex]
  ) -> Int {
    if components.count < 2 { return 0 }
    let size = components.map(\.count).max() ?? 0
    let largest = components.indices.filter { components[$0].count == size }
    if largest.count == 1 { return largest[0] }
    let shapes = largest.map { place in
      self.shapes(of: components[place], in: part).reduce(0, &+)
    }
    let least = shapes.min()
    return zip(largest, shapes).filter { $0.1 == least }.map(\.0).min {
      precedes(representatives[$0], representatives[$1])
    } ?? 0
  }

  /// Numbers that are equal for nodes around which a graph looks the same, up to three references away.
  ///
  /// - Parameters:
  ///   - part: A part of the graph; references that leave it count only by what they are called.
  ///   - nodes: Nodes of the part.
  /// - Returns: a number for each of the nodes.
  /// - Complexity: O(nodes and their edges).
  func shapes(of nodes: ArraySlice<UInt32>, in part: InducedSubgraph) -> [UInt64] {
    var colors: [UInt32: UInt64] = [:]
    colors.reserveCapacity(nodes.count)
    func whole(_ local: UInt32) -> NodeIndex {
      NodeIndex(rawValue: part.nodeByLocal[Int(local)])
    }
    for local in nodes {
      let node = whole(local)
      var color = _order(of: node).reduce(UInt64(graph.kind(of: node).rawValue)) {
        Self._mixed($0, $1)
      }
      for place in _places(of: graph.distinguishingStack(of: node)) {
        color = Self._mixed(color, place)
      }
      colors[local] = color
    }
    for _ in 0..<3 {
      var next: [UInt32: UInt64] = [:]
      next.reserveCapacity(nodes.count)
      for local in nodes {
        let node = part.nodeByLocal[Int(local)]
        var sum = Self._mixed(1, colors[local] ?? 0)
        for slot in part.graph.edges(from: local) {
          let name = rank(ofSlot: part.edgeByLocal[slot])
          sum &+= Self._mixed(Self._mixed(2, name), colors[part.graph.targets[slot]] ?? 0)
        }
        for place in graph.holders.graph.edges(from: node) {
          let holder = graph.holders.graph.targets[place]
          let name = rank(ofSlot: graph.holders.edgeBySlot[place])
          let type = holder == graph.outside ? .max : rank(of: NodeIndex(rawValue: holder))
          sum &+= Self._mixed(Self._mixed(3, name), UInt64(type))
        }
        next[local, default: 0] &+= sum
        for slot in part.graph.edges(from: local) {
          let target = part.graph.targets[slot]
          guard colors[target] != nil else { continue }
          let name = rank(ofSlot: part.edgeByLocal[slot])
          next[target, default: 0] &+= Self._mixed(Self._mixed(4, name), colors[local] ?? 0)
        }
      }
      colors = next
    }
    return nodes.map { colors[$0] ?? 0 }
  }

  /// A number that follows from two, in which each bit depends on all.
  private static func _mixed(_ left: UInt64, _ right: UInt64) -> UInt64 {
    var hash = (left ^ 0x9E37_79B9_7F4A_7C15) &* 0xBF58_476D_1CE4_E5B9
    hash = (hash ^ (hash >> 31)) &+ right
    hash = (hash ^ (hash >> 30)) &* 0x94D0_49BB_1331_11EB
    return hash ^ (hash >> 29)
  }
}
