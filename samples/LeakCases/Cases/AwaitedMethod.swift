// The task's closure captures weakly, but it awaits a method, and that holds its object until it returns.
import SampleSupport
import Synchronization

final class Newsroom: Sendable {
  static let shared = Newsroom()
  private let desks = Mutex<[AsyncStream<Int>.Continuation]>([])

  func subscribe() -> AsyncStream<Int> {
    let (stream, continuation) = AsyncStream<Int>.makeStream()
    desks.withLock { $0.append(continuation) }
    return stream
  }
  func publish(_ story: Int) {
    desks.withLock { for desk in $0 { desk.yield(story) } }
  }
  func close() {
    let open = desks.withLock { desks in
      defer { desks = [] }
      return desks
    }
    for desk in open { desk.finish() }
  }
}

final class Reporter: @unchecked Sendable {
  private var stories = 0
  init() { Live.born(Self.self) }
  deinit { Live.died(Self.self) }
  func start() {
    Task { [weak self] in await self?.follow() }
  }
  /// For whoever ends the work.
  func startUntilCancelled() -> Task<Void, Never> {
    Task { await follow() }
  }
  private func follow() async {
    for await _ in Newsroom.shared.subscribe() { stories += 1 }
  }
}

extension LeakCase {
  static let awaitedMethod = LeakCase("awaited-method") { variant in
    await forEachSettledRound {
      let reporter = Reporter()
      let work = variant == .advised ? reporter.startUntilCancelled() : nil
      if work == nil { reporter.start() }
      await settle()
      Newsroom.shared.publish(1)
      if variant == .opposite { Newsroom.shared.close() }
      work?.cancel()
      withExtendedLifetime(reporter) {}
    }
  }
}
