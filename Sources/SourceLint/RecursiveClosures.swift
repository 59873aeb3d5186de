// RecursiveClosures: closures in local variables that call themselves through the variable.

internal import SwiftSyntax

extension RuleVisitor {
  /// `step = { if isLeft { step?() } }`, where nothing empties `step`.
  func checkRecursion(_ assignment: Assignment, in scope: Scope) {
    guard let path = assignment.target.path, path.count == 1, scope.locals.contains(path[0]) else {
      return
    }
    for value in assignment.values {
      guard let closure = value.bare.as(ClosureExprSyntax.self),
        NameFinder.mentions(path[0], in: closure.statements),
        !LocalNames(in: Syntax(closure)).contains(path[0]), !closure.captures(path[0]),
        UsesOfVariable.isLeft(path[0], in: scope)
      else { continue }
      report(
        .recursiveClosure, at: closure,
        "the closure in '\(path[0])' captures '\(path[0])', and nothing empties the variable")
    }
  }
}

extension ClosureExprSyntax {
  /// Whether it has a copy of a variable, and not the variable.
  fileprivate func captures(_ name: String) -> Bool {
    (signature?.capture?.items ?? []).contains { $0.name.text.unquoted == name }
  }
}

/// Looks at what a function does with a variable of its own that has a closure.
private final class UsesOfVariable: SyntaxVisitor {
  private let name: String
  private var isDeclared = false
  private var assignmentCount = 0
  private var isGivenAway = false

  private init(_ name: String) {
    self.name = name
    super.init(viewMode: .sourceAccurate)
  }

  /// Whether a variable is one of the function's, is assigned once and given to nobody who could do so.
  static func isLeft(_ name: String, in scope: Scope) -> Bool {
    let finder = UsesOfVariable(name)
    finder.walk(scope.node)
    return finder.isDeclared && finder.assignmentCount == 1 && !finder.isGivenAway
  }

  override func visit(_ node: PatternBindingSyntax) -> SyntaxVisitorContinueKind {
    if node.pattern.as(IdentifierPatternSyntax.self)?.identifier.text.unquoted == name,
      node.parent?.parent?.as(VariableDeclSyntax.self)?.bindingSpecifier.text == "var",
      node.parent?.parent?.parent?.is(MemberBlockItemSyntax.self) != true,
      node.accessorBlock == nil
    {
      isDeclared = true
    }
    return .visitChildren
  }

  override func visit(_ node: SequenceExprSyntax) -> SyntaxVisitorContinueKind {
    if Assignment(node)?.target.path == [name] { assignmentCount += 1 }
    return .visitChildren
  }

  override func visit(_ node: InOutExprSyntax) -> SyntaxVisitorContinueKind {
    if node.expression.path == [name] { isGivenAway = true }
    return .visitChildren
  }
}
