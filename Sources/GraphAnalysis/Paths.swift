// Paths: who retains an object, as ways from the roots to it.

internal import GraphKit
package import GraphPrimitives
package import HeapGraph
internal import SnapshotFormat

/// A pattern for references: `FIELD` or `TYPE.FIELD`, with `*` and `?` as in ``TypePattern``.
///
/// A field matches a path of fields from its start: `listeners` matches `listeners[3].handler`.
package struct FieldPattern: Hashable, Sendable {
  package let text: String

  /// Creates a pattern; any text is one.
  package init(_ text: String) { self.text = text }

  /// Whether a reference matches.
  ///
  /// - Parameters:
  ///   - field: The path of fields, indices as `[_]`.
  ///   - type: The name of the type that has the field.
  ///   - module: The type's module.
  package func matches(field: String, type: String, module: String) -> Bool {
    if Self._matches(text, field) { return true }
    // The type's name may have dots of its own, and so may the field: try each dot.
    for dot in text.indices where text[dot] == "." {
      let wantedType = TypePattern(String(text[..<dot]))
      if wantedType.matches(type, module: module)
        && Self._matches(String(text[text.index(after: dot)...]), field)
      {
        return true
      }
    }
    return false
  }

  private static func _matches(_ pattern: String, _ field: String) -> Bool {
    if TypePattern.glob(pattern, field) { return true }
    for end in field.indices where field[end] == "." || field[end] == "[" {
      if TypePattern.glob(pattern, String(field[..<end])) { return true }
    }
    return false
  }
}

/// What is asked of `paths(to:in:options:cancel:)`.
package struct PathOptions: Sendable {
  /// How many groups of paths to find at most.
  package var maximum: Int

  /// Only paths with a reference that matches; empty for all. Each target is told with its cheapest one, the
  /// first 32 with further ones.
  package var through: [FieldPattern]

  /// No reference that matches is taken.
  package var avoid: [FieldPattern]

  /// Only the shortest path of each target: groups then hold each target once, and their counts add up
  /// to the number of reachable targets.
  package var isMerged: Bool

  /// Whether single targets are searched for further paths, beyond one for each reference to a target.
  package var looksFurther: Bool

  /// Whether the groups of a single target must be its cheapest ones. Else ways that end with different
  /// references come first, so that each container that holds a target shows up.
  package var isStrict: Bool

  /// References that are ways only where there is no other.
  package var nonOwners: [FieldPattern]

  package init(
    maximum: Int = 5, through: [FieldPattern] = [], avoid: [FieldPattern] = [],
    isMerged: Bool = false, looksFurther: Bool = true, isStrict: Bool = false,
    nonOwners: [FieldPattern] = []
  ) {
    self.maximum = maximum
    self.through = through
    self.avoid = avoid
    self.isMerged = isMerged
    self.looksFurther = looksFurther
    self.isStrict = isStrict
    self.nonOwners = nonOwners
  }
}

/// Paths that differ in nothing but addresses, indices and what lies between two equal steps: the links of a list, or the
/// nodes of a tree. Where the groups must be the cheapest ways, in nothing but addresses, indices and the number of equal
/// steps that follow each other.
package struct PathGroup: Hashable, Sendable {
  /// The path to the first of the targets.
  package var path: RetainPath

  /// The targets that were found to be held in this way, ascending.
  package var targets: [NodeIndex]

  /// The targets alone.
  package var own: Cost

  /// The same in each run: from the types and fields of the path.
  package var fingerprint: String

  package init(path: RetainPath, targets: [NodeIndex], own: Cost, fingerprint: String) {
    self.path = path
    self.targets = targets
    self.own = own
    self.fingerprint = fingerprint
  }
}

