// HeapSnapshotExport: the graph as a heap snapshot of Chrome's developer tools.

internal import GraphAnalysis
internal import GraphPrimitives
internal import GraphReport
internal import HeapGraph
internal import SnapshotFormat

/// Writes a `.heapsnapshot`, the form of V8 that Chrome's Memory panel, VS Code and memlab read.
///
/// Nodes and edges are arrays of numbers that refer to texts by their rows; the texts come last, so all is written as it is
/// met. docs/export.md says what becomes of what.
package enum HeapSnapshotExport {
  static let nodeFields = [
    "type", "name", "id", "self_size", "edge_count", "trace_node_id", "detachedness",
  ]
  static let nodeTypes = [
    "hidden", "array", "string", "object", "code", "closure", "regexp", "number", "native",
    "synthetic", "concatenated string", "sliced string", "symbol", "bigint", "object shape",
  ]
  static let edgeTypes = [
    "context", "element", "property", "internal", "hidden", "shortcut", "weak",
  ]

  /// Writes a snapshot.
  ///
  /// - Returns: What the form can't say, in sentences without a full stop.
  /// - Throws: ``ExportError`` where there are more nodes than the form can number; what the stream's taker throws.
  /// - Complexity: O(*V* log *V* + *E*); the edges are never in memory as text.
  package static func write(
    _ exported: ExportedSnapshot, to stream: ExportStream
  ) throws -> [String] {
    var writer = try HeapSnapshotWriter(exported, stream)
    return try writer.write()
  }
}

/// One snapshot on its way.
private struct HeapSnapshotWriter {
  private let _exported: ExportedSnapshot
  private let _graph: HeapGraph
  private let _labels: Snapshot.Labels
  private let _stream: ExportStream
  private let _ids: ObjectIDs
  private let _places: RootPlaces
  private var _objectNames = ObjectNames()
  private var _referenceNames = ReferenceNames()
  private var _trace = TraceTree()
  private var _texts = Texts()
  private var _unownedCount = 0
  private var _unmanagedCount = 0
  private var _largeCount = 0

  /// The row of the text of each name of an object or reference, once it was met.
  private var _textByName: [UInt32?] = []
  private var _textByReference: [UInt64: UInt32] = [:]

  private enum NodeType: Int {
    case object = 3
    case closure = 5
    case native = 8
    case synthetic = 9
  }

  private enum EdgeType: Int {
    case element = 1
    case property = 2
    case `internal` = 3
    case weak = 6
  }

  init(_ exported: ExportedSnapshot, _ stream: ExportStream) throws {
    _exported = exported
    _graph = exported.graph
    _labels = exported.graph.snapshot.labels
    _stream = stream
    _ids = ObjectIDs(exported.graph)
    _places = RootPlaces(exported.graph, sizes: try exported.sizes())
    let rows = _graph.nodeCount + 1 + _places.places.count
    guard rows <= Int(UInt32.max) / HeapSnapshotExport.nodeFields.count else {
      throw ExportError("heapsnapshot", "\(rows) objects are more than the form can number")
    }
    _objectNames.startSnapshot(_graph)
    _referenceNames.startSnapshot(_graph)
  }

  /// The row of a node of the graph.
  private func row(of node: NodeIndex) -> Int { 1 + _places.places.count + node.position }

  mutating func write() throws -> [String] {
    for node in _graph.nodes { _trace.add(node, graph: _graph, names: _exported.names) }
    _trace.finish()
    writeHeader()
    try writeNodes()
    try writeEdges()
    try _trace.write(to: _stream, texts: &_texts)
    _stream.put(",\n\"samples\":[],\n\"locations\":[],\n\"strings\":")
    try _texts.writeJSON(to: _stream)
    _stream.put("}\n")
    try _stream.flush()
    return notes
  }

  private var notes: [String] {
    var notes: [String] = []
    if _unownedCount + _unmanagedCount > 0 {
      notes.append(
        "heapsnapshot has one kind of reference that doesn't hold: "
          + "\(Units.count(_unownedCount, "unowned reference")) and "
          + "\(Units.count(_unmanagedCount, "unmanaged one")) are written as weak")
    }
    if _largeCount > 0 {
      notes.append(
        "heapsnapshot has sizes below 4 GB: \(Units.count(_largeCount, "larger object")) shown as that"
      )
    }
    if _ids.movedCount > 0 {
      notes.append(
        "heapsnapshot has ids of 32 bits: \(Units.count(_ids.movedCount, "object")) had to take another, "
          + "and may look deleted and new in a comparison")
    }
    return notes
  }

