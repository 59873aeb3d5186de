// SeededGenerator: random numbers that are the same in every run, for property tests.

/// A generator whose numbers follow from its seed alone, so that a failing case can be run again.
///
/// The sequence is SplitMix64's.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var _state: UInt64

  /// Starts the sequence of a seed; neighbouring seeds give unrelated sequences.
  public init(seed: UInt64) { _state = seed }

  public mutating func next() -> UInt64 {
    _state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = _state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// One of the elements.
  ///
  /// - Precondition: there is one.
  public mutating func pick<Elements: Collection>(_ elements: Elements) -> Elements.Element {
    let distance = Int.random(in: 0..<elements.count, using: &self)
    return elements[elements.index(elements.startIndex, offsetBy: distance)]
  }
}