/// The ways from the roots to some objects.
package struct PathReport: Sendable {
  /// The groups, those with the most targets first, then those with the shortest path.
  package var groups: [PathGroup]

  /// The targets that no path leads to, ascending: they are leaked, or every path was avoided.
  /// `through` does not count here.
  package var unreachable: [NodeIndex]

  /// Whether there are more groups than were asked for, or there may be.
  package var isCutOff: Bool

  /// How many references were looked at to tell ways apart: what time would say, if it could be relied upon.
  var work: Int

  package init(groups: [PathGroup], unreachable: [NodeIndex], isCutOff: Bool) {
    self.init(groups: groups, unreachable: unreachable, isCutOff: isCutOff, work: 0)
  }

  fileprivate init(groups: [PathGroup], unreachable: [NodeIndex], isCutOff: Bool, work: Int) {
    self.groups = groups
    self.unreachable = unreachable
    self.isCutOff = isCutOff
    self.work = work
  }
}

/// Finds who retains some objects: the shortest ways from the roots, each kind of way once.
///
/// First the shortest path of each target, grouped by types and fields; then for each kind of last
/// reference the shortest path that ends with it, so that every container that holds one of the
/// targets shows up; then further distinct paths to single targets, in order of length. How paths are
/// compared is said at ``EdgeCosts``.
///
/// - Throws: `CancellationError` where `cancel` says so.
/// - Complexity: O(*V* + *E*) and O(path) for each target and each reference to one.
package func paths(
  to targets: [NodeIndex], in graph: HeapGraph, options: PathOptions = PathOptions(),
  cancel: any CancelSignal = NeverCancelled()
) throws(CancellationError) -> PathReport {
  var search = try PathSearch(graph: graph, options: options, cancel: cancel)
  return try search.report(of: targets, cancel: cancel)
}

extension HeapGraph {
  /// A path of the graph's edges from outside as a path from a root, with storage folded.
  ///
  /// - Parameter edge: A last reference that is not strong, and so not in the graph.
  func retainPath(
    along slots: [UInt32], to node: NodeIndex, followedBy edge: EdgeIndex? = nil
  ) -> RetainPath {
    var steps = self.steps(
      along: slots.dropFirst(), from: slots.first.map { strong.targets[Int($0)] } ?? node.rawValue)
    var target = node
    if let edge {
      if !steps.isEmpty && kind(of: node).isFolded {
        steps[steps.count - 1].edges.append(edge)
      } else {
        steps.append(ReferenceStep(node: node, edges: [edge]))
      }
      target = self.target(of: edge)
    }
    return RetainPath(
      root: RootIndex(rawValue: slots.first.map { rowBySlot[Int($0)] } ?? 0), steps: steps,
      target: target)
  }
}

extension HeapGraph {
  /// Whether each edge of the snapshot matches one of some patterns; empty where there are none.
  ///
  /// - Complexity: O(*E*), and once for each field of each type that of ``FieldPattern``.
  func edges(matching patterns: [FieldPattern]) -> [Bool] {
    if patterns.isEmpty { return [] }
    struct Key: Hashable {
      var type: UInt32
      var label: UInt32
    }
    var known: [Key: Bool] = [:]
    var matches = [Bool](repeating: false, count: snapshot.edges.count)
    for node in nodes {
      for row in edges(of: node) {
        let key = Key(type: type(of: node).rawValue, label: snapshot.edges.label[row])
        if let answer = known[key] {
          matches[row] = answer
          continue
        }
        let field = label(key.label).foldedText
        let answer = patterns.contains {
          $0.matches(
            field: field, type: name(of: type(of: node)), module: module(of: node))
        }
        known[key] = answer
        matches[row] = answer
      }
    }
    return matches
  }
}

