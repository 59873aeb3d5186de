// Settling: waiting for what ends a moment after a test's body.

internal import CMemoryGraphHooks
internal import Glibc

/// Waits until the objects of a scope are settled: none is left, or they stay the same and no task of the
/// scope is alive; a second at most.
struct Settling {
  /// How long a task that goes on is waited for.
  static let limit = Duration.seconds(1)

  private var _waited = Duration.zero
  private var _pause = Duration.milliseconds(1)
  private var _last: [HiddenAddress]?

  /// How long to wait; nil where the objects are settled.
  ///
  /// - Parameters:
  ///   - objects: the objects that are alive now.
  ///   - mayGo: whether they may go by themselves, however long they stay the same.
  mutating func pause(for objects: [memory_graph_survivor], mayGo: Bool) -> Duration? {
    if objects.isEmpty || _waited >= Self.limit { return nil }
    let addresses = objects.map { HiddenAddress($0.address) }
    defer { _last = addresses }
    if addresses == _last, !mayGo { return nil }
    defer { _pause = min(_pause * 2, .milliseconds(50)) }
    _waited += _pause
    return _pause
  }
}

func sleepBlocking(_ duration: Duration) {
  let (seconds, attoseconds) = duration.components
  var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
  var rest = time
  while nanosleep(&time, &rest) != 0, errno == EINTR { time = rest }
}
