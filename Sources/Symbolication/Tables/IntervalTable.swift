// IntervalTable: half-open ranges of addresses, sorted once, each with a value.

internal import Glibc

/// Ranges of addresses with a value each, built once and searched by address.
///
/// Ranges may nest and overlap: a search gives the one that starts last among those that contain the
/// address, which for nested ranges is the innermost.
///
/// - Complexity: O(*n* log *n*) to build, O(log *n*) to search unless ranges overlap a lot.
struct IntervalTable<Value> {
  struct Row {
    var start: UInt64
    var end: UInt64

    /// The greatest end of this row and those before it: where a search may stop going back.
    var reach: UInt64
    var value: Value
  }

  private(set) var rows: [Row]

  /// Creates a table of rows in any order; of ranges with the same start those of lower `rank` come first,
  /// by default the longer ones, and the last one wins.
  init(_ unsorted: [Row], rank: (Row) -> UInt64 = { ~$0.end }) {
    var isAscending = true
    var previous: UInt64?
    for row in unsorted {
      if let previous, previous >= row.start {
        isAscending = false
        break
      }
      previous = row.start
    }
    if isAscending {
      rows = unsorted
      setReach()
      return
    }
    // By the C library, since `sort` of a generic element allocates for each comparison where nothing is optimized,
    // and tests that look for leaks run so.
    var keys: [SortKey] = []
    keys.reserveCapacity(unsorted.count)
    for (index, row) in unsorted.enumerated() {
      keys.append(SortKey(start: row.start, rank: rank(row), index: index))
    }
    qsort(&keys, keys.count, MemoryLayout<SortKey>.stride) { left, right in
      guard let left = left?.assumingMemoryBound(to: SortKey.self).pointee,
        let right = right?.assumingMemoryBound(to: SortKey.self).pointee
      else { return 0 }
      if left.start != right.start { return left.start < right.start ? -1 : 1 }
      if left.rank != right.rank { return left.rank < right.rank ? -1 : 1 }
      return left.index < right.index ? -1 : 1
    }
    rows = []
    rows.reserveCapacity(keys.count)
    for key in keys { rows.append(unsorted[key.index]) }
    setReach()
  }

  private mutating func setReach() {
    var reach: UInt64 = 0
    for index in rows.indices {
      reach = max(reach, rows[index].end)
      rows[index].reach = reach
    }
  }

  /// The number of rows that start at or before an address.
  func countOfStarts(through address: UInt64) -> Int {
    var low = 0
    var high = rows.count
    while low < high {
      let middle = (low + high) / 2
      if rows[middle].start <= address { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The innermost row that contains an address.
  func row(containing address: UInt64) -> Row? {
    var index = countOfStarts(through: address) - 1
    while index >= 0, rows[index].reach > address {
      if rows[index].end > address { return rows[index] }
      index -= 1
    }
    return nil
  }

  /// The row that starts at an address, the last of several.
  func row(startingAt address: UInt64) -> Row? {
    let index = countOfStarts(through: address) - 1
    return index >= 0 && rows[index].start == address ? rows[index] : nil
  }
}

/// What rows are sorted by.
private struct SortKey {
  var start: UInt64
  var rank: UInt64
  var index: Int
}

extension IntervalTable.Row {
  init(_ start: UInt64, _ end: UInt64, _ value: Value) {
    self.init(start: start, end: end, reach: end, value: value)
  }
}
