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

  /// How long the containers or texts at the place are together at each mark, where it is that which grows; nil
  /// where there are more objects.
  package var length: Length?

  /// The number of objects at each mark; where containers become longer that of their elements.
  package var counts: [Int] { length?.numbers ?? costs.map(\.count) }

  /// How long containers or texts are.
  package struct Length: Hashable, Sendable {
    /// Elements, or bytes of texts, at each mark.
    package var numbers: [Int]
    package var isText: Bool

    /// The way to them, which that of the finding goes on from where their elements are objects.
    package var path: RetainPath

    /// The containers or texts, at the last mark.
    package var nodes: [NodeIndex]
  }
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
///
/// A container of the program's own that becomes longer grows by its elements where nothing of the program's grows in it: a
/// list of texts, a dictionary of numbers. Its storage is one object all the time. Contents that change are no growth, so
/// it has to be longer at three marks than at the one before, and never shorter.
package struct GrowthStudy {
  private var _tree = PlaceTree()
  private var _names = StepNames()
  private var _costs: [[Cost]] = []

  /// How long the containers and texts at each place are, mark by mark.
  private var _lengths: [[Int]] = []
  private var _isOwn: [Bool] = []

  /// Whether a place and all above it are storage of Swift's containers and texts, which only a variable makes the program's.
  private var _isMereStorage: [Bool] = []

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
  /// - Parameters:
  ///   - callers: Tasks that wait for the answer: what they hold is at one place, however they are found.
  ///   - isWanted: Which objects to count.
  /// - Throws: `CancellationError` where `cancel` says so.
  /// - Complexity: O(*V* log *V* + *E*), and that of `leaks(in:cancel:)`.
  package mutating func add(
    _ graph: HeapGraph, callers: Set<NodeIndex> = [],
    cancel: any CancelSignal = NeverCancelled(),
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
        _isMereStorage.append(
          (parent < 0 || _isMereStorage[parent])
            && graph.kind(of: index) == .storage && !graph.isOfProgram(index))
        _ranks.append(graph.rank(of: index))
      }
      placeByNode[Int(node)] = Int32(place)
    }

    // For each block that a variable leads to through others the variable's number, and whether it is a library's.
    var rootByTable: [UInt32: (number: Int, isLibrarys: Bool)] = [:]
    let timers = _names.number(of: "timers of libdispatch")
    let caller = _names.number(of: "task of the caller")

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
        let number =
          callers.contains(index) ? caller : stepNames.root(root, in: &_names)
        enter(node, below: -1, field: graph.isTimer(index) ? timers : number)
        if graph.isOfProgram(root), !graph.isTimer(index) {
          _isOwn[Int(placeByNode[Int(node)])] = true
        }
        if graph.kind(of: root) == .global, graph.isTable(index) {
          rootByTable[node] = (number, graph.isOfLibrary(root))
        }
      case .edge(let edge):
        let holder = NodeIndex(rawValue: forest.parentByNode[Int(node)])
        if callers.contains(NodeIndex(rawValue: node)) {
          enter(node, below: -1, field: caller)
          continue
        }
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
    var lengths = [Int](repeating: 0, count: _tree.count)
    let storage = graph.snapshot.storage
    for row in 0..<storage.rowCount {
      let place = placeByNode[Int(storage.node[row])]
      if place >= 0 { lengths[Int(place)] += Int(clamping: storage.count[row]) }
    }
    _lengths.append(lengths)
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
  ///   - callers: Tasks that wait for the answer, of the last graph: what they hold they are to let go, not to end.
  /// - Complexity: O(places × marks), and O(*V* + *E*) for each place that is told.
  package func values(
    last: HeapGraph, countsAll: Bool = false, maximum: Int = 40, callers: Set<NodeIndex> = [],
    cancel: any CancelSignal = NeverCancelled()
  ) throws(CancellationError) -> GrowthReportValues {
    let count = _tree.count
    var costs = (0..<count).map { place in
      _costs.map { place < $0.count ? $0[place] : .zero }
    }
    var trends = costs.map { GrowthTrend(of: $0.map(\.count)) }
    _joinAlternating(&costs, &trends)
    // Texts and numbers in a container of a variable's are no objects of the program's: they are told as lengths are.
    for place in 0..<count
    where trends[place] == .growing && _isOwn[place] && _isMereStorage[place]
      && !Self._lengthens(costs[place].map(\.count))
    { trends[place] = .fluctuating }
    let lengthByPlace = _lengthening(trends)
    for place in lengthByPlace.keys { trends[place] = .growing }
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
    let objectHeads = _heads(
      below: growingTop, trends: trends,
      increases: costs.map { ($0.last?.count ?? 0) - ($0.first?.count ?? 0) })
    let heads = objectHeads.filter { lengthByPlace[$0.key] == nil }
    // Where the elements of a container that becomes longer are objects, those tell where to cut.
    var elements: [Int: Int] = [:]
    for place in 0..<count where trends[place] == .growing {
      let container = _tree.parents[place]
      guard lengthByPlace[container] != nil,
        _names.texts[_tree.steps[place].field] != "[_].key"
      else { continue }
      let change = (costs[place].last?.count ?? 0) - (costs[place].first?.count ?? 0)
      let known = elements[container].map {
        (costs[$0].last?.count ?? 0) - (costs[$0].first?.count ?? 0)
      }
      if change > known ?? 0 { elements[container] = place }
    }
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
    let headPlaces = Set(
      (0..<count).filter { anyTop[$0] == $0 }.flatMap { [heads[$0] ?? $0, elements[$0] ?? $0] })
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
    let cuts = PathCutSearch(in: last, callers: callers)
    func told(_ place: Int) throws(CancellationError) -> PlaceGrowth? {
      if cancel.isCancelled { throw CancellationError() }
      let head = heads[place] ?? place
      guard let members = membersByPlace[head],
        var finding = try _finding(
          of: members, at: head, in: last, cuts: cuts, counting: &counting, cancel: cancel)
      else { return nil }
      if let (numbers, isText) = lengthByPlace[place], let path = finding.path {
        let length = PlaceGrowth.Length(
          numbers: numbers, isText: isText, path: path, nodes: finding.members)
        // What is to be cut are its elements, where they are objects, and never what refers to it.
        finding.cuts = []
        if let elements = elements[place], let members = membersByPlace[elements] {
          finding =
            try _finding(
              of: members, at: elements, in: last, cuts: cuts, counting: &counting, cancel: cancel)
            ?? finding
        }
        return PlaceGrowth(
          costs: costs[place], trend: trends[place], isOwn: true, dragged: [],
          increase: increase[place], finding: finding, length: length)
      }
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

  /// The containers and texts of the program's own that become longer, where growth is not told by objects in them that
  /// say more.
  ///
  /// - Complexity: O(places × marks).
  private func _lengthening(
    _ trends: [GrowthTrend]
  ) -> [Int: (numbers: [Int], isText: Bool)] {
    if _lengths.count < Self._fewestMarks { return [:] }
    var tellsMore = [Bool](repeating: false, count: trends.count)
    for place in trends.indices.reversed() {
      if trends[place] == .growing, _ranks[place] <= 8, _ranks[place] != 2, _ranks[place] != 6,
        _ranks[place] != 7
      {
        tellsMore[place] = true
      }
      let parent = _tree.parents[place]
      if tellsMore[place], parent >= 0 { tellsMore[parent] = true }
    }
    var found: [Int: (numbers: [Int], isText: Bool)] = [:]
    for place in trends.indices where _isOwn[place] && !tellsMore[place] {
      let numbers = _lengths.map { place < $0.count ? $0[place] : 0 }
      let isText = _names.texts[_tree.steps[place].type] == "Swift.__StringStorage"
      guard Self._lengthens(numbers) else { continue }
      if isText {
        // The numbers in a text that is written anew have more digits from time to time.
        let counts = _costs.map { place < $0.count ? $0[place].count : 0 }
        guard counts.allSatisfy({ $0 <= 1 }), let last = numbers.last, let first = numbers.first,
          (last - first) * 4 >= last
        else { continue }
      }
      found[place] = (numbers, isText)
    }
    return found
  }

  /// Whether a length is one of something that only becomes longer.
  ///
  /// What is replaced each time is longer now and shorter then: it is longer at each of five marks by chance in one of
  /// 120, and by about as much each time in few of those. What fills up by chance gets less and less. At eight marks the
  /// steps may differ, as requests do: chance alone does that in one of 40,320.
  private static func _lengthens(_ numbers: [Int]) -> Bool {
    let steps = zip(numbers, numbers.dropFirst()).map { $1 - $0 }
    guard let least = steps.min(), let most = steps.max(), least > 0 else { return false }
    let isSteady = least * 2 >= most
    return (isSteady || numbers.count >= _manyMarks) && GrowthTrend(of: numbers) == .growing
  }

  private static let _fewestMarks = 5
  private static let _manyMarks = 8

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
