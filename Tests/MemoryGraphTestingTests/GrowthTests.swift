// GrowthTests: expectNoGrowth.

import Synchronization
import Testing

@testable import MemoryGraphTesting

@Suite struct GrowthTests {
  @Test func nothingGrows() async {
    let runs = Mutex(0)
    await expectNoGrowth(iterations: 40) {
      useScreen()
      runs.withLock { $0 += 1 }
    }
    // Five to warm up, then half of all.
    #expect(runs.withLock { $0 } == 25)
  }

  @Test(
    .disabled(
      "a list that a local variable of a test has is found by other ways from one snapshot to the next"
    )
  )
  func aListThatIsOnlyAddedTo() async {
    let list = Mutex<[Screen]>([])
    await expectFailure(
      "1 place keeps growing over 20 iterations, counted after 2, 6, 11, 15, 20",
      "MemoryGraphTestingTests.Screen +1 an iteration", "path"
    ) {
      await expectNoGrowth(iterations: 20) { list.withLock { $0.append(Screen()) } }
    }
    #expect(list.withLock { $0.count } == 20)
  }

  @Test func aGlobalListIsNamed() async {
    await expectFailure("Global.list", "+2 an iteration") {
      await expectNoGrowth(iterations: 16) {
        Global.list.withLock { $0 += [Screen(), Screen()] }
      }
    }
  }

  @Test func leaksGrow() async {
    await expectFailure("MemoryGraphTestingTests.Screen +1 an iteration", "leaked", "weak self") {
      await expectNoGrowth(iterations: 16) { leakScreen() }
    }
  }

  @Test func growthAtEachSixthRepetition() async {
    let list = Mutex<[Screen]>([])
    let runs = Mutex(0)
    await expectFailure("+0.2 an iteration") {
      await expectNoGrowth(iterations: 40) {
        let run = runs.withLock {
          $0 += 1
          return $0
        }
        if run.isMultiple(of: 6) { list.withLock { $0.append(Screen()) } }
      }
    }
  }

  @Test(arguments: [1, 4, 8]) func aBoundedCacheIsNoGrowth(bound: Int) async {
    let cache = Mutex<[Screen]>([])
    await expectNoGrowth(iterations: 40) {
      cache.withLock {
        $0.append(Screen())
        if $0.count > bound { $0.removeFirst() }
      }
    }
  }

  @Test func aSingleLeakIsNoGrowth() async {
    let isFirst = Mutex(true)
    await expectNoGrowth(iterations: 16) {
      let leaks = isFirst.withLock { isFirst in
        defer { isFirst = false }
        return isFirst
      }
      if leaks { leakScreen() } else { useScreen() }
    }
  }

  @Test func aBodyThatDoesNotWait() async {
    await expectFailure("+1 an iteration") {
      func check() { expectNoGrowth(iterations: 8) { leakScreen() } }
      check()
    }
  }

  @Test(arguments: [(2, [1, 2]), (8, [1, 2, 4, 6, 8]), (40, [5, 13, 22, 31, 40])])
  func marksAreSpread(iterations: Int, marks: [Int]) {
    #expect(GrowthJudge.marks(in: iterations) == marks)
  }
}
