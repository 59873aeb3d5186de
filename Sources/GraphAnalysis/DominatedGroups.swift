// DominatedGroups: the dominator tree with equal objects folded into one line, so that it can be read.

internal import GraphKit
package import GraphPrimitives
package import HeapGraph
internal import SnapshotFormat

/// Objects of one type that stand at the same place of the dominator tree.
package struct DominatedGroup: Sendable {
  /// How the objects hang on what dominates them.
  package enum Hold: Hashable, Sendable {
    /// A root refers to them.
    case root(RootIndex)

    /// What dominates them refers to them.
    case edge(EdgeIndex)

    /// Several of what it dominates refer to them, or several roots' objects do.
    case several

    /// They are leaked.
    case leaked

    /// Nothing was found that does, which proves no leak: C libraries hide pointers.
    case unknown

    /// They are destroyed; unowned references keep their memory.
    case destroyed

    /// They are what was asked for.
    case asked
  }

  /// The group that dominates them; nil for the world outside.
  package var parent: Int?
  package var hold: Hold

  /// The one that retains most.
  package var representative: NodeIndex

  /// The objects alone, those that others of the group dominate included.
  package var own: Cost

  /// All that would go with them.
  package var retained: Cost

  /// The groups that they dominate, those that retain most first. No one of them retains more; two may
  /// overlap where a folded group stands below one of them once more.
  package var children: [Int]
}

