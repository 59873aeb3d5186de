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

  private func showForty(_ variant: Variant) async {
    await expectFreed(FeedViewModel.self) {
      var cycle = 0
      let story = PushPop(variant: variant)
      for _ in 1...40 { await visit(story, &cycle) }
    }
  }

  @Test func aViewModelThatNobodyClearsStaysEachTime() async {
    await expectFailure("40 × Feed.FeedViewModel are not freed", "PostRepository") {
      await showForty(.careless)
    }
  }

  @Test func aCapturedHolderStaysEachSixthTime() async {
    await expectFailure("6 × Feed.FeedViewModel are not freed", "Announcements.handlers") {
      await showForty(.captured)
    }
  }

  @Test func aHolderThatEndsLeavesNone() async { await showForty(.holder) }

  @Test func endingBothScopesDoesNotGrow() async {
    var cycle = 0
    let story = PushPop(variant: .bothScopes)
    await expectNoGrowth(iterations: 40) { await visit(story, &cycle) }
    #expect(cycle >= 20)
  }

  @Test func growthIsToldByItsPlace() async {
    await expectFailure("+1 an iteration", "PostRepository.state.collectors[_]") {
      var cycle = 0
      let story = PushPop(variant: .careless)
      await expectNoGrowth(iterations: 40) { await visit(story, &cycle) }
      #expect(cycle == 40)
    }
  }
}
