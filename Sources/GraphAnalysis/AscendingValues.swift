// AscendingValues: values in order, each once, which is how sets of nodes and references are handed on.

extension Array where Element: Comparable {
  /// The values in ascending order, each once.
  ///
  /// What was collected along the rows of a graph mostly is in order already; then nothing is moved.
  ///
  /// - Complexity: O(*n*) for *n* values in order, else O(*n* log *n*).
  func ascending() -> [Element] {
    if _isAscending { return self }
    let all = sorted()
    var unique: [Element] = []
    unique.reserveCapacity(all.count)
    for value in all where unique.last != value { unique.append(value) }
    return unique
  }

  private var _isAscending: Bool {
    withUnsafeBufferPointer { values in
      var place = 1
      while place < values.count {
        if values[place] <= values[place - 1] { return false }
        place += 1
      }
      return true
    }
  }
}
