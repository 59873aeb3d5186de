// One receiver for all who want fixes. It is on as long as somebody has a lease, and as fast as the most
// hurried of them asked.
import SampleSupport
import Synchronization

/// Hands out leases and streams. It knows each by a number and not by reference: a lease that its owner
/// forgets must be able to die.
///
/// Thread-safe.
final class SharedSensor: Sendable {
  static let shared = SharedSensor()

  private struct Entry {
    let holder: String
    let interval: Int
    let fixes: AsyncStream<Fix>.Continuation
  }

  private struct State {
    var entries: [Int: Entry] = [:]
    var lastID = 0
  }

  let hardware = Hardware()
  private let state = Mutex(State())

  /// Who keeps the sensor on, in the order in which they came.
  var holders: [String] {
    state.withLock { $0.entries.sorted { $0.key < $1.key }.map(\.value.holder) }
  }

  /// Fixes for somebody, at least `interval` seconds apart, until the lease is released or gone.
  func lease(for holder: String, every interval: Int = 1) -> Lease {
    let (fixes, continuation) = AsyncStream<Fix>.makeStream()
    let id = begin(Entry(holder: holder, interval: interval, fixes: continuation))
    return Lease(id: id, holder: holder, fixes: fixes, of: self)
  }

  /// A stream that owns its stop: however the iteration ends, by a break, a cancelled task or because
  /// nobody has the stream any more, the sensor is done with it, once.
  func fixes(for holder: String, every interval: Int = 1) -> AsyncStream<Fix> {
    AsyncStream { continuation in
      let id = begin(Entry(holder: holder, interval: interval, fixes: continuation))
      continuation.onTermination = { [weak self] _ in self?.end(id) }
    }
  }

  /// Lets one second pass, and sends a fix to each whose time has come.
  func tick() {
    guard let fix = hardware.tick() else { return }
    let due = state.withLock { state in
      state.entries.filter { fix.time.isMultiple(of: $0.value.interval) }
    }
    for (_, entry) in due.sorted(by: { $0.key < $1.key }) { entry.fixes.yield(fix) }
  }

  private func begin(_ entry: Entry) -> Int {
    state.withLock { state in
      state.lastID += 1
      state.entries[state.lastID] = entry
      adjust(state)
      return state.lastID
    }
  }

  fileprivate func end(_ id: Int) {
    let ended = state.withLock { state in
      let entry = state.entries.removeValue(forKey: id)
      if entry != nil { adjust(state) }
      return entry
    }
    // Out of the lock: this may end what calls here again.
    ended?.fixes.finish()
  }

  /// Gives the hardware a new order where those who are left ask for one. The lock keeps orders in
  /// the order of the changes that they follow from.
  private func adjust(_ state: borrowing State) {
    let fastest = state.entries.values.map(\.interval).min()
    let order = fastest.map(Hardware.Order.every) ?? .off
    if hardware.orders.last ?? .off != order { hardware.obey(order) }
  }
}

/// The right to have the sensor on. It ends by ``release()``, and at the latest with the object.
final class Lease: Sendable {
  let id: Int
  let holder: String
  let fixes: AsyncStream<Fix>
  private let sensor: SharedSensor

  fileprivate init(id: Int, holder: String, fixes: AsyncStream<Fix>, of sensor: SharedSensor) {
    self.id = id
    self.holder = holder
    self.fixes = fixes
    self.sensor = sensor
    LiveCounts.born(Self.self)
  }

  deinit {
    release()
    LiveCounts.died(Self.self)
  }

  /// Ends the lease. Doing it again does nothing.
  func release() { sensor.end(id) }
}
