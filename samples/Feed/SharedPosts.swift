// A stream that stops when nobody collects it. It saves the network, and nobody's life.

/// Collects its upstream only while it has subscribers, as Kotlin's `stateIn(scope, WhileSubscribed())`
/// does: a task waits for subscribers to come and go, as long as the scope lives.
@MainActor
final class SharedPosts {
  private let demand: AsyncStream<Int>.Continuation
  private let demands: AsyncStream<Int>
  private var subscribers = 0
  private var unheardDemands = 0

  init() {
    (demands, demand) = AsyncStream<Int>.makeStream()
  }

  /// Returns when the upstream is collected.
  func subscribe() async { await change(by: 1) }

  /// Returns when the upstream has been left, if this was the last subscriber.
  func unsubscribe() async { await change(by: -1) }

  /// Serves whoever subscribes until the task that calls this is cancelled.
  func serve(from repository: PostRepository, _ show: @escaping @MainActor ([Post]) -> Void) async {
    var upstream: Task<Void, Never>?
    for await subscribers in demands {
      if subscribers == 0 {
        upstream?.cancel()
        await upstream?.value
        upstream = nil
      } else if upstream == nil {
        let posts = repository.posts()
        upstream = Task {
          for await posts in posts { show(posts) }
        }
      }
      unheardDemands -= 1
    }
    upstream?.cancel()
  }

  private func change(by change: Int) async {
    subscribers += change
    unheardDemands += 1
    demand.yield(subscribers)
    while unheardDemands > 0 { await Task.yield() }
  }
}

/// A feed that collects only while it can be seen.
final class OnDemandFeedViewModel: FeedViewModel {
  let shared = SharedPosts()

  override func start() {
    scope.launch {
      await self.shared.serve(from: self.repository) { self.show($0) }
    }
  }
}
