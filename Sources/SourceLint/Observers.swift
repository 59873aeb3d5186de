// Observers: repeating timers and block observers, what they capture and who ends them.

internal import SwiftSyntax

/// Where what a call returns goes.
enum ResultSink {
  /// Into a property of the object.
  case property(PropertyDeclaration)
  /// Nowhere.
  case dropped
  /// Somewhere else.
  case unknown
}

extension RuleVisitor {
  func checkObserver(_ call: FunctionCallExprSyntax, in scope: Scope) {
    if scope.hasObject, retention.isLasting(scope.ancestry) { return }
    let lasting = lastingRegistration(call, in: scope)
    guard let kind = scope.hasObject ? call.registration ?? lasting?.kind : lasting?.kind,
      let block = lasting?.block ?? call.allArguments.last?.value.bare
    else { return }
    let closure = block.as(ClosureExprSyntax.self)
    let isMethod =
      scope.ownPath(block).map { path in
        path.count == 1 && scope.methods(path[0]).contains { !$0.isTypeLevel }
      } ?? false
    guard closure != nil || isMethod else { return }
    let holdsSelf =
      if scope.hasObject, let closure, case .strong = SelfCapture(of: closure) { true } else {
        isMethod
      }

    switch sink(of: ExprSyntax(call), in: scope) {
    case .unknown:
      return
    case .dropped:
      // A timer may end itself, and an observer may be removed by its own block.
      if let closure, closure.statements.trimmedDescription.containsEnd { return }
      if lasting != nil, !returnsHandle(call, in: scope) { return }
      report(
        .unendedObserver, at: call,
        "nothing keeps the \(kind), so nothing can end it"
          + (holdsSelf ? ", and its block captures self strongly" : ""))
    case .property(let property):
      let endings = scope.endings(of: property.name)
      // Of other libraries' registrations it is known what ends them; here it may be any function.
      if lasting != nil, endings.isHandedOut, endings.inDeinit == nil { return }
      checkEnd(of: kind, block: block, holdsSelf: holdsSelf, call, in: property, endings)
    }
  }

  /// What is registered by something that a property keeps.
  private func checkEnd(
    of kind: String, block: ExprSyntax, holdsSelf: Bool, _ call: FunctionCallExprSyntax,
    in property: PropertyDeclaration, _ endings: Endings
  ) {
    if !endings.isElsewhere, endings.inDeinit == nil {
      if let closure = block.as(ClosureExprSyntax.self),
        closure.statements.trimmedDescription.containsEnd
      {
        return
      }
      report(
        .unendedObserver, at: call,
        "nothing ends the \(kind) in '\(property.name)'"
          + (holdsSelf ? ", and its block captures self strongly" : ""))
    } else if holdsSelf, let end = endings.inDeinit, let body = end.body {
      let place = [related(body, in: end.id.file, "the end that is never reached")]
      if endings.isElsewhere {
        report(
          .strongSelf, at: block,
          "the \(kind) in '\(property.name)' captures self strongly, so the deinit that would end it isn't reached",
          place)
      } else {
        report(
          .cleanupInDeinit, at: block,
          "only deinit ends the \(kind) in '\(property.name)', and its block captures self strongly",
          place)
      }
    }
  }

  /// Follows a value to where it is kept.
  func sink(of expression: ExprSyntax, in scope: Scope) -> ResultSink {
    var node = Syntax(expression)
    while let parent = node.parent {
      if parent.is(ExprListSyntax.self), let sequence = parent.parent?.as(SequenceExprSyntax.self) {
        guard let assignment = Assignment(sequence) else { return .unknown }
        if assignment.target.is(DiscardAssignmentExprSyntax.self) { return .dropped }
        return kept(assignment.target, in: scope)
      }
      if let labeled = parent.as(LabeledExprSyntax.self) {
        guard let call = labeled.parent?.parent?.as(FunctionCallExprSyntax.self),
          let (receiver, _) = Retention.added(by: call)
        else {
          if labeled.parent?.parent?.is(TupleExprSyntax.self) == true {
            node = parent
            continue
          }
          return .unknown
        }
        return kept(receiver, in: scope)
      }
      if let clause = parent.as(InitializerClauseSyntax.self) {
        guard let binding = clause.parent?.as(PatternBindingSyntax.self),
          let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.text.unquoted
        else { return .unknown }
        if scope.functionName.isEmpty {
          return scope.property(name).map { .property($0) } ?? .unknown
        }
        return UsesOfLocal.sink(of: name, in: scope)
      }
      if let item = parent.as(CodeBlockItemSyntax.self) {
        return item.isImplicitResult ? .unknown : .dropped
      }
      if parent.is(FunctionCallExprSyntax.self) || parent.is(ReturnStmtSyntax.self)
        || parent.is(MemberAccessExprSyntax.self) || parent.is(ClosureExprSyntax.self)
      {
        return .unknown
      }
      node = parent
    }
    return .unknown
  }

