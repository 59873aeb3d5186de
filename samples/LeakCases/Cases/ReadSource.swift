// The kernel knows a read source by a number only: libdispatch's table holds it, its handler the reader.
import Dispatch
import Glibc

final class LineReader: @unchecked Sendable {
  private var source: (any DispatchSourceRead)?
  private var ends: [Int32] = [0, 0]
  private var lines = 0
  init() { Live.born(Self.self) }
  deinit {
    source?.cancel()
    Live.died(Self.self)
  }
  func start(weakly: Bool) {
    pipe(&ends)
    let source = DispatchSource.makeReadSource(fileDescriptor: ends[0], queue: .global())
    if weakly {
      source.setEventHandler { [weak self] in self?.lines += 1 }
    } else {
      source.setEventHandler { self.lines += 1 }
    }
    source.resume()
    self.source = source
  }
}

extension LeakCase {
  static let readSource = LeakCase("read-source") { variant in
    await forEachSettledRound { LineReader().start(weakly: variant.isMended) }
  }
}
