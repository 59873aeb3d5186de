// (d) A native connection that stays open, and keeps what its events are sent to, until it is closed.

extension CallViewController {
  /// The library's table of open connections → handle → context → screen.
  func openConnection() {
    if leaks.contains(.handle) {
      connection.open { state in
        self.note("native state \(state)")
      }
    } else {
      connection.open { [weak self] state in
        self?.note("native state \(state)")
      }
    }
  }
}
