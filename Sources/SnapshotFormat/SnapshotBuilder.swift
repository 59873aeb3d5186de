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
      strongCount: UInt32 = Snapshot.Nodes.uncounted, unownedCount: UInt32 = 0,
      weakCount: UInt32 = 0
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

  /// A task as it is collected.
  public struct Task: Sendable {
    /// The provisional row of the node that is the task or that it lies in.
    public var node: UInt32
    public var address: UInt64
    public var id: UInt64
    public var info: TaskInfo

    /// The address of the task that it is a child of; 0 for none.
    public var parent: UInt64
    public var suspendedAt: StackIndex

    public init(
      node: UInt32, address: UInt64, id: UInt64, info: TaskInfo, parent: UInt64 = 0,
      suspendedAt: StackIndex = .none
    ) {
      self.node = node
      self.address = address
      self.id = id
      self.info = info
      self.parent = parent
      self.suspendedAt = suspendedAt
    }
  }

  /// What is known of the storage of a string or collection, as it is collected.
  public struct Storage: Sendable {
    /// The provisional row of the node.
    public var node: UInt32
    public var count: UInt64
    public var capacity: UInt64

    /// See `Snapshot.Storage.text`.
    public var text: UInt32

    public init(node: UInt32, count: UInt64, capacity: UInt64, text: UInt32 = 0) {
      self.node = node
      self.count = count
      self.capacity = capacity
      self.text = text
    }
  }

  private struct LabelKey: Hashable {
    var name: StringIndex
    var index: UInt32
    var function: UInt64
  }

  private struct FieldKey: Hashable {
    var type: UInt32
    var name: UInt32
  }

  private struct TypeKey: Hashable {
    var name: StringIndex
    var module: StringIndex
  }

  private var _texts: [String] = [""]
  private var _rowByText: [String: StringIndex] = ["": .empty]
  private var _types: [TypeKey] = []
  private var _rowByType: [TypeKey: TypeIndex] = [:]
  private var _labels: [LabelKey] = [
    LabelKey(name: .empty, index: Snapshot.Labels.noIndex, function: 0)
  ]
  private var _rowByLabel: [LabelKey: LabelIndex] = [
    LabelKey(name: .empty, index: Snapshot.Labels.noIndex, function: 0): .none
  ]

  public var nodes: [Node] = []

  /// All nodes at once, in ascending order of address, instead of one by one in `nodes`; then none is moved.
  /// Their rows are those that edges, roots, tasks and storages name.
  public var ascendingNodes: Snapshot.Nodes?

  /// All edges at once, by the rows of `ascendingNodes`, instead of one by one in `edges`.
  public var ascendingEdges: Snapshot.Edges?
  public var edges: [Edge] = []
  public var roots: [Root] = []
  public var tasks: [Task] = []
  public var storage: [Storage] = []
  private var _fields: [FieldKey: FieldDeclaration] = [:]
  public var stackParents: [UInt32] = [0]
  public var stackPCs: [UInt64] = [0]
  public var modules: [Snapshot.Module] = []
  public var threads: [Snapshot.Thread] = []
  public var marks: [Snapshot.Mark] = []
  public var process = Snapshot.ProcessFacts()

  /// The samples, by rows of the finished snapshot; nil where every birth is known.
  public var sampling: Snapshot.Sampling?
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

  /// Says how the place is declared by which nodes of a type refer to something.
  ///
  /// - Parameter name: The name of the references' label.
  public mutating func declare(
    _ declaration: FieldDeclaration, of type: TypeIndex, name: StringIndex
  ) {
    if declaration == .variable { return }
    _fields[FieldKey(type: type.rawValue, name: name.rawValue)] = declaration
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
  /// Edges of a node keep the order in which they were added.
  ///
  /// - Precondition: no two nodes have the same address, no two tasks either, no storage comes twice; edges, roots,
  ///   tasks and storages name rows that exist.
  /// - Complexity: O(*n* + *e*) for *n* nodes and *e* edges where nodes were added in ascending order of
  ///   address, as a capture does; else O(*n* log *n* + *e*). Rows are moved once, into the columns.
  public consuming func finish() -> Snapshot {
    precondition(ascendingNodes == nil || nodes.isEmpty, "nodes are given in one way")
    precondition(
      ascendingEdges == nil || edges.isEmpty && nodes.isEmpty, "edges are given in one way")
    let order = RowOrder(of: nodes)
    let nodeColumns = ascendingNodes ?? Self._nodeColumns(nodes, order)
    let nodeCount = nodeColumns.count
    // The rows are given back before the edges' columns take their place.
    nodes = []
    let edgeColumns = ascendingEdges ?? Self._edgeColumns(edges, order, nodeCount: nodeCount)
    edges = []

    var names: [NodeIndex: StringIndex] = [:]
    for (provisional, name) in nodeNames {
      names[NodeIndex(rawValue: order.row(of: provisional))] = name
    }
    return Snapshot(
      nodes: nodeColumns, edges: edgeColumns,
      roots: Snapshot.Roots(
        kind: Column(roots.map(\.kind.rawValue)),
        target: Column(roots.map { order.row(of: $0.target) }),
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
      },
      tasks: Self._taskColumns(tasks, order), storage: Self._storageColumns(storage, order),
      fields: Self._fieldColumns(_fields), sampling: sampling)
  }

  private static func _fieldColumns(
    _ fields: [FieldKey: FieldDeclaration]
  ) -> Snapshot.Fields {
    let rows = fields.sorted { ($0.key.type, $0.key.name) < ($1.key.type, $1.key.name) }
    return Snapshot.Fields(
      type: Column(rows.map(\.key.type)), name: Column(rows.map(\.key.name)),
      declaration: Column(rows.map(\.value.rawValue)))
  }

  private static func _storageColumns(_ rows: [Storage], _ order: RowOrder) -> Snapshot.Storage {
    let rows = rows.map { (node: order.row(of: $0.node), row: $0) }.sorted { $0.node < $1.node }
    return Snapshot.Storage(
      node: Column(rows.map(\.node)), count: Column(rows.map(\.row.count)),
      capacity: Column(rows.map(\.row.capacity)), text: Column(rows.map(\.row.text)))
  }

  private static func _taskColumns(_ tasks: [Task], _ order: RowOrder) -> Snapshot.Tasks {
    let tasks = tasks.sorted { $0.address < $1.address }
    var rowByAddress: [UInt64: UInt32] = [:]
    for (row, task) in tasks.enumerated() { rowByAddress[task.address] = UInt32(row) }
    return Snapshot.Tasks(
      node: Column(tasks.map { order.row(of: $0.node) }),
      address: Column(tasks.map(\.address)), id: Column(tasks.map(\.id)),
      info: Column(tasks.map(\.info.rawValue)),
      parent: Column(tasks.map { rowByAddress[$0.parent] ?? Snapshot.Tasks.noParent }),
      suspendedAt: Column(tasks.map(\.suspendedAt.rawValue)))
  }

  private static func _nodeColumns(_ nodes: [Node], _ order: RowOrder) -> Snapshot.Nodes {
    let count = nodes.count
    let address = ColumnStorage<UInt64>(count: count)
    let size = ColumnStorage<UInt32>(count: count)
    let type = ColumnStorage<UInt32>(count: count)
    let stack = ColumnStorage<UInt32>(count: count)
    let generation = ColumnStorage<UInt16>(count: count)
    let kind = ColumnStorage<UInt8>(count: count)
    let state = ColumnStorage<UInt8>(count: count)
    let strongCount = ColumnStorage<UInt32>(count: count)
    let unownedCount = ColumnStorage<UInt16>(count: count)
    let weakCount = ColumnStorage<UInt16>(count: count)
    var largeNode: [UInt32] = []
    var largeBytes: [UInt64] = []
    nodes.withUnsafeBufferPointer { nodes in
      var row = 0
      while row < count {
        let node = nodes[order.provisional(of: row)]
        address.rows.initializeElement(at: row, to: node.address)
        size.rows.initializeElement(at: row, to: UInt32(clamping: node.size))
        type.rows.initializeElement(at: row, to: node.type.rawValue)
        stack.rows.initializeElement(at: row, to: node.stack.rawValue)
        generation.rows.initializeElement(at: row, to: node.generation)
        kind.rows.initializeElement(at: row, to: node.kind.rawValue)
        state.rows.initializeElement(at: row, to: node.state.rawValue)
        strongCount.rows.initializeElement(at: row, to: node.strongCount)
        unownedCount.rows.initializeElement(at: row, to: UInt16(clamping: node.unownedCount))
        weakCount.rows.initializeElement(at: row, to: UInt16(clamping: node.weakCount))
        if node.size >= UInt64(UInt32.max) {
          largeNode.append(UInt32(row))
          largeBytes.append(node.size)
        }
        row += 1
      }
    }
    return Snapshot.Nodes(
      address: Column(address), size: Column(size), type: Column(type), stack: Column(stack),
      generation: Column(generation), kind: Column(kind), state: Column(state),
      strongCount: Column(strongCount), unownedCount: Column(unownedCount),
      weakCount: Column(weakCount), largeNode: Column(largeNode), largeBytes: Column(largeBytes))
  }

  private static func _edgeColumns(
    _ edges: [Edge], _ order: RowOrder, nodeCount: Int
  ) -> Snapshot.Edges {
    let firstEdge = ColumnStorage<UInt32>(count: nodeCount + 1)
    let target = ColumnStorage<UInt32>(count: edges.count)
    let label = ColumnStorage<UInt32>(count: edges.count)
    let info = ColumnStorage<UInt8>(count: edges.count)
    firstEdge.rows.initialize(repeating: 0)
    edges.withUnsafeBufferPointer { edges in
      let starts = firstEdge.rows
      var isInOrder = true
      var previous: UInt32 = 0
      var index = 0
      while index < edges.count {
        let from = order.row(of: edges[index].from)
        isInOrder = isInOrder && from >= previous
        previous = from
        starts[Int(from) + 1] += 1
        index += 1
      }
      var row = 0
      while row < nodeCount {
        starts[row + 1] += starts[row]
        row += 1
      }

      // Where the next edge of each node goes; edges that are in order go where they are.
      var next = isInOrder ? [] : Array(starts)
      index = 0
      while index < edges.count {
        let edge = edges[index]
        var place = index
        if !isInOrder {
          let from = Int(order.row(of: edge.from))
          place = Int(next[from])
          next[from] += 1
        }
        target.rows.initializeElement(at: place, to: order.row(of: edge.to))
        label.rows.initializeElement(at: place, to: edge.label.rawValue)
        info.rows.initializeElement(at: place, to: edge.info.rawValue)
        index += 1
      }
    }
    return Snapshot.Edges(
      firstEdge: Column(firstEdge), target: Column(target), label: Column(label),
      info: Column(info))
  }
}

