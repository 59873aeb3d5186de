// WayKeys: which ways from roots are alike, found out along a tree of ways rather than way by way.

internal import GraphKit
internal import GraphPrimitives
internal import HeapGraph
internal import SnapshotFormat

/// Numbers for ways from roots that are equal for ways that read the same.
///
/// Ways are alike that differ in nothing but addresses, indices, and which word of a stack or which piece of a library's
/// table they begin at. The members of a linked list are one step, however many they are: a step that follows an equal one
/// changes nothing. Where detours are folded, what lies between two equal steps is left out as well, as in a
/// ``PlaceTree``: so the nodes of a tree are a few ways, and so is a list that goes through two types in turn.
///
/// A way is known by the number of the one before its last reference and by that reference, so all nodes of a tree of
/// shortest ways cost a look-up each, however deep it is.
struct WayKeys {
  /// A way as far as it has been followed.
  struct Way: Hashable {
    /// The steps that are complete; -1 for no way.
    fileprivate var closed: Int32

    /// The step that the last reference is of; -1 where there is none yet.
    fileprivate var open: Int32

    /// Whether all steps so far may lie in tables of a library.
    fileprivate var tables: Tables

    fileprivate static let none = Way(closed: -1, open: -1, tables: .no)
  }

  fileprivate enum Tables: UInt8 {
    case no
    case ofProgram  // a variable's, whose first blocks may lead to a timer of libdispatch
    case ofLibrary
  }

  /// An element of a sequence that is known by its last element and the number of the rest.
  private struct Link: Hashable {
    var before: Int32
    var first: UInt64
    var second: UInt64
    var third: UInt64
  }

  private struct Base: Hashable {
    var kind: RootKind
    var first: UInt64
    var second: UInt64
  }

  private let _graph: HeapGraph
  private let _foldsDetours: Bool

  /// Steps as far as they have been followed, with the type that each reference leaves.
  private var _openSteps: [Link] = []
  private var _openByLink: [Link: Int32] = [:]

  /// For each of them what it reads like, in which types within the step make no difference.
  private var _stepByOpen: [Int32] = []
  private var _stepByLink: [Link: Int32] = [:]

  /// Sequences of complete steps; those without any are the kinds of roots.
  private var _closed: [(before: Int32, step: Int32)] = []
  private var _closedByLink: [Link: Int32] = [:]
  private var _closedByBase: [Base: Int32] = [:]
  private var _keyByLink: [Link: Int] = [:]

  /// How often a reference was looked at; for tests, since time says nothing there.
  private(set) var work = 0

  init(in graph: HeapGraph, foldsDetours: Bool) {
    _graph = graph
    _foldsDetours = foldsDetours
  }

  /// The way that is a root alone.
  mutating func start(at root: RootIndex) -> Way {
    let kind = _graph.kind(of: root)
    let roots = _graph.snapshot.roots
    // The variable counts, but which word of a stack it was does not.
    var base = Base(kind: kind, first: 0, second: 0)
    var tables = Tables.no
    switch kind {
    case .stack, .register:
      base.first = UInt64(roots.thread[root.position]) + 1
      base.second = roots.pc[root.position]
    case .global:
      base.first = roots.address[root.position]
      tables = _graph.isOfLibrary(root) ? .ofLibrary : .ofProgram
    case .threadLocal, .declared: base.first = roots.address[root.position]
    case .task, .runtime, .mapped: break
    }
    return Way(closed: _closed(for: base), open: -1, tables: tables)
  }

  /// A way and one reference more.
  ///
  /// - Parameter node: The node that the way leads to and the reference leaves.
  mutating func extend(_ way: Way, by edge: EdgeIndex, from node: NodeIndex) -> Way {
    work += 1
    var way = way
    if way.open < 0 || !_graph.kind(of: node).isFolded {
      _close(&way)
      if way.tables != .no, !_graph.isTable(node) { _leaveTables(&way, to: node) }
      way.open = _open(
        Link(before: -1, first: _graph.nameKey(of: node), second: 0, third: 0), isStart: true)
    }
    if _graph.isWithinChain(edge, from: node) { return way }
    let key = _graph.stepKey(of: edge, from: node)
    way.open = _open(
      Link(before: way.open, first: _graph.nameKey(of: node), second: key[0], third: key[1]),
      isStart: false)
    return way
  }

  /// What is equal for ways that read the same: a number from 0 up.
  ///
  /// - Parameter target: The node that the way leads to.
  mutating func key(of way: Way, to target: NodeIndex) -> Int {
    var way = way
    _close(&way)
    if way.tables != .no { _leaveTables(&way, to: target) }
    let link = Link(before: way.closed, first: _graph.nameKey(of: target), second: 0, third: 0)
    if let known = _keyByLink[link] { return known }
    _keyByLink[link] = _keyByLink.count
    return _keyByLink.count - 1
  }

