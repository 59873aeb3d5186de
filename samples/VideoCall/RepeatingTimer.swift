// A repeating timer that can be stopped for good, which Foundation's own can't on Linux.
import Foundation
import SampleSupport

/// Calls a closure again and again, from the main run loop, which holds it: run loop → `Timer` → block
/// → this object → closure.
///
/// On Linux, Foundation's `Timer` keeps a retain of itself that not even `invalidate()` gives back, so
/// its block lives for ever. A stopped timer is therefore emptied, put off to the far future, and used
/// for the next one who asks.
@MainActor
final class RepeatingTimer {
  private static var idle: [RepeatingTimer] = []

  private let interval: TimeInterval
  private var onTick: (() -> Void)?
  private var timer: Timer?

  static func start(every interval: TimeInterval, onTick: @escaping () -> Void) -> RepeatingTimer {
    let timer: RepeatingTimer
    if let index = idle.firstIndex(where: { $0.interval == interval }) {
      timer = idle.remove(at: index)
      timer.timer?.fireDate = Date(timeIntervalSinceNow: interval)
    } else {
      timer = RepeatingTimer(interval: interval)
    }
    timer.onTick = onTick
    return timer
  }

  private init(interval: TimeInterval) {
    self.interval = interval
    LiveCounts.born(Self.self)
    timer = Timer.scheduledTimer(withTimeInterval: interval, repeats: true) { _ in
      MainActor.assumeIsolated { self.onTick?() }
    }
  }
  deinit { LiveCounts.died(Self.self) }

  func stop() {
    guard onTick != nil else { return }
    onTick = nil
    timer?.fireDate = .distantFuture
    Self.idle.append(self)
  }
}
