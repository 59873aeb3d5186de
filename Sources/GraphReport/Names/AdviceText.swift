// AdviceText: what to write in the source so that an edge lets go, in Swift's words.

internal import GraphAnalysis
internal import Symbolication

extension CutProposal.Advice {
  /// The advice for a step in words.
  ///
  /// - Parameters:
  ///   - step: The step whose edge is cut.
  ///   - type: The type that the edge leads to.
  func text(for step: StepText) -> String {
    switch self {
    case .captureWeakly:
      // Only the symbol of the closure's function tells a closure from a method that was passed.
      if step.via?.kind == .methodReference { return Self.methodReference.text(for: step) }
      let capture = step.isClosure ? step.field : ""
      let name = Self.isIdentifier(capture) ? capture : "self"
      return "capture [weak \(name)]"
    case .methodReference:
      let call = step.via.map { Self.call(of: $0.name) } ?? "self?.method()"
      return "a method passed as a function captures self unseen; pass { [weak self] in \(call) }"
    case .makeWeak:
      let name = step.field.split(separator: ".").last.map(String.init) ?? ""
      if Self.isIdentifier(name), name == step.field { return "declare it weak: weak var \(name)" }
      return "hold it weakly"
    case .closeResource:
      return "call its close() when the work ends, before the last reference goes"
    case .invalidateTimer:
      return "call invalidate() when the work ends; deinit does not run while the timer holds it"
    case .removeObserver:
      return
        "remove the observer when the work ends; deinit does not run while the center holds its block"
    case .resumeContinuation:
      return
        "resume the continuation on every path: nobody has it any more, so the task waits for ever"
    case .cancelTask:
      return
        "cancel the task when the work ends and capture [weak self]; either alone is not enough"
    case .balanceRetain:
      return
        "balance Unmanaged.passRetained with release() or takeRetainedValue()"
    case .clearField:
      if step.field.isEmpty { return "let it go when the work ends" }
      let container = step.field.prefix { $0 != "[" }
      return container.count < step.field.count && !container.isEmpty
        ? "remove it from \(container) when the work ends"
        : "clear \(step.field) when the work ends"
    }
  }

  private static func isIdentifier(_ text: String) -> Bool {
    guard let first = text.unicodeScalars.first else { return false }
    return (first == "_" || first.properties.isXIDStart)
      && text.unicodeScalars.allSatisfy { $0 == "_" || $0.properties.isXIDContinue }
  }

  /// The call of a method from a closure that captures self weakly: `self?.handle($0, in: $1)` for
  /// `App.Model.handle(_:in:)`.
  private static func call(of method: String) -> String {
    let signature = method.prefix { $0 != "(" }
    let base = signature.split(separator: ".").last.map(String.init) ?? "method"
    let labels = method.dropFirst(signature.count + 1).prefix { $0 != ")" }.split(separator: ":")
    let arguments = labels.enumerated().map { place, label in
      (label == "_" ? "" : label + ": ") + "$\(place)"
    }
    return "self?.\(base)(\(arguments.joined(separator: ", ")))"
  }
}
