// Tests of heap snapshots: read back as JSON, every node, edge, id and stack of random heaps is there.

import Foundation
import GraphAnalysis
import GraphPrimitives
import GraphReport
import HeapGraph
import SnapshotDSL
import SnapshotFormat
import Symbolication
import Testing

@testable import GraphExport

/// A heap snapshot as its readers have it.
private struct HeapSnapshotFile: Decodable {
  struct Head: Decodable {
    struct Meta: Decodable {
      var node_fields: [String]
      var edge_fields: [String]
      var trace_node_fields: [String]
    }
    var meta: Meta
    var node_count: Int
    var edge_count: Int
    var trace_function_count: Int
  }

  /// A number or, in the trace tree, the calls below a call.
  enum Element: Decodable {
    case number(Int)
    case list([Element])

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let number = try? container.decode(Int.self) {
        self = .number(number)
      } else {
        self = .list(try container.decode([Element].self))
      }
    }
  }

  var snapshot: Head
  var nodes: [Int]
  var edges: [Int]
  var trace_function_infos: [Int]
  var trace_tree: [Element]
  var strings: [String]

  struct Node: Equatable {
    var type: Int
    var name: String
    var id: Int
    var size: Int
    var trace: Int
    var edges: [Edge]
  }

  struct Edge: Equatable {
    var type: Int
    var name: String
    var target: Int
  }

  /// The nodes with their edges.
  func graph() throws -> [Node] {
    var found: [Node] = []
    var next = 0
    for row in 0..<snapshot.node_count {
      let node = Array(nodes[row * 7..<row * 7 + 7])
      var own: [Edge] = []
      for _ in 0..<node[4] {
        let edge = Array(edges[next * 3..<next * 3 + 3])
        next += 1
        try #require(edge[2] % 7 == 0 && edge[2] / 7 < snapshot.node_count)
        own.append(
          Edge(
            type: edge[0], name: edge[0] == 1 ? String(edge[1]) : strings[edge[1]],
            target: edge[2] / 7))
      }
      found.append(
        Node(
          type: node[0], name: strings[node[1]], id: node[2], size: node[3], trace: node[5],
          edges: own))
    }
    try #require(next == snapshot.edge_count && edges.count == next * 3)
    return found
  }

  /// The functions of each call in the trace tree, outermost first.
  func stacks() -> [Int: [String]] {
    var found: [Int: [String]] = [:]
    func visit(_ elements: [Element], _ above: [String]) {
      for start in stride(from: 0, to: elements.count, by: 5) {
        guard case .number(let id) = elements[start], case .number(let info) = elements[start + 1],
          case .list(let below) = elements[start + 4]
        else { return }
        let name = strings[trace_function_infos[info * 6 + 1]]
        let stack = id == 1 ? [] : above + [name]
        found[id] = stack
        visit(below, stack)
      }
    }
    visit(trace_tree, [])
    return found
  }
}

@Suite struct HeapSnapshotTests {
  private func file(_ exported: ExportedSnapshot) throws -> HeapSnapshotFile {
    try JSONDecoder().decode(
      HeapSnapshotFile.self, from: Data(Shop.bytes(.heapsnapshot, of: [exported]).bytes))
  }

  @Test("Every node, edge and stack of a random heap is in the file", arguments: 0..<80)
  func whole(_ seed: Int) throws {
    let exported = try Shop.exported(RandomShop.make(seed: UInt64(seed)))
    let graph = exported.graph
    let snapshot = graph.snapshot
    let file = try file(exported)
    let nodes = try file.graph()
    let first = nodes.count - graph.nodeCount
    let stacks = file.stacks()
    for node in graph.nodes {
      let found = nodes[first + node.position]
      #expect(found.name == exported.names.typeName(of: node))
      #expect(found.size == Int(snapshot.nodes.bytes(node)))
      #expect((found.type == 5) == (graph.kind(of: node) == .closureContext))
      let wanted = exported.names.allocation(of: node).map(\.function)
      #expect((found.trace == 0 ? [] : stacks[found.trace] ?? ["?"]) == wanted.reversed())
      let edges = graph.edges(of: node)
      try #require(found.edges.count == edges.count)
      for (edge, row) in zip(found.edges, edges) {
        let index = EdgeIndex(row)
        #expect(edge.target == first + graph.target(of: index).position)
        let holds = graph.info(of: index).isStrong && graph.state(of: node) != .deinited
        #expect((edge.type != 6) == holds)
        if holds, edge.type == 3 { #expect(graph.info(of: index).provenance == .scanned) }
        let text = exported.names.text(of: index, from: node)
        if edge.type == 1 {
          #expect(text.field == "[\(edge.name)]")
        } else {
          #expect(edge.name.hasPrefix(ReferenceName(field: text.field, via: text.via).shown))
        }
      }
    }
    let ids = nodes.map(\.id)
    #expect(Set(ids).count == ids.count)
  }

  @Test(
    "Every node is reached from the root, and what a root holds by the roots' own nodes",
    arguments: 0..<80)
  func reached(_ seed: Int) throws {
    let exported = try Shop.exported(RandomShop.make(seed: UInt64(seed) + 500))
    let nodes = try file(exported).graph()
    let first = nodes.count - exported.graph.nodeCount
    func reached(from starts: [Int]) -> Set<Int> {
      var seen = Set(starts)
      var pending = starts
      while let row = pending.popLast() {
        for edge in nodes[row].edges where edge.type != 6 && seen.insert(edge.target).inserted {
          pending.append(edge.target)
        }
      }
      return seen
    }
    #expect(reached(from: [0]).count == nodes.count)
    // Distances count from the places that are native: they lead just to what roots hold.
    let places = nodes[0].edges.map(\.target).filter { nodes[$0].type == 8 }
    let found = reached(from: places).filter { $0 >= first }
    let graph = exported.graph
    var wanted: Set<Int> = []
    var pending = (0..<graph.snapshot.roots.count).filter {
      EdgeInfo(rawValue: graph.snapshot.roots.info[$0]).isStrong
    }.map { graph.target(of: RootIndex($0)) }
    while let node = pending.popLast() {
      if !wanted.insert(first + node.position).inserted || graph.state(of: node) == .deinited {
        continue
      }
      for row in graph.edges(of: node) where graph.info(of: EdgeIndex(row)).isStrong {
        pending.append(graph.target(of: EdgeIndex(row)))
      }
    }
    #expect(found == wanted)
  }

  @Test("Live bytes in the trace tree add up to those that have a stack")
  func traceSums() throws {
    let exported = try Shop.marks()[1]
    let file = try file(exported)
    var bytes = 0
    func visit(_ elements: [HeapSnapshotFile.Element]) {
      for start in stride(from: 0, to: elements.count, by: 5) {
        if case .number(let size) = elements[start + 3] { bytes += size }
        if case .list(let below) = elements[start + 4] { visit(below) }
      }
    }
    visit(file.trace_tree)
    let wanted = exported.graph.cost(of: liveNodes(of: exported.graph))
    #expect(bytes == Int(wanted.bytes.rawValue), "what has no stack is the root's own")
    #expect(file.snapshot.trace_function_count * 6 == file.trace_function_infos.count)
  }
}
