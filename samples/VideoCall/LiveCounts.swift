// The program's own account of what is alive, so that what a tool reports can be held against the truth.
import CPeerConnection
import Synchronization

/// Counts instances by type. Each counted class says so in its `init` and `deinit`.
enum LiveCounts {
  private static let countByType = Mutex<[String: Int]>([:])

  static func born(_ type: Any.Type) {
    let name = "\(type)"
    countByType.withLock { $0[name, default: 0] += 1 }
  }

  static func died(_ type: Any.Type) {
    let name = "\(type)"
    countByType.withLock { $0[name, default: 0] -= 1 }
  }

  /// `CallViewController=1 NativeRenderer=3 ... open-connections=1`, in alphabetical order.
  static var summary: String {
    let counts = countByType.withLock { $0 }.sorted { $0.key < $1.key }
    let fields = counts.map { "\($0.key)=\($0.value)" }
    return (fields + ["open-connections=\(peer_connection_open_count())"]).joined(separator: " ")
  }
}
