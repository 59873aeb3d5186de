// Control: the children of a task group that goes on wait for streams that only they can end. Their parent can cancel
// them, so they are alive. As tasks of nobody they would wait for ever.
import SampleSupport

final class Visitor: Sendable {
  init() { Live.born(Self.self) }
  deinit { Live.died(Self.self) }

  func wait() async {
    let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
    for await _ in stream {}
    withExtendedLifetime((self, continuation)) {}
  }
}

extension LeakCase {
  static let liveGroup = LeakCase("live-group") { variant in
    await withTaskGroup(of: Void.self) { group in
      for round in 1...Rounds.count {
        for _ in 1...Rounds.timesEach {
          let guest = Visitor()
          if variant == .asNamed {
            group.addTask { await guest.wait() }
          } else {
            Task { await guest.wait() }
          }
        }
        await settle()
        mark(round: round)
      }
      group.cancelAll()
    }
  }
}
