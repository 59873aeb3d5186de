// ViewHeap: seeded snapshots with everything that the viewer's data describes.

import GraphPrimitives
import SnapshotDSL
import SnapshotFormat

/// Makes snapshots that are random but for their seed, with every kind of row that the viewer's data has.
enum ViewHeap {
  static func make(seed: UInt64) -> SnapshotDSL {
    var random = SeededGenerator(seed: seed)
    var heap = SnapshotDSL()
    let stacks = [
      StackIndex.none, heap.stack(0x10, 0x20), heap.stack(0x30, 0x20), heap.stack(0x40),
    ]
    var nodes: [SnapshotDSL.Node] = []
    for place in 0..<Int.random(in: 1...24, using: &random) {
      let stack = random.pick(stacks)
      let generation = UInt16.random(in: 0...3, using: &random)
      switch Int.random(in: 0..<14, using: &random) {
      case 0: nodes.append(heap.storage(generation: generation, stack: stack))
      case 1: nodes.append(heap.box(generation: generation, stack: stack))
      case 2: nodes.append(heap.closureContext(generation: generation, stack: stack))
      case 3: nodes.append(heap.block(bytes: 8, generation: generation, stack: stack))
      case 4: nodes.append(heap.resource("Handle \(place % 2)", stack: stack))
      case 5:
        nodes.append(
          heap.object(
            "App.Gone", generation: generation, strongCount: 0, unownedCount: 1, state: .deinited,
            stack: stack))
      case 6: nodes.append(heap.object("App.Going", strongCount: 0, state: .deiniting))
      case 7: nodes.append(heap.object("App.A", generation: generation, name: "the one"))
      case 8: nodes.append(heap.node(.runtime, "metadata", module: ""))
      default:
        nodes.append(
          heap.object(
            "App." + random.pick(["A", "B", "C"]),
            bytes: UInt64.random(in: 16...300, using: &random), generation: generation,
            weakCount: UInt32.random(in: 0...2, using: &random), stack: stack))
      }
    }
    for from in nodes {
      for _ in 0..<Int.random(in: 0...3, using: &random) {
        let label = random.pick([
          "next", "parent.child", "[1]", "[3].handler", "[_]", "", "capture[0]", "capture[1].name",
        ])
        heap.edge(
          from, label, to: random.pick(nodes),
          function: label == "next" && Bool.random(using: &random) ? 0x9000 : 0,
          strength: random.pick([.strong, .strong, .strong, .strong, .weak, .unowned, .unmanaged]),
          provenance: random.pick([.reflected, .scanned, .declared]))
      }
    }
    for _ in 0..<Int.random(in: 0...3, using: &random) {
      heap.root(
        random.pick([.global, .stack, .task, .declared]), address: 0x1000, to: random.pick(nodes),
        strength: random.pick([.strong, .strong, .weak]))
    }
    for generation in 0..<3 { heap.mark("m\(generation)", generation: UInt16(generation)) }
    return heap
  }

  /// A label as reports write it.
  static func text(ofLabel row: Int, in snapshot: Snapshot) -> String {
    let name = snapshot.strings[snapshot.labels.name[row]]
    switch snapshot.labels.index[row] {
    case Snapshot.Labels.noIndex: return name
    case Snapshot.Labels.anyIndex: return name.isEmpty ? "[_]" : "[_]." + name
    case let index: return name.isEmpty ? "[\(index)]" : "[\(index)]." + name
    }
  }
}
