// AdviceText: what to write in the source so that an edge lets go, in Swift's words, and why.

internal import GraphAnalysis
internal import GraphPrimitives
internal import SnapshotFormat
internal import Symbolication

/// What to write in the source for a cut.
struct AdviceText {
  let advice: CutProposal.Advice
  let reason: CutProposal.Reason

  /// The step whose edge is cut.
  let step: StepText

  /// The type that the edge leads to.
  let target: String

  /// Whether the cut is of a cycle; else it is of a way from a root.
  let isOfCycle: Bool

  /// Whether it is of a leak that nothing in memory holds.
  let isHeldByNothing: Bool

  /// How many objects at least have gone from where those of the finding are held.
  var goneCount = 0

  /// Whether the program itself asked the allocator for what the step leaves.
  let isOwnMemory: Bool

  /// Whether the step's own place can be declared weak.
  var canBeWeak: Bool {
    switch step.declaration {
    case .variable, .constant, .structure: true
    case .payload, .tuple, .existential, .locked, .library: false
    }
  }

  var text: String {
    switch advice {
    case .captureWeakly:
      // Only the symbol of the closure's function tells a closure from a method that was passed.
      if step.via?.kind == .methodReference { return methodReference }
      return weakCapture
        + (isOfCycle
          ? ": the closure is held by what it captures"
          : ": what holds the closure lives longer than what it captures")
    case .methodReference:
      return methodReference
    case .makeLocalFunction:
      let variable = step.field.split(separator: ".").first.map(String.init) ?? ""
      let clear = Self.isIdentifier(variable) ? "set \(variable) to nil" : "clear its variable"
      return
        "make the closure a local function, or \(clear) after the last call: it is held by the variable"
        + " through which it calls itself"
    case .makeWeak:
      return weakField + ": " + whyWeak
    case .makeWeakNotUnowned:
      let name = lastField ?? "it"
      return
        "make \(name) weak instead of unowned, or let go of \(step.type) when the work ends: an unowned"
        + " reference keeps the memory of a destroyed object"
    case .closeResource:
      return
        "close() before release, when the work ends: as long as it is open it keeps what it refers to"
    case .invalidateTimer:
      return
        "invalidate the timer when the work ends, not in deinit, and \(weakCapture): deinit does not run"
        + " while the timer's closure holds self, and on Linux even an invalidated Timer keeps its closure"
    case .removeObserver:
      return
        "remove the observer when the work ends, not in deinit: it does not run while the center holds"
        + " the closure"
    case .cancelSource:
      return
        "cancel the source (source.cancel()) when the work ends, not in deinit, and \(weakCapture): libdispatch"
        + " keeps a source and its handlers until it is cancelled, and one that was never resumed is to be resumed"
        + " first"
    case .removeTaskHandles:
      return
        "remove the handles of finished tasks from \(container) when they end: a handle keeps the task and"
        + " its result"
    case .deinitializeMemory:
      let memory = isOwnMemory ? step.type : "the memory"
      return
        "balance Unmanaged.passRetained with release() where the entry is taken out of \(memory); where that is"
        + " a typed pointer's (UnsafeMutablePointer), deinitialize what is in it before it is let go, then"
        + " deallocate it (deinitialize(count:), deallocate()): neither happens by itself, and deallocate()"
        + " releases nothing"
    case .removeHandler where isHistory:
      return
        "bound \(container), or clear it when the work ends, and let each closure capture the values that it needs"
        + " instead of self: it is there to be called later, so [weak self] would leave an entry that does nothing"
    case .removeHandler:
      return
        "remove the handler from \(container) when the work ends: [weak self] lets self go, but the list"
        + " keeps growing"
    case .boundContainer:
      return goneCount > 0
        ? "bound \(container) if it still grows: it does let go of entries"
        : "bound \(container), or remove from it when the work ends: it keeps every entry"
    case .cancelTask:
      if step.task?.sleeps == true {
        return
          "cancel the task when the work ends, not in deinit: its sleep ends then; a loop around it has to"
          + " check Task.isCancelled"
      }
      return
        "cancel the task and capture weakly: either alone is not enough, since a cancelled task goes on"
        + " until it checks, and a weak capture lets self go but not the task"
    case .cancelTaskAlone:
      return
        "cancel the task when the work ends, not in deinit: the stream that it waits for ends then, and"
        + " deinit does not run while the task holds self"
    case .resumeContinuation:
      return
        "resume the continuation on every path: nobody has it any more, so the task waits for ever"
    case .resumeWaiting:
      return
        "resume the continuation when the work ends: cancelling alone does not wake the task, which keeps"
        + " what it holds"
    case .takeResults:
      return
        "take the group's results as they come (for await, next()), or use a discarding task group:"
        + " finished children keep what they returned"
    case .balanceRetain:
      let balance = "balance Unmanaged.passRetained with release() or takeRetainedValue()"
      return isHeldByNothing
        ? balance
          + ", or deinitialize the memory that it was in (an UnsafeMutablePointer's or a plain"
          + " ManagedBuffer's) before that goes" : balance
    case .endLibraryObject where Self.plain(step.type).hasSuffix("URLSession"):
      return
        "call finishTasksAndInvalidate() or invalidateAndCancel() when the work ends: a session keeps its"
        + " delegate until then"
    case .endLibraryObject where step.field.hasPrefix("__dependencies"):
      return
        "call removeDependency(_:) when the operation has ended, or don't let operations wait for each other:"
        + " an operation keeps those that it depends on"
    case .endLibraryObject where isSource:
      return
        "cancel the source (source.cancel()) when the work ends, not in deinit, and capture weakly in its"
        + " handlers: libdispatch keeps a source and its handlers until it is cancelled, and one that was never"
        + " resumed is to be resumed first"
    case .endLibraryObject where Self.plain(step.type).hasPrefix("NSCache"):
      return
        "take it out of the NSCache (removeObject(forKey:), removeAllObjects()) when the work ends, before the"
        + " cache goes: on Linux the entries of an NSCache hold each other, and only that parts them"
    case .endLibraryObject where Self.plain(step.type) == "Timer":
      return
        "invalidate() it when the work ends, and let its closure capture weakly: on Linux Foundation does not free a"
        + " Timer that was scheduled, so its closure keeps what it captures"
    case .endLibraryObject:
      return
        "end it when the work ends, with invalidate(), cancel() or what else \(step.type) has for that: its fields"
        + " are the library's own. If it has ended, the leak is the library's: accept it with memgraph known add"
    case .clearField:
      return clear
    }
  }

