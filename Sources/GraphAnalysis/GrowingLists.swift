// GrowingLists: lists of closures, boxes and tasks that became longer between two marks.

internal import GraphKit
package import GraphPrimitives
package import HeapGraph
internal import SnapshotFormat

/// The elements that were born between two marks in lists of the program's own that became longer, as far as
/// they have no type of the program's own: closures and the boxes of what they capture, tasks, streams.
///
/// A registry of handlers whose closures capture weakly holds no object of the program's, and its types are
/// Swift's; that it grows shows by its length alone.
///
/// - Parameters:
///   - born: Nodes of the last graph.
///   - told: What is told already: elements that lead to it are left out.
/// - Complexity: O(*V* + *E*).
package func elementsOfGrownLists(
  from first: HeapGraph, to last: HeapGraph, born: [NodeIndex], besides told: [Finding]
) -> [NodeIndex] {
  let candidates = born.filter { last.isReachable[$0.position] && last.isListElement($0) }
  if candidates.isEmpty { return [] }
  var names = (ListNames(last), ListNames(first))
  var before: [String: Int] = [:]
  for node in first.nodes where first.isReachable[node.position] && first.isListElement(node) {
    for list in names.1.lists(of: node) { before[list, default: 0] += 1 }
  }
  var now: [String: Int] = [:]
  for node in last.nodes where last.isReachable[node.position] && last.isListElement(node) {
    for list in names.0.lists(of: node) { now[list, default: 0] += 1 }
  }
  let members = Set(told.flatMap(\.members))
  // A list that came with a new object is that object's growth.
  names.0.newHolders = Set(born)
  return candidates.filter { node in
    names.0.lists(of: node).contains { now[$0] ?? 0 > before[$0] ?? 0 }
      && !last.leads(from: node, toOneOf: members)
  }
}

/// A container of the program's own that became longer between two marks, by elements that have no type of the
/// program's: a list of texts, a dictionary of numbers.
package struct LengthenedContainer: Sendable {
  /// The way to it; to the longest where several are called the same.
  package var path: RetainPath

  /// How many elements there were at the first mark and are at the last, in all that are called the same.
  package var before: Int
  package var now: Int

  package init(path: RetainPath, before: Int, now: Int) {
    self.path = path
    self.before = before
    self.now = now
  }
}

/// The containers of the program's own that became longer between two marks and hold nothing of the program's types, and no
/// closures and tasks: those are told by what they hold. Those that came with a new object are that object's growth.
///
/// - Parameters:
///   - born: Nodes of the last graph.
///   - maximum: How many to tell at most; those that got most elements.
/// - Throws: `CancellationError` where `cancel` says so.
/// - Complexity: O(*V* + *E*), for each that is told once more.
package func lengthenedContainers(
  from first: HeapGraph, to last: HeapGraph, born: [NodeIndex], maximum: Int = 5,
  cancel: any CancelSignal = NeverCancelled()
) throws(CancellationError) -> [LengthenedContainer] {
  var before: [String: Int] = [:]
  var names = ListNames(first)
  for row in 0..<first.snapshot.storage.rowCount {
    guard let name = names.name(ofContainer: row) else { continue }
    before[name, default: 0] += Int(clamping: first.snapshot.storage.count[row])
  }
  names = ListNames(last)
  names.newHolders = Set(born.filter { last.kind(of: $0) == .object })
  var now: [String: (count: Int, longest: Int, node: NodeIndex)] = [:]
  for row in 0..<last.snapshot.storage.rowCount {
    guard let name = names.name(ofContainer: row) else { continue }
    let node = NodeIndex(rawValue: last.snapshot.storage.node[row])
    let count = Int(clamping: last.snapshot.storage.count[row])
    var sum = now[name] ?? (0, -1, node)
    sum.count += count
    if count > sum.longest { (sum.longest, sum.node) = (count, node) }
    now[name] = sum
  }
  let longer = now.map { name, sum in
    (node: sum.node, before: before[name] ?? 0, now: sum.count)
  }.filter { $0.now > $0.before }.sorted {
    let (a, b) = ($0.now - $0.before, $1.now - $1.before)
    return a != b ? a > b : $0.node < $1.node
  }
  var found: [LengthenedContainer] = []
  for container in longer.prefix(maximum) {
    let report = try paths(
      to: [container.node], in: last, options: PathOptions(maximum: 1, isMerged: true),
      cancel: cancel)
    guard let path = report.groups.first?.path else { continue }
    found.append(LengthenedContainer(path: path, before: container.before, now: container.now))
  }
  return found
}

