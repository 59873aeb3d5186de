// Visibility is not lifetime: what becomes of the feed where it is cleared as soon as it disappears.
import SampleSupport

enum NavigationAction: String, CaseIterable {
  case pop
  case pushOver = "push over"
  case switchTab = "switch tab"
  case background
}

enum Cleanup: String, CaseIterable {
  case onDisappear = "on disappear"
  case byHolder = "by the holder"
}

/// What was seen when an action had happened, and been undone where it can be.
struct VisibilityOutcome {
  /// Whether the screen is still in the navigation, for the person to come back to.
  let isInStack: Bool
  /// Whether the view model lives and still hears of new posts.
  let isFed: Bool

  /// A screen that one can come back to must be fed; one that is gone must not.
  var isRight: Bool { isInStack == isFed }
}

extension VisibilityOutcome {
  @MainActor
  init(of action: NavigationAction, clearing cleanup: Cleanup) async {
    let repository = PostRepository()
    let navigator = Navigator(tabs: 2)
    weak var screen: (any Screen)?
    do {
      let made = Self.makeScreen(repository, cleanup)
      screen = made
      await navigator.push(made)
    }
    switch action {
    case .pop:
      await navigator.pop()
    case .pushOver:
      await navigator.push(Detail())
      await navigator.pop()
    case .switchTab:
      await navigator.switchTab(to: 1)
      await navigator.switchTab(to: 0)
    case .background:
      await navigator.visitBackground()
    }
    await TaskScope.waitForCancelled()
    isInStack = screen.map { navigator.holds($0) } ?? false
    isFed = repository.liveCollectors == 1
    await navigator.pop()
    await TaskScope.waitForCancelled()
  }

  @MainActor
  private static func makeScreen(
    _ repository: PostRepository, _ cleanup: Cleanup
  ) -> any Screen {
    let model = FeedViewModel(repository: repository)
    return switch cleanup {
    case .onDisappear: DisappearingFeedScreen(model)
    case .byHolder: FeedScreen(model)
    }
  }
}

/// Some other screen, to be shown over the feed.
private final class Detail: Screen {
  func didAppear() async {}
  func didDisappear() async {}
}

@MainActor
func printVisibilityTable() async {
  print("action       cleared on disappear  cleared by the holder")
  for action in NavigationAction.allCases {
    var columns = [action.rawValue.padded(to: 11)]
    for cleanup in Cleanup.allCases {
      let outcome = await VisibilityOutcome(of: action, clearing: cleanup)
      columns.append((outcome.isRight ? "right" : "broken").padded(to: 20))
    }
    print(columns.joined(separator: "  ").trimmingSpaces())
  }
  Agent.mark("end")
}

extension String {
  fileprivate func padded(to width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - count))
  }

  fileprivate func trimmingSpaces() -> String {
    String(reversed().drop { $0 == " " }.reversed())
  }
}
