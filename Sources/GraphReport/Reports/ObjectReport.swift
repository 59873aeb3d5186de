// ObjectReport: one object: what it is, what it holds, what holds it, where it was made.

internal import GraphAnalysis
package import GraphPrimitives
package import SnapshotFormat
internal import Symbolication

/// One object.
package struct ObjectReport: Report {
  /// A reference to the object.
  package struct Retainer: Sendable {
    package var node: NodeIndex
    package var edge: EdgeIndex

    package init(node: NodeIndex, edge: EdgeIndex) {
      self.node = node
      self.edge = edge
    }
  }

  private let _node: NodeIndex
  private let _fields: [EdgeIndex]
  private let _retainers: [Retainer]
  private let _roots: [RootIndex]
  private let _isReachable: Bool
  private let _retained: Cost
  private let _offset: UInt64
  private let _names: Names

  /// Creates a report.
  ///
  /// - Parameters:
  ///   - fields: The references that it holds, in the order of its memory.
  ///   - retainers: The references to it.
  ///   - roots: The roots that refer to it.
  ///   - isReachable: Whether a root reaches it.
  ///   - retained: What would go with it, itself included.
  ///   - offset: How far into the object the address that was asked for lies.
  package init(
    node: NodeIndex, fields: [EdgeIndex], retainers: [Retainer], roots: [RootIndex],
    isReachable: Bool, retained: Cost, offset: UInt64, names: Names
  ) {
    _node = node
    _fields = fields
    _retainers = retainers
    _roots = roots
    _isReachable = isReachable
    _retained = retained
    _offset = offset
    _names = names
  }

  private var nodes: Snapshot.Nodes { _names.snapshot.nodes }
  private var row: Int { _node.position }
  private var state: NodeState { NodeState(rawValue: nodes.state[row]) ?? .live }
  private var size: Int { Int(clamping: nodes.bytes(row)) }

  /// The strong count; nil for what is not counted.
  private var strongCount: Int? {
    let count = nodes.strongCount[row]
    return count == Snapshot.Nodes.uncounted ? nil : Int(count)
  }

  private var task: TaskText? { _names.task(_node) }

  package var findings: [JSONValue] { [] }

  package var members: [JSONValue.Member] {
    [
      JSONValue.Member(
        "object",
        .members([
          "address": .string(_names.address(of: _node).description),
          "offset": .integer(Int(clamping: _offset)),
          "type": .string(_names.typeName(of: _node)),
          "kind": .string(_names.kind(of: _node).name),
          "state": .string(state.name),
          "bytes": .integer(size),
          "retained": _retained.json,
          "reachable": .bool(_isReachable),
          "counts": .members([
            "strong": strongCount.map { .integer($0) },
            "unowned": .integer(Int(nodes.unownedCount[row])),
            "weak": .integer(Int(nodes.weakCount[row])),
          ]),
          "generation": _names.generation(of: _node).map { .string($0) },
          "task": task?.json,
          "fields": .array(_fields.map { json(of: $0, from: _node, to: _names.target(of: $0)) }),
          "retainers": .array(
            _retainers.map { json(of: $0.edge, from: $0.node, holder: $0.node) }),
          "roots": .array(
            _roots.map {
              let root = _names.root($0)
              return .members(["kind": .string(root.kind), "name": .string(root.name)])
            }),
          "allocation": .array(_names.allocation(of: _node).map(\.json)),
        ]))
    ]
  }

  /// A reference, with the object at its other end.
  private func json(
    of edge: EdgeIndex, from node: NodeIndex, to target: NodeIndex? = nil, holder: NodeIndex? = nil
  ) -> JSONValue {
    let info = _names.info(of: edge)
    let other = target ?? holder ?? node
    return .members([
      "type": .string(_names.typeName(of: other, reachedBy: target == nil ? nil : edge)),
      "address": .string(_names.address(of: other).description),
      "field": .string(_names.field(from: node, by: [edge])),
      "strength": .string(info.strength.name),
      "provenance": .string(info.provenance.name),
      "via": _names.via([edge]).map { .string($0.shown) },
    ])
  }

  package func document(limit: Int?) -> Document {
    var answer = Line(_names.typeName(of: _node), .code)
    answer += Line(" at \(_names.address(of: _node)), \(Units.bytes(ByteCount(size))): ")
    answer += standing
    var facts: [Document.Detail] = []
    if _offset > 0 { facts.append(Document.Detail("asked for", Line("byte \(_offset) of it"))) }
    facts.append(
      Document.Detail(
        "retains",
        Line(
          "\(Units.bytes(_retained.bytes)) in \(Units.count(_retained.count, "object")), itself included"
        )))
    facts.append(Document.Detail("counts", Line(countsText)))
    if let task {
      facts.append(Document.Detail("task", Line(task.title + ", " + task.standing)))
      for frame in task.frames where OwnCode.isOwn(frame) {
        facts.append(Document.Detail("waits", frame.shown))
      }
    }
    if let generation = _names.generation(of: _node) {
      facts.append(Document.Detail("born in", Line(generation)))
    } else if _names.snapshot.sampling != nil, !_names.snapshot.knowsBirth(of: _node) {
      facts.append(
        Document.Detail("born in", Line("unknown, as where: the object is no sample", .faint)))
    }
    var document = Document(answer: answer)
    document.blocks.append(
      .item(
        Document.Item(
          title: Line("\(_names.kind(of: _node).phrase), \(state.phrase)"), details: facts)))
    if !_roots.isEmpty || !_retainers.isEmpty {
      document.blocks.append(.heading("Held by"))
      document.blocks.append(.table(retainerTable(limit: limit)))
    }
    if !_fields.isEmpty {
      document.blocks.append(.heading("Holds"))
      document.blocks.append(.table(fieldTable(limit: limit)))
    }
    let frames = _names.allocation(of: _node)
    if !frames.isEmpty {
      document.blocks.append(.heading("Made by"))
      document.blocks.append(
        .tree(
          frames.prefix(limit ?? frames.count).map {
            Document.Branch(depth: 0, cells: [], text: $0.shown)
          }))
    }
    return document
  }

  private var standing: Line {
    switch state {
    case .deinited: Line("destroyed, memory kept by unowned references", .bad)
    case .deiniting: Line("being destroyed")
    case .live: _isReachable ? Line("reachable", .good) : Line("no root reaches it", .bad)
    }
  }

  private var countsText: String {
    let strong = strongCount.map { "\(Units.number($0)) strong" } ?? "not counted"
    let strongHolders =
      _retainers.count { _names.info(of: $0.edge).isStrong }
      + _roots.count { EdgeInfo(rawValue: _names.snapshot.roots.info[$0.position]).isStrong }
    return strong + " (\(Units.count(strongHolders, "holder")) found),"
      + " \(nodes.unownedCount[row]) unowned, \(nodes.weakCount[row]) weak"
  }

  private func retainerTable(limit: Int?) -> Document.Table {
    var rows: [[Line]] = _roots.map { root in
      let text = _names.root(root)
      let strength = EdgeInfo(rawValue: _names.snapshot.roots.info[root.position]).strength
      return [
        Line(strength == .strong ? "root" : strength.name), Line(""), Line(text.name, .code),
      ]
    }
    for retainer in _retainers {
      let step = StepText.texts(
        of: [.init(node: retainer.node, edges: [retainer.edge])], reachedBy: nil, names: _names)[0]
      rows.append([
        Line(step.strength.name), Line(_names.address(of: retainer.node).description, .faint),
        step.links.joined(Line(" ")),
      ])
    }
    let shown = rows.prefix(limit ?? rows.count)
    return Document.Table(
      columns: [.init("how"), .init("address"), .init("holder")], rows: Array(shown),
      omitted: rows.count - shown.count)
  }

  private func fieldTable(limit: Int?) -> Document.Table {
    let shown = _fields.prefix(limit ?? _fields.count)
    return Document.Table(
      columns: [.init("how"), .init("address"), .init("field"), .init("type")],
      rows: shown.map { edge in
        let target = _names.target(of: edge)
        let field = _names.field(from: _node, by: [edge])
        var type = Line(_names.typeName(of: target, reachedBy: edge), .code)
        if let via = _names.via([edge]) { type += Line(" (\(via.shown))", .code) }
        return [
          Line(_names.info(of: edge).strength.name),
          Line(_names.address(of: target).description, .faint),
          Line(field.isEmpty ? "?" : field, .code), type,
        ]
      },
      omitted: _fields.count - shown.count)
  }
}

