// The program's own account of what is alive, so that what a tool reports can be held against the truth.
import Synchronization

/// Counts instances by type. Each counted class says so in its `init` and `deinit`.
package enum LiveCounts {
  private static let countByType = Mutex<[String: Int]>([:])

  package static func born(_ type: Any.Type) {
    let name = "\(type)"
    countByType.withLock { $0[name, default: 0] += 1 }
  }

  package static func died(_ type: Any.Type) {
    let name = "\(type)"
    countByType.withLock { $0[name, default: 0] -= 1 }
  }

  package static func count(of type: Any.Type) -> Int {
    countByType.withLock { $0["\(type)", default: 0] }
  }

  /// `CallViewController=1 NativeRenderer=3 ...`, in alphabetical order.
  package static var summary: String {
    let counts = countByType.withLock { $0 }.sorted { $0.key < $1.key }
    return counts.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
  }
}
