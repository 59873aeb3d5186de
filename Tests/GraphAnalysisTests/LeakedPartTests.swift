// LeakedPartTests: what is leaked, who is to blame and what would be freed, against brute force.

import GraphKit
import GraphPrimitives
import HeapGraph
import SnapshotDSL
import SnapshotFormat
import Testing

@testable import GraphAnalysis

@Suite struct LeakedPartTests {
  /// What some nodes reach over strong edges, by going round until nothing is added.
  static func reached(
    from starts: [NodeIndex], in snapshot: Snapshot, without closed: Set<UInt32> = []
  ) -> Set<UInt32> {
    var reached = Set(starts.map(\.rawValue)).subtracting(closed)
    var grew = true
    while grew {
      grew = false
      for node in 0..<snapshot.nodes.count where reached.contains(UInt32(node)) {
        for row in Int(snapshot.edges.firstEdge[node])..<Int(snapshot.edges.firstEdge[node + 1])
        where EdgeInfo(rawValue: snapshot.edges.info[row]).strength == .strong {
          let target = snapshot.edges.target[row]
          if !closed.contains(target) && reached.insert(target).inserted { grew = true }
        }
      }
    }
    return reached
  }

  @Test(
    "Leaked is what no root reaches; culprits are what nothing leaked holds, and cycles",
    arguments: 0..<300 as Range<UInt64>)
  func leakedAndCulprits(seed: UInt64) throws {
    let snapshot = RandomHeap.make(seed: seed).snapshot()
    let graph = try HeapGraph(snapshot)
    let roots = (0..<snapshot.roots.count).map { NodeIndex(rawValue: snapshot.roots.target[$0]) }
    let live = Self.reached(from: roots, in: snapshot)
    let isSwift = { (node: UInt32) in
      let kind = graph.kind(of: NodeIndex(rawValue: node))
      return kind.isCounted || kind == .resource
    }
    let lost = (0..<UInt32(snapshot.nodes.count)).filter { !live.contains($0) }
    let leaked = Self.reached(
      from: lost.filter(isSwift).map { NodeIndex(rawValue: $0) }, in: snapshot
    ).subtracting(live)
    let report = try leaks(in: graph)
    #expect(report.leaked.total.count == leaked.count, "seed \(seed)")
    #expect(
      report.unattributedBlocks.count == lost.count - leaked.count, "seed \(seed)")

    // A culprit that is no cycle is led to by nobody leaked; all together drag along the rest.
    let culprits = report.findings.flatMap(\.members)
    for finding in report.findings where finding.cycle.isEmpty {
      let culprit = finding.representative
      let below = Self.reached(from: [culprit], in: snapshot)
      for other in leaked where !below.contains(other) {
        #expect(
          !Self.reached(from: [NodeIndex(rawValue: other)], in: snapshot).contains(
            culprit.rawValue),
          "seed \(seed): \(other) drags along \(culprit)")
      }
    }
    #expect(
      Self.reached(from: culprits, in: snapshot).subtracting(live) == leaked, "seed \(seed)")

    // A group retains its own components, and what the other groups don't reach around them.
    for finding in report.findings {
      let own = leaked.filter { node in
        finding.members.contains { member in
          member.rawValue == node
            || Self.reached(from: [member], in: snapshot).contains(node)
              && Self.reached(from: [NodeIndex(rawValue: node)], in: snapshot).contains(
                member.rawValue)
        }
      }
      let others = report.findings.filter { $0.representative != finding.representative }
      let kept = Self.reached(from: others.flatMap(\.members), in: snapshot, without: Set(own))
      let gone = leaked.filter { !kept.contains($0) }
      #expect(
        finding.retained == graph.cost(of: gone.map { NodeIndex(rawValue: $0) }), "seed \(seed)")
    }

    // A cycle goes round from the representative to itself along its edges.
    for finding in report.findings where !finding.cycle.isEmpty {
      var node = finding.representative
      for step in finding.cycle {
        #expect(step.node == node)
        for edge in step.edges {
          #expect(graph.source(of: edge) == node && graph.info(of: edge).isStrong)
          node = graph.target(of: edge)
        }
      }
      #expect(node == finding.representative)
    }
  }

  @Test(
    "Reference counting frees what a runtime would, one release at a time",
    arguments: 0..<300 as Range<UInt64>)
  func referenceCounting(seed: UInt64) throws {
    let snapshot = RandomHeap.make(seed: seed, hasExtraRetains: seed % 2 == 0).snapshot()
    let graph = try HeapGraph(snapshot)
    var counting = ReferenceCounting(of: graph)
    var random = SeededGenerator(seed: seed)
    for _ in 0..<4 {
      let cut = (0..<graph.strong.edgeCount).filter { _ in
        Int.random(in: 0..<4, using: &random) == 0
      }

      // The oracle: count, release, and destroy what has reached zero until nothing has.
      var counts = (0..<graph.nodeCount).map { node -> Int in
        let found = graph.strong.targets.count { Int($0) == node }
        return max(found, Int(graph.strongCount(of: NodeIndex(node)) ?? 0))
      }
      var held = Set(0..<graph.strong.edgeCount)
      var freed: Set<UInt32> = []
      var touched: Set<Int> = []
      for slot in cut {
        held.remove(slot)
        counts[Int(graph.strong.targets[slot])] -= 1
        touched.insert(Int(graph.strong.targets[slot]))
      }
      while let node = touched.first(where: { counts[$0] == 0 && !freed.contains(UInt32($0)) }) {
        freed.insert(UInt32(node))
        for slot in graph.strong.edges(from: UInt32(node)) where held.remove(slot) != nil {
          counts[Int(graph.strong.targets[slot])] -= 1
          touched.insert(Int(graph.strong.targets[slot]))
        }
      }
      let found = counting.freed(byCutting: cut.map { UInt32($0) })
      #expect(Set(found) == freed && found.count == freed.count, "seed \(seed), cut \(cut)")
    }
  }

  @Test(
    "Something is proposed that frees a leak's own objects, and nothing that frees more than is leaked",
    arguments: 0..<200 as Range<UInt64>)
  func proposals(seed: UInt64) throws {
    let graph = try HeapGraph(
      RandomHeap.make(seed: seed, hasExtraRetains: seed % 3 == 0).snapshot())
    for finding in try leaks(in: graph).findings where finding.kind == .leak {
      #expect(!finding.cuts.isEmpty, "seed \(seed)")
      for cut in finding.cuts {
        #expect(cut.frees.count <= finding.retained.count, "seed \(seed)")
      }
      // Something frees the finding's own objects, whatever holds them.
      let most = finding.cuts.map(\.frees.count).max() ?? 0
      #expect(most >= finding.members.count, "seed \(seed)")
    }
  }
}
