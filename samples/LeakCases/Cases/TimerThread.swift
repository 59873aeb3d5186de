// A thread of the program's own runs a run loop, whose timers' blocks hold the beacons.
import Foundation

final class Beacon: @unchecked Sendable {
  private var timer: Timer?
  private var flashes = 0
  init() { Live.born(Self.self) }
  deinit {
    timer?.invalidate()
    Live.died(Self.self)
  }
  func start(weakly: Bool) {
    let timer =
      weakly
      ? Timer(timeInterval: 3600, repeats: true) { [weak self] _ in self?.flashes += 1 }
      : Timer(timeInterval: 3600, repeats: true) { _ in self.flashes += 1 }
    RunLoop.current.add(timer, forMode: .default)
    self.timer = timer
  }
}

/// Does something on the thread of a run loop, and waits for it.
private final class LoopThread: @unchecked Sendable {
  private var pending: (() -> Void)?
  private let wanted = DispatchSemaphore(value: 0)
  private let done = DispatchSemaphore(value: 0)

  func start() {
    Thread.detachNewThread { [self] in
      while true {
        wanted.wait()
        pending?()
        pending = nil
        done.signal()
        _ = RunLoop.current.run(mode: .default, before: Date())
      }
    }
  }

  func perform(_ body: @escaping () -> Void) {
    pending = body
    wanted.signal()
    done.wait()
  }
}

extension LeakCase {
  static let timerThread = LeakCase("timer-thread") { variant in
    let thread = LoopThread()
    thread.start()
    await forEachSettledRound {
      thread.perform { Beacon().start(weakly: variant.isMended) }
    }
  }
}
