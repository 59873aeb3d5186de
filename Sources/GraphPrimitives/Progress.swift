// Progress and cancellation: how long work tells its caller where it is, and hears that it may stop.

/// Hears how far a long piece of work has come.
public protocol ProgressSink: Sendable {
  /// Reports that `done` of `total` units of a named step are finished.
  ///
  /// May be called from any thread, often; it should return at once.
  func report(step: String, done: Int, total: Int)
}

/// A sink that nobody listens to.
public struct NoProgress: ProgressSink {
  public init() {}
  public func report(step: String, done: Int, total: Int) {}
}

/// Says whether long work should stop.
public protocol CancelSignal: Sendable {
  /// Whether the work is no longer wanted; asked every few thousand steps.
  var isCancelled: Bool { get }
}

/// A signal that never fires.
public struct NeverCancelled: CancelSignal {
  public init() {}
  public var isCancelled: Bool { false }
}
