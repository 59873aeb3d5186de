// Analysis: times the phases of the analysis in Swift and in C on the same graph, in turns.
//
//     Analysis SHAPE NODES ROUNDS [swift|c|both]    a JSON line for each phase, engine and round
//     Analysis SHAPE NODES write FILE               the graph for other programs: counts, offsets, targets, roots; words of 32 bits
//     Analysis FILE 0 ROUNDS [swift|c|both]         a graph that was written
//
// Both engines' results are compared; where they differ the program fails.

import CReference
import Glibc
import GraphKit

enum Engine: String {
  case swift
  case c
}

struct Failure: Error {
  var text: String
}

/// Ends the program with a word to standard error.
func fail(_ text: String, status: Int32) -> Never {
  _ = (text + "\n").withCString { write(2, $0, strlen($0)) }
  exit(status)
}

/// A graph in both forms.
struct Input {
  var plain: reference_graph
  var roots: [UInt32]

  /// Reads a graph that was written.
  init(file path: String) throws {
    guard let file = fopen(path, "rb") else { throw Failure(text: "can't read \(path)") }
    defer { fclose(file) }
    func words(_ count: Int) throws -> UnsafeMutablePointer<UInt32> {
      guard let words = malloc(count * 4)?.bindMemory(to: UInt32.self, capacity: count),
        fread(words, 4, count, file) == count
      else { throw Failure(text: "\(path) is cut off") }
      return words
    }
    let counts = try words(3)
    defer { free(counts) }
    plain = reference_graph(
      node_count: counts[0], edge_count: counts[1], offsets: try words(Int(counts[0]) + 1),
      targets: try words(Int(counts[1])))
    let first = try words(Int(counts[2]))
    roots = Array(UnsafeBufferPointer(start: first, count: Int(counts[2])))
    free(first)
  }

  init(shape: String, nodeCount: UInt32) throws {
    plain = reference_graph()
    var first: UnsafeMutablePointer<UInt32>?
    var count: UInt32 = 0
    guard reference_generate(shape, nodeCount, 1, &plain, &first, &count), let first else {
      throw Failure(
        text:
          "no graph of shape \(shape) with \(nodeCount) nodes: shapes are heap, power, chain, star")
    }
    roots = Array(UnsafeBufferPointer(start: first, count: Int(count)))
    free(first)
  }

  var graph: CSRGraph {
    CSRGraph(
      checkedOffsets: Array(
        UnsafeBufferPointer(start: plain.offsets, count: Int(plain.node_count) + 1)),
      targets: Array(UnsafeBufferPointer(start: plain.targets, count: Int(plain.edge_count))))
  }
}

/// What a run found, to be the same for both engines.
struct Found: Equatable {
  var reached = 0
  var components = 0
  var retained: UInt64 = 0
}

/// A sum over the nodes that the roots reach, in which each place counts differently.
func digest(_ retained: [UInt64], over nodes: [UInt32]) -> UInt64 {
  nodes.reduce(0) { ($0 &* 31) &+ retained[Int($1)] &* UInt64($1 | 1) }
}

struct Stopwatch {
  let engine: Engine
  let round: Int
  private var _last = Self._now()

  init(engine: Engine, round: Int) {
    self.engine = engine
    self.round = round
  }

  private static func _now() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }

  mutating func skip() { _last = Self._now() }

  mutating func lap(_ phase: String) {
    let now = Self._now()
    print(
      "{\"engine\": \"\(engine.rawValue)\", \"round\": \(round), \"phase\": \"\(phase)\", \"ns\": \(now - _last)}"
    )
    _last = Self._now()
  }
}

func analyseInSwift(_ graph: CSRGraph, roots: [UInt32], round: Int) throws -> Found {
  var watch = Stopwatch(engine: .swift, round: round)
  let back = graph.transposed()
  watch.lap("transpose")
  let forest = try BreadthFirstForest(of: graph, from: roots)
  watch.lap("shortest paths")
  let components = try StrongComponents(of: graph)
  watch.lap("components")
  let tree = try DominatorTree(of: graph, predecessors: back.graph, roots: roots)
  watch.lap("dominators")
  let retained = tree.retained(sizeByNode: [UInt64](repeating: 1, count: graph.nodeCount))
  watch.lap("retained sizes")
  return Found(
    reached: forest.order.count, components: components.count,
    retained: digest(retained, over: forest.order))
}

func analyseInC(
  _ plain: reference_graph, roots: [UInt32], order: [UInt32], round: Int
) throws -> Found {
  var plain = plain
  let count = Int(plain.node_count)
  var watch = Stopwatch(engine: .c, round: round)
  var back = reference_graph()
  defer { reference_free(&back) }
  guard reference_transpose(&plain, &back) else { throw Failure(text: "out of memory") }
  watch.lap("transpose")
  var column = [UInt32](repeating: 0, count: count)
  watch.skip()
  let reached = reference_breadth_first(&plain, roots, UInt32(roots.count), &column)
  watch.lap("shortest paths")
  let components = reference_components(&plain, &column)
  watch.lap("components")
  var first = [UInt32](repeating: 0, count: count)
  watch.skip()
  guard reference_dominators(&plain, &back, roots, UInt32(roots.count), &column, &first) else {
    throw Failure(text: "out of memory")
  }
  watch.lap("dominators")
  var retained = [UInt64](repeating: 1, count: count)
  reference_retained(UInt32(count), column, first, &retained)
  watch.lap("retained sizes")
  return Found(
    reached: Int(reached), components: Int(components), retained: digest(retained, over: order))
}

func save(_ input: Input, to path: String) throws {
  guard let file = fopen(path, "wb") else { throw Failure(text: "can't write \(path)") }
  defer { fclose(file) }
  let header = [input.plain.node_count, input.plain.edge_count, UInt32(input.roots.count)]
  fwrite(header, 4, 3, file)
  fwrite(input.plain.offsets, 4, Int(input.plain.node_count) + 1, file)
  fwrite(input.plain.targets, 4, Int(input.plain.edge_count), file)
  fwrite(input.roots, 4, input.roots.count, file)
}

let arguments = CommandLine.arguments
guard arguments.count >= 4, let nodeCount = UInt32(arguments[2]) else {
  fail(
    "usage: Analysis SHAPE NODES ROUNDS [swift|c|both] | Analysis SHAPE NODES write FILE", status: 2
  )
}
do {
  let input =
    nodeCount == 0
    ? try Input(file: arguments[1]) : try Input(shape: arguments[1], nodeCount: nodeCount)
  if arguments[3] == "write", arguments.count == 5 {
    try save(input, to: arguments[4])
    exit(0)
  }
  let which = arguments.count > 4 ? arguments[4] : "both"
  let graph = input.graph
  let order = try BreadthFirstForest(of: graph, from: input.roots).order
  for round in 0..<(Int(arguments[3]) ?? 1) {
    var found: [Found] = []
    // In turns, and each first in half of the rounds.
    for engine in round % 2 == 0 ? [Engine.swift, .c] : [.c, .swift]
    where which == "both" || which == engine.rawValue {
      found.append(
        engine == .swift
          ? try analyseInSwift(graph, roots: input.roots, round: round)
          : try analyseInC(input.plain, roots: input.roots, order: order, round: round))
    }
    guard found.dropFirst().allSatisfy({ $0 == found[0] }) else {
      throw Failure(text: "the engines differ: \(found)")
    }
  }
} catch {
  fail("Analysis: \((error as? Failure)?.text ?? "\(error)")", status: 1)
}
