// DepthFirstOrder: the nodes of a graph in the order in which a depth-first search enters and leaves them.

package import GraphPrimitives

/// A depth-first search from some roots, with its orders and its tree.
///
/// - Complexity: O(*V* + *E*) time, 20 bytes a node; no recursion, so chains may be any length.
package struct DepthFirstOrder: Sendable {
  /// The nodes in the order in which they were entered.
  package let preorder: [UInt32]

  /// The nodes in the order in which they were left; empty where that was not asked for.
  package let postorder: [UInt32]

  /// Where each node stands in `preorder`; `absent` for what was not reached.
  package let numberByNode: [UInt32]

  /// The node from which each node was entered; `absent` for roots and for what was not reached.
  package let parentByNode: [UInt32]

  /// The roots from which something new was found, in the order given.
  package let treeRoots: [UInt32]

  /// Searches from each root in turn, passing over what was reached before.
  ///
  /// - Parameter more: Hears, once the roots are done, where each node stands in `preorder` (`absent` for
  ///   what was not reached), and returns further roots.
  /// - Parameter keepsPostorder: Whether `postorder` is wanted.
  /// - Throws: `CancellationError` where `cancel` says so.
  package init(
    of graph: CSRGraph, from roots: some Sequence<UInt32>,
    keepsPostorder: Bool = true, cancel: any CancelSignal = NeverCancelled(),
    thenFrom more: ([UInt32]) throws(CancellationError) -> [UInt32] = { _ in [] }
  ) throws(CancellationError) {
    var check = CancelCheck(cancel)
    let offsets = graph.offsets.span
    let targets = graph.targets.span
    var number = [UInt32](repeating: .absent, count: graph.nodeCount)
    var parent = number
    var nextEdge = [UInt32](repeating: 0, count: graph.nodeCount)
    var preorder: [UInt32] = []
    var postorder: [UInt32] = []
    preorder.reserveCapacity(graph.nodeCount)
    if keepsPostorder { postorder.reserveCapacity(graph.nodeCount) }
    var treeRoots: [UInt32] = []
    var path: [UInt32] = []
    var nextRoot = 0
    var allRoots = Array(roots)
    var isExtended = false
    while true {
      if nextRoot == allRoots.count {
        if isExtended { break }
        isExtended = true
        allRoots += try more(number)
        continue
      }
      let root = allRoots[nextRoot]
      nextRoot += 1
      if number[Int(root)] != .absent { continue }
      treeRoots.append(root)
      number[Int(root)] = UInt32(truncatingIfNeeded: preorder.count)
      preorder.append(root)
      nextEdge[Int(root)] = offsets[Int(root)]
      path.append(root)
      while let node = path.last {
        try check.step()
        var slot = Int(nextEdge[Int(node)])
        let end = Int(offsets[Int(node) + 1])
        // A graph's columns lead to nodes and edges that there are: `end` is one at most past the last edge.
        while slot < end && number[Int(targets[unchecked: slot])] != .absent { slot &+= 1 }
        if slot == end {
          if keepsPostorder { postorder.append(node) }
          path.removeLast()
          continue
        }
        let next = targets[unchecked: slot]
        nextEdge[Int(node)] = UInt32(truncatingIfNeeded: slot &+ 1)
        number[Int(next)] = UInt32(truncatingIfNeeded: preorder.count)
        parent[Int(next)] = node
        preorder.append(next)
        nextEdge[Int(next)] = offsets[Int(next)]
        path.append(next)
      }
    }
    self.preorder = preorder
    self.postorder = postorder
    numberByNode = number
    parentByNode = parent
    self.treeRoots = treeRoots
  }
}
