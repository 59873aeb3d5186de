// (a) A closure that the client stores, and the client is the screen's own.

extension CallViewController {
  /// The closure captures the screen: screen → client → closure → screen.
  func listenToClient() {
    if leaks.contains(.closure) {
      client.onConnectionChange = { state in
        self.note("client: \(state)")
      }
    } else {
      client.onConnectionChange = { [weak self] state in
        self?.note("client: \(state)")
      }
    }
    client.connect()
  }
}
