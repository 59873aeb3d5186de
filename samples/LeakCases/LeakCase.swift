// What a case is, and the list of them all.

/// A small program with one way to leak, or with one way not to.
struct LeakCase: Sendable {
  /// Which of a case's two programs to run.
  enum Variant: Sendable {
    /// What the case's name says: a leak leaks, a control doesn't.
    case asNamed
    /// The leak mended, the control with the mistake that it stands beside. What a test expects of the
    /// one must be seen to fail with the other.
    case opposite
  }

  let name: String
  let run: @Sendable (Variant) async -> Void

  init(_ name: String, run: @escaping @Sendable (Variant) async -> Void) {
    self.name = name
    self.run = run
  }

  static let all = [
    actorCallback, actorQueue, asyncLetParked, awaitedMethod, blockedThread, containers,
    delegateCycle, droppedContinuation,
    enumPayload, existentialBox, finishedTask, hiddenPointers, indirectEnum, inheritedField,
    lazyImmediate, markInDeinit, methodReference, nestedWeak, notificationObserver, promise,
    propertyWrapper,
    pendingRequests, recursiveClosure, runLoopTimer, singletonCache, sleepingTask,
    streamTermination, taskGroup,
    taskIsland, taskLocal, unmanagedFields, unmanagedRetain, unownedZombies, weakTokens,
    workItem,
  ]
}
