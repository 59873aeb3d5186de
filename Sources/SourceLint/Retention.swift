// Retention: what is kept where a value is stored: closures, and names of methods and variables, through the
// calls that wrap them.

internal import SwiftSyntax

/// Something that a stored value keeps.
enum RetainedValue {
  case closure(ClosureExprSyntax)
  /// The closure of a task.
  case task(ClosureExprSyntax)
  case name(ExprSyntax)
  /// A function that is declared in the one around it.
  case localFunction(FunctionDeclSyntax, at: ExprSyntax)
  /// An object that a subscription assigns to.
  case object(ExprSyntax)
}

/// Which functions keep the closures that they are given.
struct Retention {
  let index: DeclarationIndex
  let surroundings: SurroundingsByType

  /// The parameters that outlive the call, by function.
  private var kept: [FunctionDeclaration.ID: Set<Int>] = [:]

  /// The function that is being looked at. What it gives to itself, or seems to give to an overload, says nothing.
  private var current: FunctionDeclaration.ID?

  /// Types that do nothing but keep a closure.
  private static let wrappers: Set = ["DispatchWorkItem", "AnyCancellable", "BlockOperation"]

  /// Types that can't keep anything.
  private static let tokens: Set = [
    "Int", "Int32", "Int64", "UInt", "UInt32", "UInt64", "String", "Bool", "UUID",
    "ObjectIdentifier",
  ]
  private static let adders: Set = ["append", "insert", "updateValue", "push", "enqueue"]

  /// Finds the functions that keep a closure, until no more are found: each round goes one call further.
  ///
  /// - Complexity: O(*r* · *n*) for *n* bytes of functions that take closures and *r* rounds, at most 8.
  init(_ index: DeclarationIndex) {
    self.index = index
    surroundings = SurroundingsByType(index)
    var candidates: [(FunctionDeclaration, Scope)] = []
    for (key, type) in index.types {
      for function in type.functions where function.parameters.contains(where: \.isEscaping) {
        if let body = function.body {
          candidates.append(
            (function, scope(of: function, body, owner: key.name, module: key.module)))
        }
      }
    }
    for function in index.freeFunctions.values.joined()
    where function.parameters.contains(where: \.isEscaping) {
      if let body = function.body {
        let module = index.files[function.id.file].module
        candidates.append((function, scope(of: function, body, owner: "", module: module)))
      }
    }
    for _ in 1...8 {
      var hasChanged = false
      for (function, scope) in candidates {
        guard let body = function.body else { continue }
        for (position, parameter) in function.parameters.enumerated() where parameter.isEscaping {
          guard kept[function.id]?.contains(position) != true else { continue }
          current = function.id
          let finder = KeepFinder(parameter: parameter.name, retention: self, scope: scope)
          finder.walk(body)
          if finder.isKept {
            kept[function.id, default: []].insert(position)
            hasChanged = true
          }
        }
      }
      if !hasChanged { break }
    }
    current = nil
  }

  private func scope(
    of function: FunctionDeclaration, _ body: CodeBlockSyntax, owner: String, module: String
  ) -> Scope {
    let node = body.parent ?? Syntax(body)
    return Scope(
      file: function.id.file, module: module, typeName: owner,
      surroundings: surroundings.of(owner, from: module),
      hasObject: !owner.isEmpty && !function.isTypeLevel, functionName: function.name, node: node,
      locals: LocalNames(in: node))
  }

  // MARK: - Which function is called

  /// The functions that a call may mean; none where the receiver isn't known.
  ///
  /// - Parameters:
  ///   - depth: how many local variables were followed to come here; see ``type(of:in:depth:)``.
  ///   - expected: the type that `.init` stands for, and those that it inherits from.
  func callees(
    of call: FunctionCallExprSyntax, in scope: Scope, depth: Int = 0,
    expecting expected: [TypeDeclaration] = []
  ) -> [FunctionDeclaration] {
    guard let name = call.calleeName else { return [] }
    let candidates: [FunctionDeclaration]
    if call.isPlainInit {
      candidates = expected.flatMap { $0.functions(named: "init") }
    } else if let made = ExprSyntax(call).constructedType {
      candidates = ancestry(of: made, in: scope).flatMap {
        $0.functions(named: "init")
      }
    } else if let receiver = call.receiver {
      if receiver.bare.is(SuperExprSyntax.self) {
        candidates = scope.ancestry.dropFirst().flatMap { $0.functions(named: name) }
      } else {
        candidates = type(of: receiver, in: scope, depth: depth).flatMap {
          $0.functions(named: name)
        }
      }
    } else if scope.locals.contains(name) {
      candidates = []
    } else {
      let own = scope.methods(name)
      candidates = own.isEmpty ? index.freeFunctions[name] ?? [] : own
    }
    return candidates.filter { parameters(of: call, for: $0) != nil }
  }