extension HeapGraph {
  /// Which of some nodes a root holds in the way of a path: by the same fields of the same types, equal steps that
  /// follow each other as often as there are.
  ///
  /// - Complexity: O(nodes on all such ways and their references).
  fileprivate func ends(
    of path: RetainPath, in targets: Set<UInt32>, isClosed: (Int) -> Bool
  ) -> Set<UInt32> {
    var front = Set(
      (firstRootSlot..<rowBySlot.count).filter {
        !isClosed($0) && isLike(RootIndex(rawValue: rowBySlot[$0]), path.root)
      }.map { strong.targets[$0] })
    var last: [UInt64] = []
    for step in path.steps {
      let stepKey = key(of: step)
      if stepKey == last { continue }
      last = stepKey
      var reached = _ends(of: step, from: front, isClosed: isClosed)
      // The members of a list are one step, however many they are.
      var fresh = reached
      while !fresh.isEmpty {
        // One after the other, since `subtracting` would look at all that were reached.
        fresh = _ends(of: step, from: fresh, isClosed: isClosed).filter { !reached.contains($0) }
        reached.formUnion(fresh)
      }
      front = reached
    }
    let name = nameKey(of: path.target)
    return front.filter { targets.contains($0) && nameKey(of: NodeIndex(rawValue: $0)) == name }
  }

  /// Where a step leads from some nodes.
  private func _ends(
    of step: ReferenceStep, from front: Set<UInt32>, isClosed: (Int) -> Bool
  ) -> Set<UInt32> {
    let name = nameKey(of: step.node)
    var nodes = front.filter { nameKey(of: NodeIndex(rawValue: $0)) == name }
    var node = step.node
    for edge in step.edges {
      let wanted = stepKey(of: edge, from: node)
      var next: Set<UInt32> = []
      for holder in nodes {
        for slot in strong.edges(from: holder) where !isClosed(slot) {
          let other = EdgeIndex(rawValue: rowBySlot[slot])
          if stepKey(of: other, from: NodeIndex(rawValue: holder)) == wanted {
            next.insert(strong.targets[slot])
          }
        }
      }
      nodes = next
      node = target(of: edge)
    }
    return nodes
  }

  /// Whether two roots are one way to begin with.
  private func isLike(_ root: RootIndex, _ other: RootIndex) -> Bool {
    let kind = self.kind(of: root)
    guard kind == self.kind(of: other) else { return false }
    let roots = snapshot.roots
    switch kind {
    case .stack, .register:
      return roots.thread[root.position] == roots.thread[other.position]
        && roots.pc[root.position] == roots.pc[other.position]
    case .global, .threadLocal, .declared:
      return roots.address[root.position] == roots.address[other.position]
    case .task, .runtime, .mapped: return true
    }
  }
}

/// The fingerprint of a way: from its types and fields, equal steps that follow each other as one.
func pathFingerprint(of path: RetainPath, in graph: HeapGraph) -> String {
  var names: [String] = []
  for text in graph.stableTexts(of: path.steps) where text != names.last { names.append(text) }
  names.append(graph.stableName(of: path.target))
  return fingerprint(of: ["path"] + names)
}

/// One question for paths.
private struct PathSearch {
  /// How many targets are looked at one by one for further paths.
  private static let _targetsLookedInto = 8
  private static let _targetsLookedThrough = 32

  /// For how many groups all targets are counted.
  private static let _groupsCounted = 256

  /// How many nodes and references are looked at for ways through a reference that the cheapest way doesn't tell.
  private static let _workLookedThrough = 1 << 26

  /// A way, by which it can be told.
  private enum Way {
    /// The cheapest to a node, and a reference from there.
    case cheapest(UInt32, followedBy: UInt32?)

    /// The cheapest through a reference that was asked for.
    case through(UInt32)

    case slots([UInt32])
  }

  /// Paths that are alike.
  private struct Group {
    /// What the shortest of them costs, itself, and the target that it leads to.
    var cost: UInt32
    var way: Way
    var told: NodeIndex
    var targets: Set<NodeIndex>
  }

  let graph: HeapGraph
  let options: PathOptions
  private let _costByEdge: [UInt8]
  private let _forest: ShortestPathForest
  private let _isThroughByRow: [Bool]
  private var _through: ThroughSearch?
  private var _keys: WayKeys
  private var _ways: WaysAlongTree
  private var _groupByKey: [Int: Int] = [:]
  private var _groups: [Group] = []
  private var _isCutShort = false

  /// How many references were looked at to tell ways apart.
  var work: Int { _keys.work }

