// IntervalTable: half-open ranges of addresses, sorted once, each with a value.

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

  /// Creates a table of rows in any order; `precedes` says which of two ranges with the same start
  /// comes first, so that the last one wins.
  init(_ unsorted: [Row], precedes: (Row, Row) -> Bool = { $0.end > $1.end }) {
    rows = unsorted
    rows.sort { $0.start != $1.start ? $0.start < $1.start : precedes($0, $1) }
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

extension IntervalTable.Row {
  init(_ start: UInt64, _ end: UInt64, _ value: Value) {
    self.init(start: start, end: end, reach: end, value: value)
  }
}
