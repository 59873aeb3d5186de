// PerfettoExport: the graph as a heap graph in a trace of Perfetto.

internal import GraphPrimitives
internal import GraphReport
internal import HeapGraph
internal import SnapshotFormat

/// Writes a trace with one heap graph a snapshot, as ui.perfetto.dev and its trace processor read it.
///
/// Their graph is that of a garbage collector: what refers holds. So only the references are written that do.
package enum PerfettoExport {
  /// - Returns: What the form can't say, in sentences without a full stop.
  /// - Throws: What the stream's taker throws.
  /// - Complexity: O(*V* + *E*); some thousand objects are in memory as bytes.
  package static func write(
    _ snapshots: [ExportedSnapshot], to stream: ExportStream
  ) throws -> [String] {
    var leftOut = 0
    var hasStacks = false
    for (place, exported) in snapshots.enumerated() {
      var writer = PerfettoWriter(exported, sequence: UInt64(place) + 1, stream)
      try writer.write()
      leftOut += writer.leftOutCount
      hasStacks = hasStacks || exported.graph.snapshot.stacks.count > 1
    }
    try stream.flush()
    return [
      "perfetto has strong references only: \(Units.count(leftOut, "other")) left out, and so are the names of "
        + "roots" + (hasStacks ? " and the stacks" : "")
    ]
  }
}

/// One heap graph on its way: packets of objects, each with the types and fields that are new in it. Numbers are those of
/// `HeapGraph` and `TracePacket` in Perfetto's trace definitions.
private struct PerfettoWriter {
  /// How many bytes of a packet gather; Perfetto's own writers stay well below a megabyte.
  private static let packetSize = 1 << 18

  private let _exported: ExportedSnapshot
  private let _graph: HeapGraph
  private let _stream: ExportStream
  private let _sequence: UInt64
  private let _time: UInt64
  private var _objectNames = ObjectNames()
  private var _referenceNames = ReferenceNames()
  private var _packet = ProtobufMessage()
  private var _packetNumber: UInt64 = 0
  private var _typeCount = 0
  private var _fieldCount = 0
  private var _locations: [String: UInt64] = [:]

  /// How many references hold nothing.
  private(set) var leftOutCount = 0

  init(_ exported: ExportedSnapshot, sequence: UInt64, _ stream: ExportStream) {
    _exported = exported
    _graph = exported.graph
    _sequence = sequence
    _stream = stream
    let snapshot = exported.graph.snapshot
    // The clock is that of marks; two snapshots at one time would be one to a reader.
    _time =
      (snapshot.marks.last { $0.name == snapshot.process.mark }?.time ?? 0) + sequence
    _objectNames.startSnapshot(_graph)
    _referenceNames.startSnapshot(_graph)
  }

  private func id(of node: NodeIndex) -> UInt64 { UInt64(node.rawValue) + 1 }

  mutating func write() throws {
    writeProcess()
    startPacket()
    for node in _graph.nodes {
      put(node)
      if _packet.bytes.count >= Self.packetSize { try endPacket(isLast: false) }
    }
    putRoots()
    try endPacket(isLast: true)
  }

  // MARK: - Packets

  /// A packet of the trace with what each has.
  private func packet(_ field: Int, _ content: ProtobufMessage) -> ProtobufMessage {
    var packet = ProtobufMessage()
    packet.put(8, _time)
    packet.put(10, _sequence)
    packet.put(field, content)
    return packet
  }

  private func writeProcess() {
    let facts = _graph.snapshot.process
    var process = ProtobufMessage()
    process.put(1, UInt64(facts.pid))
    process.put(3, facts.executable.isEmpty ? "unknown" : facts.executable)
    var tree = ProtobufMessage()
    tree.put(1, process)
    _stream.put(1, packet(2, tree))
  }

  private mutating func startPacket() {
    _packet = ProtobufMessage()
    _packet.put(1, UInt64(_graph.snapshot.process.pid))
  }

  private mutating func endPacket(isLast: Bool) throws {
    putNames()
    if !isLast { _packet.put(5, UInt64(1)) }
    _packet.put(6, _packetNumber)
    _packetNumber += 1
    _stream.put(1, packet(56, _packet))
    try _stream.checkpoint()
    startPacket()
  }

  // MARK: - Content

  private mutating func put(_ node: NodeIndex) {
    var object = ProtobufMessage()
    object.put(1, id(of: node))
    object.put(2, UInt64(_objectNames.row(of: node, graph: _graph, names: _exported.names)) + 1)
    object.put(3, _graph.snapshot.nodes.bytes(node))
    var fields: [UInt64] = []
    var targets: [UInt64] = []
    for row in _graph.edges(of: node) {
      let edge = EdgeIndex(row)
      guard _exported.holds(edge, from: node) else {
        leftOutCount += 1
        continue
      }
      fields.append(
        UInt64(_referenceNames.row(of: edge, from: node, names: _exported.names)) + 1)
      targets.append(id(of: _graph.target(of: edge)))
    }
    object.put(4, packed: fields)
    object.put(5, packed: targets)
    _packet.put(2, object)
  }

  /// The types, fields and modules that were met since the last packet.
  private mutating func putNames() {
    for row in _typeCount..<_objectNames.names.count {
      let name = _objectNames.names[row]
      var type = ProtobufMessage()
      type.put(1, UInt64(row) + 1)
      if !name.module.isEmpty { type.put(2, location(name.module)) }
      type.put(3, name.name)
      // A plain class; arrays and strings there have no fields.
      type.put(7, UInt64(1))
      _packet.put(9, type)
    }
    _typeCount = _objectNames.names.count
    for row in _fieldCount..<_referenceNames.names.count {
      _packet.put(4, interned(UInt64(row) + 1, _referenceNames.names[row].shown))
    }
    _fieldCount = _referenceNames.names.count
  }

  private mutating func location(_ module: String) -> UInt64 {
    if let known = _locations[module] { return known }
    let id = UInt64(_locations.count) + 1
    _locations[module] = id
    _packet.put(8, interned(id, module))
    return id
  }

  private func interned(_ id: UInt64, _ text: String) -> ProtobufMessage {
    var message = ProtobufMessage()
    message.put(1, id)
    message.put(2, text)
    return message
  }

  private mutating func putRoots() {
    var nodesByType: [UInt64: [UInt64]] = [:]
    for row in 0..<_graph.snapshot.roots.count {
      let root = RootIndex(row)
      guard EdgeInfo(rawValue: _graph.snapshot.roots.info[row]).isStrong else {
        leftOutCount += 1
        continue
      }
      nodesByType[_graph.kind(of: root).perfettoType, default: []].append(
        id(of: _graph.target(of: root)))
    }
    // What is held though no root is known is not garbage there either.
    nodesByType[RootKind.mapped.perfettoType, default: []] += _graph.heldWithoutRoot.map {
      id(of: $0)
    }
    for (type, nodes) in nodesByType.sorted(by: { $0.key < $1.key }) where !nodes.isEmpty {
      var root = ProtobufMessage()
      root.put(1, packed: nodes)
      root.put(2, type)
      _packet.put(7, root)
    }
  }
}

extension RootKind {
  /// The kind of root of Java that comes nearest.
  fileprivate var perfettoType: UInt64 {
    switch self {
    case .mapped: 0  // unknown
    case .declared: 1  // JNI global
    case .stack, .register: 4  // native stack
    case .global: 5  // sticky class, as static fields have it
    case .threadLocal, .task: 8  // thread object
    case .runtime: 13  // VM internal
    }
  }
}
