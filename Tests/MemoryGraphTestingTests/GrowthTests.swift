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

  @Test func aListThatIsOnlyAddedTo() async {
    let list = Mutex<[Screen]>([])
    await expectFailure(
      "1 place keeps growing over 20 iterations, counted after 2, 6, 11, 15, 20",
      "MemoryGraphTestingTests.Screen +1 an iteration", "path"
    ) {
      await expectNoGrowth(iterations: 20) { list.withLock { $0.append(Screen()) } }
    }
    #expect(list.withLock { $0.count } == 20)
  }

  @Test func aLocalListIsTheTestsOwn() async {
    let list = Mutex<[Screen]>([])
    await expectFailure(
      "an iteration", "frame of MemoryGraphTestingTests.GrowthTests.aLocalListIsTheTestsOwn()",
      without: ["suspended in MemoryGraphTesting.", "resume the continuation", "cancel the task"]
    ) {
      await expectNoGrowth(iterations: 24) { list.withLock { $0.append(Screen()) } }
    }
    #expect(list.withLock { $0.count } == 24)
  }

  @Test func aGlobalListIsNamed() async {
    await expectFailure("Global.list", "+2 an iteration") {
      await expectNoGrowth(iterations: 16) {
        Global.list.withLock { $0 += [Screen(), Screen()] }
      }
    }
  }

  // MARK: - What consists of the standard library's types alone

  @Test func aListOfTexts() async {
    await expectFailure("Journal.lines, +1 element an iteration") {
      await expectNoGrowth(iterations: 40) {
        Journal.lines.withLock { $0.append("a line that has more than fifteen bytes, \($0.count)") }
      }
    }
  }

  @Test func aListOfNumbers() async {
    await expectFailure("Journal.numbers, +1 element an iteration") {
      await expectNoGrowth(iterations: 40) { Journal.numbers.withLock { $0.append($0.count) } }
    }
  }

  @Test func aListOfShortTexts() async {
    await expectFailure("Journal.words", "+3 elements an iteration") {
      await expectNoGrowth(iterations: 16) {
        Journal.words.withLock { $0 += ["a", "few", "words"] }
      }
    }
  }

  @Test func aDictionaryOfNumbers() async {
    await expectFailure("Journal.table", "+1 element an iteration") {
      await expectNoGrowth(iterations: 40) { Journal.table.withLock { $0[$0.count] = 1 } }
    }
  }

  @Test func aDictionaryOfBytes() async {
    await expectFailure("Journal.chunks", "+1 element an iteration") {
      await expectNoGrowth(iterations: 40) {
        Journal.chunks.withLock { $0[$0.count] = [UInt8](repeating: 1, count: 100) }
      }
    }
  }

  @Test func aSetOfTexts() async {
    await expectFailure("Journal.seen", "+1 element an iteration") {
      await expectNoGrowth(iterations: 40) {
        Journal.seen.withLock { _ = $0.insert("item \($0.count)") }
      }
    }
  }

  @Test func aTextThatBecomesLonger() async {
    await expectFailure("Journal.text", "+31 bytes of text an iteration") {
      await expectNoGrowth(iterations: 40) {
        Journal.text.withLock { $0 += "another line of the same text.\n" }
      }
    }
  }

  @Test func aStaticVariable() async {
    await expectFailure("Journal.plain", "+1 element an iteration") {
      await expectNoGrowth(iterations: 40) { Journal.plain.append(1) }
    }
  }

  @Test func aFieldOfAnObject() async {
    await expectFailure("Journal.entries", "+1 element an iteration") {
      await expectNoGrowth(iterations: 40) {
        Journal.shared.entries.withLock { $0.append("entry \($0.count)") }
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
