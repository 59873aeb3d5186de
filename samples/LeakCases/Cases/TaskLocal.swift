// A task that is parked for good holds the task-local values it was started with.
import SampleSupport
import Synchronization

final class Trip: Sendable {
  let name: String
  init(_ name: String) {
    self.name = name
    Live.born(Self.self)
  }
  deinit { Live.died(Self.self) }
}

enum Travel {
  @TaskLocal static var trip: Trip?
}

final class Barrier: Sendable {
  static let shared = Barrier()
  private let parked = Mutex<[UnsafeContinuation<Void, Never>]>([])

  func pass() async {
    await withUnsafeContinuation { continuation in parked.withLock { $0.append(continuation) } }
  }
  func open() {
    let waiting = parked.withLock { parked in
      defer { parked = [] }
      return parked
    }
    for continuation in waiting { continuation.resume() }
  }
}

extension LeakCase {
  static let taskLocal = LeakCase("task-local") { variant in
    await forEachSettledRound {
      Travel.$trip.withValue(Trip("to the coast")) {
        // The closure captures nothing.
        _ = Task { await Barrier.shared.pass() }
      }
      await settle()
      if variant.isMended { Barrier.shared.open() }
    }
  }
}
