// ObjectNames: what objects and references are called in other people's tools, each name once.

internal import GraphAnalysis
internal import GraphPrimitives
internal import GraphReport
internal import HeapGraph
internal import SnapshotFormat
internal import Symbolication

/// A kind of object by its name.
struct ObjectName: Hashable {
  /// What an object is called: its type, for a closure its function, for C memory who asked for it.
  var name: String

  /// The module that defines it; empty for none.
  var module: String

  /// The name under which reports of types count it.
  var countedAs: String

  /// Whether it is the program's own, rather than of Swift, Foundation or the system.
  var isOwn: Bool
}

/// The names of objects, of one snapshot after the other; rows are the same for equal names of all.
///
/// Not thread-safe.
struct ObjectNames {
  private(set) var names: [ObjectName] = []
  private var _rowByName: [ObjectName: UInt32] = [:]
  private var _rowByType: [UInt32?] = []

  /// Rows of blocks, which are called after their size and stack.
  private var _rowByBlock: [UInt64: UInt32] = [:]

  /// Goes to the next snapshot.
  mutating func startSnapshot(_ graph: HeapGraph) {
    _rowByType = [UInt32?](repeating: nil, count: graph.snapshot.types.count)
    _rowByBlock = [:]
  }

  /// The row of an object's name.
  ///
  /// - Complexity: O(1) for a type, function or site that was met before.
  mutating func row(of node: NodeIndex, graph: HeapGraph, names: Names) -> UInt32 {
    if !graph.snapshot.nodeNames.isEmpty, graph.snapshot.nodeNames[node] != nil {
      let name = names.typeName(of: node)
      return row(
        ObjectName(
          name: name, module: names.module(of: node),
          countedAs: Names.sourceSpelling(of: graph.typeName(of: node)), isOwn: true))
    }
    let type = graph.type(of: node)
    switch names.kind(of: node) {
    case .closureContext:
      guard let closure = names.contextName(of: node) else { break }
      let frame = SourceFrame(
        function: closure.name, file: closure.file, line: closure.line, module: closure.module,
        isInlined: false)
      return row(
        ObjectName(
          name: closure.shown, module: closure.module ?? "", countedAs: names.name(of: type),
          isOwn: OwnCode.isOwn(frame)))
    case .block where graph.snapshot.nodes.size[node.position] != .max:
      let key =
        UInt64(graph.snapshot.nodes.size[node.position]) << 32
        | UInt64(graph.distinguishingStack(of: node).rawValue)
      if let row = _rowByBlock[key] { return row }
      let row = named(node, type: type, graph: graph, names: names)
      _rowByBlock[key] = row
      return row
    case .block:
      return named(node, type: type, graph: graph, names: names)
    default: break
    }
    if let row = _rowByType[type.position] { return row }
    let row = named(node, type: type, graph: graph, names: names)
    _rowByType[type.position] = row
    return row
  }

  private mutating func named(
    _ node: NodeIndex, type: TypeIndex, graph: HeapGraph, names: Names
  ) -> UInt32 {
    row(
      ObjectName(
        name: names.typeName(of: node), module: names.module(of: node),
        countedAs: names.name(of: type), isOwn: graph.isOfProgram(node)))
  }

  private mutating func row(_ name: ObjectName) -> UInt32 {
    if let row = _rowByName[name] { return row }
    let row = UInt32(names.count)
    _rowByName[name] = row
    names.append(name)
    return row
  }
}

/// What a reference is called.
struct ReferenceName: Hashable {
  /// The path of fields; empty where nothing is known of it.
  var field: String

  /// For a closure value without a context the function that it goes through; else empty.
  var via: String

  /// Both in one text, as lists of references show them; a question mark where nothing is known.
  var shown: String {
    let shown = [field, via.isEmpty ? "" : "(\(via))"].filter { !$0.isEmpty }
    return shown.isEmpty ? "?" : shown.joined(separator: " ")
  }
}

/// The names of references, of one snapshot after the other; rows are the same for equal names of all.
///
/// Not thread-safe.
struct ReferenceNames {
  private(set) var names: [ReferenceName] = []
  private var _rowByName: [ReferenceName: UInt32] = [:]

  /// The rows of names that follow from a label, by slot.
  private var _rowBySlot: [UInt32?] = []

  /// How many slots the snapshot has.
  var slotCount: Int { _rowBySlot.count }

  /// Goes to the next snapshot.
  mutating func startSnapshot(_ graph: HeapGraph) {
    _rowBySlot = [UInt32?](repeating: nil, count: graph.snapshot.labels.count * 2)
  }

  /// What the name of a reference follows from, two numbers for each label of the snapshot: one for references to closure contexts,
  /// which are called after the function, and one for all others. nil for a capture, whose name depends on whose it is.
  func slot(of edge: EdgeIndex, from node: NodeIndex, names: Names) -> Int? {
    let label = Int(names.snapshot.edges.label[edge.position])
    if names.kind(of: node) == .closureContext, names.snapshot.isCapture(label: label) {
      return nil
    }
    return label * 2 + (names.kind(of: names.target(of: edge)) == .closureContext ? 1 : 0)
  }

  /// The row of a reference's name.
  ///
  /// - Complexity: O(1) for a label that was met before; a capture is named each time.
  mutating func row(of edge: EdgeIndex, from node: NodeIndex, names: Names) -> UInt32 {
    guard let slot = slot(of: edge, from: node, names: names) else {
      return row(names.text(of: edge, from: node))
    }
    if let row = _rowBySlot[slot] { return row }
    let row = row(names.text(of: edge, from: node))
    _rowBySlot[slot] = row
    return row
  }

  private mutating func row(_ text: (field: String, via: String)) -> UInt32 {
    let name = ReferenceName(field: text.field, via: text.via)
    if let row = _rowByName[name] { return row }
    let row = UInt32(names.count)
    _rowByName[name] = row
    names.append(name)
    return row
  }
}
