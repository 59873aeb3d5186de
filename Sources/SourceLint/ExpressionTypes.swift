// ExpressionTypes: what type an expression is of, and how long what it leads to lives, as far as the sources say.

internal import SwiftSyntax

extension Retention {
  /// The type of an expression and what it inherits from, nearest first; none where it isn't known. A name of a
  /// type stands for that type.
  ///
  /// - Parameter depth: how many local variables were followed to come here. More than eight are not.
  func type(of expression: ExprSyntax, in scope: Scope, depth: Int = 0) -> [TypeDeclaration] {
    let bare = expression.bare
    if let call = bare.as(FunctionCallExprSyntax.self) {
      if let made = ExprSyntax(call).constructedType { return ancestry(of: made, in: scope) }
      let results = Set(callees(of: call, in: scope, depth: depth).map(\.resultTypeName))
      guard results.count == 1, let name = results.first ?? nil else { return [] }
      return ancestry(of: name, in: scope)
    }
    if let member = bare.as(MemberAccessExprSyntax.self), let base = member.base {
      let name = member.declName.baseName.text.unquoted
      if let path = typePath(base, in: scope) {
        let types = ancestry(of: path, in: scope)
        if let typeName = types.lazy.compactMap({ $0.typeLevel[name] }).first?.typeName {
          return ancestry(of: typeName, in: scope)
        }
        return ancestry(of: path + "." + name, in: scope)
      }
      return type(of: name, among: type(of: base, in: scope, depth: depth), in: scope)
    }
    if let element = bare.as(SubscriptCallExprSyntax.self) {
      return type(of: element.calledExpression, in: scope, depth: depth)
    }
    guard let name = bare.as(DeclReferenceExprSyntax.self)?.baseName.text.unquoted else {
      return []
    }
    if name == "self" || name == "Self" { return scope.ancestry }
    if scope.locals.contains(name) {
      if let typeName = scope.locals.type(of: name) { return ancestry(of: typeName, in: scope) }
      guard depth < 8, let value = scope.locals.initializer(of: name) else { return [] }
      return type(of: value, in: scope, depth: depth + 1)
    }
    let own = type(of: name, among: scope.ancestry, in: scope)
    return own.isEmpty && !scope.isMember(name) ? ancestry(of: name, in: scope) : own
  }

  /// The type of a property of some type, stored or computed.
  private func type(
    of property: String, among types: [TypeDeclaration], in scope: Scope
  ) -> [TypeDeclaration] {
    for type in types {
      let typeName = type.properties[property]?.typeName ?? type.computed[property]
      if let typeName { return ancestry(of: typeName, in: scope) }
    }
    return []
  }

  /// `Outer.Inner` where the expression is the name of a type and of nothing else.
  private func typePath(_ expression: ExprSyntax, in scope: Scope) -> String? {
    guard let path = expression.path, path.allSatisfy({ $0.first?.isUppercase == true }),
      path[0] != "Self", !scope.locals.contains(path[0]), !scope.isMember(path[0])
    else { return nil }
    return path.joined(separator: ".")
  }

  /// A type by the name that is written in a scope: one in the types around, else one of the module.
  func ancestry(of name: String, in scope: Scope) -> [TypeDeclaration] {
    var outer = scope.typeName.split(separator: ".").map(String.init)
    while !outer.isEmpty {
      let found = index.ancestry(of: (outer + [name]).joined(separator: "."), from: scope.module)
      if !found.isEmpty { return found }
      outer.removeLast()
    }
    return index.ancestry(of: name, from: scope.module)
  }

  /// What an expression leads through that lives as long as the program: a stored `static` property, or an object
  /// of a class that has its one instance in such a property. `SearchService.shared`; nil where there is none.
  func lastingOwner(of expression: ExprSyntax, in scope: Scope, depth: Int = 0) -> String? {
    let bare = expression.bare
    if let member = bare.as(MemberAccessExprSyntax.self) {
      guard let base = member.base else { return nil }
      let name = member.declName.baseName.text.unquoted
      if let path = typePath(base, in: scope) {
        let property = ancestry(of: path, in: scope).lazy.compactMap { $0.typeLevel[name] }.first
        return property?.isStored == true ? path + "." + name : nil
      }
      return lastingOwner(of: base, in: scope, depth: depth)
        ?? onlyInstance(of: type(of: bare, in: scope))
    }
    guard let name = bare.as(DeclReferenceExprSyntax.self)?.baseName.text.unquoted, name != "self"
    else { return nil }
    if let value = scope.locals.initializer(of: name) {
      return depth < 8 ? lastingOwner(of: value, in: scope, depth: depth + 1) : nil
    }
    return onlyInstance(of: type(of: bare, in: scope))
  }

  /// The `static` property that has the one instance of a class.
  func onlyInstance(of ancestry: [TypeDeclaration]) -> String? {
    guard let type = ancestry.first, type.kind == .object else { return nil }
    let own = type.typeLevel.filter { $0.value.isStored && $0.value.typeName == type.name }
    guard own.count == 1, let only = own.first else { return nil }
    return type.name + "." + only.key
  }

  /// Whether an object lives as long as the program, so that nothing that it holds is held too long: it is that of
  /// the application, one that XCTest keeps until all tests are over, or the one of its class. The class says so by an initializer for itself alone or by the
  /// usual name; a `static let preview` is one of many. Or the sources make one in one place, for good.
  func isLasting(_ ancestry: [TypeDeclaration]) -> Bool {
    if ancestry.contains(where: { $0.isApplication || $0.inherited.contains("XCTestCase") }) {
      return true
    }
    if let type = ancestry.first, isMadeForGood(type.name, depth: 0) { return true }
    guard let type = ancestry.first, let only = onlyInstance(of: ancestry) else { return false }
    let initializers = type.functions(named: "init")
    return Self.namesOfOnlyInstances.contains(String(only.dropFirst(type.name.count + 1)))
      || (!initializers.isEmpty && initializers.allSatisfy(\.isPrivate))
  }

  /// Whether the sources, tests apart, make one object of a class, and that in a global or `static` variable or in a
  /// property of an object that lives as long.
  ///
  /// - Parameter depth: how many owners were gone through. More than eight are not.
  private func isMadeForGood(_ name: String, depth: Int) -> Bool {
    let last = name.split(separator: ".").last.map(String.init) ?? name
    let places = (index.constructions[last] ?? []).filter { !index.files[$0.file].isTest }
    guard depth < 8, places.count == 1, let only = places.first,
      !index.inheritedNames.contains(last), !index.inheritedNames.contains(name)
    else { return false }
    switch only.sink {
    case .elsewhere, .member: return false
    case .global: return true
    case .property(let owner):
      let types = index.ancestry(of: owner, from: index.files[only.file].module)
      return types.contains(where: \.isApplication) || isMadeForGood(owner, depth: depth + 1)
    }
  }

  private static let namesOfOnlyInstances: Set = [
    "shared", "default", "standard", "main", "current", "instance", "sharedInstance", "singleton",
  ]
}
