// The view model of the feed. Whether it dies is not its own business; see the screens.
import SampleSupport

/// A decoded picture: 144 × 144 points of four bytes.
struct Picture {
  private let pixels = [UInt8](repeating: 0x7F, count: 144 * 144 * 4)
}

class FeedViewModel: ViewModel {
  let repository: PostRepository
  private(set) var posts: [Post] = []
  /// Twelve pictures, 0.95 MB: what a forgotten view model costs.
  private let pictures = (1...12).map { _ in Picture() }

  init(repository: PostRepository) {
    self.repository = repository
    super.init()
    LiveCounts.born(FeedViewModel.self)
  }

  isolated deinit {
    // Not the place to end a task that holds this object: it would never be reached.
    LiveCounts.died(FeedViewModel.self)
  }

  /// Collects the posts until the view model is cleared. The task holds the view model: that's right as
  /// long as somebody ends the task.
  func start() {
    let stream = repository.posts()
    scope.launch {
      for await posts in stream { self.show(posts) }
    }
  }

  func show(_ posts: [Post]) {
    self.posts = posts
  }
}
