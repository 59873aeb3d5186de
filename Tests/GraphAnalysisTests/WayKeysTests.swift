// WayKeysTests: which ways are alike, and what it costs to find out, against looking at each way by itself.

import GraphKit
import GraphPrimitives
import HeapGraph
import SnapshotDSL
import SnapshotFormat
import Testing

@testable import GraphAnalysis

@Suite struct WayKeysTests {
  /// The ways of some targets in words, found one by one: each is followed from its root, and compared as a whole.
  private struct Oracle {
    struct Group: Equatable {
      var cost: UInt32
      var told: NodeIndex
      var targets: Set<NodeIndex>
    }

    let graph: HeapGraph
    let foldsDetours: Bool
    var groups: [Group] = []
    var fingerprints: [String] = []
    private var _groupByKey: [[UInt64]: Int] = [:]

    init(graph: HeapGraph, foldsDetours: Bool) {
      self.graph = graph
      self.foldsDetours = foldsDetours
    }

    mutating func add(_ slots: [UInt32], cost: UInt32, target: NodeIndex) {
      let path = graph.retainPath(along: slots, to: target)
      let kind = graph.kind(of: path.root)
      var key: [UInt64] = [UInt64(kind.rawValue)]
      let inTables = graph.stepsInTables(of: path)
      switch kind {
      case .global where inTables != nil: key.append(0)
      case .stack, .register:
        key.append(UInt64(graph.snapshot.roots.thread[path.root.position]))
        key.append(graph.snapshot.roots.pc[path.root.position])
      case .global, .threadLocal, .declared:
        key.append(graph.snapshot.roots.address[path.root.position])
      case .task, .runtime, .mapped: break
      }
      var steps: [[UInt64]] = []
      for step in path.steps.dropFirst(inTables ?? 0) {
        Self.append(words(of: step), to: &steps, folding: foldsDetours)
      }
      key += steps.joined()
      key.append(graph.nameKey(of: target))
      if let group = _groupByKey[key] {
        if cost < groups[group].cost {
          groups[group].cost = cost
          groups[group].told = target
          fingerprints[group] = pathFingerprint(of: path, in: graph)
        }
        groups[group].targets.insert(target)
      } else {
        _groupByKey[key] = groups.count
        groups.append(Group(cost: cost, told: target, targets: [target]))
        fingerprints.append(pathFingerprint(of: path, in: graph))
      }
    }

    private static func append(
      _ element: [UInt64], to elements: inout [[UInt64]], folding: Bool
    ) {
      if folding, let earlier = elements.firstIndex(of: element) {
        elements.removeSubrange((earlier + 1)...)
      } else if elements.last != element {
        elements.append(element)
      }
    }

    private func words(of step: ReferenceStep) -> [UInt64] {
      guard foldsDetours else { return graph.key(of: step) }
      var units: [[UInt64]] = []
      var node = step.node
      for edge in step.edges {
        if !graph.isWithinChain(edge, from: node) {
          Self.append(
            [graph.nameKey(of: node)] + graph.stepKey(of: edge, from: node), to: &units,
            folding: true)
        }
        node = graph.target(of: edge)
      }
      return [graph.nameKey(of: step.node)] + units.flatMap { $0.dropFirst() } + [.max]
    }
  }

  /// What the oracle finds: of each target the cheapest way, and the cheapest by each of its references.
  private static func expected(
    _ graph: HeapGraph, options: PathOptions
  ) throws -> Oracle {
    var oracle = Oracle(graph: graph, foldsDetours: !options.isStrict)
    let costs = EdgeCosts.all(in: graph)
    let forest = try ShortestPathForest(of: graph.strong, from: graph.outside, costByEdge: costs)
    let targets = graph.nodes.filter { forest.isReachable($0.rawValue) }
    for target in targets {
      oracle.add(
        forest.path(to: target.rawValue), cost: forest.distanceByNode[target.position],
        target: target)
    }
    if options.isMerged || options.isStrict { return oracle }
    for target in targets {
      for place in graph.holders.graph.edges(from: target.rawValue) {
        let slot = graph.holders.edgeBySlot[place]
        let holder = graph.holders.graph.targets[place]
        guard slot != forest.parentEdgeByNode[target.position], forest.isReachable(holder) else {
          continue
        }
        let above = forest.path(to: holder)
        if holder == target.rawValue
          || above.contains(where: { graph.strong.targets[Int($0)] == target.rawValue })
        {
          continue
        }
        oracle.add(
          above + [slot], cost: forest.distanceByNode[Int(holder)] + UInt32(costs[Int(slot)]),
          target: target)
      }
    }
    return oracle
  }

  private static func compare(_ graph: HeapGraph) throws {
    for isMerged in [false, true] {
      for isStrict in [false, true] {
        let options = PathOptions(
          maximum: .max, isMerged: isMerged, looksFurther: false, isStrict: isStrict)
        let oracle = try expected(graph, options: options)
        let report = try paths(to: Array(graph.nodes), in: graph, options: options)
        let order = oracle.groups.indices.sorted { left, right in
          let (a, b) = (oracle.groups[left], oracle.groups[right])
          if a.targets.count != b.targets.count { return a.targets.count > b.targets.count }
          return a.cost != b.cost ? a.cost < b.cost : left < right
        }
        #expect(report.groups.map { Set($0.targets) } == order.map { oracle.groups[$0].targets })
        #expect(report.groups.map(\.path.target) == order.map { oracle.groups[$0].told })
        #expect(report.groups.map(\.fingerprint) == order.map { oracle.fingerprints[$0] })
      }
    }
  }

