// FeedTests: forty times the feed is shown and left; 40, 6 and 0 view models stay.

import MemoryGraphTesting
import Testing

@testable import Feed

@MainActor @Suite(.serialized) struct FeedTests {
  /// Shows the feed and leaves it, `cycle` counting the visits.
  private func visit(_ story: PushPop, _ cycle: inout Int) async {
    cycle += 1
    await story.navigator.push(story.makeScreen(cycle: cycle))
    await story.navigator.pop()
    await TaskScope.waitForCancelled()
  }

  @Test func aViewModelThatNobodyClearsStaysEachTime() async {
    await expectFailure("Feed.FeedViewModel", "+1 an iteration", "path", "PostRepository") {
      var cycle = 0
      let story = PushPop(variant: .careless)
      await expectNoGrowth(iterations: 40) { await visit(story, &cycle) }
      #expect(cycle == 40)
    }
  }

  @Test func aCapturedHolderStaysEachSixthTime() async {
    await expectFailure("Feed.", "+0.2 an iteration", "path", "Announcements.shared.handlers") {
      var cycle = 0
      let story = PushPop(variant: .captured)
      await expectNoGrowth(iterations: 40) { await visit(story, &cycle) }
      #expect(cycle == 40)
    }
  }

  @Test func aHolderThatEndsLeavesNone() async {
    var cycle = 0
    let story = PushPop(variant: .holder)
    await expectNoGrowth(iterations: 40) { await visit(story, &cycle) }
    await expectFreed(FeedViewModel.self) {
      for _ in 1...5 { await visit(story, &cycle) }
    }
  }
}