  init(
    graph: HeapGraph, options: PathOptions, cancel: any CancelSignal
  ) throws(CancellationError) {
    self.graph = graph
    self.options = options
    let isAvoided = graph.edges(matching: options.avoid)
    _isThroughByRow = graph.edges(matching: options.through)
    _costByEdge =
      options.avoid.isEmpty
      ? EdgeCosts.all(in: graph, nonOwners: options.nonOwners)
      : EdgeCosts.all(in: graph, nonOwners: options.nonOwners) { reference in
        guard case .edge(let edge) = reference else { return false }
        return isAvoided[edge.position]
      }
    _forest = try ShortestPathForest(
      of: graph.strong, from: graph.outside, costByEdge: _costByEdge, cancel: cancel)
    _keys = WayKeys(in: graph, foldsDetours: !options.isStrict)
    _ways = WaysAlongTree(
      parents: _forest.parentByNode, slots: _forest.parentEdgeByNode,
      nodeCount: graph.strong.nodeCount)
  }

  mutating func report(
    of targets: [NodeIndex], cancel: any CancelSignal
  ) throws(CancellationError) -> PathReport {
    let targets = Set(targets).sorted()
    let reachable = targets.filter { _forest.isReachable($0.rawValue) }
    if !options.through.isEmpty {
      try _findThrough(reachable, cancel: cancel)
    } else {
      for target in reachable {
        let way = _ways.way(to: target.rawValue, in: &_keys)
        _add(
          .cheapest(target.rawValue, followedBy: nil), key: _keys.key(of: way, to: target),
          cost: _forest.distanceByNode[target.position], target: target)
      }
      if !options.isMerged {
        if !options.isStrict { try _findByLastReference(reachable, cancel: cancel) }
        if options.looksFurther { try _findFurther(cancel: cancel) }
      }
    }

    if !options.isMerged, options.looksFurther { _countAll() }
    let order = _groups.indices.sorted { left, right in
      let (a, b) = (_groups[left], _groups[right])
      if a.targets.count != b.targets.count {
        return a.targets.count > b.targets.count
      }
      return a.cost != b.cost ? a.cost < b.cost : left < right
    }
    let groups = order.prefix(options.maximum).map { number -> PathGroup in
      let group = _groups[number]
      let members = group.targets.sorted()
      let path = _path(of: group)
      return PathGroup(
        path: path, targets: members, own: graph.cost(of: members),
        fingerprint: pathFingerprint(of: path, in: graph))
    }
    return PathReport(
      groups: groups, unreachable: targets.filter { !_forest.isReachable($0.rawValue) },
      isCutOff: _groups.count > options.maximum || _isCutShort, work: work)
  }

  private func _path(of group: Group) -> RetainPath {
    let slots =
      switch group.way {
      case .cheapest(let node, let slot): _forest.path(to: node) + (slot.map { [$0] } ?? [])
      case .through(let node): _through?.path(to: node) ?? []
      case .slots(let slots): slots
      }
    return graph.retainPath(along: slots, to: group.told)
  }

  /// Adds a path to the group of those like it.
  private mutating func _add(_ way: Way, key: Int, cost: UInt32, target: NodeIndex) {
    if let group = _groupByKey[key] {
      if cost < _groups[group].cost {
        _groups[group].cost = cost
        _groups[group].way = way
        _groups[group].told = target
      }
      _groups[group].targets.insert(target)
    } else {
      _groupByKey[key] = _groups.count
      _groups.append(Group(cost: cost, way: way, told: target, targets: [target]))
    }
  }

  private mutating func _add(_ slots: [UInt32], cost: UInt32, target: NodeIndex) {
    let way = _keys.way(along: slots)
    _add(.slots(slots), key: _keys.key(of: way, to: target), cost: cost, target: target)
  }