  /// The position of the parameter that each argument is for; nil where the labels don't fit, or something is missing.
  func parameters(of call: FunctionCallExprSyntax, for function: FunctionDeclaration) -> [Int]? {
    var next = 0
    var positions: [Int] = []
    let plain = call.arguments.count
    for (number, argument) in call.allArguments.enumerated() {
      let rest = function.parameters.indices.dropFirst(next)
      let isTrailing = number == plain && call.trailingClosure != nil
      let position =
        isTrailing
        ? rest.first { function.parameters[$0].isEscaping } ?? rest.last
        : rest.first { function.parameters[$0].label == argument.label }
      guard let position else { return nil }
      positions.append(position)
      next = position + 1
    }
    let isComplete = function.parameters.indices.allSatisfy {
      positions.contains($0) || function.parameters[$0].isOptional
    }
    return isComplete ? positions : nil
  }

  /// The parameter of each argument that the callee keeps, by the argument's number.
  func keptArguments(
    of call: FunctionCallExprSyntax, in scope: Scope, expecting expected: [TypeDeclaration] = []
  ) -> [Int: FunctionDeclaration.Parameter] {
    let callees = callees(of: call, in: scope, expecting: expected).filter { $0.id != current }
    guard let first = callees.first else { return [:] }
    var result: [Int: FunctionDeclaration.Parameter] = [:]
    for number in call.allArguments.indices {
      let isKept = callees.allSatisfy { callee in
        guard let position = parameters(of: call, for: callee)?[number] else { return false }
        return kept[callee.id]?.contains(position) == true
      }
      if isKept, let position = parameters(of: call, for: first)?[number] {
        result[number] = first.parameters[position]
      }
    }
    return result
  }

  // MARK: - What a value keeps

  /// What an expression keeps, where its value is stored.
  ///
  /// - Parameter expected: the type of what it is stored in, and those that it inherits from; none where it isn't
  ///   known.
  func values(
    keptBy expression: ExprSyntax, in scope: Scope, expecting expected: [TypeDeclaration] = [],
    depth: Int = 0
  ) -> [RetainedValue] {
    guard depth < 8 else { return [] }
    let bare = expression.bare
    func inner(_ expression: ExprSyntax) -> [RetainedValue] {
      values(keptBy: expression, in: scope, depth: depth + 1)
    }
    if let closure = bare.as(ClosureExprSyntax.self) { return [.closure(closure)] }
    if let sequence = bare.as(SequenceExprSyntax.self) {
      return Assignment.values(of: ExprSyntax(sequence)).flatMap(inner)
    }
    if let array = bare.as(ArrayExprSyntax.self) {
      return array.elements.flatMap { inner($0.expression) }
    }
    if let tuple = bare.as(TupleExprSyntax.self) {
      return tuple.elements.flatMap { inner($0.expression) }
    }
    if let call = bare.as(FunctionCallExprSyntax.self) {
      return values(keptBy: call, in: scope, expecting: expected, inner)
    }
    guard let path = bare.path else { return [] }
    if path.count == 1, let function = scope.locals.function(path[0]) {
      return [.localFunction(function, at: bare)]
    }
    if path.count == 1, let value = scope.locals.initializer(of: path[0]) {
      return [.name(bare)] + inner(value)
    }
    return [.name(bare)]
  }

  private func values(
    keptBy call: FunctionCallExprSyntax, in scope: Scope, expecting expected: [TypeDeclaration],
    _ inner: (ExprSyntax) -> [RetainedValue]
  ) -> [RetainedValue] {
    let arguments = call.allArguments
    if call.makesTask {
      return arguments.flatMap { inner($0.value) }.map { value in
        if case .closure(let closure) = value { .task(closure) } else { value }
      }
    }
    if let made = ExprSyntax(call).constructedType, Self.wrappers.contains(made) {
      return arguments.flatMap { inner($0.value) }
    }
    if let member = call.calledExpression.bare.as(MemberAccessExprSyntax.self),
      member.base == nil || ExprSyntax(call).constructedType == nil,
      isClosureCase(member, in: scope) || call.calledExpression.trimmedDescription == ".some"
    {
      return arguments.flatMap { inner($0.value) }
    }
    let callees = callees(of: call, in: scope, expecting: expected)
    if callees.isEmpty {
      if call.isSubscription, !call.comesToAnEnd {
        return call.subscribed.flatMap(inner) + call.assignedObjects
      }
      return memberwise(call, in: scope, expecting: expected).flatMap(inner)
    }
    // Who gives back a number keeps the closure itself.
    if callees.compactMap(\.resultTypeName).contains(where: Self.tokens.contains) { return [] }
    return keptArguments(of: call, in: scope, expecting: expected).keys.sorted()
      .flatMap { inner(arguments[$0].value) }
  }

