// Tests of TerminalProgress: long work shows a line on a terminal and leaves nothing behind.

import Synchronization
import Testing

@testable import Commands

/// A clock that goes as far as it is told.
private final class Clock: Sendable {
  private let _start = ContinuousClock.now
  private let _elapsed = Mutex(Duration.zero)

  var now: ContinuousClock.Instant { _start + _elapsed.withLock { $0 } }

  func advance(milliseconds: Int) { _elapsed.withLock { $0 += .milliseconds(milliseconds) } }
}

@Suite struct TerminalProgressTests {
  @Test("Short work shows nothing; long work a line now and then, which is gone at the end")
  func line() {
    let clock = Clock()
    let sink = MemorySink(isTerminal: true, columns: 20)
    let progress = TerminalProgress(on: sink, isWanted: true, now: { clock.now })
    progress.report(step: "reading", done: 0, total: 0)
    clock.advance(milliseconds: 499)
    progress.report(step: "reading", done: 1, total: 4)
    #expect(sink.text.isEmpty)
    clock.advance(milliseconds: 1)
    progress.report(step: "reading", done: 2, total: 4)
    #expect(sink.text == "\r\u{1B}[Kreading 50%")
    progress.report(step: "reading", done: 3, total: 4)
    #expect(sink.text == "\r\u{1B}[Kreading 50%", "not more often than a person can read")
    clock.advance(milliseconds: 100)
    progress.report(step: "a step with a name that is long", done: 0, total: 0)
    #expect(sink.text == "\r\u{1B}[Kreading 50%\r\u{1B}[Ka step with a name ")
    progress.finish()
    #expect(sink.text.hasSuffix("\r\u{1B}[K"))
    let length = sink.text.count
    progress.finish()
    #expect(sink.text.count == length, "there is nothing more to take away")
  }

  @Test(
    "Nothing is shown in a pipe, or where quiet is wanted",
    arguments: [(false, true), (true, false)])
  func silent(_ isTerminal: Bool, _ isWanted: Bool) {
    let clock = Clock()
    let sink = MemorySink(isTerminal: isTerminal, columns: 80)
    let progress = TerminalProgress(on: sink, isWanted: isWanted, now: { clock.now })
    progress.report(step: "reading", done: 0, total: 0)
    clock.advance(milliseconds: 5_000)
    progress.report(step: "reading", done: 1, total: 2)
    progress.finish()
    #expect(sink.text.isEmpty)
  }
}
