// CutCandidates: which edges of a cycle a change of the source can cut, and which of them it had better.

internal import GraphKit
internal import GraphPrimitives
internal import HeapGraph
internal import SnapshotFormat

/// Says for each edge of a cycle what a change of the source would do to it, and how good that is.
///
/// Best are captures of objects; then fields that are called like a delegate or a reference back to an
/// owner; then those that lead from one of many to what holds them all, from what an object made back to
/// that object, or from a part of an object to the object itself; then the rest. A field by which living
/// objects of the same type own what they refer to comes later: weak it would free that, too.
struct CutCandidates {
  /// A way to cut, before what it frees is known.
  struct Candidate {
    var step: ReferenceStep
    var advice: CutProposal.Advice
    var reason: CutProposal.Reason = .none

    /// The least is the best.
    var preference: Int

    /// Whether not one reference is cut, but the task of the step ends.
    var endsTask = false

    /// Whether the reference is a library's own, which no change of the program's source can cut.
    var isLibrarys = false

    var part: CutProposal.Part { CutProposal.Part(step: step, advice: advice, reason: reason) }
  }

  /// A field, as `HeapGraph.labelKey(of:)` tells it.
  private struct FieldKey: Hashable {
    var name: UInt64
    var function: UInt64
  }

  let graph: HeapGraph
  private let _making: Making
  private let _taskStates: [UInt32: TaskInfo]

  /// What `_owningFields(of:)` has found, and the reachable objects of each type.
  private var _owningFieldsByType: [TypeIndex: Set<FieldKey>] = [:]
  private var _objectsByType: [[UInt32]] = []

  init(in graph: HeapGraph) {
    self.graph = graph
    _making = Making(in: graph)
    _taskStates = graph.taskStates()
  }

  /// The edges of a cycle that a change of the source can cut, in the order of the cycle.
  mutating func candidates(in cycle: [ReferenceStep]) -> [Candidate] {
    if cycle.allSatisfy({ graph.kind(of: $0.node) == .closureContext }) {
      return cycle.map { Candidate(step: $0, advice: .makeLocalFunction, preference: 0) }
    }
    let names = cycle.map { graph.typeName(of: $0.node) }
    return cycle.indices.flatMap { position -> [Candidate] in
      let step = cycle[position]
      let next = cycle[(position + 1) % cycle.count].node
      if graph.isLibrarys(step) || graph.isLibrarysOwnClosure(step) {
        return [_librarys(step, next: next)]
      }
      if graph.kind(of: step.node) == .task { return [_end(of: step)] }
      if graph.kind(of: step.node) == .resource || graph.kind(of: next) == .resource {
        return [Candidate(step: step, advice: .closeResource, preference: 3)]
      }
      guard let last = step.edges.last else { return [] }
      let isCapture = step.edges.contains { graph.isCapture($0, from: graph.source(of: $0)) }
      if isCapture {
        guard graph.isObject(next) else {
          // A closure that captures another closure, or a variable that holds one: nothing to make weak.
          return [Candidate(step: step, advice: .clearField, preference: 5)]
        }
        // Where a closure has a context of its own, what holds the closure is the step before.
        let isInContext = graph.kind(of: step.node) == .closureContext
        let holder = names[isInContext ? (position + cycle.count - 1) % cycle.count : position]
        let advice: CutProposal.Advice =
          Self.isTimer(holder)
          ? .invalidateTimer
          : Self.isObserver(holder)
            ? .removeObserver
            : cycle.contains { graph.isDispatchSource($0.node) } ? .cancelSource : .captureWeakly
        return [Candidate(step: step, advice: advice, preference: 0)]
      }
      var candidate = _field(at: position, of: cycle, next: next)
      // Weak where living objects own what they refer to by the same field would free those too; what is taken out of a
      // collection is taken out of that one.
      if !graph.isCollection(step.node), _ownsElsewhere(last) { candidate.preference += 3 }
      return [candidate]
    }
  }

  /// What ends a task.
  private func _end(of step: ReferenceStep) -> Candidate {
    let advice: CutProposal.Advice =
      switch graph.wait(of: step.node, states: _taskStates) {
      case .stream: .cancelTaskAlone
      case .continuation: .resumeWaiting
      case .droppedContinuation: .resumeContinuation
      case .complete: .takeResults
      case .unknown: .cancelTask
      }
    return Candidate(step: step, advice: advice, preference: 1, endsTask: true)
  }

  /// What to do about a reference that is a library's own: what has it can be told to end. Where it leads
  /// to an object of the program's, as a session does to its delegate, or has been inherited from the library, as an
  /// operation's dependencies are, that is what its authors meant.
  private func _librarys(_ step: ReferenceStep, next: NodeIndex) -> Candidate {
    let isOfObjects = graph.isObject(step.node) && graph.isObject(next) && graph.isOfProgram(next)
    let isMeant =
      isOfObjects
      && (graph.isOfProgram(step.node)
        || Self.isBackReference(graph.foldedField(of: step), toType: graph.typeName(of: next)))
    // What is in a cache was put there, and can be taken out.
    let isInCache = isOfObjects && graph.typeName(of: step.node).contains("NSCacheEntry")
    return Candidate(
      step: step, advice: .endLibraryObject,
      preference: isMeant ? 0 : isInCache ? 3 : Self.leastPreference, isLibrarys: true)
  }

