// ReferenceSteps: paths through the graph as steps with container storage folded, and their names.

internal import GraphKit
package import GraphPrimitives
package import HeapGraph
internal import SnapshotFormat

extension HeapGraph {
  /// The steps of a path of edges, with storage and boxes folded into the step before them.
  ///
  /// - Parameter slots: Edges of the graph, each leaving the node that the one before leads to.
  func steps(along slots: some Sequence<UInt32>, from first: UInt32) -> [ReferenceStep] {
    var steps: [ReferenceStep] = []
    var node = first
    for slot in slots {
      let edge = EdgeIndex(rawValue: rowBySlot[Int(slot)])
      if !steps.isEmpty && kind(of: NodeIndex(rawValue: node)).isFolded {
        steps[steps.count - 1].edges.append(edge)
      } else {
        steps.append(ReferenceStep(node: NodeIndex(rawValue: node), edges: [edge]))
      }
      node = strong.targets[Int(slot)]
    }
    return steps
  }

  /// The path of fields of a step, indices as `[_]`.
  ///
  /// So are offsets into C memory, which is an array more often than not.
  package func foldedField(of step: ReferenceStep) -> String {
    EdgeLabel.joined(
      labelled(step).filter { !isWithinChain($1, from: $0) }.map { node, edge in
        isOffset(edge, in: node) ? "[_]" : label(of: edge).foldedText
      })
  }

  /// The path of fields of a step, with indices.
  package func field(of step: ReferenceStep) -> String {
    EdgeLabel.joined(step.edges.map { label(of: $0).text })
  }

  /// The function through which a step goes: the last one that an edge of it names; nil for none.
  package func function(of step: ReferenceStep) -> UInt64? {
    step.edges.lazy.map {
      self.snapshot.closureFunction(ofLabel: Int(self.snapshot.edges.label[$0.position]))
    }
    .last { $0 != 0 }
  }

  /// A step without addresses and indices, for names that are the same in each run.
  func stableText(of step: ReferenceStep) -> String {
    stableName(of: step.node) + "." + foldedField(of: step)
  }

  /// The name of a node's type without generic arguments: `App.Box<_>` for a box of anything.
  func stableName(of node: NodeIndex) -> String {
    HeapGraph.withoutGenericArguments(typeName(of: node))
  }

  /// A type's name with `_` for its generic arguments.
  static func withoutGenericArguments(_ name: String) -> String {
    guard name.contains("<") else { return name }
    var plain = ""
    var depth = 0
    var previous: Character = " "
    for character in name {
      if character == "<" {
        if depth == 0 { plain += "<_>" }
        depth += 1
      } else if character == ">", previous != "-" {
        depth = max(0, depth - 1)
      } else if depth == 0 {
        plain.append(character)
      }
      previous = character
    }
    return plain
  }

  /// A cycle as a fingerprint takes it: the texts of its steps, and where no object of the program's own is
  /// on it, as for tasks and closures that hold each other, the types of those that it holds first.
  ///
  /// - Complexity: O(nodes and edges that lead to those objects).
  func stableTexts(ofCycle cycle: [ReferenceStep]) -> [String] {
    let texts = stableTexts(of: cycle)
    if cycle.contains(where: { isOfProgram($0.node) }) { return texts }
    guard let first = cycle.first else { return texts }
    let isLeaked = !isReachable[first.node.position]
    var pending = cycle.map(\.node.rawValue)
    var seen = Set(pending)
    var held: Set<String> = []
    // All that is equally far is looked at, or none of it: where the search ends follows from the graph alone.
    while !pending.isEmpty, seen.count < 1 << 16 {
      var next: [UInt32] = []
      for node in pending {
        for target in strong.successors(of: node) where seen.insert(target).inserted {
          // What others hold, too, is no part of it.
          if isLeaked && isReachable[Int(target)] { continue }
          let index = NodeIndex(rawValue: target)
          if isOfProgram(index) { held.insert(stableName(of: index)) } else { next.append(target) }
        }
      }
      pending = next
    }
    return texts + held.sorted()
  }

