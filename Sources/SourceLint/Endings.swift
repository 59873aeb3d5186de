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

  /// Whether a function uses up what is in it: takes it out to call it, or calls it and empties the property.
  private(set) var isUsedUp = false

  /// What such a function empties: the property, or what is at a path that begins with it.
  private var cleared: Set<[String]> = []

  /// Whether anybody ends it, or may.
  var isPossible: Bool { inDeinit != nil || isElsewhere || isHandedOut || isCleared([property]) }

  private let property: String

  /// Whether a function empties what a path leads to while the object lives. What only `deinit` and those that it
  /// calls do doesn't count.
  ///
  /// - Parameter path: begins with the property.
  func isCleared(_ path: [String]) -> Bool {
    path.indices.contains { cleared.contains(Array(path[...$0])) }
  }

  /// - Parameters:
  ///   - type: the type that has the property.
  ///   - observers: those of the property.
  /// - Complexity: O(*n*) in the length of the functions that name the property.
  fileprivate init(of property: String, in type: TypeEndings, observers: AccessorDeclListSyntax?) {
    self.property = property
    var isInLifecycle = false
    for position in type.functions(thatName: property) {
      let function = type.functions[position]
      guard let body = function.body else { continue }
      let finder = EndFinder(property: property)
      finder.walk(body)
      let isOfDeinit = type.fromDeinit.contains(position)
      let isOfLifecycle = type.fromLifecycle.contains(position)
      if finder.isEnded {
        if isOfDeinit, inDeinit == nil { inDeinit = function }
        if isOfLifecycle { isInLifecycle = true }
        if type.fromElsewhere.contains(position) { isElsewhere = true }
      }
      if finder.isHandedOut { isHandedOut = true }
      if finder.isUsedUp, function.name != "deinit" { isUsedUp = true }
      if type.fromElsewhere.contains(position), function.name != "init",
        !isOfDeinit || isOfLifecycle
      {
        // Who empties a property of what it owns may do so for some of its ends only.
        cleared.formUnion(finder.cleared.filter { $0.count == 1 || isOfLifecycle })
      }
    }
    // The system calls it while the object lives, whatever `deinit` does once more.
    if isInLifecycle { inDeinit = nil }
    // `didSet { oldValue?.invalidate() }` ends what is taken out, and is not called in `deinit`.
    if isCleared([property]), let observers {
      let finder = EndFinder(property: property, observers)
      finder.walk(observers)
      if finder.isEnded { isElsewhere = true }
    }
  }

  /// Whether a function is called as those that end something: `cancel`, `stopUpdating`.
  static func isEnd(_ function: String) -> Bool {
    EndFinder.begins(function, with: EndFinder.verbs)
  }

  /// The `deinit` of a type that ends something; nil where there is none.
  static func deinitThatEnds(_ ancestry: [TypeDeclaration]) -> FunctionDeclaration? {
    ancestry.lazy.flatMap { $0.functions(named: "deinit") }.first { function in
      guard let body = function.body else { return false }
      return CalledNames.all(in: body).contains(where: isEnd)
    }
  }
}

/// Where a type ends what its properties keep going: its functions and those that it inherits, read once.
final class TypeEndings {
  fileprivate let functions: [FunctionDeclaration]

  /// The positions of functions that are called from `deinit`, from those that the system calls when an object is
  /// put away, and from any that somebody can call while the object lives. All are told by name.
  fileprivate let fromDeinit: Set<Int>
  fileprivate let fromLifecycle: Set<Int>
  fileprivate let fromElsewhere: Set<Int>

  private let ancestry: [TypeDeclaration]
  private var positionsByName: [String: [Int]] = [:]
  private var known: [String: Endings] = [:]

  private static let lifecycle: Set = [
    "viewWillDisappear", "viewDidDisappear", "windowWillClose", "sceneDidDisconnect",
    "prepareForReuse", "removeFromSuperview", "dismantleUIView",
    "dismantleNSView", "dismantleUIViewController", "dismantleNSViewController",
  ]

  /// - Complexity: O(*n*) in the length of the functions.
  init(_ ancestry: [TypeDeclaration]) {
    self.ancestry = ancestry
    let functions = ancestry.flatMap(\.functions)
    self.functions = functions
    let calls = functions.map { $0.body.map { CalledNames.names(in: $0) } ?? [] }
    var named: [String: [Int]] = [:]
    for position in functions.indices where functions[position].name != "deinit" {
      named[functions[position].name, default: []].append(position)
    }
    /// The functions that are called from some, themselves included.
    func reached(from isStart: (FunctionDeclaration) -> Bool) -> Set<Int> {
      var reached = Set(functions.indices.filter { isStart(functions[$0]) })
      var rest = Array(reached)
      while let next = rest.popLast() {
        for name in calls[next] {
          for position in named[name] ?? [] where reached.insert(position).inserted {
            rest.append(position)
          }
        }
      }
      return reached
    }
    fromDeinit = reached { $0.name == "deinit" }
    fromLifecycle = reached { Self.lifecycle.contains($0.name) }
    fromElsewhere = reached { $0.name != "deinit" && !$0.isPrivate }
    for (position, function) in functions.enumerated() {
      for token in function.body?.tokens(viewMode: .sourceAccurate).map(\.tokenKind) ?? [] {
        guard case .identifier(let text) = token else { continue }
        let name = text.unquoted
        if positionsByName[name]?.last != position {
          positionsByName[name, default: []].append(position)
        }
      }
    }
  }

  /// The positions of the functions that name something.
  fileprivate func functions(thatName name: String) -> [Int] { positionsByName[name] ?? [] }

  /// Who ends what is in a property.
  func of(_ property: String) -> Endings {
    if let endings = known[property] { return endings }
    let node = ancestry.lazy.compactMap { $0.properties[property] }.first?.node
    let observers: AccessorDeclListSyntax? =
      if case .accessors(let list) = node?.accessorBlock?.accessors { list } else { nil }
    let endings = Endings(of: property, in: self, observers: observers)
    known[property] = endings
    return endings
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

  /// The paths that are emptied. Each begins with the property.
  private(set) var cleared: Set<[String]> = []
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

  private let property: String

  init(property: String) {
    self.property = property
    names = [property]
    super.init(viewMode: .sourceAccurate)
  }

  /// For the observers of the property itself, which know what it had by another name.
  init(property: String, _ observers: AccessorDeclListSyntax) {
    self.property = property
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
      // `observers.forEach { center.removeObserver($0) }`, `observer.map(center.removeObserver)`
      if ["forEach", "map"].contains(callee),
        node.trimmedDescription.contains(anyOf: Self.verbs + Self.takers)
      {
        isEnded = true
      }
      if callee == "removeAll" || callee == "popLast" { clear(receiver) }
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
        // What `isOn ? { self.show() } : nil` empties, it also fills.
        if assignment.values.contains(where: Self.isEmpty),
          !assignment.values.contains(where: { $0.bare.is(ClosureExprSyntax.self) })
        {
          clear(assignment.target)
        }
        if own.count == 1, assignment.values.allSatisfy({ $0.is(NilLiteralExprSyntax.self) }) {
          isSetToNil = true
        }
      }
    }
    return .visitChildren
  }

  private func clear(_ target: ExprSyntax) {
    guard let path = target.path else { return }
    cleared.insert([property] + path.dropFirst(path[0] == "self" && path.count > 1 ? 2 : 1))
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
