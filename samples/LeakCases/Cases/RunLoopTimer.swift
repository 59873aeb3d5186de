// A repeating timer holds its block, the block holds the light, and the run loop holds the timer.
import Foundation

final class Blinker: @unchecked Sendable {
  private var timer: Timer?
  private var blinks = 0
  init() { Live.born(Self.self) }
  deinit {
    timer?.invalidate()
    Live.died(Self.self)
  }
  func start(weakly: Bool) {
    if weakly {
      timer = Timer.scheduledTimer(withTimeInterval: 3600, repeats: true) { [weak self] _ in
        self?.blinks += 1
      }
    } else {
      timer = Timer.scheduledTimer(withTimeInterval: 3600, repeats: true) { _ in self.blinks += 1 }
    }
  }
}

extension LeakCase {
  static let runLoopTimer = LeakCase("run-loop-timer") { variant in
    forEachRound { Blinker().start(weakly: variant.isMended) }
  }
}
