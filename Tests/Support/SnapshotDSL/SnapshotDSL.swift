// SnapshotDSL: small snapshots for tests, written down in a few lines instead of captured.

public import GraphPrimitives
public import SnapshotFormat

/// Writes down a snapshot for a test: nodes by type name, edges by field, roots by address.
///
///     var heap = SnapshotDSL()
///     let hub = heap.object("App.Hub", bytes: 64)
///     let screen = heap.object("App.Screen", bytes: 480, generation: 2)
///     heap.edge(hub, "listeners[3].owner", to: screen)
///     heap.root(.global, address: 0x1000, to: hub)
///     let snapshot = heap.snapshot()
///
/// What is not said is filled in so that the snapshot is one that a capture could have made: addresses
/// ascend in the order of the calls (so node *n* is row *n* as long as no address is given), and the
/// strong count of a counted node is the number of strong edges and roots that lead to it. Give
/// `strongCount` to have a node with more retains than holders.
public struct SnapshotDSL {
  /// A node of the snapshot that is being written.
  public struct Node: Hashable, Sendable {
    /// The node's row in `SnapshotBuilder.nodes`.
    public let provisionalRow: UInt32

    /// Where the node starts.
    public let address: UInt64
  }

  /// What the snapshot is made with; for anything that has no call of its own here.
  public var builder = SnapshotBuilder()

  private var _nextAddress: UInt64 = 0x10_0000
  private var _isCountOpen: [Bool] = []

  /// Starts a snapshot of a program `/app/App` under an agent.
  public init() {
    builder.process = Snapshot.ProcessFacts(
      pid: 4711, executable: "/app/App", source: "twin", hasAgent: true, stackMode: "fast",
      runIdentity: 0x5EED)
  }

  /// Adds a node of any kind.
  ///
  /// - Parameters:
  ///   - type: The type's name as reports show it; its module is what stands before the first dot.
  ///   - bytes: What was asked for from the allocator.
  ///   - strongCount: The count in the header; nil for one that the edges and roots explain exactly.
  ///   - name: The name that the program registered it under.
  ///   - address: Where it starts; nil for a place after all others so far.
  @discardableResult
  public mutating func node(
    _ kind: NodeKind, _ type: String, module: String? = nil, bytes: UInt64 = 32,
    generation: UInt16 = 0, strongCount: UInt32? = nil, unownedCount: UInt32 = 0,
    weakCount: UInt32 = 0, state: NodeState = .live, stack: StackIndex = .none, name: String? = nil,
    address: UInt64? = nil
  ) -> Node {
    let place = address ?? _nextAddress
    _nextAddress = max(_nextAddress, (place + max(bytes, 1) + 31) & ~15)
    let row = builder.add(
      SnapshotBuilder.Node(
        address: place, size: bytes,
        type: builder.type(type, module: module ?? Self._module(of: type)),
        kind: kind, state: state, stack: stack, generation: generation,
        strongCount: strongCount ?? Snapshot.Nodes.uncounted, unownedCount: unownedCount,
        weakCount: weakCount))
    _isCountOpen.append(strongCount == nil && Self._isCounted(kind))
    if let name { builder.nodeNames[row] = builder.string(name) }
    return Node(provisionalRow: row, address: place)
  }

  /// Adds an instance of a class.
  @discardableResult
  public mutating func object(
    _ type: String, bytes: UInt64 = 32, generation: UInt16 = 0, strongCount: UInt32? = nil,
    unownedCount: UInt32 = 0, weakCount: UInt32 = 0, state: NodeState = .live,
    stack: StackIndex = .none, name: String? = nil, address: UInt64? = nil
  ) -> Node {
    node(
      .object, type, bytes: bytes, generation: generation, strongCount: strongCount,
      unownedCount: unownedCount, weakCount: weakCount, state: state, stack: stack, name: name,
      address: address)
  }

  /// Adds the captured values of a closure. The closure's function belongs to the edges that lead here.
  @discardableResult
  public mutating func closureContext(
    bytes: UInt64 = 32, generation: UInt16 = 0, strongCount: UInt32? = nil,
    stack: StackIndex = .none
  ) -> Node {
    node(
      .closureContext, "closure context", module: "", bytes: bytes, generation: generation,
      strongCount: strongCount, stack: stack)
  }

  /// Adds a captured variable or another box.
  @discardableResult
  public mutating func box(
    bytes: UInt64 = 24, generation: UInt16 = 0, strongCount: UInt32? = nil,
    stack: StackIndex = .none
  ) -> Node {
    node(
      .box, "box", module: "", bytes: bytes, generation: generation, strongCount: strongCount,
      stack: stack)
  }

