// SequenceOwners: tasks that hold an object for a sequence of its that only the object's own end would end.

internal import SwiftSyntax

extension RuleVisitor {
  /// `Task { for await fix in lease.fixes {} }`, where `lease` ends its fixes in `deinit`: the task waits for the
  /// end and holds the lease.
  ///
  /// Nothing is said where somebody else could end either: the task by its handle, or the object by a function.
  func checkSequenceOwner(_ call: FunctionCallExprSyntax, in scope: Scope) {
    guard call.makesTask,
      let closure = call.allArguments.last?.value.bare.as(ClosureExprSyntax.self),
      let loop = EndlessLoop.first(in: closure.statements)?.as(ForStmtSyntax.self),
      loop.sequence.bare.is(MemberAccessExprSyntax.self), let path = loop.sequence.path,
      path.count == 2, path[0] != "self", closure.capturesStrongly(path[0]),
      !LocalNames(in: Syntax(closure)).contains(path[0])
    else { return }
    let owner = loop.sequence.bare.as(MemberAccessExprSyntax.self)?.base
    let ancestry = owner.map { retention.type(of: $0, in: scope) } ?? []
    guard let type = ancestry.first, type.kind == .object,
      let end = Endings.deinitThatEnds(ancestry), let body = end.body,
      !isEndable(call, in: scope), !UsesOfOwner.mayEnd(path[0], apartFrom: closure, in: scope)
    else { return }
    report(
      .cleanupInDeinit, at: closure,
      "only the deinit of \(type.name) would end \(path.joined(separator: ".")), and the task that waits "
        + "for \(path[1]) holds \(path[0])",
      [related(body, in: end.id.file, "the end that is never reached")])
  }

  /// Whether somebody has the task and may cancel it.
  private func isEndable(_ call: FunctionCallExprSyntax, in scope: Scope) -> Bool {
    switch sink(of: ExprSyntax(call), in: scope) {
    case .dropped: false
    case .property(let property): scope.endings(of: property.name).isPossible
    case .unknown: true
    }
  }
}

extension ClosureExprSyntax {
  /// Whether a name that stands for an object around it is held by it, if it says it.
  fileprivate func capturesStrongly(_ name: String) -> Bool {
    !(signature?.capture?.items ?? []).contains { item in
      item.name.text.unquoted == name && (item.specifier != nil || item.initializer != nil)
    }
  }
}

/// Looks at what else a function does with an object that a task holds.
private final class UsesOfOwner: SyntaxVisitor {
  private let name: String
  private let closure: ClosureExprSyntax
  private let scope: Scope
  private var mayEnd = false

  private init(_ name: String, _ closure: ClosureExprSyntax, _ scope: Scope) {
    self.name = name
    self.closure = closure
    self.scope = scope
    super.init(viewMode: .sourceAccurate)
  }

  /// Whether it, or the property that it is kept in, is ended or given to somebody.
  static func mayEnd(
    _ name: String, apartFrom closure: ClosureExprSyntax, in scope: Scope
  ) -> Bool {
    if !scope.locals.contains(name), scope.endings(of: name).isPossible {
      return true
    }
    let finder = UsesOfOwner(name, closure, scope)
    finder.walk(scope.node)
    return finder.mayEnd
  }

  override func visit(_ node: ClosureExprSyntax) -> SyntaxVisitorContinueKind {
    node.id == closure.id ? .skipChildren : .visitChildren
  }

  override func visit(_ node: SequenceExprSyntax) -> SyntaxVisitorContinueKind {
    guard let assignment = Assignment(node),
      assignment.values.contains(where: { $0.path == [name] })
    else { return .visitChildren }
    if let (property, path) = scope.holdingProperty(assignment.target), path.count == 1 {
      if scope.endings(of: property.name).isPossible { mayEnd = true }
    } else {
      mayEnd = true
    }
    return .skipChildren
  }

  override func visit(_ node: DeclReferenceExprSyntax) -> SyntaxVisitorContinueKind {
    guard node.baseName.text.unquoted == name else { return .skipChildren }
    guard let member = node.parent?.as(MemberAccessExprSyntax.self) else {
      mayEnd = true
      return .skipChildren
    }
    // `other.lease` is something else; of `lease.fixes` only functions can end it.
    if member.declName.id != node.id, Endings.isEnd(member.declName.baseName.text.unquoted) {
      mayEnd = true
    }
    return .skipChildren
  }
}
