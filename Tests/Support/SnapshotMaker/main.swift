// SnapshotMaker: writes a large snapshot of a made-up program, for figures.
//
//     SnapshotMaker 1000000 3000000 FILE.mgraph
//
// A tree with local references, hubs with many holders, references back and far, weak ones, containers, closures,
// stacks, generations, and leaked cycles: one object in 200. As in a real program a type has its own fields, and is made in
// some places only.

import Glibc
import GraphPrimitives
import SnapshotDSL
import SnapshotFormat

/// A program of any size that is the same for the same numbers.
struct MadeUpProgram {
  private static let hubCount = 200
  private static let generations: UInt16 = 5

  /// In how many places objects of a type are made, and how many names of fields there are.
  private static let sitesByType = 24
  private static let fieldCount = 800

  private var random = SeededGenerator(seed: 1)
  private var builder = SnapshotBuilder()
  private var holders: [UInt32]
  private var degrees: [Int]
  private let nodeCount: Int
  private let firstLeaked: Int

  init(nodeCount: Int, edgeCount: Int) {
    self.nodeCount = max(nodeCount, 1_000)
    firstLeaked = self.nodeCount - self.nodeCount / 200
    holders = [UInt32](repeating: 0, count: self.nodeCount)
    degrees = [Int](repeating: 0, count: self.nodeCount)
    builder.process = Snapshot.ProcessFacts(
      pid: 4711, executable: "/app/MadeUp", source: "twin", hasAgent: true, stackMode: "fast",
      runIdentity: 1, memory: ["resident": UInt64(nodeCount) * 160, "liveSwift": 1 << 20])
    addNodes()
    addRoots()
    addEdges(count: edgeCount)
    for generation in 0..<Self.generations {
      builder.marks.append(
        Snapshot.Mark(
          name: "round-\(generation + 1)", generation: generation,
          time: UInt64(generation) * 1_000_000_000))
    }
    builder.process.mark = "round-\(Self.generations)"
    for node in builder.nodes.indices where builder.nodes[node].kind != .block {
      builder.nodes[node].strongCount = holders[node]
    }
  }

  consuming func snapshot() -> Snapshot { builder.finish() }

  private mutating func addNodes() {
    let stacks = makeStacks()
    let types = (0..<300).map { place -> (TypeIndex, NodeKind) in
      switch place % 10 {
      case 0, 1:
        return (
          builder.type("Swift._ContiguousArrayStorage<App.Model\(place)>", module: "Swift"),
          .storage
        )
      case 2: return (builder.type("closure context"), .closureContext)
      case 3: return (builder.type("malloc block"), .block)
      default:
        return (builder.type("App.Module\(place % 17).Model\(place)", module: "App"), .object)
      }
    }
    var address: UInt64 = 0x7F00_0000_0000
    for node in 0..<nodeCount {
      // Few types make up most of a heap.
      let (type, kind) = types[Int.random(in: 0..<types.count, using: &random) * (node % 3) / 2]
      let size =
        UInt64(Int.random(in: 1...12, using: &random)) * 16
        + (kind == .storage ? UInt64(Int.random(in: 0...100, using: &random)) * 16 : 0)
      _ = builder.add(
        SnapshotBuilder.Node(
          address: address, size: size, type: type, kind: kind,
          stack: stacks[
            (type.position * Self.sitesByType
              + Int.random(in: 0..<Self.sitesByType, using: &random)) % stacks.count],
          generation: UInt16(node * Int(Self.generations) / nodeCount)))
      address += size + 16
      if node % 64 == 0 { address += UInt64(Int.random(in: 0...64, using: &random)) * 16 }
    }
  }

  /// Some thousand stacks that share their outer frames.
  private mutating func makeStacks() -> [StackIndex] {
    var rows: [UInt32] = [0]
    for depth in 1...8_000 {
      builder.stackParents.append(depth < 4 ? UInt32(depth - 1) : random.pick(rows.suffix(2_000)))
      builder.stackPCs.append(0x40_0000 + UInt64(Int.random(in: 0...3_000, using: &random)) * 16)
      rows.append(UInt32(depth))
    }
    return rows.suffix(6_000).map { StackIndex(rawValue: $0) }
  }

  private mutating func addRoots() {
    for hub in 0..<Self.hubCount {
      builder.addRoot(.global, to: UInt32(hub), address: 0x50_0000 + UInt64(hub) * 8)
      holders[hub] += 1
    }
    for _ in 0..<4_000 {
      let target = UInt32(Int.random(in: 0..<firstLeaked, using: &random))
      builder.addRoot(.stack, to: target, address: 0x7FFF_0000_0000, provenance: .scanned)
      holders[Int(target)] += 1
    }
  }

  private mutating func addEdges(count: Int) {
    let fields = (0..<Self.fieldCount).map { builder.label("field\($0)") }
    let elements = (0..<256).map { builder.label("", index: UInt32($0)) }
    func label(_ node: Int) -> LabelIndex {
      let place = degrees[node]
      degrees[node] += 1
      if builder.nodes[node].kind == .storage { return elements[place % elements.count] }
      return fields[(builder.nodes[node].type.position * 5 + place) % fields.count]
    }
    // Each node but the hubs hangs on one a bit before it, so that all of them are reached.
    for node in Self.hubCount..<firstLeaked {
      let parent = max(0, node - 1 - Int.random(in: 0...60, using: &random))
      add(from: parent, to: node, label(parent))
    }
    // Rings of five: what leaked.
    for node in firstLeaked..<nodeCount {
      let ring = firstLeaked + (node - firstLeaked) / 5 * 5
      add(from: node, to: min(nodeCount - 1, ring + (node - ring + 1) % 5), fields[0])
    }
    while builder.edges.count < count {
      let node = Int.random(in: 0..<firstLeaked, using: &random)
      let near = Int.random(in: 1...60, using: &random)
      let target =
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<72: min(firstLeaked - 1, node + near)
        case 72..<82: max(0, node - near)
        case 82..<92: Int.random(in: 0..<firstLeaked, using: &random)
        default: Int.random(in: 0..<Self.hubCount, using: &random)
        }
      let isWeak = Int.random(in: 0..<12, using: &random) == 0
      add(from: node, to: target, label(node), isWeak ? .weak : .strong)
    }
  }

  private mutating func add(
    from: Int, to: Int, _ label: LabelIndex, _ strength: EdgeStrength = .strong
  ) {
    builder.addEdge(
      from: UInt32(from), to: UInt32(to), label: label, strength: strength, provenance: .reflected)
    if strength == .strong { holders[to] += 1 }
  }
}

let words = CommandLine.arguments
guard words.count == 4, let nodes = Int(words[1]), let edges = Int(words[2]) else {
  let usage = "usage: SnapshotMaker NODES REFERENCES FILE\n"
  _ = write(STDERR_FILENO, usage, usage.utf8.count)
  exit(2)
}
try MadeUpProgram(nodeCount: nodes, edgeCount: edges).snapshot().write(to: words[3])