  /// Adds the storage of an array, dictionary or set.
  @discardableResult
  public mutating func storage(
    _ type: String = "Swift._ContiguousArrayStorage<Swift.AnyObject>", bytes: UInt64 = 64,
    generation: UInt16 = 0, strongCount: UInt32? = nil, stack: StackIndex = .none
  ) -> Node {
    node(
      .storage, type, bytes: bytes, generation: generation, strongCount: strongCount, stack: stack)
  }

  /// Adds a task.
  @discardableResult
  public mutating func task(
    _ type: String = "Swift.Task", bytes: UInt64 = 320, generation: UInt16 = 0,
    strongCount: UInt32? = nil, stack: StackIndex = .none
  ) -> Node {
    node(.task, type, bytes: bytes, generation: generation, strongCount: strongCount, stack: stack)
  }

  /// Says what a task does; `task(_:bytes:generation:strongCount:stack:)` makes the node.
  ///
  /// - Parameters:
  ///   - node: The task, or the memory of its parent that a child of `async let` lies in.
  ///   - offset: Where in the node it starts.
  ///   - parent: Where the task starts that it is a child of; 0 for none.
  ///   - frames: The functions in which it goes on, the innermost first.
  /// - Returns: Where the task starts.
  @discardableResult
  public mutating func describe(
    _ node: Node, id: UInt64, state: TaskState = .suspended, kind: TaskKind = .unstructured,
    isCancelled: Bool = false, offset: UInt64 = 0, parent: UInt64 = 0, frames: [UInt64] = []
  ) -> UInt64 {
    builder.tasks.append(
      SnapshotBuilder.Task(
        node: node.provisionalRow, address: node.address + offset, id: id,
        info: TaskInfo(state, kind, isCancelled: isCancelled, priority: 25), parent: parent,
        suspendedAt: stack(frames)))
    return node.address + offset
  }

  /// Says how full the storage of a string or collection is.
  ///
  /// - Parameter text: For strings, the number of a text that others have as well; 0 for none.
  public mutating func fill(_ node: Node, count: UInt64, of capacity: UInt64, text: UInt32 = 0) {
    builder.storage.append(
      SnapshotBuilder.Storage(
        node: node.provisionalRow, count: count, capacity: capacity, text: text))
  }

  /// Says how the field of a type is declared by which its instances refer to something.
  public mutating func declare(
    _ type: String, _ field: String, _ declaration: FieldDeclaration, module: String? = nil
  ) {
    builder.declare(
      declaration, of: builder.type(type, module: module ?? Self._module(of: type)),
      name: builder.string(field))
  }

  /// Adds a block of memory of which nothing is known.
  @discardableResult
  public mutating func block(
    bytes: UInt64 = 48, generation: UInt16 = 0, stack: StackIndex = .none
  ) -> Node {
    node(.block, "malloc", module: "", bytes: bytes, generation: generation, stack: stack)
  }

  /// Adds something outside the Swift heap that the program registered.
  @discardableResult
  public mutating func resource(
    _ type: String, bytes: UInt64 = 4_096, generation: UInt16 = 0, stack: StackIndex = .none
  ) -> Node {
    node(
      .resource, type, module: "", bytes: bytes, generation: generation, stack: stack, name: type)
  }

  /// Adds a reference from one node to another.
  ///
  /// - Parameters:
  ///   - label: The path of fields. A leading `[3]` becomes the label's index and `[_]` stands for an
  ///     element of a dictionary or set: `[3].handler`, `[_]`. `capture[0].name` is a closure's capture.
  ///   - function: For a closure, the function that the value calls.
  public mutating func edge(
    _ from: Node, _ label: String = "", to target: Node, function: UInt64 = 0,
    strength: EdgeStrength = .strong, provenance: EdgeProvenance = .reflected
  ) {
    builder.addEdge(
      from: from.provisionalRow, to: target.provisionalRow,
      label: self.label(label, function: function),
      strength: strength, provenance: provenance)
  }

  /// Adds a reference from outside the heap.
  ///
  /// - Parameters:
  ///   - address: The variable's address, or the place on the stack.
  ///   - pc: The code of the frame that holds it.
  ///   - thread: A row that `thread(_:)` returned.
  public mutating func root(
    _ kind: RootKind, address: UInt64 = 0, to target: Node, pc: UInt64 = 0,
    thread: UInt32 = UInt32.max, label: String = "", strength: EdgeStrength = .strong,
    provenance: EdgeProvenance = .scanned
  ) {
    builder.addRoot(
      kind, to: target.provisionalRow, address: address, pc: pc, thread: thread,
      label: self.label(label), strength: strength, provenance: provenance)
  }

