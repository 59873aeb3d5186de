// The Swift side of a native connection: owner of the handle and of the call's tracks.
import CPeerConnection
import SampleSupport

/// Hears of the connection's quality. Mistake (b) starts here: who owns a connection is its delegate.
@MainActor
protocol PeerConnectionDelegate: AnyObject {
  func connectionDidChange(_ connection: PeerConnection)
}

/// Owns a handle of the native library. The library keeps an open connection, and whatever its events
/// are sent to, until ``close()``: mistake (d) is that nobody calls it.
@MainActor
final class PeerConnection {
  var delegate: (any PeerConnectionDelegate)?
  private(set) var tracks: [VideoTrack] = []
  // Only `deinit` needs it outside of the main actor, when nobody else can have the object any more.
  nonisolated(unsafe) private var handle: OpaquePointer?

  init() { LiveCounts.born(Self.self) }

  deinit {
    // Meant as the clean-up. It can't run while the library holds the screen that holds this object.
    if let handle { Self.close(handle) }
    LiveCounts.died(Self.self)
  }

  /// Opens the native connection and sends its events to a closure for as long as it is open.
  func open(onEvent: @escaping (Int) -> Void) {
    let receiver = EventReceiver(onEvent)
    let context = Unmanaged.passRetained(receiver).toOpaque()
    let callbacks = peer_callbacks(
      context: context,
      on_state: { context, state in
        let receiver = Unmanaged<EventReceiver>.fromOpaque(context).takeUnretainedValue()
        MainActor.assumeIsolated { receiver.onEvent(Int(state)) }
      },
      release: { context in Unmanaged<EventReceiver>.fromOpaque(context).release() })
    guard let handle = peer_connection_open(callbacks) else {
      Unmanaged.passUnretained(receiver).release()
      return
    }
    self.handle = handle

    let owner = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
    Agent.registerResource(
      UnsafeRawPointer(handle), type: "PeerConnectionHandle", bytes: peer_connection_bytes())
    Agent.addStrongEdge(from: owner, to: UnsafeRawPointer(handle), label: "handle")
    Agent.addStrongEdge(from: UnsafeRawPointer(handle), to: context, label: "context")
  }

  /// Ends the native connection. Only this makes the library let go.
  func close() {
    guard let handle else { return }
    self.handle = nil
    Self.close(handle)
  }

  func add(_ track: VideoTrack) {
    tracks.append(track)
    delegate?.connectionDidChange(self)
  }

  func remove(_ track: VideoTrack) {
    tracks.removeAll { $0 === track }
    delegate?.connectionDidChange(self)
  }

  /// Plays the network's part: the native library reports a state.
  func receiveState(_ state: Int) {
    guard let handle else { return }
    peer_connection_change_state(handle, CInt(state))
  }

  nonisolated private static func close(_ handle: OpaquePointer) {
    Agent.unregister(UnsafeRawPointer(handle))
    peer_connection_close(handle)
  }
}

/// What the native library is given as its context.
@MainActor
private final class EventReceiver {
  let onEvent: (Int) -> Void

  init(_ onEvent: @escaping (Int) -> Void) {
    self.onEvent = onEvent
    LiveCounts.born(Self.self)
  }
  deinit { LiveCounts.died(Self.self) }
}
