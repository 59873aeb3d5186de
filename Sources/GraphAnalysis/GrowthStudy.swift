// GrowthStudy: where objects become more from mark to mark, by the ways on which roots reach them.

internal import GraphKit
package import GraphPrimitives
package import HeapGraph
internal import SnapshotFormat

/// A place where objects are counted at each of several marks.
package struct PlaceGrowth: Sendable {
  /// The objects at the place at each mark: those that the growth is told by, see ``GrowthStudy``.
  package var costs: [Cost]

  package var trend: GrowthTrend

  /// Whether the place is the program's own: a type on the way there or grown below it is, or the variable.
  package var isOwn: Bool

  /// What else grew where they did: types, and how many more there are at the last mark than at the
  /// first; those that grew most first.
  package var dragged: [(type: String, count: Int)]

  /// How much more the place where growth begins and all below it cost at the last mark than at the first.
  package var increase: Cost

  /// The objects at the place at the last mark, what holds them, and where to cut.
  package var finding: Finding

  /// The number of objects at each mark.
  package var counts: [Int] { costs.map(\.count) }
}

/// What becomes more over several marks.
package struct GrowthReportValues: Sendable {
  /// Places that keep growing; none of them is below another. The program's own first, then those with the
  /// largest increase in bytes.
  package var growing: [PlaceGrowth]

  /// Places that grew and have stopped, none of them below a place that grew.
  package var settled: [PlaceGrowth]

  /// What the growing places of the program's own are as findings.
  package var findings: [Finding] { growing.filter(\.isOwn).map(\.finding) }

  /// Further places that keep growing, which are not told since those that are told grow more.
  package var omittedCount: Int
}

