// Subscriptions: what a call registers with a source that outlives the object, and who can end it.

internal import SwiftSyntax

extension RuleVisitor {
  /// What a call registers with something that lives as long as the program; nil for other calls, and where the
  /// object itself lives as long.
  ///
  /// - Returns: what it is called, and the closure or method that is kept.
  func lastingRegistration(
    _ call: FunctionCallExprSyntax, in scope: Scope
  ) -> (kind: String, block: ExprSyntax)? {
    guard call.bag == nil, let receiver = call.receiver,
      !scope.hasObject || retention.onlyInstance(of: scope.ancestry) == nil,
      let owner = retention.lastingOwner(of: receiver, in: scope),
      let kept = retention.keptArguments(of: call, in: scope).keys.min()
    else { return nil }
    return ("subscription to \(owner)", call.allArguments[kept].value.bare)
  }

  /// A subscription in the bag of somebody who lives as long as the program.
  func checkSubscription(_ call: FunctionCallExprSyntax, in scope: Scope) {
    guard call.isDiscarded, let bag = call.bag,
      let subscription = call.receiver?.bare.as(FunctionCallExprSyntax.self)
    else { return }
    checkLastingBag(bag, subscription, in: scope)
  }

  /// `subscribe(with: self) {}.disposed(by: service.bag)`: the object goes, and what works for it stays.
  private func checkLastingBag(
    _ bag: ExprSyntax, _ subscription: FunctionCallExprSyntax, in scope: Scope
  ) {
    guard scope.hasObject, let owner = retention.lastingOwner(of: bag, in: scope) else { return }
    var next: FunctionCallExprSyntax? = subscription
    while let link = next {
      for (_, argument) in link.allArguments {
        let isForSelf: Bool
        var isStrong = false
        if let closure = argument.bare.as(ClosureExprSyntax.self) {
          switch SelfCapture(of: closure) {
          case .none: isForSelf = false
          case .weak: isForSelf = true
          case .strong: (isForSelf, isStrong) = (true, true)
          }
        } else {
          isForSelf = argument.bare.path == ["self"]
        }
        guard isForSelf else { continue }
        report(
          .unendedObserver, at: bag,
          "the subscription works for self, and \(owner) keeps it: it goes on when self is not needed any more"
            + (isStrong ? ", and its closure captures self strongly" : ""))
        return
      }
      next = link.receiver?.bare.as(FunctionCallExprSyntax.self)
    }
  }

  /// Whether what a call returns is what ends it: an object with a function for that, which nobody calls when the
  /// object goes.
  func returnsHandle(_ call: FunctionCallExprSyntax, in scope: Scope) -> Bool {
    let ancestry = retention.type(of: ExprSyntax(call), in: scope)
    guard let type = ancestry.first, type.kind == .object || type.kind == .protocolType else {
      return false
    }
    let canEnd = ancestry.lazy.flatMap(\.functions).contains { function in
      !function.isTypeLevel && function.parameters.isEmpty && Endings.isEnd(function.name)
    }
    guard canEnd, Endings.deinitThatEnds(ancestry) == nil else { return false }
    guard type.kind == .protocolType else { return true }
    return !program.index.types.values.contains { other in
      other.inherited.contains(type.name) && Endings.deinitThatEnds([other]) != nil
    }
  }
}

extension FunctionCallExprSyntax {
  /// `publisher.sink {}` and `publisher.assign(to: \.text, on: label)`, whose results keep what they are given.
  var isSubscription: Bool {
    receiver != nil
      && (calleeName == "sink" || (calleeName == "assign" && argument("on") != nil))
  }

  /// The functions that a subscription calls.
  var subscribed: [ExprSyntax] { calleeName == "sink" ? allArguments.map(\.value) : [] }

  /// `self` in `assign(to: \.text, on: self)`.
  var assignedObjects: [RetainedValue] {
    guard calleeName == "assign", let object = argument("on"), object.bare.path == ["self"] else {
      return []
    }
    return [.object(object)]
  }

  /// Whether what is subscribed to says that it comes to an end, after which it lets its subscribers go.
  var comesToAnEnd: Bool {
    let finite: Set = [
      "Just", "Future", "Empty", "Fail", "Single", "just", "single", "first", "prefix", "take",
      "collect", "last", "dataTaskPublisher", "timeout",
    ]
    var next: ExprSyntax? = ExprSyntax(self)
    while let expression = next {
      if let call = expression.bare.as(FunctionCallExprSyntax.self) {
        if let name = call.calleeName, finite.contains(name) { return true }
        next = call.receiver
      } else {
        next = expression.bare.as(MemberAccessExprSyntax.self)?.base
      }
    }
    return false
  }

  /// The bag of `.disposed(by: bag)` and `.store(in: &cancellables)`; nil for other calls.
  var bag: ExprSyntax? {
    switch calleeName {
    case "disposed": argument("by")
    case "store": argument("in")?.as(InOutExprSyntax.self)?.expression
    default: nil
    }
  }
}
