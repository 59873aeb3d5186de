// StoredClosures: closures, tasks and methods that an object keeps and that hold the object.

internal import SwiftSyntax

extension RuleVisitor {
  func check(_ assignment: Assignment, in scope: Scope) {
    guard let (property, path) = scope.holdingProperty(assignment.target),
      !isComputed(assignment.target, in: scope)
    else { return }
    for expression in assignment.values {
      if path.count > 1, expression.bare.path == ["self"] {
        checkBackReference(assignment.target, property, path, in: scope)
      }
      if isEndedHandle(expression, property, in: scope) { continue }
      let expected = retention.type(of: assignment.target, in: scope)
      for value in retention.values(keptBy: expression, in: scope, expecting: expected) {
        check(value, storedIn: property, path: path, in: scope)
      }
    }
  }

  /// Whether what is assigned to is known to have no memory of its own: what its setter does isn't.
  private func isComputed(_ target: ExprSyntax, in scope: Scope) -> Bool {
    guard let member = target.bare.as(MemberAccessExprSyntax.self), let base = member.base else {
      return false
    }
    let name = member.declName.baseName.text.unquoted
    let types = retention.type(of: base, in: scope)
    return types.first { $0.properties[name] != nil || $0.computedNames.contains(name) }
      .map { $0.properties[name] == nil } ?? false
  }

  /// Whether something that keeps a closure, such as a subscription, is ended through the property that it is in:
  /// by a function that doesn't wait for `deinit`.
  private func isEndedHandle(
    _ expression: ExprSyntax, _ property: PropertyDeclaration, in scope: Scope
  ) -> Bool {
    guard let call = expression.bare.as(FunctionCallExprSyntax.self), !call.makesTask else {
      return false
    }
    // `.reading { }` is a case of an enum.
    if let member = call.calledExpression.as(MemberAccessExprSyntax.self), member.base == nil,
      !call.isPlainInit
    {
      return false
    }
    let endings = scope.endings(of: property.name)
    return (endings.isElsewhere || endings.isHandedOut) && endings.inDeinit == nil
  }

  /// Calls that give something to what the object owns.
  func checkStoring(_ call: FunctionCallExprSyntax, in scope: Scope) {
    guard scope.hasObject else { return }
    if let (receiver, values) = retention.added(by: call, in: scope),
      let (property, path) = scope.holdingProperty(receiver)
    {
      for value in values.flatMap({ retention.values(keptBy: $0, in: scope) }) {
        check(value, storedIn: property, path: path, in: scope)
      }
      return
    }
    if checkBag(call, in: scope) { return }
    // Whoever takes what is returned can end it.
    guard call.isDiscarded, let receiver = call.receiver,
      let (property, path) = scope.holdingProperty(receiver)
    else { return }
    let arguments = call.allArguments
    for (number, parameter) in retention.keptArguments(of: call, in: scope).sorted(by: {
      $0.key < $1.key
    }) {
      for value in retention.values(keptBy: arguments[number].value, in: scope) {
        if parameter.isAsync, case .closure(let closure) = value {
          check(.task(closure), storedIn: property, path: path, in: scope)
        } else {
          check(value, storedIn: property, path: path, in: scope)
        }
      }
    }
  }

  /// `source.subscribe { }.disposed(by: bag)` and `.store(in: &cancellables)` with a bag of the object's own.
  ///
  /// - Returns: whether it is such a call.
  private func checkBag(_ call: FunctionCallExprSyntax, in scope: Scope) -> Bool {
    guard let bag = call.bag else { return false }
    guard let (property, _) = scope.holdingProperty(bag) else { return true }
    var next = call.receiver
    if next?.bare.as(FunctionCallExprSyntax.self)?.comesToAnEnd == true { return true }
    while let link = next?.bare.as(FunctionCallExprSyntax.self) {
      for value in link.assignedObjects {
        check(value, storedIn: property, path: [property.name], in: scope)
      }
      for (_, argument) in link.allArguments {
        let bare = argument.bare
        if let closure = bare.as(ClosureExprSyntax.self) {
          check(.closure(closure), storedIn: property, path: [property.name], in: scope)
        } else if bare.path != nil {
          check(.name(bare), storedIn: property, path: [property.name], in: scope)
        }
      }
      next = link.receiver
    }
    return true
  }

