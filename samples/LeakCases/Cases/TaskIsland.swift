// A task waits for a stream that only its owner can feed, and holds its owner while it waits.

final class Meter: @unchecked Sendable {
  private let readings: AsyncStream<Int>
  private let input: AsyncStream<Int>.Continuation
  private var reader: Task<Void, Never>?
  private var total = 0

  init() {
    (readings, input) = AsyncStream<Int>.makeStream()
    Live.born(Self.self)
  }
  deinit {
    // Meant as the clean-up; it can't run while the task holds the meter.
    reader?.cancel()
    Live.died(Self.self)
  }
  func start() {
    reader = Task {
      for await reading in readings { total += reading }
    }
    input.yield(1)
  }
  func stop() { input.finish() }
  func cancel() { reader?.cancel() }
}

extension LeakCase {
  static let taskIsland = LeakCase("task-island") { variant in
    await forEachSettledRound {
      let meter = Meter()
      meter.start()
      if variant == .opposite { meter.stop() }
      if variant == .advised { meter.cancel() }
    }
  }
}