  /// The preference of what only the library itself could change.
  static let leastPreference = 10

  /// What to do about a field of an object.
  private func _field(at position: Int, of cycle: [ReferenceStep], next: NodeIndex) -> Candidate {
    let step = cycle[position]
    let field = graph.foldedField(of: step)
    let type = graph.typeName(of: next)
    // What the last part of a path within storage refers to can be weak; an element itself can be removed.
    let isElement = field.hasSuffix("]")
    func weak(_ reason: CutProposal.Reason, _ preference: Int) -> Candidate {
      Candidate(step: step, advice: .makeWeak, reason: reason, preference: preference)
    }
    if isElement, graph.isCollection(step.node) {
      // What cannot be changed has its elements as long as somebody has it.
      let isMutable = ToolchainModules.isMutableCollection(graph.typeName(of: step.node))
      return Candidate(step: step, advice: .clearField, preference: isMutable ? 3 : 6)
    }
    // Nothing but an object can be referred to weakly; and who has a collection owns it, or it would not live.
    if !isElement, graph.isObject(next), !graph.isCollection(next) {
      if Self.isBackReference(field, toType: type) { return weak(.backReference, 1) }
      if cycle.count == 1, Self.hasName(field) { return weak(.ownPart, 2) }
      // A library's list, as the details of an error, belongs to who has the library's object.
      let isInList = cycle.indices.contains { other in
        other != position && graph.isContainer(cycle[other]) && !graph.isLibrarys(cycle[other])
          && !graph.isCollection(cycle[other].node)
      }
      if !graph.isContainer(step), isInList {
        return weak(.oneOfMany, 2)
      }
      if graph.isObject(step.node), Self.hasName(field), _making.didMake(next, step.node) {
        return weak(.maker, 2)
      }
    }
    // What is named after its type is owned rather than referred back to: `decoder: FrameDecoder`.
    var preference = Self.isNamed(field, after: type) ? 5 : 4
    if _making.didMake(step.node, next) { preference += 1 }
    return Candidate(step: step, advice: .clearField, preference: preference)
  }

  /// Whether a reachable object owns something alone by the same field.
  private mutating func _ownsElsewhere(_ edge: EdgeIndex) -> Bool {
    let type = graph.type(of: graph.source(of: edge))
    let key = graph.labelKey(of: edge)
    return _owningFields(of: type).contains(FieldKey(name: key.name, function: key.function))
  }

  /// The fields by which reachable objects of a type hold something that nobody else holds.
  ///
  /// - Complexity: O(*V*) for the first type, and O(references of its objects) for each.
  private mutating func _owningFields(of type: TypeIndex) -> Set<FieldKey> {
    if let known = _owningFieldsByType[type] { return known }
    if _objectsByType.isEmpty {
      _objectsByType = [[UInt32]](repeating: [], count: graph.snapshot.types.count)
      for node in 0..<graph.nodeCount where graph.isReachable[node] {
        _objectsByType[Int(graph.snapshot.nodes.type[node])].append(UInt32(node))
      }
    }
    var fields: Set<FieldKey> = []
    let back = graph.holders.graph.offsets
    var seen: Set<UInt32> = []
    for node in _objectsByType[type.position] {
      for slot in graph.strong.edges(from: node) {
        let target = Int(graph.strong.targets[slot])
        let label = graph.snapshot.edges.label[Int(graph.rowBySlot[slot])]
        if back[target + 1] - back[target] == 1, seen.insert(label).inserted {
          let key = graph.labelKey(ofLabel: Int(label))
          fields.insert(FieldKey(name: key.name, function: key.function))
        }
      }
    }
    _owningFieldsByType[type] = fields
    return fields
  }

  static func isTimer(_ type: String) -> Bool { type.contains("Timer") }

  static func isObserver(_ type: String) -> Bool {
    type.contains("Notification") || type.contains("Observ")
  }

  /// Whether a path of fields ends with a name, rather than with an offset or the number of a tuple's part.
  static func hasName(_ field: String) -> Bool {
    guard let first = field.split(separator: ".").last?.first else { return false }
    return first == "_" || first.isLetter
  }

  /// Whether a field is called like a reference back to an owner, or like the type that it refers to.
  static func isBackReference(_ field: String, toType type: String) -> Bool {
    for part in field.split(separator: ".") {
      let name = part.drop { $0 == "_" }.prefix { $0 != "[" }.lowercased()
      if _backReferences.contains(name) { return true }
      for ending in _backReferences where ending.count > 4 && name.hasSuffix(ending) { return true }
      for beginning in ["parent", "owner", "owning", "delegate"] where name.hasPrefix(beginning) {
        return true
      }
    }
    return false
  }

