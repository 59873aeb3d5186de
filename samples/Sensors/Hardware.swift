// The receiver itself, played by a clock that the program turns by hand.
import Synchronization

/// Where the device was, and when.
struct Fix: Sendable, Equatable {
  /// In seconds since the program began.
  let time: Int
}

/// A receiver that is on at one rate or off. It remembers every order that it was given: on real hardware
/// each costs energy.
///
/// Thread-safe.
final class Hardware: Sendable {
  enum Order: Sendable, Equatable, CustomStringConvertible {
    /// A fix each so many seconds.
    case every(Int)
    case off

    var description: String {
      switch self {
      case .every(let seconds): "\(seconds)s"
      case .off: "off"
      }
    }
  }

  private struct State {
    var orders: [Order] = []
    var time = 0
  }

  private let state = Mutex(State())

  /// All that it was told to do, in order.
  var orders: [Order] { state.withLock { $0.orders } }
  var isOn: Bool { state.withLock { $0.orders.last ?? .off } != .off }
  var startCount: Int { countOrders { $0 == .off && $1 != .off } }
  var stopCount: Int { countOrders { $0 != .off && $1 == .off } }

  func obey(_ order: Order) {
    state.withLock { $0.orders.append(order) }
  }

  /// Lets one second pass. Returns a fix if one is due.
  func tick() -> Fix? {
    state.withLock { state in
      state.time += 1
      guard case .every(let seconds) = state.orders.last, state.time.isMultiple(of: seconds) else {
        return nil
      }
      return Fix(time: state.time)
    }
  }

  private func countOrders(_ isCounted: (Order, Order) -> Bool) -> Int {
    let orders = orders
    return zip([.off] + orders, orders).count { isCounted($0, $1) }
  }
}
