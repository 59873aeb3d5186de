// TerminalProgress: how far long work has come, in one line of a terminal that is gone at the end.

internal import GraphPrimitives
internal import GraphReport
internal import Synchronization

/// Shows progress on a terminal, and nothing anywhere else.
///
/// Work that is done within a moment shows nothing. Thread-safe.
package final class TerminalProgress: ProgressSink {
  private struct State {
    var started: ContinuousClock.Instant?
    var shown: ContinuousClock.Instant?
    var isShown = false
  }

  /// How long work may take before it is worth a line, and how long a line stays as it is.
  private static let patience = Duration.milliseconds(500)
  private static let interval = Duration.milliseconds(100)

  private let _sink: any TextSink
  private let _isOn: Bool
  private let _now: @Sendable () -> ContinuousClock.Instant
  private let _state = Mutex(State())

  /// - Parameter now: the time; tests make it up.
  package init(
    on sink: any TextSink, isWanted: Bool,
    now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
  ) {
    _sink = sink
    _isOn = isWanted && sink.isTerminal
    _now = now
  }

  package func report(step: String, done: Int, total: Int) {
    guard _isOn else { return }
    let now = _now()
    let isDue = _state.withLock { state in
      let started = state.started ?? now
      state.started = started
      guard now - started >= Self.patience else { return false }
      if let shown = state.shown, now - shown < Self.interval { return false }
      state.shown = now
      state.isShown = true
      return true
    }
    guard isDue else { return }
    let share = total > 0 ? " \(min(100, done * 100 / total))%" : ""
    let line = withoutControls("\(step)\(share)").prefix(max(1, (_sink.columns ?? 80) - 1))
    // The line is only for watching: where it can't be written, the work goes on.
    try? _sink.write("\r\u{1B}[K" + line)
  }

  /// Takes the line away.
  package func finish() {
    let wasShown = _state.withLock { state in
      defer { state.isShown = false }
      return state.isShown
    }
    if wasShown { try? _sink.write("\r\u{1B}[K") }
  }
}
