// SelfCapture: whether and how a closure holds the object around it.

internal import SwiftSyntax

/// How a closure has `self`.
enum SelfCapture {
  case none
  /// By `[weak self]` or `[unowned self]`.
  case weak
  case strong(Reason)

  enum Reason {
    /// It says `self`.
    case named
    /// It names a member without `self`, as tasks may.
    case implicit(String)
    /// A closure in it has `[weak self]`, for which it needs `self` itself.
    case forInnerClosure
  }

  /// How a closure captures `self`.
  ///
  /// - Parameter implicitIn: the scope, where members may be named without `self`; else nil.
  /// - Complexity: O(*n*) in the length of the closure.
  init(of closure: ClosureExprSyntax, implicitIn scope: Scope? = nil) {
    var isWeak = false
    for item in closure.signature?.capture?.items ?? [] {
      let isStrong = item.specifier == nil
      if let value = item.initializer?.value {
        if isStrong, value.bare.path == ["self"] {
          self = .strong(.named)
          return
        }
      } else if item.name.text == "self" {
        guard !isStrong else {
          self = .strong(.named)
          return
        }
        isWeak = true
      }
    }
    if isWeak {
      self = .weak
      return
    }
    // `delegate(on: self) { (self, event) in ... }` has the name for something that it is given.
    if closure.namesItsParameterSelf {
      self = .none
      return
    }
    let finder = SelfFinder(scope: scope)
    finder.walk(closure.statements)
    self = finder.reason.map { .strong($0) } ?? .none
  }

  /// Whether an expression or statement says `self`.
  static func mentionsSelf(_ node: some SyntaxProtocol, implicitIn scope: Scope? = nil) -> Bool {
    let finder = SelfFinder(scope: scope)
    finder.walk(node)
    return finder.reason != nil
  }
}

extension ClosureExprSyntax {
  /// Whether one of its parameters is called `self`.
  fileprivate var namesItsParameterSelf: Bool {
    switch signature?.parameterClause {
    case .simpleInput(let parameters): parameters.contains { $0.name.text.unquoted == "self" }
    case .parameterClause(let clause):
      clause.parameters.contains { ($0.secondName ?? $0.firstName).text.unquoted == "self" }
    default: false
    }
  }
}

private final class SelfFinder: SyntaxVisitor {
  private let scope: Scope?
  private(set) var reason: SelfCapture.Reason?

  init(scope: Scope?) {
    self.scope = scope
    super.init(viewMode: .sourceAccurate)
  }

  /// Keeps the first reason.
  private func note(_ reason: SelfCapture.Reason) { self.reason = self.reason ?? reason }

  override func visit(_ node: ClosureExprSyntax) -> SyntaxVisitorContinueKind {
    for item in node.signature?.capture?.items ?? [] {
      if item.initializer == nil, item.name.text == "self" {
        note(item.specifier == nil ? .named : .forInnerClosure)
        return .skipChildren
      }
    }
    return node.namesItsParameterSelf ? .skipChildren : .visitChildren
  }

  override func visit(_ node: DeclReferenceExprSyntax) -> SyntaxVisitorContinueKind {
    // `Type.self` and `\.self` are something else.
    if let member = node.parent?.as(MemberAccessExprSyntax.self), member.declName.id == node.id {
      return .skipChildren
    }
    if node.parent?.is(KeyPathPropertyComponentSyntax.self) == true { return .skipChildren }
    let name = node.baseName.text.unquoted
    if node.baseName.tokenKind == .keyword(.self) {
      note(.named)
    } else if let scope, !scope.locals.contains(name), scope.isMember(name) {
      note(.implicit(name))
    }
    return .skipChildren
  }

  override func visit(_ node: SuperExprSyntax) -> SyntaxVisitorContinueKind {
    note(.named)
    return .skipChildren
  }

  // A type in a function has a `self` of its own.
  override func visit(_ node: ClassDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
  override func visit(_ node: StructDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
  override func visit(_ node: EnumDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
  override func visit(_ node: ActorDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
}
