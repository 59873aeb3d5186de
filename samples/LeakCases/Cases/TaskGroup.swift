// A task group whose results nobody takes keeps every finished child and what it returned.
import SampleSupport

final class Stamp: Sendable {
  let number: Int
  init(_ number: Int) {
    self.number = number
    Live.born(Self.self)
  }
  deinit { Live.died(Self.self) }
}

extension LeakCase {
  static let taskGroup = LeakCase("task-group") { variant in
    await withTaskGroup(of: Stamp.self) { group in
      for round in 1...Rounds.count {
        for number in 1...Rounds.timesEach {
          group.addTask { Stamp(number) }
        }
        if variant.isMended { await group.waitForAll() }
        await settle()
        mark(round: round)
      }
    }
  }
}