/// Counts objects by place over several snapshots of a program.
///
/// A *place* is the shortest way from a root, as ``EdgeCosts`` has it, without addresses and indices; for what is
/// leaked it is the finding that it belongs to, and the way from there. Objects are not followed by
/// identity: what counts is whether a place has more of them at each mark.
///
/// Growth begins at a place, and goes on below it. It is told by the objects that whoever reads the source knows
/// best, as leaks and differences are: the program's own before what a library, a closure or a box holds them by.
package struct GrowthStudy {
  private var _tree = PlaceTree()
  private var _names = StepNames()
  private var _costs: [[Cost]] = []
  private var _isOwn: [Bool] = []

  /// How good the objects of each place are for telling a finding of them.
  private var _ranks: [Int] = []
  private var _placeByNode: [Int32] = []
  private var _forest: ShortestPathForest?
  private var _leaks: [Int: Finding] = [:]
  private let _nonOwners: [FieldPattern]

  /// - Parameter nonOwners: References that are ways only where there is no other.
  package init(nonOwners: [FieldPattern] = []) { _nonOwners = nonOwners }

  /// Counts the objects of one more snapshot.
  ///
  /// - Parameter isWanted: Which objects to count.
  /// - Throws: `CancellationError` where `cancel` says so.
  /// - Complexity: O(*V* log *V* + *E*), and that of `leaks(in:cancel:)`.
  package mutating func add(
    _ graph: HeapGraph, cancel: any CancelSignal = NeverCancelled(),
    isWanted: (NodeIndex) -> Bool = { _ in true }
  ) throws(CancellationError) {
    let forest = try ShortestPathForest(
      of: graph.strong, from: graph.outside,
      costByEdge: EdgeCosts.all(in: graph, nonOwners: _nonOwners), cancel: cancel)
    var stepNames = SnapshotStepNames(graph)
    var placeByNode = [Int32](repeating: -1, count: graph.nodeCount)

    func enter(_ node: UInt32, below parent: Int, field: Int) {
      let index = NodeIndex(rawValue: node)
      let type = stepNames.type(of: index, in: &_names)
      let place = _tree.place(below: parent, by: PlaceTree.Step(field: field, type: type))
      if place == _isOwn.count {
        _isOwn.append(parent >= 0 && _isOwn[parent] || graph.isOfProgram(index))
        _ranks.append(graph.rank(of: index))
      }
      placeByNode[Int(node)] = Int32(place)
    }

    // For each block that a variable leads to through others the variable's number, and whether it is a library's.
    var rootByTable: [UInt32: (number: Int, isLibrarys: Bool)] = [:]
    let timers = _names.number(of: "timers of libdispatch")

    // What holds a node is nearer, so its place is known first.
    let order = (0..<UInt32(graph.nodeCount)).filter { forest.isReachable($0) }
      .sorted {
        let (a, b) = (forest.distanceByNode[Int($0)], forest.distanceByNode[Int($1)])
        return a != b ? a < b : $0 < $1
      }
    for node in order {
      let slot = forest.parentEdgeByNode[Int(node)]
      switch graph.reference(atSlot: slot) {
      case .root(let root):
        let index = NodeIndex(rawValue: node)
        let number = stepNames.root(root, in: &_names)
        enter(node, below: -1, field: graph.isTimer(index) ? timers : number)
        if graph.isOfProgram(root), !graph.isTimer(index) {
          _isOwn[Int(placeByNode[Int(node)])] = true
        }
        if graph.kind(of: root) == .global, graph.isTable(index) {
          rootByTable[node] = (number, graph.isOfLibrary(root))
        }
      case .edge(let edge):
        let holder = NodeIndex(rawValue: forest.parentByNode[Int(node)])
        if graph.isContinuation(holder), graph.isContinuation(NodeIndex(rawValue: node)) {
          placeByNode[Int(node)] = placeByNode[holder.position]
          continue
        }
        if let root = rootByTable[holder.rawValue] {
          let index = NodeIndex(rawValue: node)
          if graph.isTable(index) { rootByTable[node] = root }
          if graph.isTimer(index) {
            enter(node, below: -1, field: timers)
            continue
          }
          if root.isLibrarys {
            enter(node, below: -1, field: root.number)
            continue
          }
        }
        enter(
          node, below: Int(placeByNode[holder.position]),
          field: stepNames.field(of: edge, from: holder, in: &_names))
      }
    }
    _leaks = [:]
    for finding in Self._leaks(in: try leaks(in: graph, cancel: cancel).findings) {
      let field = _names.number(of: "leaked \(finding.fingerprint)")
      var queue: [UInt32] = []
      for member in finding.members where placeByNode[member.position] < 0 {
        enter(member.rawValue, below: -1, field: field)
        _leaks[Int(placeByNode[member.position])] = finding
        queue.append(member.rawValue)
      }
      var head = 0
      while head < queue.count {
        let node = queue[head]
        head += 1
        for slot in graph.strong.edges(from: node) {
          let next = graph.strong.targets[slot]
          guard placeByNode[Int(next)] < 0, !graph.isReachable[Int(next)],
            case .edge(let edge) = graph.reference(atSlot: UInt32(slot))
          else { continue }
          let holder = NodeIndex(rawValue: node)
          enter(
            next, below: Int(placeByNode[Int(node)]),
            field: stepNames.field(of: edge, from: holder, in: &_names))
          queue.append(next)
        }
      }
    }

    var costs = [Cost](repeating: .zero, count: _tree.count)
    for node in graph.nodes where placeByNode[node.position] >= 0 {
      if graph.isAlive(node), isWanted(node) {
        costs[Int(placeByNode[node.position])] += graph.cost(of: node)
      } else {
        placeByNode[node.position] = -1
      }
    }
    _costs.append(costs)
    _placeByNode = placeByNode
    _forest = forest
  }

  /// The leaks among some findings; those with one fingerprint, as two closures in one field, as one.
  private static func _leaks(in findings: [Finding]) -> [Finding] {
    var leaks: [Finding] = []
    for finding in findings where finding.kind == .leak {
      guard let known = leaks.firstIndex(where: { $0.fingerprint == finding.fingerprint }) else {
        leaks.append(finding)
        continue
      }
      leaks[known].members = (leaks[known].members + finding.members).sorted()
      leaks[known].own += finding.own
      leaks[known].retained += finding.retained
    }
    return leaks
  }

  /// What became more.
  ///
  /// - Parameters:
  ///   - last: The graph that was added last.
  ///   - countsAll: Whether all that grows counts as the program's own.
  ///   - maximum: How many growing places, and how many settled ones, to tell at most.
  /// - Complexity: O(places × marks), and O(*V* + *E*) for each place that is told.
  package func values(
    last: HeapGraph, countsAll: Bool = false, maximum: Int = 40,
    cancel: any CancelSignal = NeverCancelled()
  ) throws(CancellationError) -> GrowthReportValues {
    let count = _tree.count
    var costs = (0..<count).map { place in
      _costs.map { place < $0.count ? $0[place] : .zero }
    }
    var trends = costs.map { GrowthTrend(of: $0.map(\.count)) }
    _joinAlternating(&costs, &trends)
    // For each place the place above it, or itself, that a report tells of; -1 for none.
    var growingTop = [Int](repeating: -1, count: count)
    var anyTop = growingTop
    for place in 0..<count {
      let parent = _tree.parents[place]
      growingTop[place] =
        parent >= 0 && growingTop[parent] >= 0
        ? growingTop[parent] : trends[place] == .growing ? place : -1
      let above = parent >= 0 ? anyTop[parent] : -1
      anyTop[place] =
        growingTop[place] >= 0
        ? growingTop[place] : above >= 0 ? above : trends[place] == .settled ? place : -1
    }
    // A dictionary's keys are told with its values: it is one place, with one mend.
    let valuesByKeys = _valuesByKeys(among: growingTop)
    for place in 0..<count {
      if let values = valuesByKeys[growingTop[place]] { growingTop[place] = values }
      if let values = valuesByKeys[anyTop[place]] { anyTop[place] = values }
    }
    var growthByType: [Int: [Int: Int]] = [:]
    var increase = [Cost](repeating: .zero, count: count)
    var isOwn = _isOwn
    let heads = _heads(
      below: growingTop, trends: trends,
      increases: costs.map { ($0.last?.count ?? 0) - ($0.first?.count ?? 0) })
    for place in 0..<count where anyTop[place] >= 0 {
      let top = anyTop[place]
      let change = (costs[place].last ?? .zero) - (costs[place].first ?? .zero)
      increase[top] += change
      if change.count > 0, _isOwn[place] { isOwn[top] = true }
      if place != heads[top] ?? top, change.count > 0 {
        growthByType[top, default: [:]][_tree.steps[place].type, default: 0] += change.count
      }
    }
    var membersByPlace: [Int: [NodeIndex]] = [:]
    let headPlaces = Set((0..<count).filter { anyTop[$0] == $0 }.map { heads[$0] ?? $0 })
    for node in last.nodes {
      let place = Int(_placeByNode[node.position])
      guard headPlaces.contains(place) else { continue }
      membersByPlace[place, default: []].append(node)
    }
    func ordered(_ places: [Int]) -> [Int] {
      places.sorted { left, right in
        if isOwn[left] != isOwn[right] { return isOwn[left] }
        let (a, b) = (increase[left], increase[right])
        return a.bytes != b.bytes ? a.bytes > b.bytes : left < right
      }
    }
    let tops = (0..<count).filter { anyTop[$0] == $0 }
    let growing = ordered(tops.filter { trends[$0] == .growing })
    let settled = ordered(tops.filter { trends[$0] == .settled })
    var counting = ReferenceCounting(of: last)
    let cuts = PathCutSearch(in: last)
    func told(_ place: Int) throws(CancellationError) -> PlaceGrowth? {
      if cancel.isCancelled { throw CancellationError() }
      let head = heads[place] ?? place
      guard let members = membersByPlace[head],
        var finding = try _finding(
          of: members, at: head, in: last, cuts: cuts, counting: &counting, cancel: cancel)
      else { return nil }
      if finding.kind == .abandoned {
        let counts = costs[head].map(\.count)
        finding.goneCount = zip(counts, counts.dropFirst()).reduce(0) { $0 + max(0, $1.0 - $1.1) }
      }
      let dragged = (growthByType[place] ?? [:]).map {
        (type: _names.texts[$0.key], count: $0.value)
      }
      .sorted { $0.count != $1.count ? $0.count > $1.count : $0.type < $1.type }
      return PlaceGrowth(
        costs: costs[head], trend: trends[place], isOwn: countsAll || isOwn[place],
        dragged: dragged, increase: increase[place], finding: finding)
    }
    var result = GrowthReportValues(
      growing: [], settled: [], omittedCount: max(0, growing.count - maximum))
    for place in growing.prefix(maximum) {
      if let growth = try told(place) { result.growing.append(growth) }
    }
    for place in settled.prefix(maximum) {
      if let growth = try told(place) { result.settled.append(growth) }
    }
    return result
  }

  /// For places that are keys of dictionaries, of which growth is told, the places of the values, where it is told of those
  /// as well.
  private func _valuesByKeys(among tops: [Int]) -> [Int: Int] {
    func field(_ place: Int) -> String { _names.texts[_tree.steps[place].field] }
    var values: [Int: Int] = [:]
    var keys: [Int] = []
    for place in tops.indices where tops[place] == place && _tree.parents[place] >= 0 {
      if field(place) == "[_].key" {
        keys.append(place)
      } else if field(place).hasPrefix("[_]"), values[_tree.parents[place]] == nil {
        values[_tree.parents[place]] = place
      }
    }
    return Dictionary(
      uniqueKeysWithValues: keys.compactMap { key in values[_tree.parents[key]].map { (key, $0) } })
  }

  /// Tells objects of the program's own that are found now at one place and now at another, as those in a table
  /// are whose way is now one and now another of equal length, by all of them at the place where most are.
  ///
  /// Only where no place of the type is told otherwise, and the numbers at that place go up and down.
  private func _joinAlternating(_ costs: inout [[Cost]], _ trends: inout [GrowthTrend]) {
    var isBelowGrowth = [Bool](repeating: false, count: costs.count)
    var placesByType: [Int: [Int]] = [:]
    for place in costs.indices {
      let parent = _tree.parents[place]
      isBelowGrowth[place] = trends[place] == .growing || parent >= 0 && isBelowGrowth[parent]
      if _isOwn[place], _ranks[place] <= 1 {
        placesByType[_tree.steps[place].type, default: []].append(place)
      }
    }
    for places in placesByType.values where places.count > 1 {
      if places.contains(where: { isBelowGrowth[$0] }) { continue }
      guard
        let most = places.max(by: { (costs[$0].last?.count ?? 0) < (costs[$1].last?.count ?? 0) }),
        trends[most] == .fluctuating
      else { continue }
      let total = _costs.indices.map { mark in
        places.reduce(Cost.zero) { $0 + costs[$1][mark] }
      }
      guard GrowthTrend(of: total.map(\.count)) == .growing else { continue }
      costs[most] = total
      trends[most] = .growing
    }
  }

  /// The places that growth is told by where that is not the one where it begins.
  ///
  /// - Parameters:
  ///   - tops: For each place the one where its growth begins; -1 for none.
  ///   - increases: By how many objects each place has grown.
  private func _heads(
    below tops: [Int], trends: [GrowthTrend], increases: [Int]
  ) -> [Int: Int] {
    var heads: [Int: (place: Int, depth: Int)] = [:]
    var depths = [Int](repeating: 0, count: tops.count)
    for place in tops.indices where tops[place] >= 0 && tops[place] != place {
      depths[place] = depths[_tree.parents[place]] + 1
      let top = tops[place]
      guard trends[place] == .growing, _leaks[top] == nil,
        _tells(_ranks[place], betterThan: _ranks[top])
      else { continue }
      guard let known = heads[top] else {
        heads[top] = (place, depths[place])
        continue
      }
      if _tells(_ranks[place], betterThan: _ranks[known.place])
        || _ranks[place] == _ranks[known.place] && depths[place] < known.depth
      {
        heads[top] = (place, depths[place])
      }
    }
    // What objects of one type are held by need not be the same: the place where most are added tells of all.
    var most = heads.mapValues(\.place)
    for place in tops.indices where tops[place] >= 0 && trends[place] == .growing {
      guard let head = most[tops[place]], _tree.steps[place].type == _tree.steps[head].type,
        _ranks[place] == _ranks[head], increases[place] > increases[head]
      else { continue }
      most[tops[place]] = place
    }
    return most
  }

  /// Whether growth is told by objects of a rank rather than by what holds them. The program's own objects tell
  /// more than all else; what has no name of its own, as boxes and C memory, less than anything that has one.
  private func _tells(_ rank: Int, betterThan holder: Int) -> Bool {
    if holder <= 1 { return false }
    return rank <= 1 || holder >= 5 && rank < 5
  }

  /// The objects of a place as a finding: the leak that they are, or the way on which they are held.
  private func _finding(
    of members: [NodeIndex], at place: Int, in graph: HeapGraph, cuts: PathCutSearch,
    counting: inout ReferenceCounting, cancel: any CancelSignal
  ) throws(CancellationError) -> Finding? {
    if let leak = _leaks[place] { return leak }
    var top = place
    while _tree.parents[top] >= 0 { top = _tree.parents[top] }
    if var leak = _leaks[top] {
      // What grows below a leak goes with it.
      leak.members = members
      leak.representative = members[0]
      leak.own = graph.cost(of: members)
      let going = graph.nodes(goingWith: members)
      leak.retained = graph.cost(of: going)
      leak.compareCut(withGoing: going, in: graph)
      leak.cycle = []
      return leak
    }
    guard let forest = _forest else { return nil }
    let reachable = members.filter { forest.isReachable($0.rawValue) }
    guard
      let nearest = reachable.min(by: {
        let (a, b) = (
          forest.distanceByNode[$0.position], forest.distanceByNode[$1.position]
        )
        return a != b ? a < b : $0 < $1
      })
    else { return nil }
    let path = graph.retainPath(along: forest.path(to: nearest.rawValue), to: nearest)
    let cut = try cuts.cut(of: path, members: members, counting: &counting, cancel: cancel)
    let going = graph.nodes(goingWith: members)
    var finding = Finding(
      kind: .abandoned, members: members, representative: nearest, own: graph.cost(of: members),
      retained: graph.cost(of: going), cycle: [], path: path,
      cuts: cut.map { [$0.proposal] } ?? [],
      fingerprint: pathFingerprint(of: path, in: graph))
    finding.compareCut(withGoing: going, in: graph)
    return finding
  }
}

extension HeapGraph {
  /// Whether a root is a variable of the program's own executable.
  fileprivate func isOfProgram(_ root: RootIndex) -> Bool {
    guard kind(of: root) == .global,
      let module = snapshot.module(at: snapshot.roots.address[root.position])
    else { return false }
    return module.path == snapshot.process.executable
  }
}