/// The dominator tree, folded.
package struct DominatedGroups: Sendable {
  /// The groups, each after its parent.
  package let groups: [DominatedGroup]

  /// The groups that nothing dominates, or that were asked for; those that retain most first.
  package let tops: [Int]

  /// Folds the dominator tree of a heap.
  ///
  /// Nodes are one group where their dominators are, the same field holds them and they have the same type.
  /// What stands below a node of its own type by the same field, as in a list, is folded into that one's group. What a group
  /// retains is the sum of what its members retain that no other member dominates, so it is exact.
  ///
  /// - Parameter asked: Nodes to begin the tree with, in ascending order; nil for the whole tree.
  /// - Throws: `CancellationError` where `cancel` says so.
  /// - Complexity: O(*V* + *E*).
  package init(
    of graph: HeapGraph, sizes: RetainedSizes, asked: [NodeIndex]? = nil,
    cancel: any CancelSignal = NeverCancelled()
  ) throws(CancellationError) {
    var tree = PlaceTree()
    var names = StepNames()
    var snapshotNames = SnapshotStepNames(graph)
    var isAsked = [Bool](repeating: false, count: asked == nil ? 0 : graph.nodeCount)
    for node in asked ?? [] { isAsked[node.position] = true }
    let rootByNode = asked == nil ? Self._roots(of: graph) : []
    let severalNumber = names.number(of: "\u{0}several")
    let isLeaked =
      asked == nil ? Set(try LeakedPart(of: graph, cancel: cancel).nodes) : []
    let askedNumber = names.number(of: "\u{0}asked")

    var groupByNode = [Int32](repeating: -1, count: graph.nodeCount)
    var groups: [DominatedGroup] = []
    for row in sizes.order {
      let node = NodeIndex(rawValue: row)
      let dominator = sizes.dominator(of: node)
      let above = dominator.map { Int(groupByNode[$0.position]) } ?? -1
      let hold: DominatedGroup.Hold
      let field: Int
      if asked != nil, above < 0 {
        guard isAsked[node.position] else { continue }
        hold = .asked
        field = askedNumber
      } else if let dominator {
        if let edge = Self._edge(from: dominator, to: node, in: graph) {
          hold = .edge(edge)
          field = snapshotNames.field(of: edge, from: dominator, in: &names)
        } else {
          hold = .several
          field = severalNumber
        }
      } else if let root = rootByNode[node.position] {
        hold = .root(root)
        field = snapshotNames.root(root, in: &names)
      } else {
        hold =
          graph.isReachable[node.position]
          ? .several
          : isLeaked.contains(row)
            ? .leaked : graph.state(of: node) == .deinited ? .destroyed : .unknown
        field = hold == .several ? severalNumber : names.number(of: "\u{0}\(hold)")
      }
      let type = snapshotNames.type(of: node, in: &names)
      let place = tree.place(below: above, by: PlaceTree.Step(field: field, type: type))
      groupByNode[node.position] = Int32(place)
      if place == groups.count {
        groups.append(
          DominatedGroup(
            parent: above < 0 ? nil : above, hold: hold, representative: node, own: .zero,
            retained: .zero, children: []))
      }
      groups[place].own += graph.cost(of: node)
    }
    Self._addRetained(to: &groups, groupByNode: groupByNode, sizes: sizes)
    var tops: [Int] = []
    for group in groups.indices {
      if let parent = groups[group].parent {
        groups[parent].children.append(group)
      } else {
        tops.append(group)
      }
    }
    let costs = groups.map(\.retained)
    func isDearer(_ left: Int, _ right: Int) -> Bool {
      let (a, b) = (costs[left], costs[right])
      if a.bytes != b.bytes { return a.bytes > b.bytes }
      return a.count != b.count ? a.count > b.count : left < right
    }
    for group in groups.indices { groups[group].children.sort(by: isDearer) }
    self.groups = groups
    self.tops = tops.sorted(by: isDearer)
  }

  /// Adds up what the members of each group retain that no other member dominates: below one of them all is
  /// counted with that one already.
  ///
  /// - Complexity: O(*V*).
  private static func _addRetained(
    to groups: inout [DominatedGroup], groupByNode: [Int32], sizes: RetainedSizes
  ) {
    let count = groupByNode.count
    // The nodes that each node dominates immediately, and last those that none does.
    var edges: [(from: UInt32, to: UInt32)] = []
    edges.reserveCapacity(count)
    for node in 0..<count { edges.append((sizes.dominatorByNode[node], UInt32(node))) }
    let children = CSRGraph(nodeCount: count + 1, edges: edges)
    var openCount = [Int](repeating: 0, count: groups.count)
    var best = [ByteCount](repeating: ByteCount(-1), count: groups.count)
    var pending: [(node: UInt32, isLeft: Bool)] = children.successors(of: UInt32(count)).map {
      ($0, false)
    }
    while let (node, isLeft) = pending.popLast() {
      let group = Int(groupByNode[Int(node)])
      if isLeft {
        openCount[group] -= 1
        continue
      }
      if group >= 0 {
        if openCount[group] == 0 {
          let retained = sizes.retained(by: NodeIndex(rawValue: node))
          groups[group].retained += retained
          // Of equal ones the first in order of address is told.
          if retained.bytes > best[group]
            || retained.bytes == best[group] && node < groups[group].representative.rawValue
          {
            best[group] = retained.bytes
            groups[group].representative = NodeIndex(rawValue: node)
          }
        }
        openCount[group] += 1
        pending.append((node, true))
      }
      for child in children.successors(of: node) { pending.append((child, false)) }
    }
  }

  /// The first root of each node that has one; variables before stacks and registers.
  private static func _roots(of graph: HeapGraph) -> [RootIndex?] {
    var roots = [RootIndex?](repeating: nil, count: graph.nodeCount)
    for slot in graph.firstRootSlot..<graph.strong.edgeCount {
      let root = RootIndex(rawValue: graph.rowBySlot[slot])
      let target = Int(graph.strong.targets[slot])
      if let known = roots[target],
        EdgeCosts.cost(of: graph.kind(of: known)) <= EdgeCosts.cost(of: graph.kind(of: root))
      {
        continue
      }
      roots[target] = root
    }
    return roots
  }

  /// The first strong edge between two nodes.
  private static func _edge(
    from holder: NodeIndex, to node: NodeIndex, in graph: HeapGraph
  ) -> EdgeIndex? {
    let places = graph.holders.graph.edges(from: node.rawValue)
    // Holders are in ascending order.
    var low = places.lowerBound
    var high = places.upperBound
    while low < high {
      let middle = (low + high) / 2
      if graph.holders.graph.targets[middle] < holder.rawValue {
        low = middle + 1
      } else {
        high = middle
      }
    }
    guard low < places.upperBound, graph.holders.graph.targets[low] == holder.rawValue else {
      return nil
    }
    return EdgeIndex(rawValue: graph.rowBySlot[Int(graph.holders.edgeBySlot[low])])
  }
}
