// The ways in which the story can go.

enum Variant: String, CaseIterable {
  /// A task captures its model, and nobody ends the task.
  case strong
  /// Half of the mend: the task captures the model weakly.
  case weakOnly = "weak-only"
  /// The other half: the model cancels its task in `deinit`.
  case cancelOnly = "cancel-only"
  /// Both halves.
  case fixed
  /// Leases: released, released twice, forgotten, and one that is still held.
  case leases
  /// A forgotten lease that its own task holds.
  case capturedLease = "captured-lease"
  /// Leases of different intervals, and what the hardware is told.
  case rates
  /// A stream that owns its lease, ended in three ways.
  case stream
}