  /// Adds to each group the targets that are held in its way as well: so far it has those for which a path
  /// of it was looked for.
  ///
  /// - Complexity: O(nodes on the ways of a group and their references), for the first groups.
  private mutating func _countAll() {
    // Others are there in ways only that take a node twice.
    let targets = Set(_groups.flatMap { $0.targets.map(\.rawValue) })
    for number in _groups.indices.prefix(Self._groupsCounted) {
      let group = _groups[number]
      if group.targets.count == targets.count { continue }
      let path = _path(of: group)
      let found = graph.ends(
        of: path, in: targets,
        isClosed: {
          _costByEdge[$0] == ShortestPathForest.closed
        })
      _groups[number].targets.formUnion(found.map { NodeIndex(rawValue: $0) })
    }
  }

  /// For each reference to a target the shortest path that ends with it.
  private mutating func _findByLastReference(
    _ targets: [NodeIndex], cancel: any CancelSignal
  ) throws(CancellationError) {
    let order = AncestorOrder(parentByNode: _forest.parentByNode)
    for target in targets {
      if cancel.isCancelled { throw CancellationError() }
      var limit = 64
      for place in graph.holders.graph.edges(from: target.rawValue) {
        let slot = graph.holders.edgeBySlot[place]
        let holder = graph.holders.graph.targets[place]
        let cost = _costByEdge[Int(slot)]
        if slot == _forest.parentEdgeByNode[target.position] || cost == ShortestPathForest.closed
          || !_forest.isReachable(holder) || holder == target.rawValue
        {
          continue
        }
        limit -= 1
        if limit < 0 { break }
        if order.isAncestor(target.rawValue, of: holder) { continue }
        let above = _ways.way(to: holder, in: &_keys)
        let way = _keys.extend(above, bySlot: slot, from: holder)
        _add(
          .cheapest(holder, followedBy: slot), key: _keys.key(of: way, to: target),
          cost: _forest.distanceByNode[Int(holder)] + UInt32(cost), target: target)
      }
    }
  }

  /// Further paths to the first targets of each group, until there are as many groups as asked for.
  private mutating func _findFurther(cancel: any CancelSignal) throws(CancellationError) {
    var looked: Set<NodeIndex> = []
    let candidates = _groups.map(\.told).filter { looked.insert($0).inserted }
    for target in candidates.prefix(Self._targetsLookedInto) {
      if _groups.count > options.maximum { return }
      var paths = PathEnumerator(
        transposed: graph.holders, costByEdge: _costByEdge, forest: _forest,
        target: target.rawValue)
      while _groups.count <= options.maximum, let (cost, slots) = paths.next() {
        if cancel.isCancelled { throw CancellationError() }
        _add(slots, cost: cost, target: target)
      }
    }
  }

