// ReferenceCounting: what the runtime would free if some references were gone.

internal import GraphKit
internal import GraphPrimitives
internal import HeapGraph
internal import SnapshotFormat

/// Plays out what the runtime does when references go away.
///
/// A node is freed when its last holder goes. It has as many holders as strong references lead to it, or
/// as its strong count says, whichever is more: retains that no reference explains are never released
/// here. A freed node releases what it refers to, but for the elements of a plain `ManagedBuffer`, which
/// only a subclass with a `deinit` can release. A side table outlives its object while a weak reference is left.
///
/// A value can be asked any number of times; each question starts from the graph as it is.
struct ReferenceCounting {
  let graph: HeapGraph
  private let _holdersAtFirst: [UInt32]
  private var _holders: [UInt32]
  private var _isFreed: [Bool]

  /// While a question is answered: the references that are cut, by slot, and the nodes that have lost a holder.
  private var _isCut: [Bool] = []
  private var _touched: [UInt32] = []

  /// For each type whether instances keep what they refer to when they are destroyed.
  private let _isPlainBuffer: [Bool]
  private let _hasPlainBuffers: Bool

  /// The side tables that a node's weak references keep, one for each.
  private let _tablesByHolder: [UInt32: [UInt32]]

  /// - Complexity: O(*V*).
  init(of graph: HeapGraph) {
    self.graph = graph
    let offsets = graph.holders.graph.offsets
    let counts = graph.snapshot.nodes.strongCount
    var holders = [UInt32](repeating: 0, count: graph.nodeCount + 1)
    for node in 0..<graph.nodeCount {
      let found = offsets[node + 1] - offsets[node]
      let isCounted =
        NodeKind(rawValue: graph.snapshot.nodes.kind[node])?.isCounted == true
        && !graph.asyncLetChildren.contains(UInt32(node))
      let count = counts[node]
      // Immortal objects are never freed.
      if isCounted {
        holders[node] = max(found, count)
      } else {
        holders[node] = count == Snapshot.Nodes.uncounted ? found : max(found, count)
      }
    }
    let weakHolders = graph.weakHoldersOfSideTables()
    for (table, unknown) in weakHolders.unknownByTable { holders[Int(table)] += unknown }
    var tablesByHolder: [UInt32: [UInt32]] = [:]
    for (holder, table) in weakHolders.found {
      tablesByHolder[holder, default: []].append(table)
      holders[Int(table)] += 1
    }
    _tablesByHolder = tablesByHolder
    _holdersAtFirst = holders
    _holders = holders
    _isFreed = [Bool](repeating: false, count: graph.nodeCount + 1)
    _isPlainBuffer = (0..<graph.snapshot.types.count).map {
      graph.name(of: TypeIndex($0)).hasPrefix("Swift.ManagedBuffer<")
    }
    _hasPlainBuffers = _isPlainBuffer.contains(true)
  }

  /// Whether a node keeps a reference when it is destroyed: an element of a plain `ManagedBuffer`, which is a
  /// word behind the header.
  private func _outlives(_ slot: Int, of node: UInt32) -> Bool {
    guard _isPlainBuffer[Int(graph.snapshot.nodes.type[Int(node)])], slot < graph.firstRootSlot
    else { return false }
    return graph.label(of: EdgeIndex(rawValue: graph.rowBySlot[slot])).name.hasPrefix("+")
  }

  /// The objects that stay behind in the elements of plain `ManagedBuffer`s that are among some freed nodes.
  func leftBehind(byFreeing freed: [UInt32]) -> [UInt32] {
    if !_hasPlainBuffers { return [] }
    let isFreed = Set(freed)
    return freed.flatMap { node in
      graph.strong.edges(from: node).filter { _outlives($0, of: node) }.map {
        graph.strong.targets[$0]
      }
    }.filter { !isFreed.contains($0) }
  }

  /// Whether a node has retains that no reference explains.
  func isOverRetained(_ node: UInt32) -> Bool {
    _holders[Int(node)] > _found(node) && graph.kind(of: NodeIndex(rawValue: node)) != .sideTable
  }