/// Which row a node gets that was added as the *n*th: its place in ascending order of address.
private struct RowOrder {
  private struct Key: Comparable {
    var address: UInt64
    var provisional: UInt32

    static func < (left: Key, right: Key) -> Bool { left.address < right.address }
  }

  /// Which node a row holds; nil where nodes were added in order, so that rows are what they were.
  let provisionalByRow: [UInt32]?

  /// The row of each node; nil likewise.
  private let _rowByProvisional: [UInt32]?

  init(of nodes: [SnapshotBuilder.Node]) {
    let isAscending = nodes.withUnsafeBufferPointer { nodes in
      var row = 1
      while row < nodes.count, nodes[row - 1].address < nodes[row].address { row += 1 }
      return row >= nodes.count
    }
    if isAscending {
      provisionalByRow = nil
      _rowByProvisional = nil
      return
    }
    var keys = nodes.indices.map { Key(address: nodes[$0].address, provisional: UInt32($0)) }
    keys.sort()
    for row in keys.indices.dropFirst() {
      precondition(keys[row - 1].address < keys[row].address, "two nodes have the same address")
    }
    var rows = [UInt32](repeating: 0, count: nodes.count)
    for (row, key) in keys.enumerated() { rows[Int(key.provisional)] = UInt32(row) }
    provisionalByRow = keys.map(\.provisional)
    _rowByProvisional = rows
  }

  /// The row of a node.
  func row(of provisional: UInt32) -> UInt32 {
    guard let _rowByProvisional else { return provisional }
    return _rowByProvisional[Int(provisional)]
  }

  /// The node of a row.
  func provisional(of row: Int) -> Int {
    guard let provisionalByRow else { return row }
    return Int(provisionalByRow[row])
  }
}
