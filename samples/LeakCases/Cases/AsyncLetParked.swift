// Control: what a child task of `async let` holds is reachable while its parent waits in a registry.
import Synchronization

final class Parcel: Sendable {
  let weight: Int
  init(_ weight: Int) {
    self.weight = weight
    Live.born(Self.self)
  }
  deinit { Live.died(Self.self) }
}

/// Keeps who waits, or in the opposite loses them.
final class Counter: Sendable {
  static let shared = Counter()
  private let queue = Mutex<[UnsafeContinuation<Int, Never>]>([])

  func weigh(_ parcel: Parcel, keep: Bool) async -> Int {
    let factor = await withUnsafeContinuation { continuation in
      if keep { queue.withLock { $0.append(continuation) } }
    }
    return parcel.weight * factor
  }
}

extension LeakCase {
  static let asyncLetParked = LeakCase("async-let-parked") { variant in
    await forEachSettledRound {
      let parcel = Parcel(7)
      Task {
        async let weight = Counter.shared.weigh(parcel, keep: variant == .asNamed)
        _ = await weight
      }
    }
  }
}
