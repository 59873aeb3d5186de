// TypeName: what can be said of a type from the way it is written.

internal import SwiftSyntax

/// A written type.
struct TypeName {
  /// Its name with those of the types around it, without module, optionality and generic arguments; nil for
  /// tuples, functions and collections.
  private(set) var name: String?

  /// The names of all that it is composed of: `Recorder` and `Sendable`.
  private(set) var parts: [String] = []

  private(set) var isOptional = false
  private(set) var isFunction = false
  private(set) var isAsync = false

  /// Whether a value of it passed to a function can outlive the call.
  private(set) var isEscaping = false

  init(_ type: TypeSyntax) {
    read(type)
    if parts.isEmpty, let name { parts = [name] }
  }

  private mutating func read(_ type: TypeSyntax) {
    if let node = type.as(OptionalTypeSyntax.self) {
      isOptional = true
      read(node.wrappedType)
      isEscaping = isEscaping || isFunction
    } else if let node = type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
      isOptional = true
      read(node.wrappedType)
      isEscaping = isEscaping || isFunction
    } else if let node = type.as(AttributedTypeSyntax.self) {
      read(node.baseType)
      let attributes = node.attributes.compactMap {
        $0.as(AttributeSyntax.self)?.attributeName.trimmedDescription
      }
      // The name may be a typealias; only functions can be marked so.
      if attributes.contains("escaping") { isEscaping = true }
    } else if let node = type.as(FunctionTypeSyntax.self) {
      isFunction = true
      isAsync = node.effectSpecifiers?.asyncSpecifier != nil
    } else if let node = type.as(SomeOrAnyTypeSyntax.self) {
      read(node.constraint)
    } else if let node = type.as(TupleTypeSyntax.self), node.elements.count == 1,
      let only = node.elements.first
    {
      read(only.type)
    } else if let node = type.as(CompositionTypeSyntax.self) {
      parts = node.elements.compactMap { TypeName($0.type).name }
      name = parts.first { !["Sendable", "AnyObject"].contains($0) } ?? parts.first
    } else if let node = type.as(IdentifierTypeSyntax.self), node.name.text == "Optional",
      let only = node.genericArgumentClause?.arguments.first?.argument.as(TypeSyntax.self)
    {
      isOptional = true
      read(only)
      isEscaping = isEscaping || isFunction
    } else if let node = type.as(IdentifierTypeSyntax.self) {
      name = node.name.text.unquoted
    } else if let node = type.as(MemberTypeSyntax.self) {
      let base = TypeName(node.baseType).name
      name = (base.map { $0 + "." } ?? "") + node.name.text.unquoted
    }
  }
}

extension PatternBindingSyntax {
  /// Whether it has memory of its own: no getter, or observers only.
  var isStored: Bool {
    guard let accessorBlock else { return true }
    guard case .accessors(let accessors) = accessorBlock.accessors else { return false }
    return accessors.allSatisfy { ["willSet", "didSet"].contains($0.accessorSpecifier.text) }
  }
}

extension ExprSyntax {
  /// The type that `Type(...)` or `Type<T>(...)` makes; nil for other expressions.
  var constructedType: String? {
    guard let call = bare.as(FunctionCallExprSyntax.self) else { return nil }
    var callee = call.calledExpression.bare
    if let generic = callee.as(GenericSpecializationExprSyntax.self) { callee = generic.expression }
    guard let path = callee.path, let last = path.last else { return nil }
    let typePath = last == "init" ? path.dropLast() : path[...]
    guard typePath.allSatisfy({ $0.first?.isUppercase == true }), !typePath.isEmpty else {
      return nil
    }
    return typePath.joined(separator: ".")
  }
}
