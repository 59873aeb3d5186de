// SnapshotBuilder: collects nodes, edges and roots in any order and makes a snapshot of them.

public import GraphPrimitives

/// Collects the rows of a snapshot, interning texts, types and labels.
///
/// Nodes can come in any order; `finish()` sorts them by address and renames the edges' ends. It is
/// what a capture and the tests' snapshots are made with. Not thread-safe.
public struct SnapshotBuilder {
  /// A node as it is collected.
  public struct Node: Sendable {
    public var address: UInt64
    public var size: UInt64
    public var type: TypeIndex
    public var kind: NodeKind
    public var state: NodeState
    public var stack: StackIndex
    public var generation: UInt16
    public var strongCount: UInt32
    public var unownedCount: UInt32
    public var weakCount: UInt32

    public init(
      address: UInt64, size: UInt64, type: TypeIndex, kind: NodeKind = .object,
      state: NodeState = .live, stack: StackIndex = .none, generation: UInt16 = 0,
      strongCount: UInt32 = Snapshot.Nodes.uncounted, unownedCount: UInt32 = 0, weakCount: UInt32 = 0
    ) {
      self.address = address
      self.size = size
      self.type = type
      self.kind = kind
      self.state = state
      self.stack = stack
      self.generation = generation
      self.strongCount = strongCount
      self.unownedCount = unownedCount
      self.weakCount = weakCount
    }
  }

  /// A reference as it is collected.
  public struct Edge: Sendable {
    public var from: UInt32
    public var to: UInt32
    public var label: LabelIndex
    public var info: EdgeInfo
  }

  /// A reference from outside the heap as it is collected.
  public struct Root: Sendable {
    public var kind: RootKind
    public var target: UInt32
    public var info: EdgeInfo
    public var address: UInt64
    public var pc: UInt64
    public var thread: UInt32
    public var label: LabelIndex
  }

  private struct LabelKey: Hashable {
    var name: StringIndex
    var index: UInt32
    var function: UInt64
  }

  private struct TypeKey: Hashable {
    var name: StringIndex
    var module: StringIndex
  }

  private var _texts: [String] = [""]
  private var _rowByText: [String: StringIndex] = ["": .empty]
  private var _types: [TypeKey] = []
  private var _rowByType: [TypeKey: TypeIndex] = [:]
  private var _labels: [LabelKey] = [LabelKey(name: .empty, index: Snapshot.Labels.noIndex, function: 0)]
  private var _rowByLabel: [LabelKey: LabelIndex] = [
    LabelKey(name: .empty, index: Snapshot.Labels.noIndex, function: 0): .none
  ]

  public var nodes: [Node] = []
  public var edges: [Edge] = []
  public var roots: [Root] = []
  public var stackParents: [UInt32] = [0]
  public var stackPCs: [UInt64] = [0]
  public var modules: [Snapshot.Module] = []
  public var threads: [Snapshot.Thread] = []
  public var marks: [Snapshot.Mark] = []
  public var process = Snapshot.ProcessFacts()
  public var nodeNames: [UInt32: StringIndex] = [:]
  private var _diagnostics: [String: Int] = [:]

  public init() {}

  /// The row of a text, which is added where it is new.
  public mutating func string(_ text: String) -> StringIndex {
    if let row = _rowByText[text] { return row }
    let row = StringIndex(_texts.count)
    _texts.append(text)
    _rowByText[text] = row
    return row
  }

  /// The row of a type, which is added where it is new.
  public mutating func type(_ name: String, module: String = "") -> TypeIndex {
    let key = TypeKey(name: string(name), module: string(module))
    if let row = _rowByType[key] { return row }
    let row = TypeIndex(_types.count)
    _types.append(key)
    _rowByType[key] = row
    return row
  }

  /// The row of a label, which is added where it is new.
  public mutating func label(
    _ name: String = "", index: UInt32 = Snapshot.Labels.noIndex, function: UInt64 = 0
  ) -> LabelIndex {
    label(string(name), index: index, function: function)
  }

  /// The row of a label whose text is already in the table.
  public mutating func label(
    _ name: StringIndex, index: UInt32 = Snapshot.Labels.noIndex, function: UInt64 = 0
  ) -> LabelIndex {
    let key = LabelKey(name: name, index: index, function: function)
    if let row = _rowByLabel[key] { return row }
    let row = LabelIndex(_labels.count)
    _labels.append(key)
    _rowByLabel[key] = row
    return row
  }

  /// Adds a node and returns its provisional row, for edges and roots.
  @discardableResult
  public mutating func add(_ node: Node) -> UInt32 {
    nodes.append(node)
    return UInt32(nodes.count - 1)
  }