extension NodeKind {
  /// The kind as JSON has it.
  package var name: String {
    switch self {
    case .block: "block"
    case .object: "object"
    case .closureContext: "closureContext"
    case .box: "box"
    case .storage: "storage"
    case .task: "task"
    case .taskSlab: "taskSlab"
    case .sideTable: "sideTable"
    case .cBlock: "cBlock"
    case .coreFoundation: "coreFoundation"
    case .resource: "resource"
    case .runtime: "runtime"
    case .cStorage: "cStorage"
    }
  }

  /// The kind in words.
  fileprivate var phrase: String {
    switch self {
    case .block: "a block of memory without a Swift type"
    case .object: "an instance of a class"
    case .closureContext: "what a closure captured"
    case .box: "a captured variable or another box"
    case .storage: "the storage of a collection or string"
    case .task: "a task"
    case .taskSlab: "memory of a task"
    case .sideTable: "the side table of weak references"
    case .cBlock: "a block of C code"
    case .coreFoundation: "a CoreFoundation object"
    case .resource: "a resource that the program registered"
    case .runtime: "memory of the Swift runtime"
    case .cStorage: "a part of an object of a C library"
    }
  }
}

extension NodeState {
  /// The state as JSON has it.
  package var name: String {
    switch self {
    case .live: "live"
    case .deiniting: "deiniting"
    case .deinited: "deinited"
    }
  }

  fileprivate var phrase: String {
    switch self {
    case .live: "alive"
    case .deiniting: "its deinit is running"
    case .deinited: "its deinit has run"
    }
  }
}
