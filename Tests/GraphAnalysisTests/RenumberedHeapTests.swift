// RenumberedHeapTests: what is found does not depend on where objects lie in memory, nor on how many of the same there are.

import GraphPrimitives
import HeapGraph
import SnapshotDSL
import SnapshotFormat
import Testing

@testable import GraphAnalysis

/// A heap that is written down once and can be laid out in memory in many ways.
struct HeapPlan {
  struct Node {
    var kind: NodeKind
    var type: String
    var bytes: UInt64
    var extraRetains: UInt32 = 0
    var isDestroyed = false
    var stack: Int
    var generation: UInt16
  }

  struct Edge {
    var from: Int
    var to: Int
    var label: String
    var function: UInt64
    var strength: EdgeStrength
    var provenance: EdgeProvenance
  }

  var nodes: [Node] = []
  var edges: [Edge] = []
  var roots: [Int] = []

  /// The same several times, without references between.
  func repeated(_ count: Int) -> HeapPlan {
    var plan = HeapPlan()
    for copy in 0..<count {
      let first = copy * nodes.count
      plan.nodes += nodes
      plan.edges += edges.map { edge in
        var edge = edge
        edge.from += first
        edge.to += first
        return edge
      }
      plan.roots += roots.map { $0 + first }
    }
    return plan
  }

  /// A random plan, in which few names make many things equally good.
  ///
  /// - Parameter hasLiving: Whether roots, destroyed objects and retains without a holder are among it.
  init(seed: UInt64, hasLiving: Bool) {
    var random = SeededGenerator(seed: seed)
    func chance(_ of: Int) -> Bool { Int.random(in: 0..<of, using: &random) == 0 }
    let types = ["App.A", "App.B", "App.C", "Foundation.Timer2"]
    for _ in 0..<Int.random(in: 2...14, using: &random) {
      var node = Node(
        kind: .object, type: types[Int.random(in: 0..<types.count, using: &random)],
        bytes: chance(3) ? 64 : 32, stack: Int.random(in: 0..<3, using: &random), generation: 0)
      switch Int.random(in: 0..<12, using: &random) {
      case 0: (node.kind, node.type) = (.storage, "Swift._ContiguousArrayStorage<App.A>")
      case 1: (node.kind, node.type) = (.box, "box")
      case 2, 3: (node.kind, node.type) = (.closureContext, "closure context")
      case 4: (node.kind, node.type) = (.block, "malloc")
      default: break
      }
      if hasLiving, node.kind == .object {
        if chance(9) { node.extraRetains = 1 }
        if chance(7) { node.isDestroyed = true }
      }
      nodes.append(node)
    }
    for from in nodes.indices {
      for _ in 0..<Int.random(in: 0...3, using: &random) {
        let to = Int.random(in: nodes.indices, using: &random)
        let strength: EdgeStrength =
          nodes[to].isDestroyed ? .unowned : chance(8) ? .weak : .strong
        edges.append(
          Edge(
            from: from, to: to,
            label: ["next", "delegate", "items", "[_]", "", "capture[0].self"][
              Int.random(in: 0..<6, using: &random)],
            function: chance(4) ? 0x40_1000 + 16 * UInt64.random(in: 0..<3, using: &random) : 0,
            strength: strength, provenance: chance(3) ? .scanned : .reflected))
      }
    }
    if hasLiving {
      for _ in 0..<Int.random(in: 0...1, using: &random) {
        let to = Int.random(in: nodes.indices, using: &random)
        if !nodes[to].isDestroyed { roots.append(to) }
      }
    }
  }

  init() {}

  /// The heap with its objects, references and names in an order that follows from a seed; 0 for the one of the plan.
  func laidOut(seed: UInt64) throws -> HeapGraph {
    var random = SeededGenerator(seed: seed)
    func order(_ count: Int) -> [Int] {
      seed == 0 ? Array(0..<count) : Array(0..<count).shuffled(using: &random)
    }
    var heap = SnapshotDSL()
    let places = order(nodes.count)
    var made: [Int: SnapshotDSL.Node] = [:]
    for number in order(nodes.count) {
      let node = nodes[number]
      let found =
        edges.count { $0.to == number && $0.strength == .strong }
        + roots.count { $0 == number }
      let stack = heap.stack(0x1000 + UInt64(node.stack) * 16, 0x2000)
      let isCounted = node.kind != .block
      made[number] = heap.node(
        node.kind, node.type, bytes: node.bytes, generation: node.generation,
        strongCount: !isCounted
          ? nil : node.isDestroyed ? 0 : UInt32(found) + node.extraRetains,
        unownedCount: node.isDestroyed ? 1 : 0, state: node.isDestroyed ? .deinited : .live,
        stack: stack, address: 0x10_0000 + UInt64(places[number]) * 0x1000)
    }
    for number in order(edges.count) {
      let edge = edges[number]
      guard let from = made[edge.from], let to = made[edge.to] else { continue }
      heap.edge(
        from, edge.label, to: to, function: edge.function, strength: edge.strength,
        provenance: edge.provenance)
    }
    for number in order(roots.count) {
      guard let to = made[roots[number]] else { continue }
      heap.root(.global, address: 0x9000 + UInt64(number) * 8, to: to)
    }
    return try HeapGraph(heap.snapshot())
  }
}

