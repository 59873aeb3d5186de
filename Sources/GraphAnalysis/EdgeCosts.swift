// EdgeCosts: which of several ways between two nodes is the one to show.

internal import GraphKit
internal import GraphPrimitives
package import HeapGraph
internal import SnapshotFormat

/// What each edge of a graph costs for shortest paths, by slot.
///
/// A path's cost orders paths by what a reader wants to see: first by the number of steps, folded storage
/// counting for little; among equally long ones those with fewer scanned words, then those with more
/// names. A global variable says more than a thread's stack, registers or own data, which may have
/// borrowed the object only: those are taken where all other ways are more than two steps longer.
package enum EdgeCosts {
  static let step: UInt8 = 16
  static let foldedStep: UInt8 = 2
  static let scanned: UInt8 = 2
  static let unnamed: UInt8 = 1

  /// What a root costs.
  static func cost(of kind: RootKind) -> UInt8 {
    switch kind {
    case .global, .declared: 1
    case .task: 3
    case .mapped: 4
    case .runtime: 6
    case .stack, .register, .threadLocal: 2 * step + 2
    }
  }

  /// What a reference costs that does not own what it leads to: it is taken where there is no other way.
  static let nonOwner: UInt8 = 250

  /// The costs of all edges of a graph; edges for which `isClosed` holds are closed.
  ///
  /// - Parameter nonOwners: References that are ways only where there is no other.
  package static func all(
    in graph: HeapGraph, nonOwners: [FieldPattern] = [],
    isClosed: ((StrongReference) -> Bool)? = nil
  ) -> [UInt8] {
    let snapshot = graph.snapshot
    var isUnnamed = [Bool](repeating: false, count: snapshot.labels.count)
    for row in 0..<snapshot.labels.count {
      isUnnamed[row] =
        snapshot.labels.name[row] == 0 && snapshot.labels.function[row] == 0
        && snapshot.labels.index[row] == Snapshot.Labels.noIndex
    }
    var costs = [UInt8](repeating: 0, count: graph.strong.edgeCount)
    for node in 0..<UInt32(graph.nodeCount) {
      let slots = graph.strong.edges(from: node)
      if slots.isEmpty { continue }
      let base = graph.kind(of: NodeIndex(rawValue: node)).isFolded ? foldedStep : step
      for slot in slots {
        let row = Int(graph.rowBySlot[slot])
        var cost = base
        if EdgeInfo(rawValue: snapshot.edges.info[row]).provenance == .scanned { cost += scanned }
        if isUnnamed[Int(snapshot.edges.label[row])] { cost += unnamed }
        costs[slot] = cost
      }
    }
    for slot in graph.firstRootSlot..<graph.strong.edgeCount {
      costs[slot] = cost(of: graph.kind(of: RootIndex(rawValue: graph.rowBySlot[slot])))
    }
    let isNonOwner = graph.edges(matching: nonOwners)
    if !isNonOwner.isEmpty {
      for slot in 0..<graph.firstRootSlot where isNonOwner[Int(graph.rowBySlot[slot])] {
        costs[slot] = nonOwner
      }
    }
    if let isClosed {
      for slot in costs.indices where isClosed(graph.reference(atSlot: UInt32(slot))) {
        costs[slot] = ShortestPathForest.closed
      }
    }
    return costs
  }
}
