// Where the posts come from: a cache that tells everyone who collects of each write, and a network.
import Synchronization

struct Post: Sendable {
  let number: Int
}

/// Outlives every screen. A collector stays in its table until its stream is ended or given up.
final class PostRepository: Sendable {
  static let shared = PostRepository()

  private struct State {
    var cache: [Post] = []
    var collectors: [Int: AsyncStream<[Post]>.Continuation] = [:]
    var startedCount = 0
    var networkCalls = 0
  }

  private let state = Mutex(State())

  /// How many collect at this moment.
  var liveCollectors: Int { state.withLock { $0.collectors.count } }

  /// How many have ever begun to.
  var startedCollectors: Int { state.withLock { $0.startedCount } }

  var networkCalls: Int { state.withLock { $0.networkCalls } }

  /// The posts in the cache, now and after each write.
  func posts() -> AsyncStream<[Post]> {
    AsyncStream { continuation in
      let (id, cached) = state.withLock { state in
        state.startedCount += 1
        state.collectors[state.startedCount] = continuation
        return (state.startedCount, state.cache)
      }
      continuation.onTermination = { [weak self] _ in
        // Given back after the lock: what a continuation holds may end with it.
        _ = self?.state.withLock { $0.collectors.removeValue(forKey: id) }
      }
      continuation.yield(cached)
    }
  }

  /// Fetches a new post. The stream is cold: each who collects has a request of its own, so a forgotten
  /// collector costs a call for good.
  func refresh() {
    let (collectors, posts) = state.withLock { state in
      state.networkCalls += state.collectors.count
      state.cache.append(Post(number: state.cache.count + 1))
      return (state.collectors, state.cache)
    }
    for (_, collector) in collectors.sorted(by: { $0.key < $1.key }) { collector.yield(posts) }
  }
}
