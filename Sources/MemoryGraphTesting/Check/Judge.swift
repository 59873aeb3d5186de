// Judge: a check as steps, so that one that can wait for a task and one that blocks its thread do the same.

/// What a check is to do next.
enum CheckStep {
  /// Run the body once, in the scope.
  case run

  /// Wait: something may end by itself.
  case wait(Duration)

  /// Take a snapshot and look at it.
  case examine(@Sendable (Examination) throws -> Evidence)

  /// The check is over: what is wrong, or nothing.
  case done(CheckFailure?)
}

/// What a look at a snapshot showed.
struct Evidence: Sendable {
  /// Blocks of the scope that something is wrong with.
  var suspects: Set<HiddenAddress> = []

  /// Blocks of the scope that only words hold that may be left over, so that a leak may be hidden.
  var doubtful: Set<HiddenAddress> = []

  /// Blocks that were reported, or accepted, and are no further check's business.
  var accounted: Set<HiddenAddress> = []

  /// What to tell; nil for nothing.
  var failure: CheckFailure?
}

/// Decides what a check does.
protocol Judge {
  var scope: CheckScope { get }

  /// The next step; after each step it is asked again.
  mutating func next() -> CheckStep

  /// Is told what the last look showed.
  mutating func take(_ evidence: Evidence)
}

extension Judge {
  /// Whether births were lost; then nothing that is found or not found counts.
  fileprivate var loss: CheckFailure? {
    let lost = scope.lostCount
    if lost == 0 { return nil }
    return CheckFailure(
      CheckProblem("\(lost) allocations could not be recorded, since a table of the agent was full")
    )
  }

  fileprivate mutating func take(_ result: Result<Evidence, CheckProblem>) -> CheckFailure? {
    switch result {
    case .success(let evidence):
      scope.account(for: evidence.accounted)
      take(evidence)
      return nil
    case .failure(let problem): return CheckFailure(problem)
    }
  }
}

/// Makes a check around a body that can wait.
///
/// - Returns: what is wrong; nil for nothing.
/// - Throws: what the body throws. It is not checked then: what it left undone is no leak.
func perform<J: Judge>(
  _ makeJudge: (CheckScope) -> Result<J, CheckProblem>, takesStrays: Bool,
  isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Void
) async rethrows -> CheckFailure? {
  let scope: CheckScope
  var judge: J
  do {
    scope = try CheckScope.open(takesStrays: takesStrays)
    judge = try quietly({ makeJudge(scope) }).get()
  } catch {
    try await body()
    return CheckFailure(error)
  }
  defer { scope.close() }
  while true {
    switch quietly({ judge.next() }) {
    case .run:
      try await CheckScope.$current.withValue(scope.token, operation: body)
    case .wait(let duration):
      // In a test that was cancelled this returns at once; the judge counts what it asked for.
      try? await Task.sleep(for: duration)
    case .examine(let look):
      scope.leaveStrays()
      let result = await Examiner.shared.examine(look)
      if let failure = quietly({ judge.take(result) }) { return failure }
    case .done(let failure):
      return judge.loss ?? failure
    }
  }
}

/// The same around a body that can't wait; blocks the thread.
func performBlocking<J: Judge>(
  _ makeJudge: (CheckScope) -> Result<J, CheckProblem>, takesStrays: Bool,
  _ body: () throws -> Void
) rethrows -> CheckFailure? {
  let scope: CheckScope
  var judge: J
  do {
    scope = try CheckScope.open(takesStrays: takesStrays)
    judge = try quietly({ makeJudge(scope) }).get()
  } catch {
    try body()
    return CheckFailure(error)
  }
  defer { scope.close() }
  while true {
    switch quietly({ judge.next() }) {
    case .run:
      try CheckScope.$current.withValue(scope.token, operation: body)
    case .wait(let duration):
      sleepBlocking(duration)
    case .examine(let look):
      scope.leaveStrays()
      let result = Examiner.shared.examineBlocking(look)
      if let failure = quietly({ judge.take(result) }) { return failure }
    case .done(let failure):
      return judge.loss ?? failure
    }
  }
}