  /// Whether a field is called like the type that it refers to.
  static func isNamed(_ field: String, after type: String) -> Bool {
    let name = field.split(separator: ".").last.map { $0.drop { $0 == "_" }.prefix { $0 != "[" } }
    let plain = type.prefix { $0 != "<" }.split(separator: ".").last
    guard let name, let plain, !name.isEmpty else { return false }
    return plain.lowercased().hasSuffix(name.lowercased())
  }

  private static let _backReferences: Set<String> = [
    "delegate", "parent", "owner", "datasource", "sink", "listener", "observer", "target",
    "responder", "superview", "superlayer", "container", "enclosing", "scope", "host", "presenter",
    "controller", "viewcontroller", "coordinator", "manager", "supervisor", "root", "previous",
    "prev",
    "receiver", "subscriber", "output", "callback", "handler", "registry", "backreference",
    "backref",
    "document", "window", "session", "me", "outer", "client", "consumer",
  ]
}

extension HeapGraph {
  /// Whether an edge is a capture: it leaves a context, or it is a closure without one.
  func isCapture(_ edge: EdgeIndex, from node: NodeIndex) -> Bool {
    switch kind(of: node) {
    case .closureContext, .cBlock: return true
    default:
      guard label(of: edge).function != 0 else { return false }
      switch kind(of: target(of: edge)) {
      case .closureContext, .cBlock: return false
      default: return true
      }
    }
  }

  /// Whether a step is by a reference that a library which comes with Swift has for its own work: a field of
  /// a session, a queue or a superclass from the library, elements of one included, what libdispatch has
  /// registered, a capture of a closure in the library's code. What is in a collection is the program's, whoever
  /// has the collection.
  func isLibrarys(_ step: ReferenceStep) -> Bool {
    guard let last = step.edges.last else { return false }
    if label(of: last).function != 0 { return isLibrarysClosure(step) }
    switch kind(of: step.node) {
    case .object, .coreFoundation, .block, .cStorage:
      if let first = step.edges.first, declaration(of: first, from: step.node) == .library {
        return true
      }
      return ToolchainModules.working.contains(module(of: step.node)) && !isCollection(step.node)
    default:
      return false
    }
  }

  /// Whether a step is by a field in which an object of a library's keeps a closure of the program's, with a context of its
  /// own, and which has no name for the program: `Timer._fire`, where `Process.terminationHandler` has.
  func isLibrarysOwnClosure(_ step: ReferenceStep) -> Bool {
    guard let last = step.edges.last, label(of: last).function != 0, kind(of: step.node) == .object,
      !step.edges.contains(where: { isCapture($0, from: source(of: $0)) })
    else { return false }
    return ToolchainModules.working.contains(module(of: step.node))
      && foldedField(of: step).hasPrefix("_")
  }

  /// Whether a node is a collection of Foundation's or CoreFoundation's.
  func isCollection(_ node: NodeIndex) -> Bool {
    ToolchainModules.working.contains(module(of: node))
      && ToolchainModules.isCollection(typeName(of: node))
  }

  /// Whether a step goes through a closure in the code of a library that comes with Swift.
  func isLibrarysClosure(_ step: ReferenceStep) -> Bool {
    guard let last = step.edges.last else { return false }
    let function = label(of: last).function
    guard function != 0, let module = snapshot.module(at: function) else { return false }
    return ToolchainModules.isLibrary(path: module.path)
  }

  /// What to do about a retain of a node that nothing explains. Objects of the libraries that come with Swift retain
  /// themselves until they are ended, as a URLSession does; storage and values do not.
  func balancing(_ node: NodeIndex) -> CutProposal.Advice {
    if module(of: node).isEmpty || isOfProgram(node) || kind(of: node).isFolded {
      return .balanceRetain
    }
    return ToolchainModules.isValue(typeName(of: node)) ? .balanceRetain : .endLibraryObject
  }

  /// How the place of an edge is declared.
  func declaration(of edge: EdgeIndex, from node: NodeIndex) -> FieldDeclaration {
    snapshot.declaration(
      ofType: type(of: node).rawValue,
      name: snapshot.labels.name[Int(snapshot.edges.label[edge.position])])
  }

  /// Whether a node is something that a closure can capture weakly.
  func isObject(_ node: NodeIndex) -> Bool {
    switch kind(of: node) {
    case .object, .coreFoundation, .resource: true
    default: false
    }
  }
}

extension HeapGraph {
  /// The edge that a slot is; nil for a root.
  func edge(atSlot slot: UInt32) -> EdgeIndex? {
    guard case .edge(let edge) = reference(atSlot: slot) else { return nil }
    return edge
  }
}
