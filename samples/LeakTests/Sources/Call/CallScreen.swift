// The screen of a call: it listens to the connection, and the connection belongs to it.
import Synchronization

public final class CallScreen: Sendable {
  let connection = Connection()
  let state = Mutex("new")

  public init() {}

  /// Keeps the screen alive for ever: the connection has the closure, the closure has the screen.
  public func listenStrongly() {
    connection.onChange.withLock { $0 = { state in self.show(state) } }
  }

  public func listenWeakly() {
    connection.onChange.withLock { $0 = { [weak self] state in self?.show(state) } }
  }

  public func call() { connection.connect() }

  func show(_ state: String) { self.state.withLock { $0 = state } }
}

final class Connection: Sendable {
  let onChange = Mutex<(@Sendable (String) -> Void)?>(nil)

  func connect() { onChange.withLock { $0 }?("connected") }
}