  /// The nodes that would be freed if some references were gone.
  ///
  /// - Parameters:
  ///   - slots: Slots of the graph.
  ///   - overRetained: Nodes whose unexplained retains are released as well.
  /// - Returns: the nodes in the order in which they are freed.
  /// - Complexity: O(slots + nodes and edges freed), and O(*E*) for the first question.
  mutating func freed(
    byCutting slots: [UInt32], releasing overRetained: [UInt32] = []
  ) -> [UInt32] {
    if _isCut.isEmpty { _isCut = [Bool](repeating: false, count: graph.strong.edgeCount) }
    let cut = slots.ascending()
    for slot in cut { _isCut[Int(slot)] = true }
    var freed: [UInt32] = []
    for node in overRetained { _release(node, to: _found(node), &freed) }
    for slot in cut {
      let target = graph.strong.targets[Int(slot)]
      _release(target, to: _holders[Int(target)] - 1, &freed)
    }
    var head = 0
    while head < freed.count {
      let node = freed[head]
      head += 1
      for slot in graph.strong.edges(from: node)
      where !_isCut[slot] && !(_hasPlainBuffers && _outlives(slot, of: node)) {
        let target = graph.strong.targets[slot]
        _release(target, to: _holders[Int(target)] - 1, &freed)
      }
      for table in _tablesByHolder[node] ?? [] {
        _release(table, to: _holders[Int(table)] - 1, &freed)
      }
    }
    for node in _touched { _holders[Int(node)] = _holdersAtFirst[Int(node)] }
    _touched.removeAll(keepingCapacity: true)
    for node in freed { _isFreed[Int(node)] = false }
    for slot in cut { _isCut[Int(slot)] = false }
    return freed
  }

  private mutating func _release(_ node: UInt32, to holders: UInt32, _ freed: inout [UInt32]) {
    let place = Int(node)
    // Holders only ever go, so a node is as at first until it is touched.
    if _holders[place] == _holdersAtFirst[place] { _touched.append(node) }
    _holders[place] = holders
    if holders == 0 && !_isFreed[place] {
      _isFreed[place] = true
      freed.append(node)
    }
  }

  /// The number of strong references to a node.
  private func _found(_ node: UInt32) -> UInt32 {
    let offsets = graph.holders.graph.offsets
    return offsets[Int(node) + 1] - offsets[Int(node)]
  }
}

extension HeapGraph {
  /// What the reference from an object to its side table is called.
  private static let _sideTableLabel = "side table"

  /// The side table of each object that has one.
  private func _sideTables() -> [UInt32: UInt32] {
    var tables: [UInt32: UInt32] = [:]
    for table in nodes where kind(of: table) == .sideTable {
      for place in holders.graph.edges(from: table.rawValue) {
        guard
          case .edge(let edge) = reference(atSlot: holders.edgeBySlot[place]),
          label(of: edge).name == Self._sideTableLabel
        else { continue }
        tables[holders.graph.targets[place]] = table.rawValue
      }
    }
    return tables
  }

  /// The weak references that keep side tables, and for each table how many there are besides that were not found.
  ///
  /// - Complexity: O(*V*), and O(*E*) where there are side tables.
  func weakHoldersOfSideTables() -> (
    found: [(holder: UInt32, table: UInt32)], unknownByTable: [UInt32: UInt32]
  ) {
    let tables = _sideTables()
    if tables.isEmpty { return ([], [:]) }
    var found: [(holder: UInt32, table: UInt32)] = []
    var countByTable: [UInt32: UInt32] = [:]
    for node in nodes where state(of: node) != .deinited {
      for row in edges(of: node) {
        let edge = EdgeIndex(row)
        guard info(of: edge).strength == .weak, let table = tables[target(of: edge).rawValue]
        else { continue }
        found.append((node.rawValue, table))
        countByTable[table, default: 0] += 1
      }
    }
    var unknown: [UInt32: UInt32] = [:]
    for (object, table) in tables {
      let counted = UInt32(snapshot.nodes.weakCount[Int(object)])
      let known = countByTable[table] ?? 0
      if counted > known { unknown[table] = counted - known }
    }
    return (found, unknown)
  }

  /// The graph of what holds, in which weak references hold the side tables of their objects; those that were not
  /// found are outside.
  ///
  /// - Complexity: O(*V* + *E*) where there are weak references with side tables.
  func holdingSideTables() -> (graph: CSRGraph, predecessors: CSRGraph) {
    let weak = weakHoldersOfSideTables()
    if weak.found.isEmpty && weak.unknownByTable.isEmpty { return (strong, holders.graph) }
    // By holder, as they were found; the outside comes last.
    let more = weak.found + weak.unknownByTable.keys.sorted().map { (outside, $0) }
    var offsets: [UInt32] = [0]
    offsets.reserveCapacity(strong.nodeCount + 1)
    var targets: [UInt32] = []
    targets.reserveCapacity(strong.edgeCount + more.count)
    var next = 0
    for node in 0..<UInt32(strong.nodeCount) {
      targets += strong.successors(of: node)
      while next < more.count, more[next].holder == node {
        targets.append(more[next].table)
        next += 1
      }
      offsets.append(UInt32(truncatingIfNeeded: targets.count))
    }
    let graph = CSRGraph(checkedOffsets: offsets, targets: targets)
    return (graph, graph.transposed().graph)
  }
}
