// ViewModels: view models that are kept in another way than by their holder.

internal import SwiftSyntax

extension RuleVisitor {
  /// A class that keeps a view model itself.
  func checkViewModelProperty(_ node: VariableDeclSyntax, in scope: Scope) {
    guard scope.hasObject, !node.isWeak,
      !program.isHolder(scope.typeName), !program.isViewModel(scope.typeName, in: scope)
    else { return }
    for binding in node.bindings {
      guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.text.unquoted,
        let typeName = scope.property(name)?.typeName, program.isViewModel(typeName, in: scope)
      else { continue }
      report(
        .viewModelOutsideHolder, at: binding,
        "\(scope.typeName) keeps a \(typeName) in '\(name)' without its holder: nothing clears it when it goes"
      )
    }
  }

  /// A view model that is made and given to nobody, and a holder that a kept closure captures.
  func checkViewModel(_ call: FunctionCallExprSyntax, in scope: Scope) {
    if let made = ExprSyntax(call).constructedType, program.isViewModel(made, in: scope) {
      if case .dropped = sink(of: ExprSyntax(call), in: scope) {
        report(
          .viewModelOutsideHolder, at: call,
          "a \(made) is made and no holder has it: nothing clears it")
      }
    }
    guard scope.hasObject else { return }
    let arguments = call.allArguments
    for number in retention.keptArguments(of: call, in: scope).keys.sorted() {
      guard let closure = arguments[number].value.bare.as(ClosureExprSyntax.self) else { continue }
      for item in closure.signature?.capture?.items ?? [] where item.specifier == nil {
        let value = item.initializer?.value
        guard let path = value == nil ? [item.name.text.unquoted] : value?.path,
          let name = path.last, path.count == 1 || path == ["self", name],
          let typeName = scope.property(name)?.typeName, program.isHolder(typeName)
        else { continue }
        report(
          .viewModelOutsideHolder, at: item,
          "a closure that \(call.calleeName ?? "the call") keeps captures the holder '\(name)', "
            + "which then doesn't end with its owner")
      }
    }
  }
}
