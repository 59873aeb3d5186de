// Examination: a snapshot of this process, and what is leaked in it.

internal import CMemoryGraphHooks
internal import GraphAnalysis
internal import GraphKit
internal import GraphPrimitives
internal import GraphReport
internal import HeapGraph
internal import MemoryGraphAgent
internal import SnapshotFormat
internal import Symbolication

/// A snapshot of this process, analysed. Used on one thread.
final class Examination {
  let path: String
  let graph: HeapGraph
  let leaks: LeakReport
  let totals: Totals
  let names: Names
  private let _symbols: Symbolizer

  /// Whether each node is held by something that can't be left over.
  private(set) lazy var isHeldForSure = graph.heldForSure()

  /// What failures attach.
  private(set) lazy var files = ExaminationFiles(
    ofSnapshot: path, symbols: _symbols)

  /// Takes a snapshot.
  ///
  /// - Parameter path: where to write it.
  /// - Throws: ``CheckProblem`` where it can't be taken, or does not show what it must.
  init(path: String) throws(CheckProblem) {
    self.path = path
    // A cycle that nobody holds: where it is not in the snapshot, or something seems to hold it, no other
    // would be found. The reports of kept snapshots leave it out.
    let canaries = Canaries()
    defer { canaries.letGo() }
    do {
      // This thread has had the stack of one that ran a test, or has analysed a snapshot: what is left of
      // it would lie in the frames that take this one, and seem to hold what it once led to.
      memory_graph_clear_dead_stack()
      let snapshot = try MemoryGraph.snapshot(to: path)
      graph = try HeapGraph(snapshot)
      leaks = try GraphAnalysis.leaks(in: graph)
      totals = try GraphAnalysis.totals(of: graph)
      _symbols = Symbolizer(modules: snapshot.modules, debugDirectories: [])
      names = Names(snapshot, symbols: _symbols)
    } catch let error as MemoryGraphError {
      throw CheckProblem("\(error)")
    } catch {
      throw CheckProblem("\(path): the snapshot can't be analysed: \(error)")
    }
    let isSeen = canaries.addresses.allSatisfy { address in
      guard let node = graph.node(at: Address(address)) else { return false }
      return graph.kind(of: node) == .object && !graph.isReachable[node.position]
        && graph.strong.edges(from: node.rawValue).count > 0
    }
    guard isSeen else {
      throw CheckProblem(
        "a cycle made for the purpose was not found in the snapshot, so a leak would not be, either"
      )
    }
  }

  /// The nodes at some addresses that start a block.
  func nodes(at addresses: some Sequence<UInt64>) -> [NodeIndex] {
    addresses.compactMap { address in
      graph.node(at: Address(address)).flatMap {
        graph.address(of: $0).rawValue == address ? $0 : nil
      }
    }
  }

  /// The numbers of the tasks that wait for a check: those of tests.
  var checkingTasks: Set<UInt64> {
    let tasks = graph.snapshot.tasks
    return Set(
      (0..<tasks.count).filter { row in
        names.task(row: row).frames.contains { $0.function.contains("MemoryGraphTesting.") }
      }.map { tasks.id[$0] })
  }

  /// The causes through which some leaked nodes leak: those that are among them, or lead to one of them.
  ///
  /// - Complexity: O(*V* + *E*) for each finding.
  func findings(causing nodes: Set<NodeIndex>) -> [Finding] {
    if nodes.isEmpty { return [] }
    let leading = _nodes(leadingTo: nodes)
    return leaks.findings.keeping(in: graph) { leading.contains($0) }.map { finding in
      var finding = finding
      if !leading.contains(finding.representative) { finding.representative = finding.members[0] }
      return finding
    }
  }

  /// Leaked nodes from which some nodes are reached, those themselves included.
  private func _nodes(leadingTo nodes: Set<NodeIndex>) -> Set<NodeIndex> {
    var leading = nodes
    var pending = Array(nodes)
    while let node = pending.popLast() {
      for holder in graph.holders.graph.successors(of: node.rawValue)
      where holder != graph.outside && !graph.isReachable[Int(holder)] {
        let holder = NodeIndex(rawValue: holder)
        if leading.insert(holder).inserted { pending.append(holder) }
      }
    }
    return leading
  }
}

/// A cycle of two objects that only an address leads to.
private struct Canaries {
  private let _first: Unmanaged<Canary>

  init() {
    let first = Canary()
    let second = Canary()
    first.other = second
    second.other = first
    _first = .passUnretained(first)
  }

  var addresses: [UInt64] { [UInt64(UInt(bitPattern: _first.toOpaque()))] }

  func letGo() { _first.takeUnretainedValue().other = nil }
}