  /// Something that is kept where a path of the object's own properties leads.
  func check(
    _ value: RetainedValue, storedIn property: PropertyDeclaration, path: [String], in scope: Scope
  ) {
    if retention.isLasting(scope.ancestry) { return }
    switch value {
    case .closure(let closure): checkClosure(closure, property, path, in: scope)
    case .task(let closure): checkTask(closure, property, in: scope)
    case .name(let expression): checkMethod(expression, property, path, in: scope)
    case .localFunction(let function, let place):
      checkFunction(function, at: place, property, path, in: scope)
    case .object(let expression):
      if scope.endings(of: property.name).isCleared(path) { return }
      report(
        .strongSelf, at: expression,
        "\(Self.way(path)) keeps a subscription that assigns to self and holds it strongly")
    }
  }

  private func checkFunction(
    _ function: FunctionDeclSyntax, at place: ExprSyntax, _ property: PropertyDeclaration,
    _ path: [String], in scope: Scope
  ) {
    guard let body = function.body, SelfCapture.mentionsSelf(body, implicitIn: scope),
      !scope.endings(of: property.name).isCleared(path)
    else { return }
    report(
      .strongSelf, at: place,
      "\(Self.way(path)) keeps the function \(function.name.text.unquoted), which captures self strongly"
    )
  }

  private func checkClosure(
    _ closure: ClosureExprSyntax, _ property: PropertyDeclaration, _ path: [String], in scope: Scope
  ) {
    guard case .strong(let reason) = SelfCapture(of: closure) else { return }
    // A closure that is dropped when it has done its work, or whenever the object has no use for it.
    if scope.endings(of: property.name).isCleared(path) { return }
    if EndedInside.isEnded(property.name, in: closure) { return }
    let inner =
      if case .forInnerClosure = reason {
        "; the closure within captures it weakly, but this one has to hold it for that"
      } else {
        ""
      }
    report(
      .strongSelf, at: closure,
      "\(Self.way(path)) keeps a closure that captures self strongly" + inner)
  }

  private func checkMethod(
    _ expression: ExprSyntax, _ property: PropertyDeclaration, _ path: [String], in scope: Scope
  ) {
    guard let own = scope.ownPath(expression), own.count == 1, scope.property(own[0]) == nil,
      scope.methods(own[0]).contains(where: { !$0.isTypeLevel })
    else { return }
    if scope.endings(of: property.name).isCleared(path) { return }
    report(
      .methodReference, at: expression,
      "\(Self.way(path)) keeps the method \(own[0]), and self with it")
  }

  /// `self.client.onChange`.
  private static func way(_ path: [String]) -> String { "self." + path.joined(separator: ".") }

  // MARK: - Tasks

  private func checkTask(
    _ closure: ClosureExprSyntax, _ property: PropertyDeclaration, in scope: Scope
  ) {
    guard let why = holdsSelfForGood(closure, in: scope) else { return }
    let endings = scope.endings(of: property.name)
    if endings.isElsewhere, endings.inDeinit == nil { return }
    if let end = endings.inDeinit, let body = end.body {
      let place = [related(body, in: end.id.file, "the end that is never reached")]
      if endings.isElsewhere {
        report(
          .endlessTask, at: closure,
          "\(why), so the deinit that would end the task in '\(property.name)' isn't reached", place
        )
      } else {
        report(
          .cleanupInDeinit, at: closure,
          "only deinit ends the task in '\(property.name)', and \(why)", place)
      }
    } else {
      report(.endlessTask, at: closure, "\(why), and nothing ends the task in '\(property.name)'")
    }
  }

  /// Why a task's closure holds `self` as long as the task runs; nil where it doesn't, or the task ends by itself.
  private func holdsSelfForGood(_ closure: ClosureExprSyntax, in scope: Scope) -> String? {
    let loop = EndlessLoop.first(in: closure.statements)
    switch SelfCapture(of: closure, implicitIn: scope) {
    case .none:
      return nil
    case .strong:
      if loop != nil { return "its closure captures self strongly over a loop that doesn't end" }
      return awaitedEndlessMethod(closure, in: scope).map {
        "its closure captures self strongly and waits for \($0), which doesn't end"
      }
    case .weak:
      if let loop, SelfCapture.mentionsSelf(loop), UnwrappedSelf.isBefore(loop, in: closure) {
        return "its closure makes the weak self strong before a loop that doesn't end"
      }
      return awaitedEndlessMethod(closure, in: scope).map {
        "it waits for \($0), which holds self until it ends, and doesn't end"
      }
    }
  }

