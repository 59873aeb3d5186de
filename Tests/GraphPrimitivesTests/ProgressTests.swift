// Tests of the defaults of progress and cancellation: nobody listens, nothing stops.

import GraphPrimitives
import Testing

@Suite struct ProgressTests {
  @Test("Work that nobody watches goes on to its end")
  func defaults() {
    let progress: any ProgressSink = NoProgress()
    let cancel: any CancelSignal = NeverCancelled()
    var done = 0
    while done < 10, !cancel.isCancelled {
      done += 1
      progress.report(step: "counting", done: done, total: 10)
    }
    #expect(done == 10)
  }
}
