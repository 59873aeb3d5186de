// Leaks: what is unreachable, told by its causes.

internal import GraphKit
package import GraphPrimitives
package import HeapGraph
internal import SnapshotFormat

/// What of a snapshot is leaked.
package struct LeakReport: Sendable {
  /// The causes, those with the largest retained size first; zombies last.
  package var findings: [Finding]

  /// All leaked nodes by type, those that are only dragged along included.
  package var leaked: Histogram

  /// All leaked nodes, ascending.
  package var leakedNodes: [NodeIndex]

  /// Destroyed objects whose memory unowned references keep; not part of `leaked`.
  package var zombies: Histogram

  /// Unreachable C memory that nothing leaked refers to: it may be held in ways that memory doesn't show,
  /// and is not called leaked.
  package var unattributedBlocks: Cost

  /// The nodes that `unattributedBlocks` are, ascending.
  package var unattributedNodes: [NodeIndex]

  package init(
    findings: [Finding], leaked: Histogram, leakedNodes: [NodeIndex], zombies: Histogram,
    unattributedBlocks: Cost, unattributedNodes: [NodeIndex]
  ) {
    self.findings = findings
    self.leaked = leaked
    self.leakedNodes = leakedNodes
    self.unattributedNodes = unattributedNodes
    self.zombies = zombies
    self.unattributedBlocks = unattributedBlocks
  }
}

/// Finds what is leaked and says what it is that leaks.
///
/// The unreachable part is collapsed into its strongly connected components. The *culprits* are those that
/// nothing else of it refers to, and further down those cycles of the program's own objects and closures
/// that would stay behind when what drags them along is mended. Everything else is only dragged
/// along. Culprits with the same cycle (equal types, fields and functions) are one finding, whose retained
/// size is what would go if all of them went.
///
/// - Throws: `CancellationError` where `cancel` says so.
/// - Complexity: O(*V* + *E*), and for each finding O(what it retains) for each step of its cycle.
package func leaks(
  in graph: HeapGraph, cancel: any CancelSignal = NeverCancelled()
) throws(CancellationError) -> LeakReport {
  let part = try LeakedPart(of: graph, cancel: cancel)
  var search = try LeakSearch(graph: graph, nodes: part.nodes, cancel: cancel)
  var findings = try search.findings(cancel: cancel)
  findings += try zombieFindings(part.zombies, in: graph, cancel: cancel)
  return LeakReport(
    findings: findings,
    leaked: histogram(of: part.nodes.lazy.map { NodeIndex(rawValue: $0) }, in: graph),
    leakedNodes: part.nodes.map { NodeIndex(rawValue: $0) },
    zombies: histogram(of: part.zombies, in: graph),
    unattributedBlocks: graph.cost(of: part.unattributed), unattributedNodes: part.unattributed)
}

/// Finds the culprits of the leaked part of a graph.
struct LeakSearch {
  /// A component of the leaked part that is to blame.
  private struct Culprit {
    var component: UInt32
    var representative: NodeIndex
    var cycle: [ReferenceStep]
  }

  private let _graph: HeapGraph
  private let _part: InducedSubgraph
  private let _components: StrongComponents
  private let _costByEdge: [UInt8]
  private let _order: ReadingOrder

  init(
    graph: HeapGraph, nodes: [UInt32], cancel: any CancelSignal
  ) throws(CancellationError) {
    _graph = graph
    var scratch = [UInt32](repeating: .absent, count: graph.nodeCount + 1)
    _part = InducedSubgraph(of: graph.strong, keeping: nodes, localByNode: &scratch)
    _components = try StrongComponents(of: _part.graph, cancel: cancel)
    _costByEdge = nodes.isEmpty ? [] : EdgeCosts.all(in: graph)
    _order = ReadingOrder(of: graph)
  }

  /// The findings, largest retained size first.
  mutating func findings(cancel: any CancelSignal) throws(CancellationError) -> [Finding] {
    if _part.nodeByLocal.isEmpty { return [] }
    var cycles = CycleSearch(
      graph: _graph, part: _part, costByEdge: _costByEdge, order: _order)
    var groupByKey: [[UInt64]: Int] = [:]
    var groups: [[Culprit]] = []
    let isSource = Set(_components.sources(in: _part.graph))
    for component in 0..<UInt32(_components.count) {
      let members = _components.members(of: component)
      if !isSource.contains(component) && !_components.isCyclic(component, in: _part.graph) {
        continue
      }
      let cycle = try cycles.cycle(in: members, cancel: cancel)
      if !isSource.contains(component) && !_isOfProgram(cycle) { continue }
      let first = _part.nodeByLocal[Int(members[members.startIndex])]
      let culprit = Culprit(
        component: component, representative: cycle.first?.node ?? NodeIndex(rawValue: first),
        cycle: cycle)
      let key = _key(of: culprit)
      if let group = groupByKey[key] {
        groups[group].append(culprit)
      } else {
        groupByKey[key] = groups.count
        groups.append([culprit])
      }
    }

    let retained = try _retained(by: groups, cancel: cancel)
    var going = [[NodeIndex]](repeating: [], count: groups.count)
    for (local, node) in _part.nodeByLocal.enumerated() {
      let group = retained.groupByComponent[Int(_components.componentByNode[local])]
      if group >= 0 { going[group].append(NodeIndex(rawValue: node)) }
    }
    var counting = ReferenceCounting(of: _graph)
    var search = CutSearch(graph: _graph, part: _part, components: _components, cycles: cycles)
    var findings: [Finding] = []
    for (number, group) in groups.enumerated() {
      let culprits = group.sorted { $0.representative < $1.representative }
      let told = culprits[
        _order.mostTelling(
          of: culprits.map { _components.members(of: $0.component) }, in: _part,
          representatives: culprits.map(\.representative))]
      let cuts = try search.cuts(
        of: told.cycle, representative: told.representative,
        componentOfRepresentative: told.component, components: culprits.map(\.component),
        counting: &counting, cancel: cancel)
      let names =
        told.cycle.isEmpty
        ? [_graph.stableName(of: told.representative)]
        : _graph.stableTexts(ofCycle: told.cycle)
      var finding = Finding(
        kind: .leak, members: culprits.map(\.representative), representative: told.representative,
        own: _graph.cost(of: culprits.lazy.map(\.representative)), retained: retained.costs[number],
        cycle: told.cycle, path: nil, cuts: cuts, fingerprint: fingerprint(of: ["leak"] + names))
      finding.compareCut(withGoing: going[number], in: _graph)
      findings.append(finding)
    }
    return sorted(findings, in: _graph)
  }

