// A stream's termination handler captures the object that stores the stream.

final class Antenna: @unchecked Sendable {
  private let waves: AsyncStream<Int>
  private let feed: AsyncStream<Int>.Continuation
  private var losses = 0

  init(weakly: Bool) {
    (waves, feed) = AsyncStream<Int>.makeStream()
    Live.born(Self.self)
    if weakly {
      feed.onTermination = { [weak self] _ in self?.losses += 1 }
    } else {
      feed.onTermination = { _ in self.losses += 1 }
    }
  }
  deinit { Live.died(Self.self) }
  func switchOff() { feed.finish() }
}

extension LeakCase {
  static let streamTermination = LeakCase("stream-termination") { variant in
    forEachRound {
      let antenna = Antenna(weakly: variant == .advised)
      if variant == .opposite { antenna.switchOff() }
    }
  }
}
