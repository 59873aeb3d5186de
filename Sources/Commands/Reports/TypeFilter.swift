// TypeFilter: which objects the caller asked for: by type, module and generation.

internal import GraphAnalysis
internal import GraphPrimitives
internal import HeapGraph
internal import SnapshotFormat

/// Which objects of a snapshot a report is of.
struct TypeFilter {
  private let _patterns: [TypePattern]
  private let _modules: [String]
  private let _unwantedModules: [String]
  private let _generation: ClosedRange<Int>?

  /// What the caller asked for, in words: `App.*, module App, generation call-2`.
  let description: String

  /// The filter of a call, for a snapshot.
  ///
  /// - Throws: A sentence with the known marks for a generation that there is none of.
  init(_ arguments: Arguments, snapshot: Snapshot) throws {
    _patterns = arguments.texts(.type).map { TypePattern($0) }
    _modules = arguments.texts(.module)
    _unwantedModules = arguments.texts(.withoutModule)
    description =
      (arguments.texts(.type) + arguments.texts(.module).map { "module " + $0 }
      + arguments.texts(.withoutModule).map { "without module " + $0 }
      + arguments.texts(.generation).map { "generation " + $0 }).joined(separator: ", ")
    guard let name = arguments.text(.generation) else {
      _generation = nil
      return
    }
    guard snapshot.sampling == nil else {
      throw CommandError(
        "--generation \(name)",
        "allocations were sampled, so when most objects were born is unknown",
        mend: "memgraph run without --sample records every birth", status: .usage)
    }
    let marks = snapshot.marks
    guard let mark = marks.firstIndex(where: { $0.name == name }) else {
      let known =
        marks.isEmpty
        ? "the snapshot has no marks" : "the marks are " + marks.map(\.name).joined(separator: ", ")
      throw CommandError("--generation \(name)", "no such mark", mend: known, status: .usage)
    }
    let first = mark == 0 ? 0 : Int(marks[mark - 1].generation) + 1
    let last = Int(marks[mark].generation)
    _generation = first...max(first, last)
  }

  /// Whether everything passes.
  var isEmpty: Bool {
    _patterns.isEmpty && _modules.isEmpty && _unwantedModules.isEmpty && _generation == nil
  }

  /// Whether the caller asked for some types, whoever they belong to; leaving some out is no such question.
  var asksForTypes: Bool { !_patterns.isEmpty || !_modules.isEmpty || _generation != nil }

  func includes(type: String, module: String) -> Bool {
    (_patterns.isEmpty || _patterns.contains { $0.matches(type, module: module) })
      && (_modules.isEmpty || _modules.contains(module)) && !_unwantedModules.contains(module)
  }

  /// Whether a node passes.
  func includes(_ node: NodeIndex, in graph: HeapGraph) -> Bool {
    includesGeneration(of: node, in: graph)
      && includes(type: graph.typeName(of: node), module: graph.module(of: node))
  }

  /// Whether a node is of the wanted generation.
  func includesGeneration(of node: NodeIndex, in graph: HeapGraph) -> Bool {
    _generation?.contains(graph.generation(of: node).position) ?? true
  }

  /// The nodes that pass.
  func nodes(_ nodes: [NodeIndex], in graph: HeapGraph) -> [NodeIndex] {
    if isEmpty { return nodes }
    guard _generation == nil else { return nodes.filter { includes($0, in: graph) } }
    // Types are few: each is asked for once.
    var isIncluded = [Bool?](repeating: nil, count: graph.snapshot.types.count)
    return nodes.filter { node in
      if graph.snapshot.nodeNames[node] != nil { return includes(node, in: graph) }
      let type = graph.type(of: node).position
      if let known = isIncluded[type] { return known }
      let passes = includes(node, in: graph)
      isIncluded[type] = passes
      return passes
    }
  }

  /// Whether a member or a step of a cycle is of a wanted type, and none is of an unwanted module.
  func includesType(members: [NodeIndex], cycle: [ReferenceStep], in graph: HeapGraph) -> Bool {
    func isWanted(_ node: NodeIndex) -> Bool {
      includes(type: graph.typeName(of: node), module: graph.module(of: node))
    }
    let nodes = members + cycle.map(\.node)
    return nodes.contains(where: isWanted)
      && (_unwantedModules.isEmpty
        || !nodes.contains { _unwantedModules.contains(graph.module(of: $0)) })
  }
}
