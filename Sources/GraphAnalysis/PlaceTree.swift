// PlaceTree: ways through memory as one tree, in which equal steps of many objects are one place.

internal import GraphPrimitives
internal import HeapGraph
internal import SnapshotFormat

/// Ways that start from the same places as a tree: a *place* is a way without addresses and indices.
///
/// A step that a way has taken before leads back to the place where it led then, so the links of a list
/// are one place, however long the list is, and so are the nodes of a tree. A way is therefore no longer
/// than there are different steps.
///
/// - Complexity: O(length of the way) for a step that is taken for the first time, O(1) for others.
package struct PlaceTree: Sendable {
  /// What a step is called: the field, and the type that it leads to, as numbers of ``StepNames``.
  package struct Step: Hashable, Sendable {
    package var field: Int
    package var type: Int

    package init(field: Int, type: Int) {
      self.field = field
      self.type = type
    }
  }

  private struct Key: Hashable {
    var parent: Int
    var step: Step
  }

  /// The place before each place, which has a lower number; -1 for those where ways begin.
  package private(set) var parents: [Int] = []

  /// The step that leads to each place from the one before it.
  package private(set) var steps: [Step] = []

  private var _placeByKey: [Key: Int] = [:]

  package init() {}

  /// The number of places.
  package var count: Int { parents.count }

  /// The place that a step leads to.
  ///
  /// - Parameter parent: The place before it; -1 where the way begins.
  package mutating func place(below parent: Int, by step: Step) -> Int {
    let key = Key(parent: parent, step: step)
    if let known = _placeByKey[key] { return known }
    var ancestor = parent
    while ancestor >= 0 && steps[ancestor] != step { ancestor = parents[ancestor] }
    if ancestor < 0 {
      ancestor = parents.count
      parents.append(parent)
      steps.append(step)
    }
    _placeByKey[key] = ancestor
    return ancestor
  }
}

/// Numbers for the names of fields and types that are the same for equal names, in several snapshots.
package struct StepNames: Sendable {
  private var _numberByText: [String: Int] = [:]

  /// The names by their numbers.
  package private(set) var texts: [String] = []

  package init() {}

  /// The number of a name.
  package mutating func number(of text: String) -> Int {
    if let known = _numberByText[text] { return known }
    _numberByText[text] = texts.count
    texts.append(text)
    return texts.count - 1
  }
}

/// The numbers of one snapshot's fields and types, each name looked up once.
struct SnapshotStepNames {
  private let _graph: HeapGraph
  private var _typeByRow: [Int]
  private var _fieldByLabel: [Int]

  init(_ graph: HeapGraph) {
    _graph = graph
    _typeByRow = [Int](repeating: -1, count: graph.snapshot.types.count)
    _fieldByLabel = [Int](repeating: -1, count: graph.snapshot.labels.count)
  }

  /// The number of the name under which reports count a node.
  mutating func type(of node: NodeIndex, in names: inout StepNames) -> Int {
    if !_graph.snapshot.nodeNames.isEmpty, _graph.snapshot.nodeNames[node] != nil {
      return names.number(of: _graph.typeName(of: node))
    }
    let row = _graph.type(of: node).position
    if _typeByRow[row] < 0 {
      _typeByRow[row] = names.number(of: _graph.name(of: TypeIndex(row)))
    }
    return _typeByRow[row]
  }

  /// The number of an edge's field, indices and offsets into C memory folded.
  mutating func field(
    of edge: EdgeIndex, from node: NodeIndex, in names: inout StepNames
  ) -> Int {
    if _graph.isOffset(edge, in: node) { return names.number(of: "[_]") }
    let row = Int(_graph.snapshot.edges.label[edge.position])
    if _fieldByLabel[row] < 0 {
      _fieldByLabel[row] = names.number(of: _graph.label(of: edge).foldedText)
    }
    return _fieldByLabel[row]
  }

  /// The number of a root: the variable, or what kind of root it is where there is none with a name.
  ///
  /// A variable is known by its place in its module's file, so that it is the same one in the next run. Those of
  /// a library are one: which bucket of its tables something lies in changes from time to time.
  func root(_ root: RootIndex, in names: inout StepNames) -> Int {
    let roots = _graph.snapshot.roots
    let kind = _graph.kind(of: root)
    switch kind {
    case .global:
      let address = roots.address[root.position]
      let place =
        _graph.snapshot.module(at: address).map {
          ToolchainModules.isLibrary(path: $0.path) ? $0.path : "\($0.path)+\(address - $0.start)"
        } ?? "\(address)"
      return names.number(of: "global \(place) \(_graph.label(of: root).foldedText)")
    case .threadLocal, .declared, .runtime:
      return names.number(of: "\(kind) \(_graph.label(of: root).foldedText)")
    case .stack, .register: return names.number(of: "stack")
    case .mapped: return names.number(of: "mapped")
    case .task: return names.number(of: "task")
    }
  }
}

extension Snapshot {
  /// The module that an address lies in; nil for none.
  func module(at address: UInt64) -> Module? {
    modules.first { $0.start <= address && address < $0.end }
  }
}
