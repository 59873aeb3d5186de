// SyntaxPaths: expressions as the names that they are made of.

internal import SwiftSyntax

extension ExprSyntax {
  /// The expression without what doesn't change which object it is: `try`, `await`, `x!`, `x?`, `(x)`, `x as T`.
  var bare: ExprSyntax {
    if let node = self.as(TryExprSyntax.self) { return node.expression.bare }
    if let node = self.as(AwaitExprSyntax.self) { return node.expression.bare }
    if let node = self.as(ForceUnwrapExprSyntax.self) { return node.expression.bare }
    if let node = self.as(OptionalChainingExprSyntax.self) { return node.expression.bare }
    if let node = self.as(AsExprSyntax.self) { return node.expression.bare }
    // The same before operators are given their precedence.
    if let node = self.as(SequenceExprSyntax.self), node.elements.count == 3,
      let first = node.elements.first,
      node.elements.dropFirst().first?.is(UnresolvedAsExprSyntax.self) == true
    {
      return first.bare
    }
    if let node = self.as(TupleExprSyntax.self), node.elements.count == 1,
      let only = node.elements.first, only.label == nil
    {
      return only.expression.bare
    }
    return self
  }

  /// `self.client.onChange` as its names; nil where a part is not a name. Subscripts are left out: what an element
  /// holds, its container holds.
  var path: [String]? {
    let expression = bare
    if let name = expression.as(DeclReferenceExprSyntax.self) {
      return [name.baseName.text.unquoted]
    }
    if let member = expression.as(MemberAccessExprSyntax.self) {
      guard let base = member.base?.path else { return nil }
      return base + [member.declName.baseName.text.unquoted]
    }
    if let element = expression.as(SubscriptCallExprSyntax.self) {
      return element.calledExpression.path
    }
    return nil
  }
}

extension String {
  /// A name without its back quotes.
  var unquoted: String {
    hasPrefix("`") && hasSuffix("`") && count > 2 ? String(dropFirst().dropLast()) : self
  }
}

extension FunctionCallExprSyntax {
  /// The name of what is called: `open` in `connection.open {}`, `Timer` in `Timer(...)`.
  var calleeName: String? {
    let callee = calledExpression.bare
    if let name = callee.as(DeclReferenceExprSyntax.self) { return name.baseName.text.unquoted }
    if let member = callee.as(MemberAccessExprSyntax.self) {
      return member.declName.baseName.text.unquoted
    }
    if let generic = callee.as(GenericSpecializationExprSyntax.self) {
      return generic.expression.path?.last
    }
    return nil
  }

  /// What the callee is a member of, where it is one.
  var receiver: ExprSyntax? { calledExpression.bare.as(MemberAccessExprSyntax.self)?.base }

  /// All arguments with their labels, trailing closures included.
  var allArguments: [(label: String?, value: ExprSyntax)] {
    var all: [(label: String?, value: ExprSyntax)] = arguments.map {
      ($0.label?.text, $0.expression)
    }
    if let trailingClosure { all.append((nil, ExprSyntax(trailingClosure))) }
    for more in additionalTrailingClosures {
      all.append((more.label.text, ExprSyntax(more.closure)))
    }
    return all
  }

  func argument(_ label: String) -> ExprSyntax? {
    arguments.first { $0.label?.text == label }?.expression
  }
}

/// An assignment, taken apart before operators are given their precedence.
struct Assignment {
  let target: ExprSyntax

  /// What may be assigned: one value, or those of a conditional expression.
  let values: [ExprSyntax]

  init?(_ sequence: SequenceExprSyntax) {
    let elements = Array(sequence.elements)
    guard elements.count >= 3, elements[1].is(AssignmentExprSyntax.self) else { return nil }
    target = elements[0]
    values = Self.values(elements[2...])
  }

  /// `list += [value]`, which puts the elements into the target.
  init?(adding sequence: SequenceExprSyntax) {
    let elements = Array(sequence.elements)
    guard elements.count == 3, elements[1].trimmedDescription == "+=",
      elements[2].is(ArrayExprSyntax.self)
    else { return nil }
    target = elements[0]
    values = [elements[2]]
  }

  /// The operands of a conditional or `??` expression that may be its value.
  static func values(_ elements: ArraySlice<ExprSyntax>) -> [ExprSyntax] {
    var values: [ExprSyntax] = []
    var isCondition = elements.contains { $0.is(UnresolvedTernaryExprSyntax.self) }
    for element in elements {
      if let ternary = element.as(UnresolvedTernaryExprSyntax.self) {
        values.append(ternary.thenExpression)
        isCondition = false
      } else if !isCondition, !element.is(BinaryOperatorExprSyntax.self) {
        values.append(element)
      }
    }
    return values
  }

  /// What an expression may be: itself, or the operands of a conditional one.
  static func values(of expression: ExprSyntax) -> [ExprSyntax] {
    if let sequence = expression.bare.as(SequenceExprSyntax.self) {
      return values(Array(sequence.elements)[...])
    }
    return [expression]
  }
}

extension VariableDeclSyntax {
  /// Whether it doesn't hold what is in it: `weak`, `unowned`, or a wrapper whose name says so.
  var isWeak: Bool {
    modifiers.has("weak") || modifiers.has("unowned")
      || hasAttribute { $0.contains("Weak") || $0.contains("Unowned") }
  }

  /// Whether an attribute's name is such a one.
  func hasAttribute(_ isIt: (String) -> Bool) -> Bool { attributes.names.contains(where: isIt) }
}

extension AttributeListSyntax {
  /// The names of the attributes, without what they are given.
  var names: [String] {
    compactMap { $0.as(AttributeSyntax.self).flatMap { TypeName($0.attributeName).name } }
  }
}

extension DeclModifierListSyntax {
  func has(_ name: String) -> Bool { contains { $0.name.text == name } }

  /// `static` or `class`: a member of the type and not of an instance.
  var isTypeLevel: Bool { has("static") || has("class") }
}
