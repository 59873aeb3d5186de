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
    /// The leak mended in exactly the way that the tool advises: that edge weak or cleared, and nothing
    /// else. What is gone then must be what the tool said would go. Cases whose opposite is just that have
    /// one program for both, and controls have nothing to be advised of.
    case advised

    /// Whether the mistake is mended in one way or the other.
    var isMended: Bool { self != .asNamed }
  }

  let name: String
  let run: @Sendable (Variant) async -> Void

  init(_ name: String, run: @escaping @Sendable (Variant) async -> Void) {
    self.name = name
    self.run = run
  }

  static let all = [
    actorCallback, actorQueue, asyncLetParked, awaitedMethod, blockedThread, containers,
    delegateCycle, dispatchTimer, droppedContinuation,
    enumPayload, executorJobs, existentialBox, finishedTask, handlerList, hiddenPointers,
    indirectEnum,
    inheritedField, lazyImmediate, liveGroup, localList,
    mappedMemory, markInDeinit, methodReference, nestedWeak, notificationObserver,
    promise,
    propertyWrapper,
    pendingRequests, readSource, recursiveClosure, runLoopTimer, singletonCache, sleepingTask,
    streamTermination, taskGroup,
    taskIsland, taskLocal, timerThread, unmanagedFields, unmanagedRetain, unownedZombies,
    weakTokens, workItem,
  ]
}
