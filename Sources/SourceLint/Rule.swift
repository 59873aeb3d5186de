// Rule: what the lint looks for, why it matters and how to mend it.

/// A mistake that keeps objects alive and can be seen in the source.
package enum Rule: String, CaseIterable, Sendable {
  case viewModelOutsideHolder = "view-model-outside-holder"
  case strongSelf = "strong-self"
  case methodReference = "method-reference"
  case endlessTask = "endless-task"
  case unendedObserver = "unended-observer"
  case cleanupInDeinit = "cleanup-in-deinit"
  case recursiveClosure = "recursive-closure"
  case strongDelegate = "strong-delegate"
  /// An allowance that names no rule, has no reason or allows nothing.
  case allowance

  /// What it is, in half a sentence.
  package var summary: String {
    switch self {
    case .viewModelOutsideHolder: "a view model that its holder doesn't have"
    case .strongSelf: "a stored closure captures self strongly"
    case .methodReference: "a method is passed where a closure is kept"
    case .endlessTask: "a task over an endless sequence captures its owner"
    case .unendedObserver: "a repeating timer, an observer or a subscription without its end"
    case .cleanupInDeinit: "only deinit would end what keeps the object alive"
    case .recursiveClosure: "a local variable's closure captures the variable"
    case .strongDelegate: "a delegate that isn't weak"
    case .allowance: "an allowance that allows nothing"
    }
  }

  /// Why it keeps objects alive.
  package var reason: String {
    switch self {
    case .viewModelOutsideHolder:
      "A view model's work ends when somebody clears it. The holder does so when the screen goes; kept in "
        + "another way, the view model and its tasks outlive the screen."
    case .strongSelf:
      "The object holds the closure, by itself or through what it owns, and the closure holds the object: "
        + "neither can go."
    case .methodReference:
      "A method that is passed as a function carries its object with it, though no self is written down. "
        + "Kept by the object or by what it owns, it is a cycle."
    case .endlessTask:
      "A task holds what it captured until it ends, and a loop over a sequence that doesn't end keeps it "
        + "running. The object that stores the task can't go, and so nobody ends the task."
    case .unendedObserver:
      "The run loop keeps a repeating timer, the notification center a block, and a source its subscriptions, "
        + "until somebody ends them, with all that the block captured."
    case .cleanupInDeinit:
      "What runs holds the object, and only the object's deinit would end it: deinit waits "
        + "for the end, and the end for deinit."
    case .recursiveClosure:
      "A variable that a closure captures lives in a box. The closure holds the box and the box the closure, "
        + "with all else that it captured."
    case .strongDelegate:
      "A delegate is often the owner of the object that calls it: owner and object hold each other."
    case .allowance:
      "An allowance that nobody needs hides the mistake that comes later; one without a reason can't be judged."
    }
  }

  /// What to do about it.
  package var fix: String {
    switch self {
    case .viewModelOutsideHolder:
      "keep the holder instead of the view model, and capture neither strongly in a closure that is kept"
    case .strongSelf: "capture [weak self]"
    case .methodReference: "write a closure that captures [weak self] and calls the method"
    case .endlessTask:
      "capture [weak self] and use self?. inside the loop, and cancel the task when its owner ends"
    case .unendedObserver:
      "keep what was returned, and end it (invalidate, removeObserver, dispose) when its owner ends"
    case .cleanupInDeinit:
      "capture [weak self], or of another object only what is needed, so that deinit is reached; it can then "
        + "end the rest"
    case .recursiveClosure:
      "set the variable to nil when the work is done (defer), or write a local function instead"
    case .strongDelegate: "declare it weak"
    case .allowance: "write `// memgraph:allow RULE: reason` above the line, or take it out"
    }
  }
}
