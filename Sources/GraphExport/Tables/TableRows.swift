// TableRows: the rows of each table, from the snapshots on, one after the other.

internal import GraphAnalysis
internal import GraphPrimitives
internal import GraphReport
internal import HeapGraph
internal import SnapshotFormat
internal import Symbolication

/// The rows of the tables of some snapshots.
///
/// Objects, findings and roots are numbered from 1 through all snapshots. Types, fields, frames and stacks are shared by all;
/// they are numbered in the order in which rows of other tables speak of them, so those tables must be written first, or
/// ``learn(for:)`` be called.
///
/// Not thread-safe.
struct TableRows {
  private let _snapshots: [ExportedSnapshot]

  /// The number before the first object and root of each snapshot.
  private var _firstObject: [Int64] = []
  private var _firstRoot: [Int64] = []

  private var _objectNames = ObjectNames()
  private var _referenceNames = ReferenceNames()
  private var _code = CodeTree()

  /// What edges are: a name, and how it holds.
  private var _fields: [(reference: UInt32, info: EdgeInfo, holds: Bool)] = []
  private var _fieldByKey: [UInt64: Int] = [:]

  init(_ snapshots: [ExportedSnapshot]) {
    _snapshots = snapshots
    var objects: Int64 = 0
    var roots: Int64 = 0
    for snapshot in snapshots {
      _firstObject.append(objects)
      _firstRoot.append(roots)
      objects += Int64(snapshot.graph.nodeCount)
      roots += Int64(snapshot.graph.snapshot.roots.count)
    }
  }

  /// Meets whatever a table speaks of that is filled by others.
  ///
  /// - Complexity: That of the tables that fill it.
  mutating func learn(for table: ExportTable) throws {
    var nothing = NoRows()
    switch table {
    case .types, .frames, .stacks: try write(.objects, to: &nothing)
    case .fields: try write(.edges, to: &nothing)
    default: break
    }
  }

  /// Writes the rows of a table.
  ///
  /// - Complexity: O(rows), beside the analyses that it speaks of.
  mutating func write(_ table: ExportTable, to taker: inout some RowTaker) throws {
    switch table {
    case .types: try _writeTypes(to: &taker)
    case .fields: try _writeFields(to: &taker)
    case .frames: try _writeFrames(to: &taker)
    case .stacks: try _writeStacks(to: &taker)
    case .objects:
      var texts = ObjectTexts()
      for place in _snapshots.indices { try _writeObjects(place, texts: &texts, to: &taker) }
    case .edges:
      var texts = EdgeTexts()
      for place in _snapshots.indices { try _writeEdges(place, texts: &texts, to: &taker) }
    default:
      for place in _snapshots.indices { try _write(table, of: place, to: &taker) }
    }
  }

  private mutating func _write(
    _ table: ExportTable, of place: Int, to taker: inout some RowTaker
  ) throws {
    switch table {
    case .snapshots: try _writeSnapshot(place, to: &taker)
    case .marks: try _writeMarks(place, to: &taker)
    case .modules: try _writeModules(place, to: &taker)
    case .roots: try _writeRoots(place, to: &taker)
    case .findings: try _writeFindings(place, to: &taker)
    case .findingObjects: try _writeFindingObjects(place, to: &taker)
    case .objects, .edges, .types, .fields, .frames, .stacks: break
    }
  }

  /// The number of the first finding of a snapshot, less one.
  private func _firstFinding(_ place: Int) throws -> Int64 {
    try _snapshots[..<place].reduce(0) { try $0 + Int64($1.leaks().findings.count) }
  }

  // MARK: - Snapshots

  private func _writeSnapshot(_ place: Int, to taker: inout some RowTaker) throws {
    let exported = _snapshots[place]
    let process = exported.graph.snapshot.process
    let live = exported.graph.cost(of: liveNodes(of: exported.graph))
    let leaked = exported.graph.cost(of: try exported.leaks().leakedNodes)
    taker.integer(place + 1)
    taker.text(exported.input.path)
    taker.text(orNull: process.mark)
    taker.text(orNull: process.executable)
    taker.integer(process.pid)
    taker.word(process.runIdentity)
    taker.integer(live.count)
    taker.integer(live.bytes.rawValue)
    taker.integer(leaked.count)
    taker.integer(leaked.bytes.rawValue)
    try taker.endRow()
  }

  private func _writeMarks(_ place: Int, to taker: inout some RowTaker) throws {
    for mark in _snapshots[place].graph.snapshot.marks {
      taker.integer(place + 1)
      taker.text(mark.name)
      taker.integer(mark.generation)
      taker.integer(mark.time)
      try taker.endRow()
    }
  }

  private func _writeModules(_ place: Int, to taker: inout some RowTaker) throws {
    for module in _snapshots[place].graph.snapshot.modules {
      taker.integer(place + 1)
      taker.text(module.path)
      taker.text(orNull: module.buildID)
      taker.word(module.start)
      taker.word(module.end)
      try taker.endRow()
    }
  }

  // MARK: - The graph

