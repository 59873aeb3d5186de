// RetainPlaces: the way by which each object is held, as a tree in which ways of the same types and fields are one.

internal import GraphAnalysis
internal import GraphKit
internal import GraphPrimitives
internal import GraphReport
internal import HeapGraph
internal import SnapshotFormat

/// The ways by which the objects of one or several snapshots are held, from a root on.
///
/// Each object is told with one way only, the one that `memgraph paths` shows first; see ``EdgeCosts``. Storage is folded into
/// the field that has it, indices are left out, and a step that a way has taken before leads back to where it led then
/// (``PlaceTree``), so that the links of a list are one place. What no root reaches hangs on an entry of its own.
///
/// Not thread-safe.
struct RetainPlaces {
  static let leaked = "(no root reaches it)"
  static let held = "(held, but by no root that is known)"

  private(set) var tree = PlaceTree()

  /// The texts of steps: a root, or `App.Hub.listeners[_]`.
  private var _texts = StepNames()

  /// The place of each object of the snapshot that was added last: that of what holds it.
  private(set) var placeByNode: [Int32] = []

  private var _textByField: [UInt64: Int32] = [:]
  private var _textByPart: [UInt64: Int32] = [:]

  /// How a folded node is held: the place that its holder is in, and the text so far.
  private var _baseByNode: [Int32] = []
  private var _partByNode: [Int32] = []

  /// A text of so many bytes takes no further field: the nodes of an indirect enum fold into each other, however many there
  /// are.
  private static let longestText = 160

  private static let unknown: Int32 = -2

  /// Stands for the row of any offset's name.
  private static let anyOffset = UInt32.max

  /// The text of a step, by its number in the tree.
  func text(numbered number: Int) -> String { _texts.texts[number] }

  /// Finds the place of each object of a snapshot.
  ///
  /// - Complexity: O(*V* + *E*) and O(length of the way) for each kind of way.
  mutating func add(
    _ exported: ExportedSnapshot, objectNames: inout ObjectNames,
    referenceNames: inout ReferenceNames
  ) throws {
    let graph = exported.graph
    let ways = try Ways(exported)
    placeByNode = [Int32](repeating: Self.unknown, count: graph.nodeCount)
    _baseByNode = placeByNode
    _partByNode = placeByNode
    // Names of objects and references are numbered for all snapshots, so what was joined stays.
    var pending: [NodeIndex] = []
    for start in graph.nodes {
      var node = start
      while placeByNode[node.position] == Self.unknown {
        pending.append(node)
        guard let holder = ways.holder(of: node) else { break }
        node = holder
      }
      while let node = pending.popLast() {
        enter(
          node, exported, ways, objectNames: &objectNames, referenceNames: &referenceNames)
      }
    }
  }

  /// Enters a node whose holder is entered.
  private mutating func enter(
    _ node: NodeIndex, _ exported: ExportedSnapshot, _ ways: Ways,
    objectNames: inout ObjectNames, referenceNames: inout ReferenceNames
  ) {
    let graph = exported.graph
    let reference = ways.reference(to: node)
    let base: Int32
    let text: Int32
    switch reference {
    case .edge(let edge):
      let holder = ways.holder(of: node) ?? node
      // Offsets into C memory are an array's more often than not.
      let reference =
        graph.isOffset(edge, in: holder)
        ? Self.anyOffset
        : referenceNames.row(of: edge, from: holder, names: exported.names)
      if _partByNode[holder.position] != Self.unknown {
        base = _baseByNode[holder.position]
        text = joined(_partByNode[holder.position], reference, referenceNames)
      } else {
        base = placeByNode[holder.position]
        let type = objectNames.row(of: holder, graph: graph, names: exported.names)
        text = field(reference, of: type, objectNames, referenceNames)
      }
    case .root(let root):
      base = -1
      text = Int32(_texts.number(of: Names.foldingIndices(exported.names.root(root).name)))
    case nil:
      base = -1
      text = Int32(_texts.number(of: graph.isReachable[node.position] ? Self.held : Self.leaked))
    }
    placeByNode[node.position] = Int32(
      tree.place(below: Int(base), by: PlaceTree.Step(field: Int(text), type: 0)))
    // Storage that nothing holds has no field to be folded into.
    if reference != nil, graph.kind(of: node).isFolded {
      _baseByNode[node.position] = base
      _partByNode[node.position] = text
    }
  }

