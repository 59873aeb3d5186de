// RandomShop: seeded snapshots with all kinds of nodes and references, some leaked, some held twice.

import SnapshotDSL
import SnapshotFormat

/// Makes snapshots that are random but for their seed.
enum RandomShop {
  static func make(seed: UInt64, nodeCount: Int = 30) -> Snapshot {
    var random = SeededGenerator(seed: seed)
    var heap = SnapshotDSL()
    let stacks = [heap.stack(0x8001, 0x8100, 0x8200), heap.stack(0x8110, 0x8200), heap.stack()]
    var nodes: [SnapshotDSL.Node] = []
    for _ in 0..<Int.random(in: 1...nodeCount, using: &random) {
      let stack = random.pick(stacks)
      let generation = UInt16.random(in: 0..<3, using: &random)
      switch Int.random(in: 0..<12, using: &random) {
      case 0, 1: nodes.append(heap.storage(generation: generation, stack: stack))
      case 2: nodes.append(heap.box(generation: generation))
      case 3: nodes.append(heap.closureContext(generation: generation, stack: stack))
      case 4: nodes.append(heap.block(bytes: 100, generation: generation, stack: stack))
      case 5: nodes.append(heap.resource("Handle"))
      case 6:
        nodes.append(
          heap.object("App.Ghost", strongCount: 0, unownedCount: 1, state: .deinited))
      case 7: nodes.append(heap.object("App.Last", generation: generation, state: .deiniting))
      default:
        nodes.append(
          heap.object(
            "App.\(random.pick(["A", "B", "C", "List<Swift.Int>"]))",
            bytes: UInt64.random(in: 16...256, using: &random), generation: generation,
            stack: stack))
      }
    }
    for from in nodes {
      for _ in 0..<Int.random(in: 0...3, using: &random) {
        heap.edge(
          from, random.pick(["next", "parent", "[1]", "[_].owner", "capture[0]", "", "+8", "+16"]),
          to: random.pick(nodes), function: random.pick([0, 0, 0, 0x9000]),
          strength: random.pick([.strong, .strong, .strong, .weak, .unowned, .unmanaged]),
          provenance: random.pick([.reflected, .scanned, .declared]))
      }
    }
    for place in 0..<UInt64.random(in: 0...3, using: &random) {
      heap.root(
        random.pick([.global, .stack, .task, .declared]), address: 0x5000 + place * 8,
        to: random.pick(nodes),
        strength: Int.random(in: 0..<5, using: &random) == 0 ? .weak : .strong)
    }
    for generation in 0..<UInt16(3) { heap.mark("mark \(generation)", generation: generation) }
    return heap.snapshot()
  }
}
