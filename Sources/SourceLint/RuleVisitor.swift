// RuleVisitor: walks through a file, knows at each expression where it stands, and asks the rules.

internal import SwiftSyntax

/// Applies all rules to one file.
final class RuleVisitor: SyntaxVisitor {
  let program: Program
  let file: Int
  private(set) var findings: [LintFinding] = []

  /// The names of the types around the place, and the scopes of functions and properties.
  private var enclosing: [String] = []
  private var scopes: [Scope] = []
  let hasHolder: Bool

  init(program: Program, file: Int) {
    self.program = program
    self.file = file
    hasHolder = program.hasHolder
    super.init(viewMode: .sourceAccurate)
  }

  var retention: Retention { program.retention }
  var scope: Scope? { scopes.last }

  func report(
    _ rule: Rule, at node: some SyntaxProtocol, _ message: String,
    _ related: [LintFinding.Related] = []
  ) {
    findings.append(
      LintFinding(
        rule: rule, place: program.index.files[file].place(of: node), message: message,
        related: related))
  }

  func related(_ node: some SyntaxProtocol, in file: Int, _ text: String) -> LintFinding.Related {
    .init(place: program.index.files[file].place(of: node), text: text)
  }

  // MARK: - Types and functions around

  /// The scope within a type that stands in the file's list of types; one in a function is not looked up.
  private func scope(for node: Syntax, functionName: String, isTypeLevel: Bool) -> Scope {
    let name = enclosing.joined(separator: ".")
    let module = program.index.files[file].module
    let surroundings = retention.surroundings.of(name, from: module)
    return Scope(
      file: file, module: module, typeName: name, surroundings: surroundings,
      hasObject: surroundings.ancestry.first?.kind == .object && !isTypeLevel,
      functionName: functionName,
      node: node, locals: LocalNames(in: node))
  }

  private func enter(_ name: String) -> SyntaxVisitorContinueKind {
    enclosing.append(name)
    return .visitChildren
  }

  override func visit(_ node: ClassDeclSyntax) -> SyntaxVisitorContinueKind {
    enter(node.name.text.unquoted)
  }
  override func visitPost(_ node: ClassDeclSyntax) { enclosing.removeLast() }
  override func visit(_ node: ActorDeclSyntax) -> SyntaxVisitorContinueKind {
    enter(node.name.text.unquoted)
  }
  override func visitPost(_ node: ActorDeclSyntax) { enclosing.removeLast() }
  override func visit(_ node: StructDeclSyntax) -> SyntaxVisitorContinueKind {
    enter(node.name.text.unquoted)
  }
  override func visitPost(_ node: StructDeclSyntax) { enclosing.removeLast() }
  override func visit(_ node: EnumDeclSyntax) -> SyntaxVisitorContinueKind {
    enter(node.name.text.unquoted)
  }
  override func visitPost(_ node: EnumDeclSyntax) { enclosing.removeLast() }
  override func visit(_ node: ProtocolDeclSyntax) -> SyntaxVisitorContinueKind {
    enter(node.name.text.unquoted)
  }
  override func visitPost(_ node: ProtocolDeclSyntax) { enclosing.removeLast() }
  override func visit(_ node: ExtensionDeclSyntax) -> SyntaxVisitorContinueKind {
    enter(TypeName(node.extendedType).name ?? "?")
  }
  override func visitPost(_ node: ExtensionDeclSyntax) { enclosing.removeLast() }

  /// Whether a declaration is a member of a type or of the file, and not of a function's body.
  private func isOuter(_ node: some SyntaxProtocol) -> Bool {
    scopes.isEmpty || node.parent?.is(MemberBlockItemSyntax.self) == true
  }

  override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind {
    if isOuter(node) {
      scopes.append(
        scope(
          for: Syntax(node), functionName: node.name.text.unquoted,
          isTypeLevel: node.modifiers.isTypeLevel))
    }
    return .visitChildren
  }
  override func visitPost(_ node: FunctionDeclSyntax) { leave(Syntax(node)) }
  override func visit(_ node: InitializerDeclSyntax) -> SyntaxVisitorContinueKind {
    scopes.append(scope(for: Syntax(node), functionName: "init", isTypeLevel: false))
    return .visitChildren
  }
  override func visitPost(_ node: InitializerDeclSyntax) { leave(Syntax(node)) }
  override func visit(_ node: DeinitializerDeclSyntax) -> SyntaxVisitorContinueKind {
    scopes.append(scope(for: Syntax(node), functionName: "deinit", isTypeLevel: false))
    return .visitChildren
  }
  override func visitPost(_ node: DeinitializerDeclSyntax) { leave(Syntax(node)) }
  override func visit(_ node: SubscriptDeclSyntax) -> SyntaxVisitorContinueKind {
    scopes.append(
      scope(for: Syntax(node), functionName: "subscript", isTypeLevel: node.modifiers.isTypeLevel))
    return .visitChildren
  }
  override func visitPost(_ node: SubscriptDeclSyntax) { leave(Syntax(node)) }

  override func visit(_ node: VariableDeclSyntax) -> SyntaxVisitorContinueKind {
    guard node.parent?.is(MemberBlockItemSyntax.self) == true else { return .visitChildren }
    scopes.append(
      scope(for: Syntax(node), functionName: "", isTypeLevel: node.modifiers.isTypeLevel))
    if let scope { checkProperty(node, in: scope) }
    return .visitChildren
  }
  override func visitPost(_ node: VariableDeclSyntax) { leave(Syntax(node)) }

  private func leave(_ node: Syntax) {
    if scopes.last?.node.id == node.id { scopes.removeLast() }
  }

  // MARK: - Expressions

  override func visit(_ node: SequenceExprSyntax) -> SyntaxVisitorContinueKind {
    if let scope, let assignment = Assignment(node) {
      check(assignment, in: scope)
      checkRecursion(assignment, in: scope)
    } else if let scope, let addition = Assignment(adding: node) {
      check(addition, in: scope)
    }
    return .visitChildren
  }

  override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
    if let scope {
      checkStoring(node, in: scope)
      checkObserver(node, in: scope)
      checkSubscription(node, in: scope)
      checkCaptures(node, in: scope)
      checkSequenceOwner(node, in: scope)
      if hasHolder { checkViewModel(node, in: scope) }
    }
    return .visitChildren
  }

  private func checkProperty(_ node: VariableDeclSyntax, in scope: Scope) {
    checkDelegate(node, in: scope)
    if hasHolder { checkViewModelProperty(node, in: scope) }
    guard scope.hasObject, node.modifiers.has("lazy") else { return }
    for binding in node.bindings {
      guard let value = binding.initializer?.value,
        let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.text.unquoted,
        let property = scope.property(name)
      else { continue }
      for value in retention.values(keptBy: value, in: scope) {
        check(value, storedIn: property, path: [name], in: scope)
      }
    }
  }
}
