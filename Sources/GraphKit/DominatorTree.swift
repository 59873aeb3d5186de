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
/// - Complexity: O((*V* + *E*) log *V*) time in the worst case, linear in practice; about 32 bytes a node
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
  ///   - given: The nodes by which the unreachable part is entered, one of each source component; nil for any.
  /// - Throws: `CancellationError` where `cancel` says so.
  package init(
    of graph: CSRGraph, predecessors: CSRGraph, roots: [UInt32], entries given: [UInt32]? = nil,
    cancel: any CancelSignal = NeverCancelled()
  ) throws(CancellationError) {
    var check = CancelCheck(cancel)
    let nodeCount = graph.nodeCount
    var entries: [UInt32] = []
    let search = try DepthFirstOrder(of: graph, from: roots, keepsPostorder: false, cancel: cancel)
    {
      (numberByNode) throws(CancellationError) in
      if let given {
        entries = given
      } else {
        entries = try Self._entries(ofUnreached: numberByNode, in: graph, cancel: cancel)
      }
      return entries
    }
    precondition(search.preorder.count == nodeCount, "an entry is missing")
    unreachableEntries = entries

    // From here on nodes are named by preorder number plus one; 0 is the virtual root.
    var isEntry = [Bool](repeating: false, count: nodeCount)
    for node in roots { isEntry[Int(node)] = true }
    for node in entries { isEntry[Int(node)] = true }
    func parent(of number: Int) -> UInt32 {
      let parent = search.parentByNode[Int(search.preorder[number - 1])]
      return parent == .absent ? 0 : search.numberByNode[Int(parent)] + 1
    }
    var ancestors = [UInt32](repeating: 0, count: nodeCount + 1)
    for number in 1..<(nodeCount + 1) { ancestors[number] = parent(of: number) }
    var bests = (0...UInt32(nodeCount)).map { $0 }
    var semidominators = bests
    // First the numbers on the way up, then the dominators.
    var walkedOrDominators = [UInt32](repeating: 0, count: nodeCount + 1)
    var dominatorByNode = [UInt32](
      repeating: UInt32(truncatingIfNeeded: nodeCount), count: nodeCount)
    do {
      // All numbers and nodes are of this graph, so no access is checked again.
      let numberByNode = search.numberByNode.span
      let nodeByNumber = search.preorder.span
      let backOffsets = predecessors.offsets.span
      let backTargets = predecessors.targets.span
      let entered = isEntry.span
      var ancestor = ancestors.mutableSpan
      var best = bests.mutableSpan
      var semi = semidominators.mutableSpan
      var stack = walkedOrDominators.mutableSpan
      var byNode = dominatorByNode.mutableSpan

      // Semidominators, last node first. `best` of a number is the one with the least semidominator on
      // the way up to the first ancestor that has not been worked on; the way is shortened as it is gone.
      var number = nodeCount
      while number >= 1 {
        try check.step()
        let node = Int(nodeByNumber[unchecked: number &- 1])
        var least = entered[unchecked: node] ? 0 : ancestor[unchecked: number]
        let last = UInt32(truncatingIfNeeded: number &+ 1)
        var slot = Int(backOffsets[unchecked: node])
        let end = Int(backOffsets[unchecked: node &+ 1])
        while slot < end {
          let from = Int(numberByNode[unchecked: Int(backTargets[unchecked: slot])] &+ 1)
          slot &+= 1
          if ancestor[unchecked: from] >= last {
            var depth = 0
            var walk = from
            repeat {
              stack[unchecked: depth] = UInt32(truncatingIfNeeded: walk)
              depth &+= 1
              walk = Int(ancestor[unchecked: walk])
            } while ancestor[unchecked: walk] >= last
            var above = walk
            var aboveBest = best[unchecked: above]
            repeat {
              depth &-= 1
              walk = Int(stack[unchecked: depth])
              ancestor[unchecked: walk] = ancestor[unchecked: above]
              let own = best[unchecked: walk]
              if semi[unchecked: Int(aboveBest)] < semi[unchecked: Int(own)] {
                best[unchecked: walk] = best[unchecked: above]
              } else {
                aboveBest = own
              }
              above = walk
            } while depth > 0
          }
          let candidate = semi[unchecked: Int(best[unchecked: from])]
          if candidate < least { least = candidate }
        }
        semi[unchecked: number] = least
        number &-= 1
      }

      // The immediate dominator is the nearest common ancestor, in the tree so far, of the parent and the
      // semidominator.
      stack[unchecked: 0] = 0
      number = 1
      while number <= nodeCount {
        let least = semi[unchecked: number]
        var candidate = parent(of: number)
        while candidate > least { candidate = stack[unchecked: Int(candidate)] }
        stack[unchecked: number] = candidate
        if candidate != 0 {
          byNode[unchecked: Int(nodeByNumber[unchecked: number &- 1])] =
            nodeByNumber[unchecked: Int(candidate) &- 1]
        }
        number &+= 1
      }
    }
    self.dominatorByNode = dominatorByNode
    order = search.preorder
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
    precondition(sizeByNode.count == dominatorByNode.count, "a size for each node")
    var retained = sizeByNode
    let nodes = order.span
    let dominators = dominatorByNode.span
    var sizes = retained.mutableSpan
    var place = nodes.count
    while place > 0 {
      place &-= 1
      let node = Int(nodes[unchecked: place])
      let dominator = Int(dominators[unchecked: node])
      if dominator < dominators.count {
        sizes[unchecked: dominator] &+= sizes[unchecked: node]
      }
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
