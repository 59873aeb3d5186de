// (c) Observers made of blocks and a repeating timer: the notification center and the run loop hold them.
import Foundation

extension Notification.Name {
  static let networkDidChange = Notification.Name("VideoCall.networkDidChange")
  static let batteryDidChange = Notification.Name("VideoCall.batteryDidChange")
}

extension CallViewController {
  /// No cycle is needed: a block that captures the screen is held by something that never dies.
  func startObserving() {
    let center = NotificationCenter.default
    for name in [Notification.Name.networkDidChange, .batteryDidChange] {
      if leaks.contains(.observers) {
        observers.append(
          center.addObserver(forName: name, object: nil, queue: nil) { _ in
            MainActor.assumeIsolated { self.note("notified") }
          })
      } else {
        observers.append(
          center.addObserver(forName: name, object: nil, queue: nil) { [weak self] _ in
            MainActor.assumeIsolated { self?.note("notified") }
          })
      }
    }
    if leaks.contains(.observers) {
      clock = RepeatingTimer.start(every: 1) { self.tick() }
    } else {
      clock = RepeatingTimer.start(every: 1) { [weak self] in self?.tick() }
    }
  }

  func stopObserving() {
    for observer in observers { NotificationCenter.default.removeObserver(observer) }
    observers = []
    clock?.stop()
    clock = nil
  }
}