  @Test(
    "The same groups as by looking at each way, in small heaps",
    arguments: 0..<400 as Range<UInt64>)
  func smallHeaps(seed: UInt64) throws {
    try Self.compare(try HeapGraph(RandomHeap.make(seed: seed).snapshot()))
  }

  @Test(
    "The same groups as by looking at each way, in lists, trees and tables",
    arguments: 0..<120 as Range<UInt64>)
  func largerHeaps(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var heap = SnapshotDSL()
    heap.module("/app/App", addresses: 0x1000..<0x2000)
    heap.module("/usr/lib/swift/linux/libdispatch.so", addresses: 0x9000..<0xA000)
    heap.builder.process.executable = "/app/App"
    let threads = [heap.thread("main"), heap.thread("worker")]
    var nodes: [SnapshotDSL.Node] = []
    for _ in 0..<60 {
      switch Int.random(in: 0..<12, using: &random) {
      case 0: nodes.append(heap.storage("Swift._ContiguousArrayStorage<App.A>"))
      case 1: nodes.append(heap.storage("Swift._ContiguousArrayStorage<App.B>"))
      case 2: nodes.append(heap.box())
      case 3: nodes.append(heap.closureContext())
      case 4: nodes.append(heap.node(.block, "malloc block", module: "", bytes: 64))
      case 5: nodes.append(heap.node(.block, "dispatch timer", module: "Dispatch", bytes: 120))
      case 6: nodes.append(heap.node(.cStorage, "dispatch continuation", module: "Dispatch"))
      default:
        nodes.append(
          heap.object("App.\(["A", "A", "B"][Int.random(in: 0..<3, using: &random)])"))
      }
    }
    let fields = ["next", "next", "left", "right", "[1]", "+8", "+16"]
    for (place, node) in nodes.enumerated().dropFirst() {
      // Deep rather than wide.
      let holder = nodes[max(0, place - Int.random(in: 1...2, using: &random))]
      heap.edge(holder, fields[Int.random(in: 0..<fields.count, using: &random)], to: node)
      if Int.random(in: 0..<3, using: &random) == 0, let other = nodes.randomElement(using: &random)
      {
        heap.edge(node, fields[Int.random(in: 0..<fields.count, using: &random)], to: other)
      }
    }
    for _ in 0..<3 {
      guard let to = nodes.prefix(20).randomElement(using: &random) else { continue }
      switch Int.random(in: 0..<4, using: &random) {
      case 0: heap.root(.global, address: 0x1000, to: to)
      case 1: heap.root(.global, address: 0x9000, to: to)
      case 2: heap.root(.stack, address: 0x7000, to: to, thread: threads[0])
      default: heap.root(.stack, address: 0x8000, to: to, thread: threads[1])
      }
    }
    try Self.compare(try HeapGraph(heap.snapshot()))
  }

  /// Shapes that are deep.
  enum Shape: String, CaseIterable, Sendable {
    case list
    case linkedBothWays
    case inTurn  // two types in turn
    case eitherField
    case boxes  // of an indirect enum
    case containers
  }

  static func heap(_ shape: Shape, count: Int) -> SnapshotDSL {
    var random = SeededGenerator(seed: 1)
    var heap = SnapshotDSL()
    var last = heap.object("App.Node")
    heap.root(.global, address: 0x1000, to: last)
    for number in 1..<count {
      var next: SnapshotDSL.Node
      switch shape {
      case .list, .linkedBothWays:
        next = heap.object("App.Node")
        heap.edge(last, "next", to: next)
        if shape == .linkedBothWays { heap.edge(next, "previous", to: last) }
      case .inTurn:
        next = heap.object(number.isMultiple(of: 2) ? "App.Node" : "App.Link")
        heap.edge(last, number.isMultiple(of: 2) ? "node" : "link", to: next)
      case .eitherField:
        next = heap.object("App.Node")
        heap.edge(last, Bool.random(using: &random) ? "left" : "right", to: next)
      case .boxes:
        next = heap.box()
        heap.edge(last, "cons", to: next)
        heap.edge(next, "payload", to: heap.object("App.Node"))
      case .containers:
        let storage = heap.storage()
        heap.edge(last, "children", to: storage)
        next = heap.object("App.Node")
        heap.edge(storage, "[0]", to: next)
      }
      last = next
    }
    return heap
  }

  @Test(
    "A deep heap takes work by its references, not by the lengths of ways",
    arguments: Shape.allCases)
  func work(shape: Shape) throws {
    let graph = try HeapGraph(Self.heap(shape, count: 3_000).snapshot())
    let targets = graph.nodes(ofType: TypePattern("App.Node"))
    for through in [[], [FieldPattern("next"), FieldPattern("previous")]] {
      let report = try paths(
        to: targets, in: graph, options: PathOptions(maximum: 5, through: through))
      #expect(report.work <= 4 * graph.strong.edgeCount)
    }
    let merged = try paths(
      to: targets, in: graph, options: PathOptions(maximum: .max, isMerged: true))
    #expect(merged.work <= 2 * graph.strong.edgeCount)
    // A recursion is a few ways, however deep it is.
    #expect(merged.groups.count <= 4)
    #expect(merged.groups.reduce(0) { $0 + $1.targets.count } == targets.count)
    #expect(merged.groups.allSatisfy { $0.path.steps.count <= 20 })
  }
}
