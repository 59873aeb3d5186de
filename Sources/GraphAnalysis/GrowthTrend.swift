// GrowthTrend: whether numbers that were counted again and again keep growing.

/// What becomes of a number over several marks.
package enum GrowthTrend: String, Hashable, Sendable, CaseIterable {
  /// It keeps growing.
  case growing

  /// It grew, and has stopped: what a cache does that fills up.
  case settled

  /// It goes up and down, and is not less at the end than at the start.
  case fluctuating

  /// It is less at the end than at the start.
  case shrinking

  /// It never changes.
  case steady

  /// Judges a number that was counted at several marks.
  ///
  /// What goes up and down is judged by its record highs, and by the low-water mark that it never
  /// falls below again: it grows only while both rise. Growth has *stopped* when the marks since the last
  /// rise are more than the longest pause before it, so that a queue that grows at each tenth mark
  /// is growing, and a cache that fills up in five marks is settled at the seventh. Where the pauses differ
  /// that is not enough: numbers that rise by chance have pauses of all lengths, so this one has to be longer
  /// than chance makes it in one of a thousand. It has stopped as well when it has all but died away: when the
  /// steps become smaller and smaller, and the last third of the marks brought at most a quarter of what the
  /// third before it did. A single rise that is not the latest step shows no trend.
  ///
  /// What falls grows only where it climbs much farther than it falls, more than once. A cache that is cleared
  /// when it is full, and gets as much at each mark, can look like a saw that climbs for a while: 2 8 4 10 6 with
  /// six a mark and room for ten. What ends where it began has not grown at all.
  ///
  /// Sources: the chance of a pause by Laplace's rule of succession; steps that become smaller by the test of
  /// Mann and Kendall.
  ///
  /// - Complexity: O(*n*²) for *n* numbers.
  package init(of counts: [Int]) {
    guard let first = counts.first, let last = counts.last, counts.contains(where: { $0 != first })
    else {
      self = .steady
      return
    }
    if last < first {
      self = .shrinking
      return
    }
    var high = counts
    for place in high.indices.dropFirst() { high[place] = max(high[place], high[place - 1]) }
    var low = counts
    for place in low.indices.dropLast().reversed() { low[place] = min(low[place], low[place + 1]) }
    if last > first, Self._climbs(counts, high: high), Self._isGrowing(high), Self._isGrowing(low) {
      self = .growing
    } else if last > first, !Self._swings(counts) {
      self = .settled
    } else {
      self = .fluctuating
    }
  }

  /// Whether numbers climb so much farther than they fall that no cache which is cleared when it is full looks
  /// like them.
  ///
  /// One that has room for *c* and gets *k* at each mark falls by two fifths of its range or more where *k* is at
  /// most 3*c*/5. Where *k* is up to 2*c*/3 it falls by a third or more, and is full before its third new high.
  /// Where *k* is more it falls twice or oftener in turn, by which it has fallen by half, or has a single new high.
  private static func _climbs(_ counts: [Int], high: [Int]) -> Bool {
    let range = (counts.max() ?? 0) - (counts.min() ?? 0)
    let fall = zip(high, counts).reduce(0) { max($0, $1.0 - $1.1) }
    if fall == 0 { return true }
    let highs = zip(high, high.dropFirst()).count { $0 < $1 }
    return fall * 5 < range * 2 && highs >= (fall * 3 > range ? 3 : 2)
  }

  /// Whether numbers that never fall keep rising up to the last.
  private static func _isGrowing(_ numbers: [Int]) -> Bool {
    let steps = numbers.count - 1
    let rises = (1...steps).filter { numbers[$0] > numbers[$0 - 1] }
    guard let latest = rises.last else { return false }
    if rises.count == 1 { return latest == steps }
    let pauses = zip([0] + rises, rises).map { $1 - $0 }
    let pause = pauses.max() ?? 0
    if steps - latest > pause {
      let isRegular = pauses.allSatisfy { $0 == pause }
      if isRegular || rises.count < _fewRises { return false }
      if _chanceOfPause(steps - latest, rises: rises.count, steps: latest) < 0.001 { return false }
    }
    let third = steps / 3
    guard third >= 2 else { return true }
    let late = numbers[steps] - numbers[steps - third]
    let before = numbers[steps - third] - numbers[steps - 2 * third]
    return before < 4 || late * 4 > before
      || !_diminishes(zip(numbers, numbers.dropFirst()).map { $1 - $0 })
  }

  /// So few rises say nothing of how often there is one: programs make things when they need them first.
  private static let _fewRises = 5

  /// The chance that some steps bring no rise, given how many of the steps before did.
  private static func _chanceOfPause(_ pause: Int, rises: Int, steps: Int) -> Double {
    (0..<pause).reduce(1) { chance, step in
      chance * Double(steps - rises + 1 + step) / Double(steps + 2 + step)
    }
  }

  /// Whether steps become smaller by more than chance does in one of a thousand sequences.
  private static func _diminishes(_ steps: [Int]) -> Bool {
    var score = 0
    for (place, step) in steps.enumerated() {
      for later in steps[(place + 1)...] { score += (later - step).signum() }
    }
    let count = steps.count
    // Equal steps make the score less certain to differ from 0, never more.
    let variance = Double(count * (count - 1) * (2 * count + 5)) / 18
    return Double(score) < -3 * variance.squareRoot()
  }

  /// Whether numbers fall by more than a quarter of their range.
  private static func _swings(_ counts: [Int]) -> Bool {
    let range = (counts.max() ?? 0) - (counts.min() ?? 0)
    let fall = zip(counts, counts.dropFirst()).reduce(0) { max($0, $1.0 - $1.1) }
    return fall * 4 > range
  }
}
