// AlikeReferences: all references that read like one, as a change of the source would change them.

internal import GraphKit
internal import GraphPrimitives
internal import HeapGraph
internal import SnapshotFormat

/// Finds the references that one place in the source stands for, wherever their holders hang.
///
/// What it has looked up it keeps: one value answers for all findings of a report.
final class AlikeReferences {
  private let _graph: HeapGraph
  private var _nodesByName: [UInt64: [NodeIndex]] = [:]

  /// The references that are closure values, by their functions.
  private lazy var _slotsByFunction = _closureValues()

  init(in graph: HeapGraph) { _graph = graph }

  /// The references that a report names like the last one of a step: a closure's capture by the closure, where
  /// a library has it; a field by its type.
  ///
  /// - Complexity: O(*V* + *E*) for the first question, then O(references of nodes of the type).
  func slots(like step: ReferenceStep) -> [UInt32] {
    guard let function = _functionOfLibrarysClosure(step) else {
      return _graph.slots(like: step, from: _nodes(named: _graph.nameKey(of: step.node)))
    }
    let values = _slotsByFunction[function] ?? []
    var found = Set(
      values.filter { !_isContext(_graph.strong.targets[Int($0)]) })
    let contexts = Set(values.map { _graph.strong.targets[Int($0)] }).filter(_isContext)
    if _graph.kind(of: step.node) == .closureContext {
      found.formUnion(
        _graph.slots(like: step, from: contexts.sorted().map { NodeIndex(rawValue: $0) }))
    }
    return found.sorted()
  }

  /// The function of the closure that a step's capture is one of, where reports name it by that; nil for
  /// other steps.
  private func _functionOfLibrarysClosure(_ step: ReferenceStep) -> UInt64? {
    if _graph.kind(of: step.node) == .closureContext {
      let function = ContextFunctions(of: _graph).function(of: step.node)
      if let inner = _graph.function(of: step) { return inner }
      return function == 0 ? nil : function
    }
    guard let function = _graph.function(of: step),
      step.edges.contains(where: { _graph.isCapture($0, from: _graph.source(of: $0)) })
    else { return nil }
    let module = _graph.module(of: step.node)
    return module.isEmpty || ToolchainModules.names.contains(module) ? function : nil
  }

  private func _isContext(_ node: UInt32) -> Bool {
    switch _graph.kind(of: NodeIndex(rawValue: node)) {
    case .closureContext, .cBlock: true
    default: false
    }
  }

  private func _nodes(named key: UInt64) -> [NodeIndex] {
    if let known = _nodesByName[key] { return known }
    let found = _graph.nodes.filter { _graph.nameKey(of: $0) == key }
    _nodesByName[key] = found
    return found
  }

  private func _closureValues() -> [UInt64: [UInt32]] {
    var slots: [UInt64: [UInt32]] = [:]
    let labels = _graph.snapshot.edges.label
    let functions = (0..<_graph.snapshot.labels.count).map {
      _graph.snapshot.closureFunction(ofLabel: $0)
    }
    for slot in 0..<_graph.firstRootSlot {
      let function = functions[Int(labels[Int(_graph.rowBySlot[slot])])]
      if function != 0 { slots[function, default: []].append(UInt32(slot)) }
    }
    return slots
  }
}
