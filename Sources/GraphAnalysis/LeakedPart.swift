// LeakedPart: the part of a graph that is leaked, and what of the unreachable rest is not called so.

internal import GraphKit
package import GraphPrimitives
package import HeapGraph
internal import SnapshotFormat

/// The leaked nodes of a graph.
///
/// *Leaked* is every Swift object, closure context, box, storage, task and registered resource that no
/// strong path from a root reaches, with everything that they drag along. A block of C memory,
/// a libdispatch block or a CoreFoundation object that nothing points to may be held in ways that memory
/// doesn't show (C libraries hide pointers): it is leaked only where something leaked drags it along, and
/// otherwise counted apart. So are Foundation's timers that no run loop has any more: on Linux a `Timer` retains
/// itself for ever, ended or not, and nothing in the program's source can change that. What such a timer
/// drags along is leaked only where an object of the program's own is among it. Destroyed objects that
/// unowned references keep are zombies, not leaks. The cycle that a leak check in a test makes to prove that
/// one is found is nobody's leak: snapshots that the check keeps have it.
struct LeakedPart {
  /// The leaked nodes, ascending.
  let nodes: [UInt32]

  /// Unreachable nodes that nobody knows the holder of.
  let unattributed: [NodeIndex]

  /// Destroyed objects whose memory is kept.
  let zombies: [NodeIndex]

  /// - Complexity: O(*V* + *E*).
  init(of graph: HeapGraph, cancel: any CancelSignal) throws(CancellationError) {
    let snapshot = graph.snapshot
    var zombies: [NodeIndex] = []
    var isLeaked = [Bool](repeating: false, count: graph.nodeCount + 1)
    var queue: [UInt32] = []
    for node in graph.nodes where !graph.isReachable[node.position] {
      if graph.state(of: node) == .deinited || graph.typeName(of: node) == Self.probe { continue }
      switch graph.kind(of: node) {
      case .object, .closureContext, .box, .storage, .task, .resource:
        isLeaked[node.position] = true
        queue.append(node.rawValue)
      case .block, .taskSlab, .sideTable, .cBlock, .coreFoundation, .runtime, .cStorage: continue
      }
    }
    for node in 0..<graph.nodeCount where snapshot.nodes.state[node] == NodeState.deinited.rawValue
    {
      zombies.append(NodeIndex(node))
    }
    var head = 0
    while head < queue.count {
      let node = queue[head]
      head += 1
      if head & 0xFFFF == 0 && cancel.isCancelled { throw CancellationError() }
      for slot in graph.strong.edges(from: node) {
        let next = Int(graph.strong.targets[slot])
        if isLeaked[next] || graph.isReachable[next] { continue }
        let index = NodeIndex(next)
        if graph.state(of: index) == .deinited || graph.kind(of: index) == .runtime { continue }
        if graph.typeName(of: index) == Self.probe { continue }
        isLeaked[next] = true
        queue.append(UInt32(next))
      }
    }
    for node in Self._endedTimers(queue, in: graph) { isLeaked[Int(node)] = false }
    nodes = queue.filter { isLeaked[Int($0)] }.sorted()
    self.zombies = zombies
    unattributed = graph.nodes.filter {
      !graph.isReachable[$0.position] && !isLeaked[$0.position] && graph.isAlive($0)
        && graph.typeName(of: $0) != Self.probe
    }
  }

  /// The objects by which a leak check proves that it sees leaks.
  static let probe = "MemoryGraphTesting.Canary"

  /// Of what is unreachable: timers that lead to no object of the program's own, and what only they lead to.
  private static func _endedTimers(_ unreachable: [UInt32], in graph: HeapGraph) -> Set<UInt32> {
    let timers = unreachable.filter {
      graph.typeName(of: NodeIndex(rawValue: $0)) == "Foundation.Timer"
    }
    if timers.isEmpty { return [] }
    func reach(_ starts: [UInt32], leavingOut left: Set<UInt32>) -> Set<UInt32> {
      var seen = Set(starts)
      var queue = starts
      while let node = queue.popLast() {
        for slot in graph.strong.edges(from: node) {
          let next = graph.strong.targets[slot]
          if graph.isReachable[Int(next)] || left.contains(next) { continue }
          if seen.insert(next).inserted { queue.append(next) }
        }
      }
      return seen
    }
    let ended = timers.filter { timer in
      !reach([timer], leavingOut: []).contains { node in
        let index = NodeIndex(rawValue: node)
        return graph.kind(of: index) == .object && graph.isOfProgram(index)
      }
    }
    let dragged = reach(ended, leavingOut: [])
    let others = unreachable.filter { !dragged.contains($0) }
    // What something else leads to as well stays a leak; a timer that something leaked holds, too.
    return dragged.subtracting(reach(others, leavingOut: []))
  }
}

/// The leaked nodes of a graph, ascending: objects that no root reaches and all that they drag along.
///
/// - Complexity: O(*V* + *E*).
package func leakedNodes(
  in graph: HeapGraph, cancel: any CancelSignal = NeverCancelled()
) throws(CancellationError) -> [NodeIndex] {
  try LeakedPart(of: graph, cancel: cancel).nodes.map { NodeIndex(rawValue: $0) }
}
