// Tasks with a common end.

/// Starts tasks and can cancel all that are still running. A scope that is merely dropped cancels
/// nothing: a task needs nobody to hold it.
@MainActor
final class TaskScope {
  /// Cancelled tasks of all scopes that have not come to their end yet.
  private static var endingCount = 0

  private var running: [Int: Task<Void, Never>] = [:]
  private var launchedCount = 0
  private(set) var isCancelled = false

  /// Starts a task. A cancelled scope starts none.
  func launch(_ body: @escaping @MainActor () async -> Void) {
    guard !isCancelled else { return }
    launchedCount += 1
    let id = launchedCount
    running[id] = Task { [weak self] in
      await body()
      if Task.isCancelled { Self.endingCount -= 1 }
      self?.running[id] = nil
    }
  }

  /// Cancels what runs, once and for all.
  func cancel() {
    isCancelled = true
    Self.endingCount += running.count
    for task in running.values { task.cancel() }
    running = [:]
  }

  /// Returns when every task that was cancelled has ended, and so has let go of what it held.
  static func waitForCancelled() async {
    while endingCount > 0 { await Task.yield() }
  }
}