  // MARK: - The parts

  private func writeHeader() {
    func list(_ texts: [String]) -> String {
      "[" + texts.map { "\"\($0)\"" }.joined(separator: ",") + "]"
    }
    let edgeCount =
      _places.places.count + _places.edgeCount + _graph.snapshot.edges.count
    let nodeCount = row(of: NodeIndex(_graph.nodeCount))
    _stream.put("{\"snapshot\":{\"meta\":{\"node_fields\":")
    _stream.put(list(HeapSnapshotExport.nodeFields))
    _stream.put(",\"node_types\":[" + list(HeapSnapshotExport.nodeTypes))
    _stream.put(",\"string\",\"number\",\"number\",\"number\",\"number\",\"number\"]")
    _stream.put(",\"edge_fields\":[\"type\",\"name_or_index\",\"to_node\"],\"edge_types\":[")
    _stream.put(list(HeapSnapshotExport.edgeTypes))
    _stream.put(",\"string_or_number\",\"node\"]")
    _stream.put(",\"trace_function_info_fields\":")
    _stream.put(list(TraceTree.functionFields))
    _stream.put(",\"trace_node_fields\":" + list(TraceTree.nodeFields))
    _stream.put(",\"sample_fields\":[\"timestamp_us\",\"last_assigned_id\"]")
    _stream.put(",\"location_fields\":[\"object_index\",\"script_id\",\"line\",\"column\"]}")
    _stream.put(",\"node_count\":\(nodeCount),\"edge_count\":\(edgeCount)")
    _stream.put(",\"trace_function_count\":\(_trace.functionCount)},\n\"nodes\":[")
  }

  private mutating func writeNode(
    _ type: NodeType, name: UInt32, id: UInt32, size: UInt64, edges: Int, trace: UInt32,
    isFirst: Bool = false
  ) throws {
    _stream.put(isFirst ? "" : ",\n")
    _stream.put(decimal: type.rawValue)
    for number in [UInt64(name), UInt64(id), size, UInt64(edges), UInt64(trace), 0] {
      _stream.put(byte: UInt8(ascii: ","))
      _stream.put(decimal: number)
    }
    try _stream.checkpoint()
  }

  private mutating func writeNodes() throws {
    try writeNode(
      .synthetic, name: _texts.row(of: ""), id: 1, size: 0, edges: _places.places.count, trace: 0,
      isFirst: true)
    for (number, place) in _places.places.enumerated() {
      try writeNode(
        place.isReached ? .native : .synthetic, name: _texts.row(of: place.name),
        id: UInt32(number) * 2 + 3, size: 0, edges: place.edgeCount, trace: 0)
    }
    let nodes = _graph.snapshot.nodes
    for node in _graph.nodes {
      let name = _objectNames.row(of: node, graph: _graph, names: _exported.names)
      while _textByName.count <= Int(name) { _textByName.append(nil) }
      let text = _textByName[Int(name)] ?? _texts.row(of: _objectNames.names[Int(name)].name)
      _textByName[Int(name)] = text
      let bytes = nodes.bytes(node)
      if bytes > UInt64(UInt32.max) { _largeCount += 1 }
      try writeNode(
        Self.type(of: _graph.kind(of: node)), name: text, id: _ids.idByNode[node.position],
        size: min(bytes, UInt64(UInt32.max)), edges: _graph.edges(of: node).count,
        trace: _trace.id(of: node))
    }
    _stream.put("],\n\"edges\":[")
  }

  /// Storage is no `array`: that kind's size is added to its owner's, and its class is just "(array)".
  private static func type(of kind: NodeKind) -> NodeType {
    switch kind {
    case .object, .storage, .box, .task: .object
    case .closureContext: .closure
    case .block, .taskSlab, .sideTable, .cBlock, .coreFoundation, .resource, .runtime, .cStorage:
      .native
    }
  }

