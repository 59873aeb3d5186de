// A dispatch timer is held by libdispatch as long as it is armed, and its handler holds the odometer.
import Dispatch

final class Odometer: @unchecked Sendable {
  private var timer: (any DispatchSourceTimer)?
  private var ticks = 0
  init() { Live.born(Self.self) }
  deinit {
    timer?.cancel()
    Live.died(Self.self)
  }
  func start(weakly: Bool) {
    let timer = DispatchSource.makeTimerSource(queue: .global())
    timer.schedule(deadline: .now() + 3600, repeating: 3600)
    if weakly {
      timer.setEventHandler { [weak self] in self?.ticks += 1 }
    } else {
      timer.setEventHandler { self.ticks += 1 }
    }
    timer.resume()
    self.timer = timer
  }
}

extension LeakCase {
  static let dispatchTimer = LeakCase("dispatch-timer") { variant in
    await forEachSettledRound { Odometer().start(weakly: variant.isMended) }
  }
}
