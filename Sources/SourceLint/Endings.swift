// Endings: where a type ends what one of its properties keeps going.

internal import SwiftSyntax

/// Who ends what is in a property.
struct Endings {
  /// In `deinit` or a function that it calls.
  private(set) var inDeinit: FunctionDeclaration?

  /// In a function that somebody can call while the object lives.
  private(set) var isElsewhere = false

  /// Whether a function gives it to another one, which may end it.
  private(set) var isHandedOut = false

  /// Whether a function empties the property while the object lives, and `deinit` has no part in that.
  private(set) var isCleared = false

  /// Whether a function uses up what is in it: takes it out to call it, or calls it and empties the property.
  private(set) var isUsedUp = false

  /// Whether anybody ends it, or may.
  var isPossible: Bool { inDeinit != nil || isElsewhere || isHandedOut || isCleared }

  /// Looks through the functions of a type and of those that it inherits from.
  ///
  /// - Complexity: O(*n*) in the length of the functions.
  init(of property: String, in ancestry: [TypeDeclaration]) {
    let functions = ancestry.flatMap(\.functions)
    let calls = functions.map { $0.body.map { CalledNames.names(in: $0) } ?? [] }
    let fromDeinit = Self.reached(in: functions, calls) { $0.name == "deinit" }
    let fromElsewhere = Self.reached(in: functions, calls) { $0.name != "deinit" && !$0.isPrivate }
    var isClearedInDeinit = false
    for (position, function) in functions.enumerated() {
      guard let body = function.body else { continue }
      let finder = EndFinder(property: property)
      finder.walk(body)
      if finder.isEnded {
        if fromDeinit.contains(position), inDeinit == nil { inDeinit = function }
        if fromElsewhere.contains(position) { isElsewhere = true }
      }
      if finder.isHandedOut { isHandedOut = true }
      if finder.isUsedUp, function.name != "deinit" { isUsedUp = true }
      if finder.isCleared {
        if fromElsewhere.contains(position), function.name != "init" { isCleared = true }
        if fromDeinit.contains(position) { isClearedInDeinit = true }
      }
    }
    // `didSet { oldValue?.invalidate() }` ends what is taken out, and is not called in `deinit`.
    let node = ancestry.lazy.compactMap { $0.properties[property] }.first?.node
    if isCleared, case .accessors(let observers) = node?.accessorBlock?.accessors {
      let finder = EndFinder(property: property, observers)
      finder.walk(observers)
      if finder.isEnded { isElsewhere = true }
    }
    isCleared = isCleared && !isClearedInDeinit
  }

  /// Whether a function is called as those that end something: `cancel`, `stopUpdating`.
  static func isEnd(_ function: String) -> Bool {
    EndFinder.begins(function, with: EndFinder.verbs)
  }

  /// The `deinit` of a type that ends something; nil where there is none.
  static func deinitThatEnds(_ ancestry: [TypeDeclaration]) -> FunctionDeclaration? {
    ancestry.lazy.flatMap(\.functions).first { function in
      guard function.name == "deinit", let body = function.body else { return false }
      return CalledNames.all(in: body).contains(where: isEnd)
    }
  }

  /// The functions that are called from some, themselves included.
  private static func reached(
    in functions: [FunctionDeclaration], _ calls: [Set<String>],
    from isStart: (FunctionDeclaration) -> Bool
  ) -> Set<Int> {
    var reached = Set(functions.indices.filter { isStart(functions[$0]) })
    var rest = Array(reached)
    while let next = rest.popLast() {
      for position in functions.indices where calls[next].contains(functions[position].name) {
        if functions[position].name != "deinit", reached.insert(position).inserted {
          rest.append(position)
        }
      }
    }
    return reached
  }
}

/// The names of functions that a body calls.
private final class CalledNames: SyntaxVisitor {
  /// Those of the object itself.
  private var own: Set<String> = []
  private var all: Set<String> = []

  override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
    if let path = node.calledExpression.path,
      path.count == 1 || (path.count == 2 && path[0] == "self")
    {
      own.insert(path[path.count - 1])
    }
    if let name = node.calleeName { all.insert(name) }
    return .visitChildren
  }

  private static func search(_ body: CodeBlockSyntax) -> CalledNames {
    let finder = CalledNames(viewMode: .sourceAccurate)
    finder.walk(body)
    return finder
  }

  static func names(in body: CodeBlockSyntax) -> Set<String> { search(body).own }
  static func all(in body: CodeBlockSyntax) -> Set<String> { search(body).all }
}

/// Finds the calls and assignments that end what a property has.
private final class EndFinder: SyntaxVisitor {
  /// Names that stand for what is in the property: its own, and those of a loop over it.
  private var names: Set<String>
  private(set) var isEnded = false
  private(set) var isCleared = false
  private(set) var isHandedOut = false
  private var isTaken = false

  private var isPopped = false
  private var isSetToNil = false

  /// Whether what is in it is taken out, or called and the property set to `nil`. A list that is emptied at once may
  /// have to wait for that for good.
  var isUsedUp: Bool { isPopped || (isTaken && isSetToNil) }

