// Control: jobs wait for an actor that is busy. Nobody but its queue holds them, and what they hold.
import Glibc
import SampleSupport
import Synchronization

final class Page: Sendable {
  let number = 1
  init() { Live.born(Self.self) }
  deinit { Live.died(Self.self) }
}

/// An actor that a job blocks.
actor Press {
  static let shared = Press()
  /// Whether it is blocked already.
  private static let isBlocked = Atomic(false)
  private var stamped = 0

  /// Blocks a thread, which no asynchronous function should do: until the program ends.
  private func block() {
    Self.isBlocked.store(true, ordering: .releasing)
    while true { pause() }
  }

  nonisolated static func keepBusy() async {
    Task { await shared.block() }
    while !isBlocked.load(ordering: .acquiring) { await settle() }
  }

  func stamp(_ page: Page) { stamped += page.number }
}

extension LeakCase {
  static let actorQueue = LeakCase("actor-queue") { variant in
    if variant == .asNamed { await Press.keepBusy() }
    await forEachSettledRound {
      let page = Page()
      Task { await Press.shared.stamp(page) }
    }
  }
}
