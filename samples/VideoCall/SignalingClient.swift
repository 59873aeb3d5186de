// The client that tells the two sides of a call of each other.
import SampleSupport

/// Stores the closure that wants to know of each change. The screen owns the client: mistake (a) is
/// what that closure captures.
@MainActor
final class SignalingClient {
  enum State {
    case connecting
    case connected
    case ended
  }

  var onConnectionChange: ((State) -> Void)?

  init() { LiveCounts.born(Self.self) }
  deinit { LiveCounts.died(Self.self) }

  func connect() {
    onConnectionChange?(.connecting)
    onConnectionChange?(.connected)
  }

  func disconnect() {
    onConnectionChange?(.ended)
  }
}