  /// A method of the object that the closure waits for and that loops without an end.
  private func awaitedEndlessMethod(_ closure: ClosureExprSyntax, in scope: Scope) -> String? {
    for name in AwaitedMethods.names(in: closure, of: scope) {
      let methods = scope.methods(name)
      if !methods.isEmpty,
        methods.allSatisfy({ $0.body.flatMap { EndlessLoop.first(in: $0) } != nil })
      {
        return name + "()"
      }
    }
    return nil
  }

  /// Tasks that nobody stores, with a weak capture that is worth nothing.
  func checkCaptures(_ call: FunctionCallExprSyntax, in scope: Scope) {
    guard scope.hasObject, call.makesTask,
      let closure = call.allArguments.last?.value.bare.as(ClosureExprSyntax.self),
      call.isDiscarded, case .weak = SelfCapture(of: closure),
      !retention.isLasting(scope.ancestry)
    else { return }
    if let name = awaitedEndlessMethod(closure, in: scope) {
      report(
        .endlessTask, at: closure,
        "the weak capture is in vain: the task waits for \(name), which holds self until it ends, and doesn't end"
      )
    }
  }
}

/// Finds the methods of `self` that a closure waits for.
private final class AwaitedMethods: SyntaxVisitor {
  private let scope: Scope
  private var names: [String] = []

  private init(_ scope: Scope) {
    self.scope = scope
    super.init(viewMode: .sourceAccurate)
  }

  static func names(in closure: ClosureExprSyntax, of scope: Scope) -> [String] {
    let finder = AwaitedMethods(scope)
    finder.walk(closure.statements)
    return finder.names
  }

  override func visit(_ node: AwaitExprSyntax) -> SyntaxVisitorContinueKind {
    if let call = node.expression.bare.as(FunctionCallExprSyntax.self),
      let path = call.calledExpression.path
    {
      if path.count == 2, path[0] == "self" { names.append(path[1]) }
      if path.count == 1, !scope.locals.contains(path[0]) { names.append(path[0]) }
    }
    return .visitChildren
  }
  override func visit(_ node: ClosureExprSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
}

/// Finds out whether a weak `self` is made strong before a loop.
private final class UnwrappedSelf: SyntaxVisitor {
  private let loop: StmtSyntax
  private var isFound = false

  private init(_ loop: StmtSyntax) {
    self.loop = loop
    super.init(viewMode: .sourceAccurate)
  }

  static func isBefore(_ loop: StmtSyntax, in closure: ClosureExprSyntax) -> Bool {
    let finder = UnwrappedSelf(loop)
    finder.walk(closure.statements)
    return finder.isFound
  }

  override func visit(_ node: OptionalBindingConditionSyntax) -> SyntaxVisitorContinueKind {
    let isSelf = node.pattern.as(IdentifierPatternSyntax.self)?.identifier.text.unquoted == "self"
    // In the body of an `if` it is strong there only.
    let block = node.parent?.parent?.parent
    let isIf = block?.is(IfExprSyntax.self) == true
    let holdsLoop =
      block.map { $0.position <= loop.position && loop.endPosition <= $0.endPosition } ?? false
    if isSelf, node.position < loop.position, !isIf || holdsLoop { isFound = true }
    return .visitChildren
  }
  override func visit(_ node: ClosureExprSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
}

/// Finds out whether a closure takes itself out of the property that it is in.
private final class EndedInside: SyntaxVisitor {
  private let property: String
  private var isFound = false

  private init(_ property: String) {
    self.property = property
    super.init(viewMode: .sourceAccurate)
  }

  static func isEnded(_ property: String, in closure: ClosureExprSyntax) -> Bool {
    let finder = EndedInside(property)
    finder.walk(closure.statements)
    return finder.isFound
  }

  override func visit(_ node: SequenceExprSyntax) -> SyntaxVisitorContinueKind {
    if let assignment = Assignment(node), let path = assignment.target.path,
      path.dropFirst(path[0] == "self" ? 1 : 0).first == property,
      assignment.values.contains(where: { $0.is(NilLiteralExprSyntax.self) })
    {
      isFound = true
    }
    return .visitChildren
  }

  override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
    if let path = node.receiver?.path, path.dropFirst(path[0] == "self" ? 1 : 0).first == property,
      let name = node.calleeName, name.hasPrefix("remove") || name.hasPrefix("cancel")
    {
      isFound = true
    }
    return .visitChildren
  }
}
