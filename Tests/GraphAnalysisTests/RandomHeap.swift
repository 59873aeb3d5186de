// RandomHeap: small seeded snapshots with objects, storage, boxes, closures, blocks and roots.

import SnapshotDSL
import SnapshotFormat

/// Makes small snapshots that are random but for their seed.
enum RandomHeap {
  /// A snapshot of up to 12 nodes.
  ///
  /// - Parameter hasExtraRetains: Whether some objects have more retains than holders.
  static func make(seed: UInt64, hasExtraRetains: Bool = false) -> SnapshotDSL {
    var random = SeededGenerator(seed: seed)
    var heap = SnapshotDSL()
    var nodes = [heap.object("App.A")]
    for _ in 0..<Int.random(in: 0...11, using: &random) {
      switch Int.random(in: 0..<10, using: &random) {
      case 0: nodes.append(heap.storage())
      case 1: nodes.append(heap.box())
      case 2: nodes.append(heap.closureContext())
      case 3: nodes.append(heap.block())
      case 4: nodes.append(heap.resource("Handle"))
      default:
        nodes.append(
          heap.object(
            "App.\(["A", "B", "C"][Int.random(in: 0..<3, using: &random)])",
            bytes: UInt64.random(in: 16...256, using: &random)))
      }
    }
    for from in nodes {
      for _ in 0..<Int.random(in: 0...2, using: &random) {
        guard let to = nodes.randomElement(using: &random) else { continue }
        heap.edge(
          from, ["next", "parent", "[1]", ""][Int.random(in: 0..<4, using: &random)], to: to,
          strength: Int.random(in: 0..<6, using: &random) == 0 ? .weak : .strong,
          provenance: Bool.random(using: &random) ? .reflected : .scanned)
      }
    }
    for _ in 0..<Int.random(in: 0...2, using: &random) {
      guard let to = nodes.randomElement(using: &random) else { continue }
      heap.root(
        [.global, .stack, .task][Int.random(in: 0..<3, using: &random)], address: 0x1000, to: to)
    }
    if hasExtraRetains, let one = nodes.randomElement(using: &random) {
      heap.builder.nodes[Int(one.provisionalRow)].strongCount = 7
    }
    return heap
  }
}