  fileprivate static let verbs = [
    "cancel", "invalidate", "stop", "close", "finish", "dispose", "end", "terminate", "shutdown",
    "shutDown", "suspend", "unsubscribe", "clear", "reset", "disconnect", "release",
  ]
  private static let takers = [
    "remove", "cancel", "stop", "invalidate", "end", "unsubscribe", "dispose",
  ]

  init(property: String) {
    names = [property]
    super.init(viewMode: .sourceAccurate)
  }

  /// For the observers of the property itself, which know what it had by another name.
  init(property: String, _ observers: AccessorDeclListSyntax) {
    names = [property, "oldValue"]
    names.formUnion(observers.compactMap { $0.parameters?.name.text.unquoted })
    super.init(viewMode: .sourceAccurate)
  }

  private func isIt(_ expression: ExprSyntax) -> Bool {
    guard let path = expression.path else { return false }
    return names.contains(path[0] == "self" && path.count > 1 ? path[1] : path[0])
  }

  override func visit(_ node: ForStmtSyntax) -> SyntaxVisitorContinueKind {
    // What comes out of a sequence over time is not what is in the property.
    guard node.awaitKeyword == nil else { return .visitChildren }
    let sequence = node.sequence.bare
    let isOver =
      isIt(sequence)
      || (sequence.as(MemberAccessExprSyntax.self)?.base.map(isIt) ?? false)
    if isOver, let pattern = node.pattern.as(IdentifierPatternSyntax.self) {
      names.insert(pattern.identifier.text.unquoted)
    }
    return .visitChildren
  }

  override func visit(_ node: OptionalBindingConditionSyntax) -> SyntaxVisitorContinueKind {
    alias(node.pattern, node.initializer)
    return .visitChildren
  }

  override func visit(_ node: PatternBindingSyntax) -> SyntaxVisitorContinueKind {
    alias(node.pattern, node.initializer)
    return .visitChildren
  }

  private func alias(_ pattern: PatternSyntax, _ initializer: InitializerClauseSyntax?) {
    guard let value = initializer?.value else { return }
    // `observers.removeValue(forKey: key)` gives back what was in it.
    let isTaken = value.bare.as(FunctionCallExprSyntax.self)?.receiver.map(isIt) ?? false
    if isIt(value) || isTaken,
      let name = pattern.as(IdentifierPatternSyntax.self)
    {
      names.insert(name.identifier.text.unquoted)
      self.isTaken = true
    }
  }

  override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
    if isIt(node.calledExpression), node.calledExpression.path?.last.map(names.contains) == true {
      isTaken = true
    }
    guard let callee = node.calleeName else { return .visitChildren }
    if let receiver = node.receiver, isIt(receiver) {
      if Self.begins(callee, with: Self.verbs) { isEnded = true }
      // `observers.forEach { center.removeObserver($0) }`
      if callee == "forEach", node.trimmedDescription.contains(anyOf: Self.verbs + Self.takers) {
        isEnded = true
      }
      if callee == "removeAll" || callee == "popLast" { isCleared = true }
      if ["popFirst", "popLast", "removeFirst", "removeLast"].contains(callee) { isPopped = true }
    }
    if node.arguments.contains(where: { isIt($0.expression) }) { isHandedOut = true }
    if Self.begins(callee, with: Self.takers), node.allArguments.contains(where: { isIt($0.value) })
    {
      isEnded = true
    }
    return .visitChildren
  }

  override func visit(_ node: SequenceExprSyntax) -> SyntaxVisitorContinueKind {
    if let assignment = Assignment(node), let path = assignment.target.path {
      let own = path[0] == "self" ? Array(path.dropFirst()) : path
      if let first = own.first, names.contains(first) {
        // A timer that fires in the distant future is one that has been put to rest.
        let value = assignment.values.first?.trimmedDescription ?? ""
        if own.last == "fireDate", value.contains("distantFuture") { isEnded = true }
        if own.count == 1, assignment.values.contains(where: Self.isEmpty) { isCleared = true }
        if own.count == 1, assignment.values.allSatisfy({ $0.is(NilLiteralExprSyntax.self) }) {
          isSetToNil = true
        }
      }
    }
    return .visitChildren
  }

  /// `nil`, `[]`, `[:]`, `.idle`, or a new object: what no closure is in.
  private static func isEmpty(_ value: ExprSyntax) -> Bool {
    if value.is(NilLiteralExprSyntax.self) { return true }
    if let array = value.as(ArrayExprSyntax.self) { return array.elements.isEmpty }
    if let dictionary = value.as(DictionaryExprSyntax.self) {
      return dictionary.content.is(TokenSyntax.self)
    }
    if let call = value.as(FunctionCallExprSyntax.self) { return call.allArguments.isEmpty }
    return value.as(MemberAccessExprSyntax.self)?.base == nil
      && value.is(MemberAccessExprSyntax.self)
  }

  fileprivate static func begins(_ name: String, with verbs: [String]) -> Bool {
    verbs.contains { verb in
      guard name.hasPrefix(verb) else { return false }
      return name.dropFirst(verb.count).first?.isLowercase != true
    }
  }
}

extension String {
  fileprivate func contains(anyOf words: [String]) -> Bool { words.contains { contains($0) } }
}
