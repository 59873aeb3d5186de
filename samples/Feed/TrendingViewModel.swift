// The second defect: a scope that clear() has never heard of.

/// A feed with a list of what others read, for which it has a scope of its own.
class TrendingViewModel: FeedViewModel {
  fileprivate let trends = TaskScope()

  override func start() {
    super.start()
    let stream = repository.posts()
    trends.launch {
      for await posts in stream { self.show(posts) }
    }
  }
}

/// The same, with both scopes ended.
final class EndedTrendingViewModel: TrendingViewModel {
  override func onClear() { trends.cancel() }
}
