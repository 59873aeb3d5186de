// DominatorTree: for each node the one that all paths to it go through, and what would go with it.

package import GraphPrimitives

/// The dominator tree of a graph: node *d* *dominates* node *v* when every path from the roots to *v*
/// goes through *d*; the nearest such node is *v*'s *immediate dominator*.
///
/// All roots hang on a virtual root, which is the node past the last one. What no root reaches hangs on
/// it too, by one entry a source component of the unreachable part, so that every node is in the tree
/// and a loose cycle costs no more than anything else. Paths from those entries count like those from
/// roots: what leaked memory refers to as well is not dominated by what is reachable.
///
/// The algorithm is semi-NCA: Georgiadis, "Linear-time algorithms for dominators and related problems",
/// Princeton, 2005. It is exact. The iterative algorithms that are popular because they are short take
/// quadratic time on long chains, which linked lists in programs are.
///
/// - Complexity: O((*V* + *E*) log *V*) time in the worst case, linear in practice; about 40 bytes a node
///   while it works, 8 afterwards.
package struct DominatorTree: Sendable {
  /// The immediate dominator of each node; `nodeCount`, the virtual root, for nodes without one.
  package let dominatorByNode: [UInt32]

  /// All nodes, each after its dominator.
  package let order: [UInt32]

  /// The nodes by which the unreachable part was entered, one a source component.
  package let unreachableEntries: [UInt32]

  /// The number that stands for the virtual root.
  package var virtualRoot: UInt32 { UInt32(dominatorByNode.count) }

  /// Finds the dominators.
  ///
  /// - Parameters:
  ///   - predecessors: The transpose of `graph`.
  ///   - roots: The nodes that hang on the virtual root.
  /// - Throws: `CancellationError` where `cancel` says so.
  package init(
    of graph: CSRGraph, predecessors: CSRGraph, roots: [UInt32],
    cancel: any CancelSignal = NeverCancelled()
  ) throws(CancellationError) {
    var check = CancelCheck(cancel)
    let nodeCount = graph.nodeCount
    var entries: [UInt32] = []
    let search = try DepthFirstOrder(of: graph, from: roots, cancel: cancel) {
      (numberByNode) throws(CancellationError) in
      entries = try Self._entries(ofUnreached: numberByNode, in: graph, cancel: cancel)
      return entries
    }
    assert(search.preorder.count == nodeCount)
    unreachableEntries = entries

    // From here on nodes are named by preorder number plus one; 0 is the virtual root.
    let numberByNode = search.numberByNode
    let nodeByNumber = search.preorder
    var isEntry = [Bool](repeating: false, count: nodeCount)
    for node in roots { isEntry[Int(node)] = true }
    for node in entries { isEntry[Int(node)] = true }
    var ancestor = [UInt32](repeating: 0, count: nodeCount + 1)
    for number in 1..<(nodeCount + 1) {
      let parent = search.parentByNode[Int(nodeByNumber[number - 1])]
      ancestor[number] = parent == .absent ? 0 : numberByNode[Int(parent)] + 1
    }
    var dominator = ancestor
    var best = [UInt32](repeating: 0, count: nodeCount + 1)
    for number in 0...nodeCount { best[number] = UInt32(truncatingIfNeeded: number) }
    var semi = best
    let backOffsets = predecessors.offsets
    let backTargets = predecessors.targets
    var stack = [UInt32](repeating: 0, count: nodeCount + 1)

    // Semidominators, last node first. `best` of a number is the one with the least semidominator on
    // the way up to the first ancestor that has not been worked on; the way is shortened as it is gone.
    var number = nodeCount
    while number >= 1 {
      try check.step()
      let node = Int(nodeByNumber[number - 1])
      var least = isEntry[node] ? 0 : ancestor[number]
      let last = UInt32(truncatingIfNeeded: number &+ 1)
      var slot = Int(backOffsets[node])
      let end = Int(backOffsets[node + 1])
      while slot < end {
        let from = Int(numberByNode[Int(backTargets[slot])] &+ 1)
        slot &+= 1
        if ancestor[from] >= last {
          var depth = 0
          var walk = from
          repeat {
            stack[depth] = UInt32(truncatingIfNeeded: walk)
            depth &+= 1
            walk = Int(ancestor[walk])
          } while ancestor[walk] >= last
          var above = walk
          var aboveBest = best[above]
          repeat {
            depth &-= 1
            walk = Int(stack[depth])
            ancestor[walk] = ancestor[above]
            let own = best[walk]
            if semi[Int(aboveBest)] < semi[Int(own)] {
              best[walk] = best[above]
            } else {
              aboveBest = own
            }
            above = walk
          } while depth > 0
        }
        let candidate = semi[Int(best[from])]
        if candidate < least { least = candidate }
      }
      semi[number] = least
      number &-= 1
    }

    // The immediate dominator is the nearest common ancestor, in the tree so far, of the parent and the
    // semidominator.
    for number in 1..<(nodeCount + 1) {
      let least = semi[number]
      var candidate = dominator[number]
      while candidate > least { candidate = dominator[Int(candidate)] }
      dominator[number] = candidate
    }
    var dominatorByNode = [UInt32](
      repeating: UInt32(truncatingIfNeeded: nodeCount), count: nodeCount)
    for number in 1..<(nodeCount + 1) where dominator[number] != 0 {
      dominatorByNode[Int(nodeByNumber[number - 1])] = nodeByNumber[Int(dominator[number]) - 1]
    }
    self.dominatorByNode = dominatorByNode
    order = nodeByNumber
  }

  /// One node of each component of the unreachable part that nothing outside it leads to.
  ///
  /// The node that a depth-first search over the unreachable part leaves last lies in such a component;
  /// so does the last one left among those that it does not reach, and so on.
  private static func _entries(
    ofUnreached numberByNode: [UInt32], in graph: CSRGraph, cancel: any CancelSignal
  ) throws(CancellationError) -> [UInt32] {
    let rest = (0..<UInt32(graph.nodeCount)).filter { numberByNode[Int($0)] == .absent }
    if rest.isEmpty { return [] }
    var scratch = [UInt32](repeating: .absent, count: graph.nodeCount)
    let part = InducedSubgraph(of: graph, keeping: rest, localByNode: &scratch)
    let all = try DepthFirstOrder(
      of: part.graph, from: 0..<UInt32(rest.count), cancel: cancel)
    let entries = try DepthFirstOrder(
      of: part.graph, from: all.postorder.reversed(), cancel: cancel
    ).treeRoots
    return entries.map { part.nodeByLocal[Int($0)] }
  }

  /// The sum of `sizeByNode` over each node and all that it dominates: what would go with it.
  ///
  /// - Complexity: O(*V*).
  package func retained(sizeByNode: [UInt64]) -> [UInt64] {
    var retained = sizeByNode
    for node in order.reversed() {
      let dominator = Int(dominatorByNode[Int(node)])
      if dominator < retained.count { retained[dominator] &+= retained[Int(node)] }
    }
    return retained
  }

  /// The tree with its edges from each node to the nodes that it dominates immediately, ascending; node
  /// `virtualRoot` is the last one.
  ///
  /// - Complexity: O(*V*).
  package func children() -> CSRGraph {
    let count = dominatorByNode.count
    var offsets = [UInt32](repeating: 0, count: count + 2)
    for dominator in dominatorByNode { offsets[Int(dominator) + 1] &+= 1 }
    for node in 0...count { offsets[node + 1] &+= offsets[node] }
    var next = offsets
    var targets = [UInt32](repeating: 0, count: count)
    for node in 0..<count {
      let dominator = Int(dominatorByNode[node])
      targets[Int(next[dominator])] = UInt32(truncatingIfNeeded: node)
      next[dominator] &+= 1
    }
    return CSRGraph(checkedOffsets: offsets, targets: targets)
  }
}