  private static func name(_ reference: UInt32, _ references: ReferenceNames) -> ReferenceName {
    reference == anyOffset
      ? ReferenceName(field: "[_]", via: "") : references.names[Int(reference)]
  }

  /// The text of a field of a type.
  private mutating func field(
    _ reference: UInt32, of type: UInt32, _ objects: ObjectNames, _ references: ReferenceNames
  ) -> Int32 {
    let key = UInt64(type) << 32 | UInt64(reference)
    if let known = _textByField[key] { return known }
    let name = objects.names[Int(type)].name
    let holder = name.contains(" ") ? "(\(name))" : name
    let shown = Names.foldingIndices(Self.name(reference, references).shown)
    let text = Int32(
      _texts.number(of: shown.hasPrefix("[") ? holder + shown : "\(holder).\(shown)"))
    _textByField[key] = text
    return text
  }

  /// The text of what folded storage leads to.
  private mutating func joined(
    _ part: Int32, _ reference: UInt32, _ references: ReferenceNames
  ) -> Int32 {
    let key = UInt64(UInt32(bitPattern: part)) << 32 | UInt64(reference)
    if let known = _textByPart[key] { return known }
    let before = _texts.texts[Int(part)]
    let name = Self.name(reference, references)
    var shown = Names.foldingIndices(name.field)
    if !shown.isEmpty, !shown.hasPrefix("[") { shown = "." + shown }
    if !name.via.isEmpty { shown += " (\(name.via))" }
    var joined = before
    if before.utf8.count >= Self.longestText {
      joined += before.hasSuffix("…") ? "" : "…"
    } else if !before.hasSuffix(shown) {
      joined += shown
    }
    let text = Int32(_texts.number(of: joined))
    _textByPart[key] = text
    return text
  }
}

/// The way to each node: the reference by which it is held.
private struct Ways {
  private let _graph: HeapGraph
  private let _forest: ShortestPathForest

  /// The same for what the forest has no way to: slots by node, and the nodes that they leave.
  private var _slotByNode: [UInt32: UInt32] = [:]
  private var _holderByNode: [UInt32: UInt32] = [:]

  init(_ exported: ExportedSnapshot) throws {
    let graph = exported.graph
    _graph = graph
    _forest = try ShortestPathForest(
      of: graph.strong, from: graph.outside, costByEdge: EdgeCosts.all(in: graph))
    var queue = try exported.sizes().unreachableEntries.map(\.rawValue).filter {
      !_forest.isReachable($0)
    }
    var seen = Set(queue)
    var head = 0
    while head < queue.count {
      let node = queue[head]
      head += 1
      for slot in graph.strong.edges(from: node) {
        let target = graph.strong.targets[slot]
        if _forest.isReachable(target) || !seen.insert(target).inserted { continue }
        _slotByNode[target] = UInt32(slot)
        _holderByNode[target] = node
        queue.append(target)
      }
    }
  }

  /// The node that holds a node; nil for what a root or nothing holds.
  func holder(of node: NodeIndex) -> NodeIndex? {
    if !_forest.isReachable(node.rawValue) {
      return _holderByNode[node.rawValue].map { NodeIndex(rawValue: $0) }
    }
    let holder = _forest.parentByNode[node.position]
    return holder == _graph.outside ? nil : NodeIndex(rawValue: holder)
  }

  /// The reference by which a node is held; nil for the entries of what no root reaches.
  func reference(to node: NodeIndex) -> StrongReference? {
    let slot =
      _forest.isReachable(node.rawValue)
      ? _forest.parentEdgeByNode[node.position] : _slotByNode[node.rawValue]
    return slot.map { _graph.reference(atSlot: $0) }
  }
}
