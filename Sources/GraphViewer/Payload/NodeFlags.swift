// NodeFlags: what the analysis says of each node, in a byte.

internal import GraphAnalysis
internal import GraphPrimitives
internal import HeapGraph
internal import SnapshotFormat

/// What `node.flags` says of each node.
struct NodeFlags {
  private(set) var byRow: [UInt8]

  private static let leaked: UInt8 = 1 << 2
  private static let born: UInt8 = 1 << 3
  private static let unattributed: UInt8 = 1 << 4
  private static let heldOtherwise: UInt8 = 1 << 5

  init(_ input: ViewerInput) {
    let graph = input.graph
    byRow = Array(graph.snapshot.nodes.state)
    for node in input.leaks.leakedNodes { byRow[node.position] |= Self.leaked }
    for node in input.change?.born ?? [] { byRow[node.position] |= Self.born }
    for node in input.leaks.unattributedNodes { byRow[node.position] |= Self.unattributed }
    for node in graph.heldWithoutRoot { byRow[node.position] |= Self.heldOtherwise }
  }
}
