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
    var componentByNode = [UInt32](repeating: .absent, count: nodeCount)
    // 0 for a node not seen yet; absent for one whose component is complete, which no minimum picks.
    var indexByNode = [UInt32](repeating: 0, count: nodeCount)
    var lowByNode = indexByNode
    var nextEdgeByNode = indexByNode
    var nodesOfPath = indexByNode
    var openNodes = indexByNode
    var count: UInt32 = 0
    do {
      // A graph's columns lead to nodes and edges that there are, so no access is checked again.
      let offsets = graph.offsets.span
      let targets = graph.targets.span
      var component = componentByNode.mutableSpan
      var index = indexByNode.mutableSpan
      var low = lowByNode.mutableSpan
      var nextEdge = nextEdgeByNode.mutableSpan
      var path = nodesOfPath.mutableSpan
      var open = openNodes.mutableSpan
      var seen: UInt32 = 0
      var depth = 0
      var openCount = 0
      for start in 0..<nodeCount where index[unchecked: start] == 0 {
        var entered = start
        repeat {
          if entered >= 0 {
            seen &+= 1
            index[unchecked: entered] = seen
            low[unchecked: entered] = seen
            nextEdge[unchecked: entered] = offsets[unchecked: entered]
            path[unchecked: depth] = UInt32(truncatingIfNeeded: entered)
            depth &+= 1
            open[unchecked: openCount] = UInt32(truncatingIfNeeded: entered)
            openCount &+= 1
            entered = -1
          }
          try check.step()
          let node = Int(path[unchecked: depth &- 1])
          var slot = Int(nextEdge[unchecked: node])
          let end = Int(offsets[unchecked: node &+ 1])
          var lowest = low[unchecked: node]
          while slot < end {
            let next = Int(targets[unchecked: slot])
            slot &+= 1
            let nextIndex = index[unchecked: next]
            if nextIndex == 0 {
              entered = next
              break
            }
            if nextIndex < lowest { lowest = nextIndex }
          }
          low[unchecked: node] = lowest
          nextEdge[unchecked: node] = UInt32(truncatingIfNeeded: slot)
          if entered >= 0 { continue }
          depth &-= 1
          if depth > 0 {
            let parent = Int(path[unchecked: depth &- 1])
            if lowest < low[unchecked: parent] { low[unchecked: parent] = lowest }
          }
          if lowest == index[unchecked: node] {
            var member: Int
            repeat {
              openCount &-= 1
              member = Int(open[unchecked: openCount])
              component[unchecked: member] = count
              index[unchecked: member] = .absent
            } while member != node
            count &+= 1
          }
        } while depth > 0
      }
    }
    self.count = Int(count)
    self.componentByNode = componentByNode

    var first = [UInt32](repeating: 0, count: Int(count) + 1)
    for number in componentByNode { first[Int(number) + 1] &+= 1 }
    for number in 0..<Int(count) { first[number + 1] &+= first[number] }
    var next = first
    var members = [UInt32](repeating: 0, count: nodeCount)
    for node in 0..<nodeCount {
      let number = Int(componentByNode[node])
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