  /// What rows of objects have in common.
  private struct ObjectTexts {
    var types = RepeatedTexts()
    var kinds = RepeatedTexts()
    var states = RepeatedTexts()
  }

  /// What rows of references have in common.
  private struct EdgeTexts {
    var fields = RepeatedTexts()
    var strengths = RepeatedTexts()
    var provenances = RepeatedTexts()
  }

  private mutating func _writeObjects(
    _ place: Int, texts: inout ObjectTexts, to taker: inout some RowTaker
  ) throws {
    let exported = _snapshots[place]
    let graph = exported.graph
    let names = exported.names
    let nodes = graph.snapshot.nodes
    var isLeaked = [Bool](repeating: false, count: graph.nodeCount)
    for node in try exported.leaks().leakedNodes { isLeaked[node.position] = true }
    let marks = GenerationNames(names)
    var markTexts = RepeatedTexts()
    let sizes = try exported.sizes()
    _objectNames.startSnapshot(graph)
    _code.startSnapshot()
    for node in graph.nodes {
      let row = node.position
      let type = _objectNames.row(of: node, graph: graph, names: names)
      let kind = graph.kind(of: node)
      let state = graph.state(of: node)
      taker.integer(_firstObject[place] + Int64(row) + 1)
      taker.integer(place + 1)
      taker.named(word: exported.identity(of: node))
      taker.word(nodes.address[row])
      taker.integer(type + 1)
      taker.name(_objectNames.names[Int(type)].name, row: Int(type), of: &texts.types)
      taker.text(kind.name, row: Int(kind.rawValue), of: &texts.kinds)
      taker.text(state.name, row: Int(state.rawValue), of: &texts.states)
      taker.integer(nodes.bytes(row))
      if graph.snapshot.sampling == nil || graph.snapshot.knowsBirth(of: node) {
        taker.integer(nodes.generation[row])
        let generation = nodes.generation[row]
        taker.name(marks.name(of: generation), row: Int(generation) + 1, of: &markTexts)
      } else {
        taker.null()
        taker.name("", row: 0, of: &markTexts)
      }
      // A sum by stack would be one of the samples alone.
      let call = _code.call(of: graph.distinguishingStack(of: node), names: names)
      if call == 0 { taker.null() } else { taker.integer(call) }
      if let count = graph.strongCount(of: node) { taker.integer(count) } else { taker.null() }
      taker.integer(nodes.unownedCount[row])
      taker.integer(nodes.weakCount[row])
      taker.flag(graph.isAlive(node))
      taker.flag(graph.isReachable[row])
      taker.flag(isLeaked[row])
      if let dominator = sizes.dominator(of: node) {
        taker.integer(_firstObject[place] + Int64(dominator.position) + 1)
      } else {
        taker.null()
      }
      let retained = sizes.retained(by: node)
      taker.integer(retained.count)
      taker.integer(retained.bytes.rawValue)
      try taker.endRow()
    }
  }

  private mutating func _writeEdges(
    _ place: Int, texts: inout EdgeTexts, to taker: inout some RowTaker
  ) throws {
    let exported = _snapshots[place]
    let graph = exported.graph
    let edges = graph.snapshot.edges
    let first = _firstObject[place] + 1
    _referenceNames.startSnapshot(graph)
    // The last row of each name that is known from its label: few labels name references of more than one kind.
    var known = [(kind: UInt32, row: UInt32)](
      repeating: (.max, 0), count: _referenceNames.slotCount)
    for node in graph.nodes {
      let isDestroyed = graph.state(of: node) == .deinited
      let rows = graph.edges(of: node)
      for row in rows {
        let edge = EdgeIndex(row)
        let info = EdgeInfo(rawValue: edges.info[row])
        let holds = info.isStrong && !isDestroyed
        let kind = UInt32(info.rawValue) << 1 | (holds ? 1 : 0)
        let slot = _referenceNames.slot(of: edge, from: node, names: exported.names)
        let field: Int
        if let slot, known[slot].kind == kind {
          field = Int(known[slot].row)
        } else {
          field = _fieldRow(of: edge, from: node, info: info, holds: holds, names: exported.names)
          if let slot { known[slot] = (kind, UInt32(field)) }
        }
        taker.integer(first + Int64(node.position))
        taker.integer(row - rows.lowerBound)
        taker.integer(first + Int64(edges.target[row]))
        taker.integer(field + 1)
        let strength = info.strength
        let provenance = info.provenance
        taker.name(
          _referenceNames.names[Int(_fields[field].reference)].shown, row: field, of: &texts.fields)
        taker.name(strength.name, row: Int(strength.rawValue), of: &texts.strengths)
        taker.name(provenance.name, row: Int(provenance.rawValue), of: &texts.provenances)
        taker.named(holds ? 1 : 0)
        try taker.endRow()
      }
    }
  }

  /// The row of what an edge is: its name and how it holds.
  private mutating func _fieldRow(
    of edge: EdgeIndex, from node: NodeIndex, info: EdgeInfo, holds: Bool, names: Names
  ) -> Int {
    let reference = _referenceNames.row(of: edge, from: node, names: names)
    let key = UInt64(reference) << 16 | UInt64(info.rawValue) << 1 | (holds ? 1 : 0)
    if let row = _fieldByKey[key] { return row }
    _fieldByKey[key] = _fields.count
    _fields.append((reference, info, holds))
    return _fields.count - 1
  }