  /// The way along some slots of the graph, of which the first is a root.
  ///
  /// - Complexity: O(slots).
  mutating func way(along slots: [UInt32]) -> Way {
    var way = Way.none
    var node = _graph.outside
    for slot in slots {
      way = extend(way, bySlot: slot, from: node)
      node = _graph.strong.targets[Int(slot)]
    }
    return way
  }

  mutating func extend(_ way: Way, bySlot slot: UInt32, from node: UInt32) -> Way {
    switch _graph.reference(atSlot: slot) {
    case .root(let root): start(at: root)
    case .edge(let edge): extend(way, by: edge, from: NodeIndex(rawValue: node))
    }
  }

  // MARK: - Steps

  private mutating func _open(_ link: Link, isStart: Bool) -> Int32 {
    if let known = _openByLink[link] { return known }
    // Boxes in boxes of the same type: a list of an indirect enum.
    if _foldsDetours, !isStart {
      var earlier = link.before
      while earlier >= 0 {
        let other = _openSteps[Int(earlier)]
        if other.before >= 0, other.first == link.first, other.second == link.second,
          other.third == link.third
        {
          _openByLink[link] = earlier
          return earlier
        }
        earlier = other.before
      }
    }
    let number = Int32(_openSteps.count)
    _openSteps.append(link)
    _openByLink[link] = number
    let shown =
      isStart
      ? Link(before: -1, first: link.first, second: 0, third: 0)
      : Link(
        before: _stepByOpen[Int(link.before)], first: 0, second: link.second, third: link.third)
    if let known = _stepByLink[shown] {
      _stepByOpen.append(known)
    } else {
      _stepByOpen.append(Int32(_stepByLink.count))
      _stepByLink[shown] = Int32(_stepByLink.count)
    }
    return number
  }

  private mutating func _close(_ way: inout Way) {
    guard way.open >= 0 else { return }
    let step = _stepByOpen[Int(way.open)]
    way.open = -1
    let link = Link(before: way.closed, first: UInt64(step), second: 1, third: 0)
    if let known = _closedByLink[link] {
      way.closed = known
      return
    }
    var earlier = way.closed
    while earlier >= 0, _closed[Int(earlier)].step != step {
      // Else the members of a list are one step, and nothing more.
      earlier = _foldsDetours ? _closed[Int(earlier)].before : -1
    }
    if earlier < 0 {
      earlier = Int32(_closed.count)
      _closed.append((way.closed, step))
    }
    _closedByLink[link] = earlier
    way.closed = earlier
  }

  private mutating func _closed(for base: Base) -> Int32 {
    if let known = _closedByBase[base] { return known }
    let number = Int32(_closed.count)
    _closed.append((-1, -1))
    _closedByBase[base] = number
    return number
  }

  /// Where in its own tables a library has something makes no difference.
  private mutating func _leaveTables(_ way: inout Way, to first: NodeIndex) {
    let hasSteps = _closed[Int(way.closed)].step >= 0
    if _graph.isTimer(first) || hasSteps && way.tables == .ofLibrary {
      way.closed = _closed(for: Base(kind: .global, first: 0, second: 0))
    }
    way.tables = .no
  }
}

/// The keys of the ways along a tree, each node's looked at once.
struct WaysAlongTree {
  private var _wayByNode: [WayKeys.Way]
  private let _parentByNode: [UInt32]
  private let _slotByNode: [UInt32]
  private let _graphNodeCount: UInt32

  /// - Parameters:
  ///   - parents: The node of the tree before each; `absent` for the source and for what is not in the tree.
  ///   - slots: For each node of the tree the slot of the graph by which it is reached.
  ///   - nodeCount: How many nodes the graph has: a tree may have each more than once, in layers.
  init(parents: [UInt32], slots: [UInt32], nodeCount: Int) {
    _parentByNode = parents
    _slotByNode = slots
    _graphNodeCount = UInt32(nodeCount)
    _wayByNode = [WayKeys.Way](repeating: .none, count: parents.count)
  }

  /// The way to a node of the tree that is not its source.
  ///
  /// - Complexity: O(nodes on the way that have not been asked for).
  mutating func way(to node: UInt32, in keys: inout WayKeys) -> WayKeys.Way {
    var pending: [UInt32] = []
    var current = node
    while _wayByNode[Int(current)] == .none, _parentByNode[Int(current)] != .absent {
      pending.append(current)
      current = _parentByNode[Int(current)]
    }
    while let next = pending.popLast() {
      let parent = _parentByNode[Int(next)]
      _wayByNode[Int(next)] = keys.extend(
        _wayByNode[Int(parent)], bySlot: _slotByNode[Int(next)],
        from: parent % _graphNodeCount)
    }
    return _wayByNode[Int(node)]
  }
}