  /// The functions that go into properties by the initializer that a struct has without being written.
  private func memberwise(
    _ call: FunctionCallExprSyntax, in scope: Scope, expecting expected: [TypeDeclaration]
  ) -> [ExprSyntax] {
    let made = ExprSyntax(call).constructedType.map { ancestry(of: $0, in: scope) }
    guard let type = made?.first ?? (call.isPlainInit ? expected.first : nil), type.kind == .value,
      type.functions(named: "init").isEmpty
    else { return [] }
    return call.allArguments.compactMap { label, value in
      guard let label else { return value.bare.is(ClosureExprSyntax.self) ? value : nil }
      guard let property = type.properties[label] else { return nil }
      return property.isFunction || value.bare.is(ClosureExprSyntax.self) ? value : nil
    }
  }

  /// Whether `.reading` or `Stage.reading` is a case with a closure.
  private func isClosureCase(_ member: MemberAccessExprSyntax, in scope: Scope) -> Bool {
    let name = member.declName.baseName.text.unquoted
    if let base = member.base {
      guard let path = base.path, path.allSatisfy({ $0.first?.isUppercase == true }) else {
        return false
      }
      return ancestry(of: path.joined(separator: "."), in: scope)
        .contains { $0.closureCases.contains(name) }
    }
    return index.closureCases[scope.module]?.contains(name) == true
  }

  /// What is added to a collection: its elements, and the receiver; nil for other calls, and where the sources say
  /// what the function does with a closure.
  func added(
    by call: FunctionCallExprSyntax, in scope: Scope
  ) -> (receiver: ExprSyntax, values: [ExprSyntax])? {
    guard let added = Self.added(by: call),
      !callees(of: call, in: scope).contains(where: { $0.parameters.contains(where: \.isEscaping) })
    else { return nil }
    return added
  }

  /// What is added to something that may be a collection.
  static func added(
    by call: FunctionCallExprSyntax
  ) -> (receiver: ExprSyntax, values: [ExprSyntax])? {
    guard let name = call.calleeName, adders.contains(name), let receiver = call.receiver else {
      return nil
    }
    return (receiver, call.allArguments.map(\.value))
  }
}

extension FunctionCallExprSyntax {
  /// Whether it is `.init(...)`, of a type that isn't written.
  var isPlainInit: Bool {
    calledExpression.bare.as(MemberAccessExprSyntax.self)
      .map { $0.base == nil && $0.declName.baseName.text == "init" } ?? false
  }

  /// `Task {}`, `Task.detached {}`, `Task<Void, Never> {}`.
  var makesTask: Bool {
    if ExprSyntax(self).constructedType == "Task" { return true }
    return calledExpression.path == ["Task", "detached"]
  }
}

/// Finds out whether a function stores a parameter.
private final class KeepFinder: SyntaxVisitor {
  private let parameter: String
  private let retention: Retention
  private let scope: Scope
  private(set) var isKept = false

  init(parameter: String, retention: Retention, scope: Scope) {
    self.parameter = parameter
    self.retention = retention
    self.scope = scope
    super.init(viewMode: .sourceAccurate)
  }

  override func visit(_ node: SequenceExprSyntax) -> SyntaxVisitorContinueKind {
    guard let assignment = Assignment(node) ?? Assignment(adding: node),
      let path = assignment.target.path
    else { return .visitChildren }
    // A variable of the function goes with it; a member of what it names does not.
    guard path.count > 1 || !scope.locals.contains(path[0]), !goesWithTheCall(path[0]) else {
      return .visitChildren
    }
    if assignment.values.contains(where: keepsParameter), !isUsedUp(assignment.target) {
      isKept = true
    }
    return .visitChildren
  }