  private func _writeRoots(_ place: Int, to taker: inout some RowTaker) throws {
    let exported = _snapshots[place]
    let snapshot = exported.graph.snapshot
    for row in 0..<snapshot.roots.count {
      let named = exported.names.root(RootIndex(row))
      let info = EdgeInfo(rawValue: snapshot.roots.info[row])
      let thread = snapshot.roots.thread[row]
      taker.integer(_firstRoot[place] + Int64(row) + 1)
      taker.integer(place + 1)
      taker.integer(_firstObject[place] + Int64(snapshot.roots.target[row]) + 1)
      taker.text(named.kind)
      taker.text(named.name)
      taker.text(
        orNull: Int(thread) < snapshot.threads.count ? snapshot.threads[Int(thread)].name : nil)
      taker.text(info.strength.name)
      taker.text(info.provenance.name)
      try taker.endRow()
    }
  }

  // MARK: - Findings

  private func _writeFindings(_ place: Int, to taker: inout some RowTaker) throws {
    let exported = _snapshots[place]
    let first = try _firstFinding(place)
    for (number, finding) in try exported.leaks().findings.enumerated() {
      let row = VerifyReport.Row(finding, names: exported.names)
      let json = row.json
      taker.integer(first + Int64(number) + 1)
      taker.integer(place + 1)
      taker.text(row.fingerprint)
      taker.text(row.kind)
      taker.text(row.type)
      taker.integer(finding.own.count)
      taker.integer(finding.own.bytes.rawValue)
      taker.integer(finding.retained.bytes.rawValue)
      taker.text(orNull: json["cut"]?["edge"]?.string)
      taker.text(orNull: json["cut"]?["advice"]?.string)
      taker.text(orNull: json["location"]?["file"]?.string)
      if let line = json["location"]?["line"]?.integer { taker.integer(line) } else { taker.null() }
      taker.text(json.line)
      try taker.endRow()
    }
  }

  private func _writeFindingObjects(_ place: Int, to taker: inout some RowTaker) throws {
    let first = try _firstFinding(place)
    for (number, finding) in try _snapshots[place].leaks().findings.enumerated() {
      for member in finding.members {
        taker.integer(first + Int64(number) + 1)
        taker.integer(_firstObject[place] + Int64(member.position) + 1)
        try taker.endRow()
      }
    }
  }

  // MARK: - What others speak of

  private func _writeTypes(to taker: inout some RowTaker) throws {
    for (row, name) in _objectNames.names.enumerated() {
      taker.integer(row + 1)
      taker.text(name.name)
      taker.text(orNull: name.module)
      taker.text(name.countedAs)
      taker.flag(name.isOwn)
      try taker.endRow()
    }
  }

  private func _writeFields(to taker: inout some RowTaker) throws {
    for (row, kind) in _fields.enumerated() {
      let name = _referenceNames.names[Int(kind.reference)]
      taker.integer(row + 1)
      taker.text(name.field)
      taker.text(orNull: name.via)
      taker.text(kind.info.strength.name)
      taker.text(kind.info.provenance.name)
      taker.flag(kind.holds)
      try taker.endRow()
    }
  }

  private func _writeFrames(to taker: inout some RowTaker) throws {
    for (row, frame) in _code.frames.enumerated().dropFirst() {
      taker.integer(row)
      taker.text(Names.sourceSpelling(of: frame.function))
      taker.text(orNull: frame.file)
      if let line = frame.line { taker.integer(line) } else { taker.null() }
      taker.text(orNull: frame.module)
      taker.flag(frame.isInlined)
      taker.flag(OwnCode.isOwn(frame))
      taker.flag(OwnCode.isAllocator(frame))
      try taker.endRow()
    }
  }

  private func _writeStacks(to taker: inout some RowTaker) throws {
    var depths = [0]
    for call in 1..<max(1, _code.callers.count) {
      let caller = _code.callers[call]
      depths.append(depths[Int(caller)] + 1)
      taker.integer(call)
      if caller == 0 { taker.null() } else { taker.integer(caller) }
      taker.integer(_code.frameByCall[call])
      taker.integer(depths[call])
      try taker.endRow()
    }
  }
}

/// The names of generations, each made once.
struct GenerationNames {
  private let _names: [String]
  private let _last: String

  init(_ names: Names) {
    let marks = names.snapshot.process.hasAgent ? names.snapshot.marks : []
    let highest = marks.map { Int($0.generation) }.max() ?? -1
    _names = (0..<(highest + 1)).map { names.generation(UInt16($0)) ?? "" }
    _last = marks.isEmpty ? "" : names.generation(UInt16(clamping: highest + 1)) ?? ""
  }

  /// The name of a generation; empty where there are no marks.
  func name(of generation: UInt16) -> String {
    Int(generation) < _names.count ? _names[Int(generation)] : _last
  }
}
