// Comparison: two snapshots compared: what changed by type, and what holds the growth.

internal import GraphAnalysis
internal import GraphPrimitives
internal import GraphReport
internal import HeapGraph
internal import SnapshotFormat

/// What changed from one snapshot to another.
///
/// A *finding* is growth of the program's own types: those of modules that do not come with Swift or the
/// system, or whatever a filter asks for. Their leaked objects are told by their cycle, the reachable
/// ones by the way from a root, once for each kind of way; objects that only another grown object holds
/// are no findings of their own. So is what lists of the program's own grew by that has no type of its own:
/// closures, tasks.
struct Comparison {
  let changes: [DifferenceReport.Change]
  let born: Histogram
  let died: Histogram

  /// What `born` counts.
  let bornNodes: [NodeIndex]
  let survivedCount: Int
  let isExact: Bool

  /// How many marks lie between the two, the last one included; 0 where that is not known.
  let markCount: Int
  var findings: [Finding]

  /// Containers of the program's own that became longer by what has no type of the program's.
  let longer: [LengthenedContainer]

  /// Ways that objects are held which `findings` does not tell, and what is held in them.
  let omittedCount: Int
  let omitted: Cost

  /// Compares two snapshots.
  ///
  /// - Parameters:
  ///   - nonOwners: References that explain a life only where nothing else does.
  ///   - growth: What keeps growing over the marks between as well, where there are some: only that is
  ///     a finding then, not what has stopped.
  init(
    from first: Inspection, to last: Inspection, filter: TypeFilter,
    nonOwners: [FieldPattern] = [], growth: GrowthReportValues? = nil
  ) throws {
    let graph = last.graph
    let difference = difference(from: first.graph.snapshot, to: graph.snapshot)
    let bornNodes = filter.nodes(difference.born, in: graph)
    let diedNodes = filter.nodes(difference.died, in: first.graph)
    let born = histogram(of: bornNodes, in: graph)
    let died = histogram(of: diedNodes, in: first.graph)
    let own = Self.ownTypes(of: bornNodes, in: graph).union(
      Self.ownTypes(of: diedNodes, in: first.graph))
    let changes = Set(born.costByType.keys).union(died.costByType.keys).sorted().map { type in
      DifferenceReport.Change(
        type: type, isOwn: filter.asksForTypes || own.contains(type),
        born: born.costByType[type] ?? .zero, died: died.costByType[type] ?? .zero)
    }
    self.born = born
    self.bornNodes = bornNodes
    self.died = died
    self.changes = changes
    survivedCount = difference.survived.count
    isExact = difference.isExact
    markCount = Self.markCount(from: first.graph.snapshot, to: graph.snapshot)
    // By the snapshot's own names: a change has the name that reports write.
    let grownTypes = Set(
      born.costByType.keys.filter { type in
        let net = (born.costByType[type] ?? .zero) - (died.costByType[type] ?? .zero)
        return (filter.asksForTypes || own.contains(type)) && net.count > 0
      })
    longer =
      filter.isEmpty
      ? try lengthenedContainers(from: first.graph, to: graph, born: difference.born) : []
    let bornSet = Set(bornNodes)
    // Of a leak that is older, only what was born in between is told.
    let leaked = try leaks(in: graph).findings.keeping(in: graph) { bornSet.contains($0) }
    if let growth {
      let held = growth.findings.filter { $0.kind == .abandoned }
      findings = leaked + Self.ranked(held)
      omittedCount = growth.omittedCount
      omitted = .zero
      return
    }
    var held = try abandoned(
      bornNodes.filter {
        graph.isReachable[$0.position] && grownTypes.contains(graph.typeName(of: $0))
      }, in: graph, nonOwners: nonOwners)
    try countGone(
      from: diedNodes, in: first.graph, nonOwners: nonOwners, for: &held.findings, in: graph)
    let elements =
      filter.asksForTypes
      ? []
      : elementsOfGrownLists(
        from: first.graph, to: graph, born: bornNodes, besides: leaked + held.findings)
    let lists = try abandoned(elements, in: graph, nonOwners: nonOwners)
    findings = leaked + Self.ranked(held.findings + lists.findings)
    omittedCount = held.omittedCount + lists.omittedCount
    omitted = held.omitted + lists.omitted
  }

  /// Findings with those behind the others whose way lets go of objects: what is bounded does.
  private static func ranked(_ findings: [Finding]) -> [Finding] {
    findings.filter { $0.goneCount == 0 } + findings.filter { $0.goneCount > 0 }
  }

  private static func markCount(from first: Snapshot, to last: Snapshot) -> Int {
    guard first.process.runIdentity == last.process.runIdentity, let end = first.marks.last else {
      return 0
    }
    return last.marks.count { $0.generation > end.generation }
  }

  private static func ownTypes(of nodes: [NodeIndex], in graph: HeapGraph) -> Set<String> {
    var isKnown = [Bool](repeating: false, count: graph.snapshot.types.count)
    var own: Set<String> = []
    for node in nodes {
      let type = graph.type(of: node).position
      if isKnown[type], graph.snapshot.nodeNames[node] == nil { continue }
      if graph.snapshot.nodeNames[node] == nil { isKnown[type] = true }
      if graph.isOfProgram(node) { own.insert(graph.typeName(of: node)) }
    }
    return own
  }
}

extension DifferenceReport {
  /// The report of a comparison.
  init(_ comparison: Comparison, from first: Inspection, to last: Inspection) {
    self.init(
      from: first.input, to: last.input, changes: comparison.changes, born: comparison.born,
      died: comparison.died, survivedCount: comparison.survivedCount, isExact: comparison.isExact,
      markCount: comparison.markCount, findings: comparison.findings,
      omittedCount: comparison.omittedCount, omitted: comparison.omitted,
      longer: comparison.longer, names: last.names)
  }
}