  override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
    if let (receiver, values) = retention.added(by: node, in: scope) {
      let isLocal = receiver.path.map { $0.count == 1 && scope.locals.contains($0[0]) } ?? false
      if !isLocal, values.contains(where: keepsParameter), !isUsedUp(receiver) { isKept = true }
    }
    // An object that is made goes again if nobody keeps it. Who stores it is seen where that is done.
    if ExprSyntax(node).constructedType != nil, !ReturnFinder.returns(node, from: scope.node) {
      return .visitChildren
    }
    if let root = node.receiver?.path?.first, goesWithTheCall(root) { return .visitChildren }
    let arguments = node.allArguments
    for number in retention.keptArguments(of: node, in: scope).keys
    where keepsParameter(arguments[number].value) {
      isKept = true
    }
    return .visitChildren
  }

  /// Whether a variable of the function has an object that is made there, and that the function gives to nobody.
  private func goesWithTheCall(_ name: String) -> Bool {
    scope.locals.initializer(of: name)?.constructedType != nil
      && !PlainUseFinder.isUsed(name, in: scope.node)
  }

  /// Whether what is put there is for one use: a list of those who wait, a completion.
  private func isUsedUp(_ target: ExprSyntax) -> Bool {
    guard let (property, path) = scope.holdingProperty(target), path.count == 1 else {
      return false
    }
    return scope.endings(of: property.name).isUsedUp
  }

  private func keepsParameter(_ expression: ExprSyntax) -> Bool {
    retention.values(keptBy: expression, in: scope).contains { value in
      switch value {
      case .name(let name): name.path == [parameter]
      case .closure(let closure), .task(let closure): NameFinder.mentions(parameter, in: closure)
      case .localFunction(let function, _): NameFinder.mentions(parameter, in: function)
      case .object: false
      }
    }
  }
}

/// Looks for a variable that is used as it is, not only for a member of what is in it.
private final class PlainUseFinder: SyntaxVisitor {
  private let name: String
  private var isFound = false

  private init(_ name: String) {
    self.name = name
    super.init(viewMode: .sourceAccurate)
  }

  static func isUsed(_ name: String, in node: some SyntaxProtocol) -> Bool {
    let finder = PlainUseFinder(name)
    finder.walk(node)
    return finder.isFound
  }

  override func visit(_ node: DeclReferenceExprSyntax) -> SyntaxVisitorContinueKind {
    if node.baseName.text.unquoted == name, node.parent?.is(MemberAccessExprSyntax.self) != true {
      isFound = true
    }
    return .skipChildren
  }
}

/// Finds out whether a function gives an object that it makes to its caller, or retains it by hand.
private final class ReturnFinder: SyntaxVisitor {
  private let name: String
  private var isFound = false

  private init(_ name: String) {
    self.name = name
    super.init(viewMode: .sourceAccurate)
  }

  static func returns(_ call: FunctionCallExprSyntax, from function: some SyntaxProtocol) -> Bool {
    if let item = call.parent?.as(CodeBlockItemSyntax.self) { return item.isImplicitResult }
    if call.parent?.is(ReturnStmtSyntax.self) == true { return true }
    if let outer = call.parent?.parent?.parent?.as(FunctionCallExprSyntax.self),
      outer.calleeName == "passRetained"
    {
      return true
    }
    guard let binding = call.parent?.parent?.as(PatternBindingSyntax.self),
      let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.text.unquoted
    else { return false }
    let finder = ReturnFinder(name)
    finder.walk(function)
    return finder.isFound
  }

  override func visit(_ node: ReturnStmtSyntax) -> SyntaxVisitorContinueKind {
    if node.expression?.path == [name] { isFound = true }
    return .visitChildren
  }
  override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
    if node.calleeName == "passRetained",
      node.arguments.contains(where: { $0.expression.path == [name] })
    {
      isFound = true
    }
    return .visitChildren
  }
}

/// Looks for a name in a piece of source.
final class NameFinder: SyntaxVisitor {
  private let name: String
  private var isFound = false

  private init(_ name: String) {
    self.name = name
    super.init(viewMode: .sourceAccurate)
  }

  override func visit(_ node: DeclReferenceExprSyntax) -> SyntaxVisitorContinueKind {
    if node.baseName.text.unquoted == name { isFound = true }
    return .skipChildren
  }

  static func mentions(_ name: String, in node: some SyntaxProtocol) -> Bool {
    let finder = NameFinder(name)
    finder.walk(node)
    return finder.isFound
  }
}
