// Scope: where an expression stands: in which type and function, and what names mean there.

internal import SwiftSyntax

/// The surroundings of an expression.
struct Scope {
  let file: Int
  let module: String

  /// The type around it; empty outside of types.
  let typeName: String

  /// That type and those that it inherits from.
  let surroundings: TypeSurroundings

  /// Whether there is an instance of a class or an actor that is called `self`.
  let hasObject: Bool

  /// The name of the function around it: `deinit`, `init`; empty in the initializer of a property.
  let functionName: String

  /// The function, accessor or property around it.
  let node: Syntax

  /// Names that are parameters or variables there, with their types where these are written.
  let locals: LocalNames

  /// The type and those that it inherits from, nearest first.
  var ancestry: [TypeDeclaration] { surroundings.ancestry }

  /// Who ends what is in a property.
  func endings(of property: String) -> Endings { surroundings.endings.of(property) }

  func property(_ name: String) -> PropertyDeclaration? {
    for type in ancestry { if let property = type.properties[name] { return property } }
    return nil
  }

  func methods(_ name: String) -> [FunctionDeclaration] {
    ancestry.flatMap { $0.functions(named: name) }
  }

  /// All names of an instance that can be written without `self`.
  func isMember(_ name: String) -> Bool {
    property(name) != nil || methods(name).contains { !$0.isTypeLevel }
  }

  /// A path that begins with a property of `self`, without the `self`; nil for others.
  func ownPath(_ expression: ExprSyntax) -> [String]? {
    guard hasObject, let path = expression.path else { return nil }
    if path[0] == "self" { return path.count > 1 ? Array(path.dropFirst()) : nil }
    return locals.contains(path[0]) ? nil : path
  }

  /// The property that a path begins with, if the object holds what is in it.
  func holdingProperty(_ expression: ExprSyntax) -> (property: PropertyDeclaration, path: [String])?
  {
    guard let path = ownPath(expression), let property = property(path[0]), !property.isWeak else {
      return nil
    }
    return (property, path)
  }
}

/// The parameters and variables of a function, with those of the closures and functions in it.
struct LocalNames {
  private var types: [String: String?] = [:]
  private var initializers: [String: ExprSyntax] = [:]
  private var functions: [String: FunctionDeclSyntax] = [:]

  init(in node: Syntax) {
    let collector = LocalNameCollector(viewMode: .sourceAccurate)
    collector.walk(node)
    types = collector.types
    initializers = collector.initializers
    functions = collector.functions
  }

  func contains(_ name: String) -> Bool { types[name] != nil }
  func type(of name: String) -> String? { types[name] ?? nil }
  func initializer(of name: String) -> ExprSyntax? { initializers[name] }

  /// A function that is declared in the one around.
  func function(_ name: String) -> FunctionDeclSyntax? { functions[name] }
}

private final class LocalNameCollector: SyntaxVisitor {
  var types: [String: String?] = [:]
  var initializers: [String: ExprSyntax] = [:]
  var functions: [String: FunctionDeclSyntax] = [:]

  override func visit(_ node: FunctionParameterSyntax) -> SyntaxVisitorContinueKind {
    types[(node.secondName ?? node.firstName).text.unquoted] = .some(TypeName(node.type).name)
    return .visitChildren
  }
  override func visit(_ node: ClosureShorthandParameterSyntax) -> SyntaxVisitorContinueKind {
    add(node.name.text)
    return .visitChildren
  }
  override func visit(_ node: ClosureParameterSyntax) -> SyntaxVisitorContinueKind {
    add((node.secondName ?? node.firstName).text)
    return .visitChildren
  }
  override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind {
    if node.parent?.is(CodeBlockItemSyntax.self) == true {
      add(node.name.text)
      functions[node.name.text.unquoted] = node
    }
    return .visitChildren
  }
  override func visit(_ node: PatternBindingSyntax) -> SyntaxVisitorContinueKind {
    // The property that a scope is made for is no variable of its own.
    let isMember = node.parent?.parent?.parent?.is(MemberBlockItemSyntax.self) == true
    if !isMember, let pattern = node.pattern.as(IdentifierPatternSyntax.self) {
      let name = pattern.identifier.text.unquoted
      types[name] = .some(
        node.typeAnnotation.flatMap { TypeName($0.type).name }
          ?? node.initializer?.value.constructedType)
      initializers[name] = node.initializer?.value
    }
    return .visitChildren
  }
  override func visit(_ node: OptionalBindingConditionSyntax) -> SyntaxVisitorContinueKind {
    // `if let task` and `if let task = self.task` are another name for the same object.
    if let pattern = node.pattern.as(IdentifierPatternSyntax.self) {
      let name = pattern.identifier.text.unquoted
      if let value = node.initializer?.value {
        if value.path != [name], value.path != ["self", name] { add(name) }
        walk(value)
      }
      return .skipChildren
    }
    return .visitChildren
  }
  override func visit(_ node: IdentifierPatternSyntax) -> SyntaxVisitorContinueKind {
    if node.parent?.is(PatternBindingSyntax.self) != true { add(node.identifier.text) }
    return .visitChildren
  }

  private func add(_ name: String) {
    if types[name.unquoted] == nil { types[name.unquoted] = .some(nil) }
  }
}