  /// The steps of a cycle or path as a fingerprint takes them.
  ///
  /// How many contexts and boxes lie between a field and what a closure captures depends on the optimizer, and
  /// so does where in a task's memory a reference lies: they are left out, unless there is nothing else. So
  /// is C memory.
  func stableTexts(of steps: [ReferenceStep]) -> [String] {
    let texts = steps.compactMap { step -> String? in
      switch kind(of: step.node) {
      // How libraries in C chain their memory depends on what else is there.
      case .closureContext, .block, .cBlock: return nil
      case .task: return stableName(of: step.node)
      // What libraries in C lay out has no fields of the source's.
      case .coreFoundation, .runtime: return stableName(of: step.node)
      default:
        if module(of: step.node).isEmpty, kind(of: step.node) != .box {
          return stableName(of: step.node)
        }
        let fields = labelled(step).map { node, edge -> String in
          let text = isOffset(edge, in: node) ? "[_]" : label(of: edge).foldedText
          return kind(of: node) == .box && text == "value" ? "" : text
        }
        return stableName(of: step.node) + "." + EdgeLabel.joined(fields)
      }
    }
    return texts.isEmpty ? steps.map { stableText(of: $0) } : texts
  }

  /// Numbers that are equal for two steps of the same type, fields and functions; for grouping within
  /// one snapshot.
  func key(of step: ReferenceStep) -> [UInt64] {
    var key = [nameKey(of: step.node)]
    for (node, edge) in labelled(step) where !isWithinChain(edge, from: node) {
      key += stepKey(of: edge, from: node)
    }
    key.append(.max)
    return key
  }

  /// Numbers that are equal for two edges that a step reads the same by.
  func stepKey(of edge: EdgeIndex, from node: NodeIndex) -> [UInt64] {
    let (name, function) = labelKey(of: edge)
    return [isOffset(edge, in: node) ? 1 : name, function]
  }

  /// The edges of a step, each with the node that it leaves.
  private func labelled(_ step: ReferenceStep) -> [(NodeIndex, EdgeIndex)] {
    var node = step.node
    return step.edges.map { edge in
      defer { node = target(of: edge) }
      return (node, edge)
    }
  }

  /// Whether an edge is called after its offset in memory without a type: `+24`.
  package func isOffset(_ edge: EdgeIndex, in node: NodeIndex) -> Bool {
    switch kind(of: node) {
    case .block, .taskSlab, .cStorage:
      label(of: edge).name.utf8.first == UInt8(ascii: "+")
    default: false
    }
  }

  /// Whether an edge leads from a slab of a task to another, or from a continuation of libdispatch to another: which
  /// one something lies in makes no difference.
  private func isWithinChain(_ edge: EdgeIndex, from node: NodeIndex) -> Bool {
    let next = target(of: edge)
    return kind(of: node) == .taskSlab && kind(of: next) == .taskSlab
      || isContinuation(node) && isContinuation(next)
  }

  /// A number that is equal for two nodes that reports call the same.
  func nameKey(of node: NodeIndex) -> UInt64 {
    if !snapshot.nodeNames.isEmpty, let name = snapshot.nodeNames[node] {
      return UInt64(name.rawValue) | 1 << 32
    }
    return UInt64(type(of: node).rawValue)
  }

  /// Numbers that are equal for two edges with the same field, wherever in a container they stand. Each
  /// capture of a closure is a field of its own.
  func labelKey(of edge: EdgeIndex) -> (name: UInt64, function: UInt64) {
    labelKey(ofLabel: Int(snapshot.edges.label[edge.position]))
  }

  /// The same of a label, by its row.
  func labelKey(ofLabel row: Int) -> (name: UInt64, function: UInt64) {
    let index = snapshot.labels.index[row]
    let place: UInt64 =
      index == Snapshot.Labels.noIndex ? 0 : snapshot.isCapture(label: row) ? 2 + UInt64(index) : 1
    return (UInt64(snapshot.labels.name[row]) | place << 32, snapshot.labels.function[row])
  }

  /// How good a node is for telling a finding of it; the least is the best.
  func rank(of node: NodeIndex) -> Int {
    switch kind(of: node) {
    case .object: HeapGraph.isProgramModule(module(of: node)) ? 0 : 2
    case .resource: 1
    case .task: 3
    case .closureContext: 4
    case .cBlock: 5
    case .coreFoundation: 6
    case .block: 7
    case .box: 8
    case .storage, .cStorage: 9
    case .taskSlab, .sideTable, .runtime: 10
    }
  }
}
