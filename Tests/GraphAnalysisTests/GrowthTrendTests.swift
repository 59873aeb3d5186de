// GrowthTrendTests: made-up sequences and what becomes of them.

import SnapshotDSL
import Testing

@testable import GraphAnalysis

@Suite struct GrowthTrendTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var counts: [Int]
    var trend: GrowthTrend
  }

  /// A number that grows by one at each `period`-th of some marks.
  static func queue(period: Int, phase: Int, marks: Int) -> [Int] {
    (0..<marks).map { ($0 + phase) / period }
  }

  static let cases = [
    Case(testDescription: "one a mark", counts: [1, 2, 3, 4, 5], trend: .growing),
    Case(testDescription: "two marks", counts: [3, 4], trend: .growing),
    Case(testDescription: "a lifetime study that leaks", counts: [1, 10, 40], trend: .growing),
    Case(testDescription: "a lifetime study that does not", counts: [1, 1, 1], trend: .steady),
    Case(testDescription: "a pool that is full at ten", counts: [1, 10, 10], trend: .settled),
    Case(
      testDescription: "a cache of five", counts: [1, 2, 3, 4, 5, 5, 5, 5, 5], trend: .settled),
    Case(testDescription: "once, early", counts: [0, 1, 1, 1, 1, 1], trend: .settled),
    Case(testDescription: "once, at the end", counts: [0, 0, 0, 0, 0, 1], trend: .growing),
    Case(
      testDescription: "warming up, then one a mark", counts: [0, 900, 901, 902, 903, 904, 905],
      trend: .growing),
    Case(
      testDescription: "dying away", counts: [0, 100, 150, 175, 187, 193, 196, 198, 199, 199],
      trend: .settled),
    Case(
      testDescription: "a saw without a trend", counts: [5, 9, 5, 9, 5, 9, 5, 9],
      trend: .fluctuating
    ),
    Case(
      testDescription: "a saw that climbs", counts: [5, 7, 6, 8, 7, 9, 8, 10], trend: .growing),
    Case(
      testDescription: "a saw that climbs as far as it swings",
      counts: [2, 8, 4, 10, 6, 12, 8, 14],
      trend: .growing),
    Case(
      testDescription: "a cache that is cleared at ten, six a mark", counts: [6, 2, 8, 4, 10, 6],
      trend: .fluctuating),
    Case(
      testDescription: "the same, two marks later", counts: [2, 8, 4, 10], trend: .fluctuating),
    Case(testDescription: "the same, a mark more", counts: [2, 8, 4, 10, 6], trend: .fluctuating),
    Case(testDescription: "a small fall at the end", counts: [10, 12, 11, 13], trend: .growing),
    Case(testDescription: "cleared at the end", counts: [1, 2, 3, 4, 5, 0], trend: .shrinking),
    Case(testDescription: "shrinking", counts: [9, 8, 7], trend: .shrinking),
    Case(testDescription: "nothing", counts: [0, 0], trend: .steady),
    Case(testDescription: "one mark", counts: [7], trend: .steady),
    Case(testDescription: "no mark", counts: [], trend: .steady),
  ]

  @Test("Sequences that people meet", arguments: cases)
  func judges(_ expected: Case) {
    #expect(GrowthTrend(of: expected.counts) == expected.trend)
  }

  @Test("A queue that grows by one in some iterations grows, wherever the marks begin and end")
  func queues() {
    for period in 1...10 {
      for phase in 0..<period {
        for marks in (2 * period + 1)...(5 * period + 1) {
          let counts = Self.queue(period: period, phase: phase, marks: marks)
          #expect(GrowthTrend(of: counts) == .growing, "\(counts)")
        }
      }
    }
  }

  @Test(
    "A queue that grows unevenly, by up to three at a time, grows",
    arguments: 0..<300 as Range<UInt64>)
  func unevenQueues(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var counts = [Int.random(in: 0...50, using: &random)]
    for _ in 0..<Int.random(in: 4...30, using: &random) {
      counts.append(counts[counts.count - 1] + Int.random(in: 1...3, using: &random))
    }
    #expect(GrowthTrend(of: counts) == .growing, "\(counts)")
  }

  @Test(
    "A queue that grows by chance is hardly ever called settled",
    arguments: [0.05, 0.1, 0.3, 0.5, 0.8],
    [30, 60, 100])
  func randomQueues(chance: Double, marks: Int) {
    var counted = 0
    var settled: [[Int]] = []
    for seed in 0..<500 as Range<UInt64> {
      var random = SeededGenerator(seed: seed)
      var counts = [Int.random(in: 0...50, using: &random)]
      let most = [1, 5][Int(seed % 2)]
      for _ in 0..<marks {
        let isRise = Double.random(in: 0..<1, using: &random) < chance
        counts.append(
          counts[counts.count - 1] + (isRise ? Int.random(in: 1...most, using: &random) : 0))
      }
      // What rises once or twice may well be done.
      guard Set(counts).count > 5 else { continue }
      counted += 1
      if GrowthTrend(of: counts) != .growing { settled.append(counts) }
    }
    let most = max(counted, 100) / 100
    #expect(settled.count <= most, "\(settled.count) of \(counted), as \(settled.prefix(3))")
  }

  @Test(
    "A cache that fills up and stays is not growing, however fast it fills",
    arguments: 0..<300 as Range<UInt64>)
  func caches(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let capacity = Int.random(in: 1...40, using: &random)
    var counts = [0]
    var pause = 0
    var longest = 0
    while counts[counts.count - 1] < capacity {
      let step = Int.random(in: 0...5, using: &random)
      pause += 1
      longest = max(longest, pause)
      if step > 0 { pause = 0 }
      counts.append(min(capacity, counts[counts.count - 1] + step))
    }
    // Where it fills by chance it takes a while to see that it is full.
    let stay = counts.count > 4 ? 20 : longest + 1
    counts += [Int](repeating: capacity, count: stay + Int.random(in: 0...5, using: &random))
    #expect(GrowthTrend(of: counts) == .settled, "\(counts)")
  }

  @Test(
    "A cache that replaces its entries when it is full is not growing",
    arguments: 0..<300 as Range<UInt64>)
  func churn(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let capacity = Int.random(in: 5...40, using: &random)
    // Full after two marks, then between nine tenths and all of it, and full once more in time.
    var counts = [0, capacity / 2, capacity]
    for _ in 0..<Int.random(in: 4...30, using: &random) {
      counts.append(Int.random(in: capacity * 9 / 10...capacity, using: &random))
    }
    #expect(GrowthTrend(of: counts) != .growing, "\(counts)")
  }

  @Test("A cache that is cleared when it is full is not growing, however much it gets at each mark")
  func cleared() {
    var counted = 0
    for capacity in 5...30 {
      for perMark in 1..<capacity {
        var counts = [perMark]
        var hasFallen = false
        for _ in 0..<3 * capacity {
          let last = counts[counts.count - 1]
          counts.append(last + perMark > capacity ? last + perMark - capacity : last + perMark)
          if counts[counts.count - 1] < last { hasFallen = true }
        }
        guard hasFallen else { continue }
        for first in 0..<min(capacity, 10) {
          for count in 2...16 where first + count <= counts.count {
            let seen = Array(counts[first..<first + count])
            // Until it is cleared nothing tells it from what grows.
            guard zip(seen, seen.dropFirst()).contains(where: { $0 > $1 }) else { continue }
            counted += 1
            if GrowthTrend(of: seen) == .growing {
              Issue.record("room for \(capacity), \(perMark) a mark: \(seen)")
              return
            }
          }
        }
      }
    }
    #expect(counted > 20_000)
  }

  @Test("A saw that climbs farther than it swings grows", arguments: 0..<300 as Range<UInt64>)
  func climbingSaw(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let fall = Int.random(in: 1...20, using: &random)
    let climb = Int.random(in: 1...10, using: &random)
    // Up by both and down by one, until it has climbed twice as far as it falls.
    var counts = [Int.random(in: 0...50, using: &random)]
    for _ in 0..<max(3, 2 * fall / climb + 1) {
      counts.append(counts[counts.count - 1] + fall + climb)
      counts.append(counts[counts.count - 1] - fall)
    }
    #expect(GrowthTrend(of: counts) == .growing, "\(counts)")
  }

  @Test("What ends where it began never grows", arguments: 0..<300 as Range<UInt64>)
  func backAgain(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var counts = (0..<Int.random(in: 1...12, using: &random)).map { _ in
      Int.random(in: 0...10, using: &random)
    }
    counts.append(counts[0])
    #expect(GrowthTrend(of: counts) != .growing, "\(counts)")
  }

  @Test("Equal amounts more at all marks change nothing", arguments: 0..<300 as Range<UInt64>)
  func offset(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let counts = (0..<Int.random(in: 1...12, using: &random)).map { _ in
      Int.random(in: 0...4, using: &random)
    }
    #expect(GrowthTrend(of: counts) == GrowthTrend(of: counts.map { $0 + 1_000 }), "\(counts)")
    let isMore = (counts.last ?? 0) > (counts.first ?? 0)
    switch GrowthTrend(of: counts) {
    case .growing, .settled: #expect(isMore, "\(counts)")
    case .steady: #expect(Set(counts).count <= 1, "\(counts)")
    case .shrinking: #expect((counts.last ?? 0) < (counts.first ?? 0), "\(counts)")
    case .fluctuating: #expect((counts.last ?? 0) >= (counts.first ?? 0), "\(counts)")
    }
  }
}
