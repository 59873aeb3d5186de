// The notification center holds the observer's block, and the block holds the wallpaper.
import Foundation

final class Wallpaper: @unchecked Sendable {
  private var observer: (any NSObjectProtocol)?
  private var redraws = 0

  init(weakly: Bool) {
    Live.born(Self.self)
    let name = Notification.Name("LeakCases.themeDidChange")
    if weakly {
      observer = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) {
        [weak self] _ in self?.redraws += 1
      }
    } else {
      observer = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) {
        _ in self.redraws += 1
      }
    }
  }
  func close() {
    if let observer { NotificationCenter.default.removeObserver(observer) }
    observer = nil
  }
  deinit {
    if let observer { NotificationCenter.default.removeObserver(observer) }
    Live.died(Self.self)
  }
}

extension LeakCase {
  static let notificationObserver = LeakCase("notification-observer") { variant in
    forEachRound {
      let wallpaper = Wallpaper(weakly: variant == .opposite)
      if variant == .advised { wallpaper.close() }
    }
  }
}
