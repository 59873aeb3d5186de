// A stream's termination handler captures the object that stores the stream.

final class Antenna: @unchecked Sendable {
  private let waves: AsyncStream<Int>
  private let feed: AsyncStream<Int>.Continuation
  private var losses = 0

  init() {
    (waves, feed) = AsyncStream<Int>.makeStream()
    Live.born(Self.self)
    feed.onTermination = { _ in self.losses += 1 }
  }
  deinit { Live.died(Self.self) }
  func switchOff() { feed.finish() }
}

extension LeakCase {
  static let streamTermination = LeakCase("stream-termination") { variant in
    forEachRound {
      let antenna = Antenna()
      if variant == .opposite { antenna.switchOff() }
    }
  }
}
