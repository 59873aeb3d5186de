// Shows the feed and leaves it, again and again.
import SampleSupport

/// The story's program: everything that is done with the screens.
@MainActor
struct PushPop {
  let variant: Variant
  let repository = PostRepository.shared
  let navigator = Navigator.shared
  let announcements = Announcements.shared

  func run(cycles: Int) async {
    await settle()
    Agent.mark("start")
    for cycle in 1...cycles {
      await navigator.push(makeScreen(cycle: cycle))
      if cycle == cycles { await report("on-screen") }
      await navigator.pop()
      await TaskScope.waitForCancelled()
      if cycle == 1 || cycle == cycles / 2 || cycle == cycles {
        await report("cycle-\(cycle)")
      }
    }
  }

  func makeScreen(cycle: Int) -> any Screen {
    switch variant {
    case .demand:
      return CarelessFeedScreen(OnDemandFeedViewModel(repository: repository))
    case .captured, .holder:
      let screen = FeedScreen(FeedViewModel(repository: repository))
      // Who reads the comments hears of new ones; each sixth reader does.
      if cycle.isMultiple(of: 6) {
        if variant == .captured {
          screen.listenCarelessly(to: announcements)
        } else {
          screen.listen(to: announcements)
        }
      }
      return screen
    case .ownScope:
      return FeedScreen(TrendingViewModel(repository: repository))
    case .bothScopes:
      return FeedScreen(EndedTrendingViewModel(repository: repository))
    case .careless, .visibility:
      return CarelessFeedScreen(FeedViewModel(repository: repository))
    }
  }

  /// The program's own numbers, and a mark for the tool's.
  private func report(_ name: String) async {
    await settle()
    let collectors = repository.liveCollectors
    let callsBefore = repository.networkCalls
    repository.refresh()
    await settle()
    print(
      "\(name): \(LiveCounts.summary) collectors=\(collectors)",
      "started=\(repository.startedCollectors)",
      "calls=\(repository.networkCalls - callsBefore)")
    Agent.mark(name)
  }
}
