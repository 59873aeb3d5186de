// HiddenAddress: the address of a block that may be remembered while a snapshot is taken.

/// The address of a block, kept so that no scan of memory takes it for a reference.
///
/// What a check remembers is alive while the snapshot is taken, in sets whose words may be references for all
/// that the graph knows. An object that nothing retains, such as a task that waits for ever, would be held by
/// the check that looks for it.
struct HiddenAddress: Hashable, Sendable {
  private let _complement: UInt64

  init(_ address: UInt64) { _complement = ~address }

  var address: UInt64 { ~_complement }
}