  /// The row of a label; see `edge(_:_:to:function:strength:provenance:)` for how it is written.
  public mutating func label(_ text: String, function: UInt64 = 0) -> LabelIndex {
    // A capture's number stands behind the word, an element's before what follows it.
    let prefix = text.hasPrefix("capture[") ? "capture" : ""
    let rest = text.dropFirst(prefix.count)
    guard rest.first == "[", let end = rest.firstIndex(of: "]") else {
      return builder.label(text, function: function)
    }
    let position = rest[rest.index(after: rest.startIndex)..<end]
    guard let index = position == "_" ? Snapshot.Labels.anyIndex : UInt32(position) else {
      return builder.label(text, function: function)
    }
    var path = rest[rest.index(after: end)...]
    if prefix.isEmpty, path.first == "." { path.removeFirst() }
    return builder.label(prefix + path, index: index, function: function)
  }

  /// Adds a stack and returns its row; equal outer frames are shared.
  ///
  /// - Parameter pcs: Return addresses, the innermost frame first.
  @discardableResult
  public mutating func stack(_ pcs: UInt64...) -> StackIndex { stack(pcs) }

  private mutating func stack(_ pcs: [UInt64]) -> StackIndex {
    var row: UInt32 = 0
    for pc in pcs.reversed() {
      let known = builder.stackParents.indices.dropFirst().first {
        builder.stackParents[$0] == row && builder.stackPCs[$0] == pc
      }
      if let known {
        row = UInt32(known)
      } else {
        builder.stackParents.append(row)
        builder.stackPCs.append(pc)
        row = UInt32(builder.stackParents.count - 1)
      }
    }
    return StackIndex(rawValue: row)
  }

  /// Adds a thread and returns its row for `root`.
  @discardableResult
  public mutating func thread(
    _ name: String, id: UInt32? = nil, stackPointer: UInt64 = 0x7FFF_0000_0000, pc: UInt64 = 0
  ) -> UInt32 {
    let row = UInt32(builder.threads.count)
    builder.threads.append(
      Snapshot.Thread(id: id ?? 4711 + row, name: name, stackPointer: stackPointer, pc: pc))
    return row
  }

  /// Adds a mark that ends a generation; the last one added is the one that the snapshot is of.
  public mutating func mark(_ name: String, generation: UInt16, time: UInt64? = nil) {
    builder.marks.append(
      Snapshot.Mark(
        name: name, generation: generation, time: time ?? (UInt64(generation) + 1) * 1_000_000))
    builder.process.mark = name
  }

  /// Adds a module.
  public mutating func module(
    _ path: String, buildID: String = "", bias: UInt64 = 0, addresses: Range<UInt64>
  ) {
    builder.modules.append(
      Snapshot.Module(
        path: path, buildID: buildID, bias: bias, start: addresses.lowerBound,
        end: addresses.upperBound))
  }

  /// The row that a node has in the finished snapshot.
  ///
  /// - Complexity: O(*n*) for *n* nodes.
  public func index(of node: Node) -> NodeIndex {
    NodeIndex(builder.nodes.count { $0.address < node.address })
  }

  /// The snapshot of what has been written down so far.
  public func snapshot() -> Snapshot {
    var builder = self.builder
    var holders = [UInt32](repeating: 0, count: builder.nodes.count)
    for edge in builder.edges where edge.info.strength == .strong { holders[Int(edge.to)] += 1 }
    for root in builder.roots where root.info.strength == .strong { holders[Int(root.target)] += 1 }
    for (row, isOpen) in _isCountOpen.enumerated() where isOpen {
      builder.nodes[row].strongCount = holders[row]
    }
    return builder.finish()
  }

  /// What stands before the first dot of a type's name, the generic arguments left aside.
  private static func _module(of type: String) -> String {
    let name = type.prefix { $0 != "<" }
    return name.firstIndex(of: ".").map { String(name[..<$0]) } ?? ""
  }

  /// Whether nodes of a kind have a Swift reference count.
  private static func _isCounted(_ kind: NodeKind) -> Bool {
    switch kind {
    case .object, .closureContext, .box, .storage, .task: true
    case .block, .taskSlab, .sideTable, .cBlock, .coreFoundation, .resource, .runtime, .cStorage:
      false
    }
  }
}
