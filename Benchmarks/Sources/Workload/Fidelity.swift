// Fidelity: what is alive and hard to see, beside cycles that are leaked.

import Foundation
import Glibc

private final class Payload {
  let number: Int

  init(_ number: Int) { self.number = number }
}

/// Two payloads of one kind of pointer: the case stands in bits of the pointer.
private enum Choice {
  case first(Payload)
  case second(Payload)
}

private final class PlantedCycle {
  var other: PlantedCycle?
  let number: Int

  init(_ number: Int) { self.number = number }
}

nonisolated(unsafe) private var choices: [Choice] = []
nonisolated(unsafe) private var data = Data()

@inline(never) private func plant(_ count: Int) {
  for number in 0..<count {
    let one = PlantedCycle(number)
    let other = PlantedCycle(number)
    one.other = other
    other.other = one
  }
}

/// Overwrites what earlier calls have left on the stack.
@inline(never) private func cleanStack() -> Int {
  withUnsafeTemporaryAllocation(of: UInt.self, capacity: 1 << 13) { words in
    words.initialize(repeating: 0)
    return words.count
  }
}

/// Keeps `count` objects in enums, and bytes of Foundation's, in global variables; plants a tenth as many cycles of two
/// objects; and takes a mark. LeakSanitizer, where it is in the program, reports at its end.
func keepAndLeak(count: Int) {
  choices = (0..<count).map { $0 % 2 == 0 ? .first(Payload($0)) : .second(Payload($0)) }
  data = Data(repeating: 7, count: 100_000)
  plant(count / 10)
  let cleaned = cleanStack()
  _ = mark("fidelity")
  print("RESULT sum=\(choices.count + data.count + cleaned) ns=0 planted=\(count / 10)")
}