  private func kept(_ target: ExprSyntax, in scope: Scope) -> ResultSink {
    if let (property, path) = scope.holdingProperty(target), path.count == 1 {
      return .property(property)
    }
    if let path = target.path, path.count == 1, scope.locals.contains(path[0]) {
      return UsesOfLocal.sink(of: path[0], in: scope)
    }
    return .unknown
  }
}

/// Looks at what is done with a variable that has a timer or an observer.
private final class UsesOfLocal: SyntaxVisitor {
  private let name: String
  private let scope: Scope
  private var property: PropertyDeclaration?
  private var isUsed = false

  private init(_ name: String, _ scope: Scope) {
    self.name = name
    self.scope = scope
    super.init(viewMode: .sourceAccurate)
  }

  static func sink(of name: String, in scope: Scope) -> ResultSink {
    let finder = UsesOfLocal(name, scope)
    finder.walk(scope.node)
    if let property = finder.property { return .property(property) }
    return finder.isUsed ? .unknown : .dropped
  }

  override func visit(_ node: SequenceExprSyntax) -> SyntaxVisitorContinueKind {
    if let assignment = Assignment(node), assignment.values.contains(where: { $0.path == [name] }),
      let (property, path) = scope.holdingProperty(assignment.target), path.count == 1
    {
      self.property = property
    }
    if let assignment = Assignment(node), assignment.target.path == [name] {
      // Giving it its value is no use.
      for value in assignment.values { walk(value) }
      return .skipChildren
    }
    return .visitChildren
  }

  override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
    if let (receiver, values) = Retention.added(by: node),
      values.contains(where: { $0.path == [name] }),
      let (property, path) = scope.holdingProperty(receiver), path.count == 1
    {
      self.property = property
    }
    return .visitChildren
  }

  override func visit(_ node: DeclReferenceExprSyntax) -> SyntaxVisitorContinueKind {
    if node.baseName.text.unquoted == name { isUsed = true }
    return .skipChildren
  }
}

extension FunctionCallExprSyntax {
  /// What the call registers, where it registers something that goes on until it is ended.
  fileprivate var registration: String? {
    switch calleeName {
    case "scheduledTimer":
      return argument("repeats")?.trimmedDescription == "true" ? "repeating timer" : nil
    case "Timer", "init":
      guard ExprSyntax(self).constructedType == "Timer" else { return nil }
      return argument("repeats")?.trimmedDescription == "true" ? "repeating timer" : nil
    case "addObserver":
      return argument("forName") == nil ? nil : "block observer"
    case "addPeriodicTimeObserver", "addBoundaryTimeObserver":
      return "time observer"
    default:
      return nil
    }
  }

  /// Whether nothing is done with what the call returns.
  var isDiscarded: Bool {
    guard let parent else { return false }
    if let item = parent.as(CodeBlockItemSyntax.self) { return !item.isImplicitResult }
    guard let sequence = parent.parent?.as(SequenceExprSyntax.self),
      let assignment = Assignment(sequence)
    else { return false }
    return assignment.target.is(DiscardAssignmentExprSyntax.self)
  }
}

extension ClosureExprSyntax {
  /// Whether it is what `map` or a function like it makes of each element.
  fileprivate var isMapping: Bool {
    let call =
      parent?.as(FunctionCallExprSyntax.self)
      ?? parent?.parent?.parent?.as(FunctionCallExprSyntax.self)
    return ["map", "compactMap", "flatMap"].contains(call?.calleeName ?? "")
  }
}

extension CodeBlockItemSyntax {
  /// Whether it is the only statement of what returns its value.
  var isImplicitResult: Bool {
    guard let list = parent?.as(CodeBlockItemListSyntax.self), list.count == 1 else { return false }
    guard let owner = list.parent else { return false }
    if let closure = owner.as(ClosureExprSyntax.self) { return closure.isMapping }
    if let block = owner.as(CodeBlockSyntax.self) {
      return block.parent?.as(FunctionDeclSyntax.self)?.signature.returnClause != nil
    }
    return owner.is(AccessorBlockSyntax.self)
  }
}

extension String {
  fileprivate var containsEnd: Bool { contains("invalidate(") || contains("removeObserver(") }
}
