// What all cases share: rounds with a mark after each.
import Glibc
import SampleSupport

/// What is alive, by the program's own account; a name that each case can use without an import.
typealias Live = LiveCounts

enum Rounds {
  static let count = 3
  /// How often a round does what the case does: 9 times in all.
  static let timesEach = 3
}

/// Does something three times in each of three rounds, with a mark after each.
func forEachRound(_ body: () -> Void) {
  for round in 1...Rounds.count {
    for _ in 1...Rounds.timesEach { body() }
    mark(round: round)
  }
}

/// The same where each time has to be waited for, and for what it set going to come to rest.
func forEachSettledRound(_ body: () async -> Void) async {
  for round in 1...Rounds.count {
    for _ in 1...Rounds.timesEach { await body() }
    await settle()
    mark(round: round)
  }
}

/// Says what is alive and asks the agent for a mark, if there is one.
@inline(never)
func mark(round: Int) {
  clearDeadStack(depth: 48)
  print("live", Live.qualifiedSummary)
  fflush(nil)
  Agent.mark("round-\(round)")
}

/// Overwrites what earlier calls left below the stack pointer. An object that nobody but a lost retain
/// keeps alive can't be told from one that such a leftover word keeps.
@inline(never)
private func clearDeadStack(depth: Int) {
  withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 16) { slot in
    slot.initializeMemory(as: UInt8.self, repeating: 0)
    if depth > 0 { clearDeadStack(depth: depth - 1) }
  }
}
