// FindingSlice: the part of a graph that a reader of its findings needs.

internal import GraphKit
package import GraphPrimitives
package import HeapGraph
internal import SnapshotFormat

/// The nodes that a reader of findings needs, ascending: what is leaked, the findings' own nodes, and what
/// holds those: a shortest way from a root, all dominators, and some of the direct holders; of what the
/// told nodes hold themselves some, too.
///
/// - Parameter leaked: All leaked nodes.
/// - Throws: `CancellationError` where `cancel` says so.
/// - Complexity: O(*V* + *E*).
package func findingSlice(
  of findings: [Finding], leaked: [NodeIndex], in graph: HeapGraph, sizes: RetainedSizes,
  cancel: any CancelSignal = NeverCancelled()
) throws(CancellationError) -> [NodeIndex] {
  var told: Set<NodeIndex> = []
  for finding in findings {
    told.insert(finding.representative)
    told.formUnion(finding.members.prefix(_mostMembers))
    let steps = finding.cycle + (finding.path?.steps ?? [])
    for step in steps + finding.cuts.flatMap({ [$0.step] + $0.together.map(\.step) }) {
      told.insert(step.node)
      told.formUnion(step.edges.map { graph.target(of: $0) })
    }
  }

  var isKept = [Bool](repeating: false, count: graph.nodeCount + 1)
  for node in leaked { isKept[node.position] = true }
  let forest = try BreadthFirstForest(of: graph.strong, from: [graph.outside], cancel: cancel)
  // Where a way meets one that is kept already, the rest of it is kept, too.
  func keepWay(to node: UInt32, seen: inout [Bool], by parent: [UInt32]) {
    var node = Int(node)
    while node < graph.nodeCount, !seen[node] {
      seen[node] = true
      isKept[node] = true
      node = Int(parent[node])
    }
  }
  var isOnWay = [Bool](repeating: false, count: graph.nodeCount)
  var isDominator = isOnWay
  for node in told.sorted() {
    isKept[node.position] = true
    if forest.parentByNode[node.position] != .absent {
      keepWay(to: node.rawValue, seen: &isOnWay, by: forest.parentByNode)
    }
    keepWay(to: node.rawValue, seen: &isDominator, by: sizes.dominatorByNode)
    for holder in graph.holders.graph.successors(of: node.rawValue).prefix(_mostNeighbours) {
      isKept[Int(holder)] = true
    }
    for row in graph.edges(of: node).prefix(_mostNeighbours) {
      isKept[graph.target(of: EdgeIndex(row)).position] = true
    }
  }
  return graph.nodes.filter { isKept[$0.position] }
}

/// How many members of a finding are told.
private let _mostMembers = 1_000

/// How many holders and how many held nodes of a told node are kept.
private let _mostNeighbours = 24
