// What the feed's parts promise, without an agent.
internal import Testing

@testable internal import Feed

@MainActor
@Suite struct FeedTests {
  /// Counts how often it was told of its end.
  private final class CountingViewModel: ViewModel {
    private(set) var clearCount = 0
    private(set) var endedTasks = 0

    func collect(_ repository: PostRepository) {
      let posts = repository.posts()
      scope.launch {
        for await _ in posts {}
        self.endedTasks += 1
      }
    }
    override func onClear() { clearCount += 1 }
  }

  @Test("Clearing ends every collector")
  func clearCancels() async {
    let repository = PostRepository()
    let model = CountingViewModel()
    for _ in 1...3 { model.collect(repository) }
    #expect(repository.liveCollectors == 3)
    model.clear()
    await TaskScope.waitForCancelled()
    #expect(repository.liveCollectors == 0)
    #expect(model.endedTasks == 3)
    #expect(model.isCleared)
  }

  @Test("Clearing twice is clearing once, and nothing starts afterwards")
  func clearTwice() async {
    let model = CountingViewModel()
    model.clear()
    model.clear()
    #expect(model.clearCount == 1)
    model.scope.launch { Issue.record("a cleared scope has started a task") }
    await TaskScope.waitForCancelled()
  }

  @Test("Forty cycles with a holder leave no collector, and all forty had started")
  func fortyCycles() async {
    let repository = PostRepository()
    let navigator = Navigator(tabs: 1)
    weak var last: FeedViewModel?
    for _ in 1...40 {
      let model = FeedViewModel(repository: repository)
      last = model
      await navigator.push(FeedScreen(model))
      #expect(repository.liveCollectors == 1)
      await navigator.pop()
      await TaskScope.waitForCancelled()
    }
    #expect(repository.startedCollectors == 40)
    #expect(repository.liveCollectors == 0)
    #expect(last == nil)
  }

  @Test("Each collector costs a call a refresh")
  func calls() {
    let repository = PostRepository()
    let streams = (1...4).map { _ in repository.posts() }
    repository.refresh()
    #expect(repository.networkCalls == 4)
    withExtendedLifetime(streams) {}
  }

  @Test("Clearing on disappear breaks two of four actions, a holder none")
  func visibility() async {
    var broken: [Cleanup: [NavigationAction]] = [:]
    for cleanup in Cleanup.allCases {
      for action in NavigationAction.allCases {
        let outcome = await VisibilityOutcome(of: action, clearing: cleanup)
        if !outcome.isRight { broken[cleanup, default: []].append(action) }
      }
    }
    #expect(broken == [.onDisappear: [.pushOver, .switchTab]])
  }

  @Test("A scope that clearing has not heard of goes on", arguments: [true, false])
  func ownScope(endsTrends: Bool) async {
    let repository = PostRepository()
    let model =
      endsTrends
      ? EndedTrendingViewModel(repository: repository) : TrendingViewModel(repository: repository)
    model.start()
    #expect(repository.liveCollectors == 2)
    model.clear()
    await TaskScope.waitForCancelled()
    #expect(model.isCleared)
    #expect(repository.liveCollectors == (endsTrends ? 0 : 1))
  }
}