  private mutating func writeEdge(
    _ type: EdgeType, _ nameOrIndex: UInt32, to row: Int, isFirst: Bool = false
  ) throws {
    _stream.put(isFirst ? "" : ",\n")
    _stream.put(decimal: type.rawValue)
    _stream.put(byte: UInt8(ascii: ","))
    _stream.put(decimal: nameOrIndex)
    _stream.put(byte: UInt8(ascii: ","))
    _stream.put(decimal: row * HeapSnapshotExport.nodeFields.count)
    try _stream.checkpoint()
  }

  private mutating func writeEdges() throws {
    for number in _places.places.indices {
      try writeEdge(.element, UInt32(number) + 1, to: number + 1, isFirst: number == 0)
    }
    for place in _places.places {
      for root in place.roots {
        let info = EdgeInfo(rawValue: _graph.snapshot.roots.info[root.position])
        let text = _texts.row(of: _exported.names.root(root).name)
        try writeEdge(
          info.isStrong ? .property : .weak, text, to: row(of: _graph.target(of: root)))
      }
      for (number, node) in place.entries.enumerated() {
        try writeEdge(.element, UInt32(number) + 1, to: row(of: node))
      }
    }
    for node in _graph.nodes {
      for edge in _graph.edges(of: node) { try writeEdge(EdgeIndex(edge), from: node) }
    }
    _stream.put("],\n")
  }

  private mutating func writeEdge(_ edge: EdgeIndex, from node: NodeIndex) throws {
    let info = _graph.info(of: edge)
    let target = row(of: _graph.target(of: edge))
    switch info.strength {
    case .unowned: _unownedCount += 1
    case .unmanaged: _unmanagedCount += 1
    case .strong, .weak: break
    }
    let holds = _exported.holds(edge, from: node)
    let label = Int(_graph.snapshot.edges.label[edge.position])
    let index = _labels.index[label]
    if holds, _labels.name[label] == 0, _labels.function[label] == 0,
      index < Snapshot.Labels.anyIndex
    {
      return try writeEdge(.element, index, to: target)
    }
    let reference = _referenceNames.row(of: edge, from: node, names: _exported.names)
    // Of references that don't hold the name says which kind they are.
    let key = UInt64(reference) << 8 | UInt64(holds ? 0 : 1 + info.strength.rawValue)
    let text: UInt32
    if let known = _textByReference[key] {
      text = known
    } else {
      var shown = _referenceNames.names[Int(reference)].shown
      if !holds { shown += info.isStrong ? " (destroyed)" : " (\(info.strength.name))" }
      text = _texts.row(of: shown)
      _textByReference[key] = text
    }
    let strong: EdgeType = info.provenance == .scanned ? .internal : .property
    try writeEdge(holds ? strong : .weak, text, to: target)
  }
}

/// What holds from outside the heap, by kind: the nodes below the root of a heap snapshot.
private struct RootPlaces {
  struct Place {
    var name: String

    /// Whether what it leads to is reachable: the others are below the root only because each node must be.
    var isReached: Bool
    var roots: [RootIndex] = []
    var entries: [NodeIndex] = []
    var edgeCount: Int { roots.count + entries.count }
  }

  let places: [Place]

  /// The edges that leave them.
  var edgeCount: Int { places.reduce(0) { $0 + $1.edgeCount } }

  init(_ graph: HeapGraph, sizes: RetainedSizes) {
    var byKind = RootKind.allCases.map { Place(name: "(\($0.title))", isReached: true) }
    for row in 0..<graph.snapshot.roots.count {
      let root = RootIndex(row)
      byKind[Int(graph.kind(of: root).rawValue)].roots.append(root)
    }
    var held = Place(name: "(held, but by no root that is known)", isReached: false)
    var leaked = Place(name: "(no root reaches these)", isReached: false)
    for entry in sizes.unreachableEntries {
      if graph.isReachable[entry.position] {
        held.entries.append(entry)
      } else {
        leaked.entries.append(entry)
      }
    }
    places = (byKind + [held, leaked]).filter { $0.edgeCount > 0 }
  }
}

extension RootKind {
  /// What many roots of the kind are called together.
  var title: String {
    switch self {
    case .global: "global variables"
    case .stack: "thread stacks"
    case .register: "registers"
    case .threadLocal: "thread-local data"
    case .task: "tasks"
    case .declared: "registered by the program"
    case .runtime: "the Swift runtime"
    case .mapped: "mapped memory"
    }
  }
}
