// A print job and its spooler hold each other, since the spooler's reporter isn't weak.

protocol SpoolReporter: AnyObject {
  func printed(_ pages: Int)
}

final class Spooler {
  var reporter: (any SpoolReporter)?
  init() { Live.born(Self.self) }
  deinit { Live.died(Self.self) }
  func feed(_ pages: Int) { reporter?.printed(pages) }
}

final class PrintJob: SpoolReporter {
  private let spooler = Spooler()
  private var pages = 0
  init() {
    Live.born(Self.self)
    spooler.reporter = self
  }
  deinit { Live.died(Self.self) }
  func run() { spooler.feed(3) }
  func printed(_ pages: Int) { self.pages += pages }
  func finish() { spooler.reporter = nil }
}

extension LeakCase {
  static let delegateCycle = LeakCase("delegate-cycle") { variant in
    forEachRound {
      let job = PrintJob()
      job.run()
      if variant.isMended { job.finish() }
    }
  }
}
