// CodeRanges: where functions can be in the captured program.

/// The executable mappings.
struct CodeRanges {
  /// In ascending order.
  private let _ranges: [Range<UInt64>]

  init(of memory: TargetMemory) {
    _ranges = memory.source.mappings.filter(\.isExecutable).map { $0.start..<$0.end }
  }

  /// Whether a function can be at an address.
  ///
  /// - Complexity: O(log *m*) for *m* mappings.
  func contains(_ address: UInt64) -> Bool {
    var low = 0
    var high = _ranges.count
    while low < high {
      let middle = (low + high) / 2
      if _ranges[middle].upperBound <= address { low = middle + 1 } else { high = middle }
    }
    return low < _ranges.count && _ranges[low].contains(address)
  }
}