/// What the lists are called that nodes are elements of.
private struct ListNames {
  private let _graph: HeapGraph
  private var _nameByStorage: [UInt32: String?] = [:]

  /// Objects whose lists are left out.
  var newHolders: Set<NodeIndex> = [] {
    didSet { _nameByStorage = [:] }
  }
  private var _steps: SnapshotStepNames
  private var _texts = StepNames()

  init(_ graph: HeapGraph) {
    _graph = graph
    _steps = SnapshotStepNames(graph)
  }

  /// The lists of the program's own that a node is an element of.
  mutating func lists(of node: NodeIndex) -> [String] {
    var found: [String] = []
    for place in _graph.holders.graph.edges(from: node.rawValue) {
      let storage = _graph.holders.graph.targets[place]
      guard storage != _graph.outside, _graph.kind(of: NodeIndex(rawValue: storage)) == .storage,
        let name = _name(ofStorage: storage)
      else { continue }
      found.append(name)
    }
    return found
  }

  /// What a container is called, by its row of what is known of storage; nil for a text, for one that is not the program's
  /// own, and for one that holds what tells more.
  mutating func name(ofContainer row: Int) -> String? {
    let node = NodeIndex(rawValue: _graph.snapshot.storage.node[row])
    guard _graph.isReachable[node.position], _graph.kind(of: node) == .storage,
      _graph.typeName(of: node) != "Swift.__StringStorage"
    else { return nil }
    for target in _graph.strong.successors(of: node.rawValue).prefix(64) {
      let element = NodeIndex(rawValue: target)
      if _graph.isOfProgram(element) || _graph.isListElement(element) { return nil }
    }
    return _name(ofStorage: node.rawValue)
  }

  private mutating func _name(ofStorage storage: UInt32) -> String? {
    if let known = _nameByStorage[storage] { return known }
    let name = _newName(ofStorage: storage)
    _nameByStorage[storage] = .some(name)
    return name
  }

  private mutating func _newName(ofStorage storage: UInt32) -> String? {
    var node = NodeIndex(rawValue: storage)
    var fields: [String] = []
    for _ in 0..<4 {
      guard let place = _graph.holders.graph.edges(from: node.rawValue).first else { return nil }
      switch _graph.reference(atSlot: _graph.holders.edgeBySlot[place]) {
      case .root(let root):
        guard _graph.kind(of: root) == .global,
          let module = _graph.snapshot.module(
            at: _graph.snapshot.roots.address[root.position]),
          !ToolchainModules.isLibrary(path: module.path)
        else { return nil }
        let number = _steps.root(root, in: &_texts)
        fields.append(_texts.texts[number])
      case .edge(let edge):
        fields.append(_graph.label(of: edge).foldedText)
        node = _graph.source(of: edge)
        switch _graph.kind(of: node) {
        case .storage, .box: continue
        case .task, .taskSlab: fields.append("task")
        default:
          guard _graph.isOfProgram(node) || _graph.kind(of: node) == .closureContext else {
            return nil
          }
          if newHolders.contains(node) { return nil }
          fields.append(_graph.stableName(of: node))
        }
      }
      return fields.joined(separator: " < ")
    }
    return nil
  }
}

extension HeapGraph {
  /// Whether a node is one of those that lists of handlers, tasks and streams consist of.
  fileprivate func isListElement(_ node: NodeIndex) -> Bool {
    switch kind(of: node) {
    case .box, .closureContext, .cBlock, .task: true
    case .object: isStreamStorage(node)
    default: false
    }
  }

  /// Whether one of some nodes is among the first that a node leads to.
  fileprivate func leads(from node: NodeIndex, toOneOf members: Set<NodeIndex>) -> Bool {
    var seen: Set<UInt32> = [node.rawValue]
    var front = [node.rawValue]
    for _ in 0..<6 {
      var next: [UInt32] = []
      for one in front {
        for target in strong.successors(of: one) where seen.insert(target).inserted {
          if members.contains(NodeIndex(rawValue: target)) { return true }
          next.append(target)
        }
        if seen.count > 256 { return false }
      }
      front = next
    }
    return false
  }
}
