// Delegates: references back to an owner that aren't weak.

internal import SwiftSyntax

extension RuleVisitor {
  /// A variable that is called a delegate, can be nil, and could be weak.
  func checkDelegate(_ node: VariableDeclSyntax, in scope: Scope) {
    guard scope.hasObject, node.bindingSpecifier.text == "var", !node.isWeak,
      // What an interface file connects, it may make: nobody else holds it then.
      !node.hasAttribute({ $0 == "IBOutlet" })
    else { return }
    for binding in node.bindings {
      guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.text.unquoted,
        name == "delegate" || name.hasSuffix("Delegate") || name == "dataSource"
          || name.hasSuffix("DataSource"),
        binding.isStored, let annotation = binding.typeAnnotation
      else { continue }
      let type = TypeName(annotation.type)
      guard type.isOptional, let typeName = type.name,
        type.parts.contains(where: { isClassBound($0, in: scope) }),
        !isOwned(name, typeName, in: scope)
      else { continue }
      report(.strongDelegate, at: binding, "'\(name)' holds its \(typeName) strongly")
    }
  }

  /// Whether a type is known to be one of references: else it can't be weak.
  private func isClassBound(_ name: String, in scope: Scope) -> Bool {
    if name == "AnyObject" { return true }
    let ancestry = retention.ancestry(of: name, in: scope)
    // Who has an object of a class in such a variable owns it: an owner is told by what it can do.
    guard ancestry.first?.kind == .protocolType else { return false }
    return ancestry.contains { type in
      type.kind == .object || type.isClassBound
        || type.inherited.contains { isObjectiveC($0, in: scope) }
    }
  }

  /// Whether objects are made for the property, `zone.delegate = ZoneDelegate()`, and none is known to give itself to
  /// it. A weak one would lose them at once.
  private func isOwned(_ name: String, _ protocolName: String, in scope: Scope) -> Bool {
    func someAdopts(_ types: Set<String>?) -> Bool {
      (types ?? []).contains { type in
        retention.ancestry(of: type, in: scope).contains {
          $0.name == protocolName || $0.inherited.contains(protocolName)
        }
      }
    }
    return someAdopts(program.index.madeForProperty[name])
      && !someAdopts(program.index.selfAssigners[name])
  }

  /// Whether a name is that of a class or protocol of the systems' frameworks for objects, all of which are for
  /// classes: `NSObjectProtocol`, `UIView`.
  private func isObjectiveC(_ name: String, in scope: Scope) -> Bool {
    guard name.hasPrefix("NS") || name.hasPrefix("UI") else { return false }
    return name.dropFirst(2).first?.isUppercase == true
      && retention.ancestry(of: name, in: scope).isEmpty
  }

  /// `spooler.reporter = self`, where the object owns the spooler and the reporter isn't weak.
  func checkBackReference(
    _ target: ExprSyntax, _ property: PropertyDeclaration, _ path: [String], in scope: Scope
  ) {
    guard let member = target.bare.as(MemberAccessExprSyntax.self), let base = member.base else {
      return
    }
    let name = path[path.count - 1]
    let owner = retention.type(of: base, in: scope)
    guard owner.first?.kind == .object,
      let reference = owner.lazy.compactMap({ $0.properties[name] }).first, !reference.isWeak,
      reference.isVariable
    else { return }
    // One that is declared as a delegate is told where it is declared.
    if name == "delegate" || name.hasSuffix("Delegate") { return }
    report(
      .strongDelegate, at: target,
      "self owns '\(property.name)', and its '\(name)' holds self strongly",
      [related(reference.node, in: reference.file, "declared here, not weak")])
  }
}