  // MARK: - Closures

  /// `capture [weak self] at Call.swift:42`; where what is captured has no known name, its type.
  private var weakCapture: String {
    let name = step.captured.flatMap { Self.isIdentifier($0) ? $0 : nil }
    let belongsToTarget = closureName.contains(" in \(Self.plain(target)).")
    let what =
      name.map { "capture [weak \($0)]" }
      ?? (belongsToTarget || target.isEmpty
        ? "capture [weak self]" : "capture its \(target) weakly, as [weak self]")
    return what + (step.place.map { " at " + $0 } ?? "")
  }

  private var closureName: String { step.via?.name ?? (step.isClosure ? step.type : "") }

  private var methodReference: String {
    guard let method = step.via?.name else {
      return "a method passed as a function captures self; pass { [weak self] in self?.method() }"
    }
    let base = method.prefix { $0 != "(" }.split(separator: ".").last.map(String.init) ?? method
    let field = lastField.map { $0 + ": " } ?? ""
    return
      "\(field)\(base) captures self unseen; pass { [weak self] in \(Self.call(of: method)) } instead of"
      + " the method"
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

  // MARK: - Fields

  /// The name of the last field of the step's path; nil where it has none: a stripped program, an element.
  private var lastField: String? {
    guard let last = step.field.split(separator: ".").last.map(String.init) else { return nil }
    return Self.isIdentifier(last) ? last : nil
  }

  /// The container that the step's last element is in; the whole path where there is none.
  private var container: String {
    // Where a task's local variables lie has no names.
    if step.task != nil { return "the list in the task's local variable" }
    // The fields of Foundation's are nobody else's to name.
    if !step.type.contains("."), ToolchainModules.isCollection(step.type) {
      return "the \(Self.plain(step.type))"
    }
    guard let bracket = step.field.lastIndex(of: "[") else { return step.field }
    let name = EdgeName.folded(String(step.field[..<bracket]))
    return name.isEmpty ? step.containerName ?? "the container" : name
  }

  /// Whether the container is called like one of actions that are kept to be done or undone later.
  private var isHistory: Bool {
    let name = container.split(separator: ".").last.map { $0.lowercased() } ?? ""
    return ["undo", "redo", "history", "rollback", "revert"].contains { name.contains($0) }
  }

  private var weakField: String {
    guard let name = lastField else { return "hold it weakly" }
    switch step.declaration {
    case .variable:
      // No type says that it can be declared weak.
      if step.provenance == .scanned { return "hold \(name) weakly, in a struct with a weak var" }
      if name == step.field { return "make \(name) weak (weak var \(name))" }
      return step.passesBox && !step.field.contains("[")
        ? "make \(name) weak, in an enum by a struct with a weak var" : "make \(name) weak"
    case .constant:
      return "make \(name) weak (weak var \(name), of an optional type, instead of let)"
    case .structure: return "make \(name) weak (weak var \(name) in its struct)"
    case .payload:
      return
        "hold it weakly: give the case \(name) a struct with a weak var, since a payload can't be weak itself"
    case .tuple:
      return
        "hold it weakly: make a struct with a weak var of the tuple, whose parts can't be weak themselves"
    case .existential:
      return
        "make \(name) weak, with a class or a protocol of classes (any AnyObject) as its type, or clear it when the"
        + " work ends: a struct, or a value of Any or of a protocol for structs, can't be weak"
    case .locked:
      return
        "hold it weakly: let \(name) lock a struct with a weak var, since what a Mutex has can't be weak itself"
    case .library: return "let \(name) go by the library's own call when the work ends"
    }
  }

  private var whyWeak: String {
    switch reason {
    case .backReference: "it refers back to what owns \(step.type)"
    case .oneOfMany: "each of many refers back to what holds them all"
    case .maker: "it refers back to what made \(step.type)"
    case .ownPart: "it leads back to the object that owns it"
    case .none, .entry: "it is held by what it refers to"
    }
  }

  private var clear: String {
    if step.field.hasSuffix("]") {
      // An offset into memory without types is no container.
      return step.field.contains("+")
        ? "let it go when the work ends"
        : "remove it from \(container) when the work ends"
    }
    guard let first = step.field.first, first == "_" || first.isLetter || first == "[" else {
      return "let it go when the work ends"
    }
    guard let name = lastField else { return "let it go when the work ends" }
    switch step.declaration {
    case .constant:
      return
        "make \(name) a var and clear it when the work ends, or weak where it owns nothing: a let keeps what it"
        + " refers to"
    case .payload: return "set \(owner) to another case when the work ends"
    case .locked: return "set \(step.field) to nil within its lock when the work ends"
    case .variable, .structure, .tuple, .existential, .library:
      return "clear \(step.field) when the work ends"
    }
  }

  /// The path to what has the last field: `state` for `state.pending`.
  private var owner: String {
    let parts = step.field.split(separator: ".").dropLast()
    if parts.isEmpty { return "it" }
    let path = EdgeName.folded(parts.joined(separator: "."))
    // An element is called after the variable that its list is.
    return path.hasPrefix("[") ? (step.containerName ?? "the list") + path : path
  }

  /// Whether the step is of a source of libdispatch or leads to one.
  private var isSource: Bool {
    [step.type, target].contains {
      $0.hasPrefix("DispatchSource") || $0.hasPrefix("dispatch_source") || $0 == "dispatch timer"
        || $0.hasPrefix("dispatch ") && $0.hasSuffix(" source")
    }
  }

  private static func isIdentifier(_ text: String) -> Bool {
    guard let first = text.unicodeScalars.first else { return false }
    return (first == "_" || first.properties.isXIDStart)
      && text.unicodeScalars.allSatisfy { $0 == "_" || $0.properties.isXIDContinue }
  }

  /// A type's name without generic arguments, as functions' names have it.
  private static func plain(_ type: String) -> Substring { type.prefix { $0 != "<" } }
}
