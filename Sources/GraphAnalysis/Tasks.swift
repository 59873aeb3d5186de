// Tasks: the tasks and actors of a program, grouped, with what they keep alive.

internal import GraphKit
package import GraphPrimitives
package import HeapGraph
internal import SnapshotFormat

/// Tasks that were made in the same way and wait in the same place.
package struct TaskGroup: Sendable {
  /// Rows of the snapshot's tasks, ascending by the runtime's number.
  package var tasks: [Int]

  /// The nodes of the tasks, in the same order.
  package var nodes: [NodeIndex]

  /// The tasks alone.
  package var own: Cost

  /// Everything that would go with the tasks if all of them went: what no way from a root reaches without
  /// going through one of them.
  package var retained: Cost

  /// How many of the tasks no root reaches: nobody will ever resume them.
  package var leakedCount: Int
}

/// An actor with jobs that wait for it.
package struct ActorQueue: Sendable {
  package var actor: NodeIndex

  /// The jobs in its queue, as far as they were found, the next one first.
  package var jobs: [NodeIndex]
}

/// Groups tasks.
///
/// - Parameters:
///   - rows: Rows of the snapshot's tasks.
///   - key: What tasks of one group have in common, with the names of their places.
/// - Returns: the groups, those that keep most first.
/// - Complexity: O(*t* log *t*) for *t* tasks, and O(*V* + *E*) for each group of more than one.
package func taskGroups<Key: Hashable>(
  of rows: [Int], in graph: HeapGraph, sizes: RetainedSizes, key: (Int) -> Key
) -> [TaskGroup] {
  let tasks = graph.snapshot.tasks
  var rowsByKey: [Key: [Int]] = [:]
  for row in rows { rowsByKey[key(row), default: []].append(row) }
  return rowsByKey.values.map { rows in
    let rows = rows.sorted { (tasks.id[$0], $0) < (tasks.id[$1], $1) }
    let nodes = rows.map { NodeIndex(rawValue: tasks.node[$0]) }
    return TaskGroup(
      tasks: rows, nodes: nodes, own: graph.cost(of: Set(nodes)),
      retained: sizes.retained(byAll: nodes, in: graph),
      leakedCount: nodes.count { !graph.isReachable[$0.position] })
  }.sorted {
    ($1.retained.bytes, $1.tasks.count, tasks.id[$0.tasks[0]])
      < ($0.retained.bytes, $0.tasks.count, tasks.id[$1.tasks[0]])
  }
}

/// The actors for which jobs wait, those with the most jobs first.
///
/// An actor's memory holds its first job, and each job the next.
///
/// - Complexity: O(*V* + *E*).
package func actorQueues(in graph: HeapGraph) -> [ActorQueue] {
  let snapshot = graph.snapshot
  var isQueue = [Bool](repeating: false, count: snapshot.labels.count)
  var hasQueues = false
  for row in 0..<snapshot.labels.count {
    isQueue[row] = snapshot.strings[snapshot.labels.name[row]] == "queue"
    hasQueues = hasQueues || isQueue[row]
  }
  guard hasQueues else { return [] }
  func next(_ node: NodeIndex) -> NodeIndex? {
    for row in graph.edges(of: node)
    where isQueue[Int(snapshot.edges.label[row])]
      && EdgeInfo(rawValue: snapshot.edges.info[row]).provenance == .scanned
    {
      let target = NodeIndex(rawValue: snapshot.edges.target[row])
      if graph.kind(of: target) == .task { return target }
    }
    return nil
  }
  var queues: [ActorQueue] = []
  for node in graph.nodes where graph.kind(of: node) == .object {
    guard var job = next(node) else { continue }
    var jobs = [job]
    var met: Set = [job]
    while let following = next(job), met.insert(following).inserted {
      jobs.append(following)
      job = following
    }
    queues.append(ActorQueue(actor: node, jobs: jobs))
  }
  return queues.sorted { ($1.jobs.count, $0.actor) < ($0.jobs.count, $1.actor) }
}

extension RetainedSizes {
  /// What would go with some nodes if all of them went, themselves included: what no path from outside, or
  /// from leaked memory, reaches without going through one of them.
  ///
  /// What two of them share is theirs together, though neither retains it alone. Of leaked rings that they are on
  /// all goes, wherever the tree is entered: there is no outside to reach it from.
  ///
  /// - Complexity: O(*V* + *E*); O(1) for a single node that a root reaches.
  package func retained(byAll nodes: [NodeIndex], in graph: HeapGraph) -> Cost {
    let all = Set(nodes)
    let leaked = all.filter { !graph.isReachable[$0.position] }
    if leaked.isEmpty, all.count == 1, let node = all.first { return retained(by: node) }
    var going: [NodeIndex] = []
    if !leaked.isEmpty {
      var isBehind = Set(leaked)
      var behind = Array(leaked)
      while let node = behind.popLast() {
        for next in graph.strong.successors(of: node.rawValue) {
          let next = NodeIndex(rawValue: next)
          if !graph.isReachable[next.position], isBehind.insert(next).inserted {
            behind.append(next)
          }
        }
      }
      going = graph.nodes(
        goingWith: leaked.sorted(), others: unreachableEntries.filter { !isBehind.contains($0) })
    }
    guard leaked.count < all.count else { return graph.cost(of: going) }

    var isMet = [Bool](repeating: false, count: graph.nodeCount + 1)
    for node in all { isMet[node.position] = true }
    var pending = [graph.outside]
    for node in graph.nodes where !graph.isReachable[node.position] && !isMet[node.position] {
      isMet[node.position] = true
      pending.append(node.rawValue)
    }
    while let node = pending.popLast() {
      for slot in graph.strong.edges(from: node) {
        let target = graph.strong.targets[slot]
        if isMet[Int(target)] { continue }
        isMet[Int(target)] = true
        pending.append(target)
      }
    }
    for node in all { isMet[node.position] = false }
    for node in graph.nodes where graph.isReachable[node.position] && !isMet[node.position] {
      going.append(node)
    }
    return graph.cost(of: graph.withoutKeptSideTables(going))
  }
}
