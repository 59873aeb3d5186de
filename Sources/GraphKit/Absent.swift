// Absent: the number that stands for "no node" and "no edge" in columns, and how loops hear of cancellation.

internal import GraphPrimitives

extension UInt32 {
  /// No node, no edge, no component: columns of `UInt32` have no room for an optional.
  package static let absent = UInt32.max
}

/// Asks a cancel signal now and then, so that a loop need not think about how often.
internal struct CancelCheck {
  private let _signal: any CancelSignal
  private var _stepsLeft = 0

  /// How many steps lie between two questions: a few hundred microseconds of work.
  private static let _interval = 1 << 16

  init(_ signal: any CancelSignal) { _signal = signal }

  /// Counts a step.
  ///
  /// - Throws: `CancellationError` where the work is no longer wanted.
  @inline(__always)
  mutating func step() throws(CancellationError) {
    _stepsLeft &-= 1
    if _stepsLeft < 0 { try _ask() }
  }

  @inline(never)
  private mutating func _ask() throws(CancellationError) {
    if _signal.isCancelled { throw CancellationError() }
    _stepsLeft = Self._interval
  }
}
