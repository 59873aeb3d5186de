// The second defect: a scope that clear() has never heard of.

/// A feed with a list of what others read, for which it has a scope of its own.
final class TrendingViewModel: FeedViewModel {
  private let trends = TaskScope()
  private let endsTrends: Bool

  /// - Parameter endsTrends: Whether clearing the view model ends the second scope, too.
  init(repository: PostRepository, endsTrends: Bool) {
    self.endsTrends = endsTrends
    super.init(repository: repository)
  }

  override func start() {
    super.start()
    let stream = repository.posts()
    trends.launch {
      for await posts in stream { self.show(posts) }
    }
  }

  override func onClear() {
    if endsTrends { trends.cancel() }
  }
}