  /// The shortest paths through the references that were asked for.
  ///
  /// One search finds the cheapest to each target. Where that one visits a node twice, and for the further ones
  /// of the first targets, a search from the target backwards tells how far each reference's end is from it.
  private mutating func _findThrough(
    _ targets: [NodeIndex], cancel: any CancelSignal
  ) throws(CancellationError) {
    let isWanted = try _referencesOnSimpleWays(cancel: cancel)
    let search = try ThroughSearch(
      of: graph.strong, from: graph.outside, costByEdge: _costByEdge,
      isWanted: { isWanted[$0] }, cancel: cancel)
    _through = search
    var simple = search.simpleWays()
    var ways = search.waysAlongTree()
    var pending = options.isMerged ? [] : Array(targets.prefix(Self._targetsLookedThrough))
    for (place, target) in targets.enumerated() {
      guard let cost = search.cost(to: target.rawValue) else { continue }
      if simple.isSimple(to: target.rawValue) {
        let way = ways.way(to: search.end(of: target.rawValue), in: &_keys)
        _add(
          .through(target.rawValue), key: _keys.key(of: way, to: target), cost: cost,
          target: target)
      } else if options.isMerged || place >= Self._targetsLookedThrough {
        pending.append(target)
      }
    }
    let backCosts = graph.holders.edgeBySlot.map { _costByEdge[Int($0)] }
    var work = 0
    for target in pending where search.cost(to: target.rawValue) != nil {
      work += graph.strong.nodeCount + graph.strong.edgeCount
      if work > Self._workLookedThrough {
        _isCutShort = true
        return
      }
      let back = try ShortestPathForest(
        of: graph.holders.graph, from: target.rawValue, costByEdge: backCosts, cancel: cancel)
      var candidates: [(cost: UInt32, slot: UInt32, holder: UInt32)] = []
      for holder in 0..<UInt32(graph.nodeCount) where _forest.isReachable(holder) {
        for slot in graph.strong.edges(from: holder)
        where isWanted[slot]
          && _costByEdge[slot] != ShortestPathForest.closed
          && back.isReachable(graph.strong.targets[slot])
        {
          let cost =
            _forest.distanceByNode[Int(holder)] + UInt32(_costByEdge[slot])
            + back.distanceByNode[Int(graph.strong.targets[slot])]
          candidates.append((cost, UInt32(slot), holder))
        }
      }
      candidates.sort { ($0.cost, $0.slot) < ($1.cost, $1.slot) }
      var found = 0
      var last: (cost: UInt32, slots: Set<UInt32>) = (0, [])
      for candidate in candidates {
        // Of a list each link may be the one, and the way is the same.
        if candidate.cost != last.cost || !last.slots.contains(candidate.slot) {
          let below = back.path(to: graph.strong.targets[Int(candidate.slot)]).reversed().map {
            graph.holders.edgeBySlot[Int($0)]
          }
          let slots = _forest.path(to: candidate.holder) + [candidate.slot] + below
          // Sets take more time than a search.
          work += 4 * slots.count
          if work > Self._workLookedThrough {
            _isCutShort = true
            return
          }
          if !_isSimple(slots) { continue }
          _add(slots, cost: candidate.cost, target: target)
          last = (candidate.cost, Set(slots))
        }
        found += 1
        let most = options.maximum.multipliedReportingOverflow(by: 4)
        if options.isMerged || found >= max(most.overflow ? .max : most.partialValue, 4) { break }
      }
      if found == 0 { try _findThroughInOrder(target, cancel: cancel) }
    }
  }

  /// The references that were asked for, without those that lead back to what stands before them on every way: no
  /// way takes them that doesn't visit a node twice. Of a list that is linked both ways these are half.
  private func _referencesOnSimpleWays(
    cancel: any CancelSignal
  ) throws(CancellationError) -> [Bool] {
    let dominators = try DominatorTree(
      of: graph.strong, predecessors: graph.holders.graph, roots: [graph.outside], cancel: cancel)
    let root = dominators.virtualRoot
    let order = AncestorOrder(
      parentByNode: dominators.dominatorByNode.map { $0 == root ? .absent : $0 })
    var isWanted = [Bool](repeating: false, count: graph.strong.edgeCount)
    for holder in 0..<UInt32(graph.nodeCount) {
      for slot in graph.strong.edges(from: holder) where _isThrough(slot) {
        isWanted[slot] = !order.isAncestor(graph.strong.targets[slot], of: holder)
      }
    }
    return isWanted
  }

  /// The first path to a target, the cheapest ones first, that takes a reference that was asked for: for
  /// targets that lie on the way to all those references as well.
  private mutating func _findThroughInOrder(
    _ target: NodeIndex, cancel: any CancelSignal
  ) throws(CancellationError) {
    var paths = PathEnumerator(
      transposed: graph.holders, costByEdge: _costByEdge, forest: _forest, target: target.rawValue)
    while let (cost, slots) = paths.next() {
      if cancel.isCancelled { throw CancellationError() }
      guard slots.contains(where: { _isThrough(Int($0)) }) else { continue }
      return _add(slots, cost: cost, target: target)
    }
  }

  /// Whether a slot is a reference that was asked for.
  private func _isThrough(_ slot: Int) -> Bool {
    slot < graph.firstRootSlot && _isThroughByRow[Int(graph.rowBySlot[slot])]
  }

  /// Whether a path visits no node twice.
  private func _isSimple(_ slots: [UInt32]) -> Bool {
    var seen: Set<UInt32> = []
    return slots.allSatisfy { seen.insert(graph.strong.targets[Int($0)]).inserted }
  }
}