  /// Whether a cycle goes through the program's own objects, resources or closures, rather than through
  /// the insides of a library or of a task.
  private func _isOfProgram(_ cycle: [ReferenceStep]) -> Bool {
    cycle.contains { step in
      _graph.isOfProgram(step.node) || _graph.kind(of: step.node) == .closureContext
    }
  }

  /// What is equal for culprits that have one cause.
  private func _key(of culprit: Culprit) -> [UInt64] {
    if !culprit.cycle.isEmpty { return culprit.cycle.flatMap { _graph.key(of: $0) } }
    let node = culprit.representative
    var key = [_graph.nameKey(of: node)]
    // The type of a context or box says little; where it was made says more.
    if _graph.rank(of: node) > 2 {
      key.append(UInt64(_graph.distinguishingStack(of: node).rawValue))
    }
    return key
  }

  /// What would go with each group, if all its members went.
  ///
  /// Groups stand above their components in the acyclic graph of the components, and are the only way in;
  /// what a group dominates there goes with it, what two groups share goes with neither.
  ///
  /// - Returns: what goes with each group, and for each component the group that it goes with; -1 for none.
  private func _retained(
    by groups: [[Culprit]], cancel: any CancelSignal
  ) throws(CancellationError) -> (costs: [Cost], groupByComponent: [Int]) {
    let condensation = _components.condensation(of: _part.graph)
    let groupOffset = _components.count
    var isCulprit = [Bool](repeating: false, count: _components.count)
    for culprit in groups.joined() { isCulprit[Int(culprit.component)] = true }
    var offsets: [UInt32] = [0]
    var targets: [UInt32] = []
    for component in 0..<UInt32(_components.count) {
      targets += condensation.successors(of: component).filter { !isCulprit[Int($0)] }
      offsets.append(UInt32(targets.count))
    }
    for group in groups {
      targets += group.map(\.component)
      offsets.append(UInt32(targets.count))
    }
    let tree = CSRGraph(checkedOffsets: offsets, targets: targets)
    let roots = groups.indices.map { UInt32(groupOffset + $0) }
    let dominators = try DominatorTree(
      of: tree, predecessors: tree.transposed().graph, roots: roots, cancel: cancel)
    var counts = [UInt64](repeating: 0, count: tree.nodeCount)
    var bytes = counts
    for (local, node) in _part.nodeByLocal.enumerated() {
      let component = Int(_components.componentByNode[local])
      counts[component] += 1
      bytes[component] += UInt64(_graph.size(of: NodeIndex(rawValue: node)).rawValue)
    }
    let retainedCounts = dominators.retained(sizeByNode: counts)
    let retainedBytes = dominators.retained(sizeByNode: bytes)
    var groupByComponent = [Int](repeating: -1, count: tree.nodeCount)
    for node in dominators.order {
      let above = dominators.dominatorByNode[Int(node)]
      groupByComponent[Int(node)] =
        Int(node) >= groupOffset
        ? Int(node) - groupOffset
        : above == dominators.virtualRoot ? -1 : groupByComponent[Int(above)]
    }
    let costs = roots.map {
      Cost(
        count: Int(retainedCounts[Int($0)]), bytes: ByteCount(Int64(retainedBytes[Int($0)])))
    }
    return (costs, groupByComponent)
  }
}

/// Findings in the order in which reports show them: largest retained size first.
///
/// - Complexity: O(*n* log *n*), and O(labels log labels) for more than one finding.
package func sorted(_ findings: [Finding], in graph: HeapGraph) -> [Finding] {
  if findings.count < 2 { return findings }
  let order = ReadingOrder(of: graph)
  return findings.sorted { left, right in
    if left.retained.bytes != right.retained.bytes {
      return left.retained.bytes > right.retained.bytes
    }
    if left.members.count != right.members.count { return left.members.count > right.members.count }
    if left.retained.count != right.retained.count {
      return left.retained.count > right.retained.count
    }
    let names = (
      graph.typeName(of: left.representative), graph.typeName(of: right.representative)
    )
    if names.0 != names.1 { return names.0 < names.1 }
    if left.fingerprint != right.fingerprint { return left.fingerprint < right.fingerprint }
    if left.own.bytes != right.own.bytes { return left.own.bytes > right.own.bytes }
    let functions = (graph.functions(of: left), graph.functions(of: right))
    return functions.0 != functions.1
      ? functions.0.lexicographicallyPrecedes(functions.1)
      : order.precedes(left.representative, right.representative)
  }
}

extension HeapGraph {
  /// The places of the functions that a finding's cycle or path goes through, relative to their modules: closures in
  /// one field have one fingerprint.
  fileprivate func functions(of finding: Finding) -> [UInt64] {
    (finding.cycle + (finding.path?.steps ?? [])).map { step in
      let function = function(of: step) ?? 0
      return function &- (function == 0 ? 0 : snapshot.module(at: function)?.start ?? 0)
    }
  }
}
