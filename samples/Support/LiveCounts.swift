// The program's own account of what is alive, so that what a tool reports can be held against the truth.
import Synchronization

/// Counts instances by type. Each counted class says so in its `init` and `deinit`.
package enum LiveCounts {
  private static let countByType = Mutex<[ObjectIdentifier: (type: Any.Type, count: Int)]>([:])

  package static func born(_ type: Any.Type) { change(type, by: 1) }
  package static func died(_ type: Any.Type) { change(type, by: -1) }

  private static func change(_ type: Any.Type, by change: Int) {
    countByType.withLock { $0[ObjectIdentifier(type), default: (type, 0)].count += change }
  }

  package static func count(of type: Any.Type) -> Int {
    countByType.withLock { $0[ObjectIdentifier(type)]?.count ?? 0 }
  }

  /// `CallViewController=1 NativeRenderer=3 ...`, in alphabetical order.
  package static var summary: String { summary { "\($0)" } }

  /// The same with the types' modules: `LeakCases.Diver=9 ...`.
  package static var qualifiedSummary: String { summary { String(reflecting: $0) } }

  private static func summary(_ name: (Any.Type) -> String) -> String {
    countByType.withLock { Array($0.values) }
      .map { (name: name($0.type), count: $0.count) }.sorted { $0.name < $1.name }
      .map { "\($0.name)=\($0.count)" }.joined(separator: " ")
  }
}