  /// Adds a reference between two provisional rows.
  public mutating func addEdge(
    from: UInt32, to: UInt32, label: LabelIndex = .none, strength: EdgeStrength = .strong,
    provenance: EdgeProvenance = .reflected
  ) {
    edges.append(Edge(from: from, to: to, label: label, info: EdgeInfo(strength, provenance)))
  }

  /// Adds a reference from outside the heap to a provisional row.
  public mutating func addRoot(
    _ kind: RootKind, to target: UInt32, address: UInt64 = 0, pc: UInt64 = 0,
    thread: UInt32 = UInt32.max, label: LabelIndex = .none, strength: EdgeStrength = .strong,
    provenance: EdgeProvenance = .scanned
  ) {
    roots.append(
      Root(
        kind: kind, target: target, info: EdgeInfo(strength, provenance), address: address, pc: pc,
        thread: thread, label: label))
  }

  /// Counts something that the capture could not do.
  public mutating func note(_ text: String, count: Int = 1) {
    _diagnostics[text, default: 0] += count
  }

  /// The snapshot of everything collected.
  ///
  /// - Precondition: no two nodes have the same address.
  /// - Complexity: O(*n* log *n* + *e*) for *n* nodes and *e* edges.
  public consuming func finish() -> Snapshot {
    let order = nodes.indices.sorted { nodes[$0].address < nodes[$1].address }
    var rowByProvisional = [UInt32](repeating: 0, count: nodes.count)
    for (row, provisional) in order.enumerated() { rowByProvisional[provisional] = UInt32(row) }

    var firstEdge = [UInt32](repeating: 0, count: nodes.count + 1)
    for edge in edges { firstEdge[Int(rowByProvisional[Int(edge.from)]) + 1] += 1 }
    for row in nodes.indices { firstEdge[row + 1] += firstEdge[row] }
    var next = firstEdge
    var target = [UInt32](repeating: 0, count: edges.count)
    var label = target
    var info = [UInt8](repeating: 0, count: edges.count)
    for edge in edges {
      let from = Int(rowByProvisional[Int(edge.from)])
      let place = Int(next[from])
      next[from] += 1
      target[place] = rowByProvisional[Int(edge.to)]
      label[place] = edge.label.rawValue
      info[place] = edge.info.rawValue
    }

    let sorted = order.map { nodes[$0] }
    var names: [NodeIndex: StringIndex] = [:]
    for (provisional, name) in nodeNames {
      names[NodeIndex(rawValue: rowByProvisional[Int(provisional)])] = name
    }
    return Snapshot(
      nodes: Snapshot.Nodes(
        address: Column(sorted.map(\.address)),
        size: Column(sorted.map { UInt32(clamping: $0.size) }),
        type: Column(sorted.map(\.type.rawValue)),
        stack: Column(sorted.map(\.stack.rawValue)),
        generation: Column(sorted.map(\.generation)),
        kind: Column(sorted.map(\.kind.rawValue)),
        state: Column(sorted.map(\.state.rawValue)),
        strongCount: Column(sorted.map(\.strongCount)),
        unownedCount: Column(sorted.map { UInt16(clamping: $0.unownedCount) }),
        weakCount: Column(sorted.map { UInt16(clamping: $0.weakCount) })),
      edges: Snapshot.Edges(
        firstEdge: Column(firstEdge), target: Column(target), label: Column(label),
        info: Column(info)),
      roots: Snapshot.Roots(
        kind: Column(roots.map(\.kind.rawValue)),
        target: Column(roots.map { rowByProvisional[Int($0.target)] }),
        info: Column(roots.map(\.info.rawValue)),
        address: Column(roots.map(\.address)),
        pc: Column(roots.map(\.pc)),
        thread: Column(roots.map(\.thread)),
        label: Column(roots.map(\.label.rawValue))),
      types: Snapshot.Types(
        name: Column(_types.map(\.name.rawValue)), module: Column(_types.map(\.module.rawValue))),
      labels: Snapshot.Labels(
        name: Column(_labels.map(\.name.rawValue)), index: Column(_labels.map(\.index)),
        function: Column(_labels.map(\.function))),
      stacks: Snapshot.Stacks(parent: Column(stackParents), pc: Column(stackPCs)),
      modules: modules, threads: threads, marks: marks, strings: StringTable(_texts),
      process: process, nodeNames: names,
      diagnostics: _diagnostics.sorted { $0.key < $1.key }.map {
        Snapshot.Diagnostic(text: $0.key, count: $0.value)
      })
  }
}