@Suite struct RenumberedHeapTests {
  private static func text(of step: ReferenceStep, in graph: HeapGraph) -> String {
    let function = graph.function(of: step).map { "@\(String($0, radix: 16))" } ?? ""
    return graph.typeName(of: step.node) + "." + graph.foldedField(of: step) + function
  }

  private static func text(of cut: CutProposal, in graph: HeapGraph) -> String {
    let parts =
      [CutProposal.Part(step: cut.step, advice: cut.advice, reason: cut.reason)] + cut.together
    let others = cut.otherHolders.map { other -> String in
      let holder =
        switch other.holder {
        case .reference(let step): text(of: step, in: graph)
        case .root: "root"
        case .unexplainedRetain: "retain"
        }
      return "\(other.count) \(graph.typeName(of: other.kept)) by \(holder)"
    }
    return parts.map { "\(text(of: $0.step, in: graph)) \($0.advice) \($0.reason)" }.joined(
      separator: " and ") + " frees \(cut.frees.count) \(cut.frees.bytes.rawValue) \(others)"
  }

  /// All that a report says of some findings but for addresses.
  static func texts(of findings: [Finding], in graph: HeapGraph) -> [String] {
    findings.map { finding in
      let path = finding.path?.steps.map { text(of: $0, in: graph) } ?? []
      return "\(finding.kind) \(finding.fingerprint) \(graph.typeName(of: finding.representative))"
        + " \(finding.own.count) \(finding.own.bytes.rawValue)"
        + " \(finding.retained.count) \(finding.retained.bytes.rawValue)"
        + " cycle \(finding.cycle.map { text(of: $0, in: graph) }) path \(path)"
        + " cuts \(finding.cuts.map { text(of: $0, in: graph) })"
    }
  }

  @Test(
    "Wherever objects lie, the same is found: ids, counts, cycles, cuts and their order",
    arguments: stride(from: UInt64(0), to: 800, by: 50).map { $0..<$0 + 50 })
  func layouts(seeds: Range<UInt64>) throws {
    for seed in seeds {
      let plan = HeapPlan(seed: seed, hasLiving: seed % 2 == 1).repeated(Int(seed % 3) + 1)
      let first = try plan.laidOut(seed: 0)
      let told = Self.texts(of: try leaks(in: first).findings, in: first)
      let cycles = Self.texts(ofCycles: first)
      for layout in 1...4 {
        let other = try plan.laidOut(seed: seed &* 10 &+ UInt64(layout))
        let texts = Self.texts(of: try leaks(in: other).findings, in: other)
        // Of long texts only where they differ says something.
        #expect(
          texts == told,
          "seed \(seed), layout \(layout): \(zip(told, texts).first { $0 != $1 } ?? ("", ""))")
        #expect(Self.texts(ofCycles: other) == cycles, "seed \(seed), layout \(layout)")
      }
    }
  }

  private static func texts(ofCycles graph: HeapGraph) -> [String] {
    ((try? cycles(in: graph)) ?? []).map { group in
      "\(group.isReachable) \(group.fingerprint) \(group.members.count) \(group.cost)"
        + " \(group.cycle.map { text(of: $0, in: graph) })"
        + " \(group.cuts.map { text(of: $0, in: graph) })"
    }
  }

  @Test(
    "What a cut frees is what would go with the finding, less what stays and with what goes besides",
    arguments: stride(from: UInt64(0), to: 400, by: 50).map { $0..<$0 + 50 })
  func countsAgree(seeds: Range<UInt64>) throws {
    for seed in seeds {
      let graph = try HeapPlan(seed: seed, hasLiving: true).repeated(2).laidOut(seed: seed)
      let whole = try leaks(in: graph).findings
      let half = whole.keeping(in: graph) { $0.rawValue % 2 == 0 }
      for finding in whole + half where finding.kind == .leak {
        guard let cut = finding.cuts.first, cut.frees.count > 0 else { continue }
        #expect(
          cut.frees == finding.retained - finding.staying + finding.besides, "seed \(seed)")
        #expect(graph.cost(of: cut.freed) == cut.frees, "seed \(seed)")
      }
    }
  }

  @Test(
    "The same leak several times is one finding with a count, not two by luck of addresses",
    arguments: stride(from: UInt64(0), to: 400, by: 50).map { $0..<$0 + 50 })
  func copies(seeds: Range<UInt64>) throws {
    for seed in seeds {
      let plan = HeapPlan(seed: seed, hasLiving: false)
      let one = try plan.laidOut(seed: 0)
      let single = try leaks(in: one).findings
      let many = try plan.repeated(15).laidOut(seed: seed + 1)
      let found = try leaks(in: many).findings
      func counts(_ findings: [Finding], times: Int, in graph: HeapGraph) -> [String] {
        findings.map { finding in
          "\(finding.fingerprint) \(finding.cycle.map { Self.text(of: $0, in: graph) })"
            + " \(finding.own.count * times) \(finding.retained.count * times)"
            + " \(finding.cuts.first.map { $0.frees.count * times } ?? 0)"
        }.sorted()
      }
      #expect(
        counts(found, times: 1, in: many) == counts(single, times: 15, in: one), "seed \(seed)")
    }
  }
}
