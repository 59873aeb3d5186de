// StrongComponents: the strongly connected components of a graph, and the acyclic graph of them.

package import GraphPrimitives

/// The strongly connected components of a graph: the largest sets of nodes that all reach each other.
///
/// Components are numbered in reverse topological order: an edge between two components leads to the
/// one with the lower number. Tarjan, "Depth-first search and linear graph algorithms", SIAM J. Comput.
/// 1(2), 1972, with a stack of its own instead of recursion.
///
/// - Complexity: O(*V* + *E*) time, 20 bytes a node while it works, 12 afterwards.
package struct StrongComponents: Sendable {
  /// The number of components.
  package let count: Int

  /// The component of each node.
  package let componentByNode: [UInt32]

  /// The nodes of component *c* are `members[firstMember[c] ..< firstMember[c + 1]]`, ascending.
  package let firstMember: [UInt32]
  package let members: [UInt32]

  /// Finds the components of a graph.
  ///
  /// - Throws: `CancellationError` where `cancel` says so.
  package init(
    of graph: CSRGraph, cancel: any CancelSignal = NeverCancelled()
  ) throws(CancellationError) {
    var check = CancelCheck(cancel)
    let nodeCount = graph.nodeCount
    let offsets = graph.offsets
    let targets = graph.targets
    var component = [UInt32](repeating: .absent, count: nodeCount)
    // 0 for a node not seen yet; absent for one whose component is complete, which no minimum picks.
    var index = [UInt32](repeating: 0, count: nodeCount)
    var low = index
    var nextEdge = index
    var path: [UInt32] = []
    var open: [UInt32] = []
    var seen: UInt32 = 0
    var count: UInt32 = 0
    for start in 0..<nodeCount where index[start] == 0 {
      seen &+= 1
      index[start] = seen
      low[start] = seen
      nextEdge[start] = offsets[start]
      path.append(UInt32(truncatingIfNeeded: start))
      open.append(UInt32(truncatingIfNeeded: start))
      while let top = path.last {
        try check.step()
        let node = Int(top)
        var slot = Int(nextEdge[node])
        let end = Int(offsets[node + 1])
        var lowest = low[node]
        var child = UInt32.absent
        while slot < end {
          let next = Int(targets[slot])
          slot &+= 1
          let nextIndex = index[next]
          if nextIndex == 0 {
            child = UInt32(truncatingIfNeeded: next)
            break
          }
          if nextIndex < lowest { lowest = nextIndex }
        }
        low[node] = lowest
        nextEdge[node] = UInt32(truncatingIfNeeded: slot)
        if child != .absent {
          seen &+= 1
          index[Int(child)] = seen
          low[Int(child)] = seen
          nextEdge[Int(child)] = offsets[Int(child)]
          path.append(child)
          open.append(child)
          continue
        }
        path.removeLast()
        if let parent = path.last, lowest < low[Int(parent)] { low[Int(parent)] = lowest }
        if lowest == index[node] {
          var member: UInt32
          repeat {
            member = open.removeLast()
            component[Int(member)] = count
            index[Int(member)] = .absent
          } while member != top
          count &+= 1
        }
      }
    }
    self.count = Int(count)
    componentByNode = component

    var first = [UInt32](repeating: 0, count: Int(count) + 1)
    for number in component { first[Int(number) + 1] &+= 1 }
    for number in 0..<Int(count) { first[number + 1] &+= first[number] }
    var next = first
    var members = [UInt32](repeating: 0, count: nodeCount)
    for node in 0..<nodeCount {
      let number = Int(component[node])
      members[Int(next[number])] = UInt32(truncatingIfNeeded: node)
      next[number] &+= 1
    }
    firstMember = first
    self.members = members
  }

  /// The nodes of a component, ascending.
  ///
  /// - Complexity: O(1).
  package func members(of component: UInt32) -> ArraySlice<UInt32> {
    members[Int(firstMember[Int(component)])..<Int(firstMember[Int(component) + 1])]
  }

  /// Whether a component holds a cycle: more than one node, or an edge from its node to itself.
  ///
  /// - Complexity: O(1) for a component of more than one node, else O(edges of the node).
  package func isCyclic(_ component: UInt32, in graph: CSRGraph) -> Bool {
    let nodes = members(of: component)
    guard nodes.count == 1, let node = nodes.first else { return true }
    return graph.successors(of: node).contains(node)
  }

  /// The acyclic graph whose nodes are the components; equal edges between two components are one edge.
  ///
  /// - Complexity: O(*V* + *E*).
  package func condensation(of graph: CSRGraph) -> CSRGraph {
    var offsets: [UInt32] = [0]
    offsets.reserveCapacity(count + 1)
    var targets: [UInt32] = []
    var lastSource = [UInt32](repeating: .absent, count: count)
    for component in 0..<UInt32(count) {
      for node in members(of: component) {
        for slot in graph.edges(from: node) {
          let other = componentByNode[Int(graph.targets[slot])]
          if other != component && lastSource[Int(other)] != component {
            lastSource[Int(other)] = component
            targets.append(other)
          }
        }
      }
      offsets.append(UInt32(targets.count))
    }
    return CSRGraph(checkedOffsets: offsets, targets: targets)
  }

  /// The components that no edge leads to from another component, ascending.
  ///
  /// - Complexity: O(*V* + *E*).
  package func sources(in graph: CSRGraph) -> [UInt32] {
    var isEntered = [Bool](repeating: false, count: count)
    for node in 0..<graph.nodeCount {
      let component = componentByNode[node]
      for slot in graph.edges(from: UInt32(node)) {
        let other = componentByNode[Int(graph.targets[slot])]
        if other != component { isEntered[Int(other)] = true }
      }
    }
    return (0..<UInt32(count)).filter { !isEntered[Int($0)] }
  }
}
