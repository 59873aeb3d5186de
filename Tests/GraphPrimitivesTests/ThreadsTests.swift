// Tests of threads: they run what they are given, and take no signal.

import Glibc
import GraphPrimitives
import Testing

@Suite struct ThreadsTests {
  /// What a thread writes before it is joined, and nobody reads before that.
  private final class Seen: @unchecked Sendable {
    var mask = sigset_t()
    var thread: pthread_t?
  }

  @Test("A thread runs what it is given, takes no signal, and leaves the caller's mask as it was")
  func runs() throws {
    var before = sigset_t()
    pthread_sigmask(SIG_BLOCK, nil, &before)
    let seen = Seen()
    let thread = try #require(
      startThread {
        pthread_sigmask(SIG_BLOCK, nil, &seen.mask)
        seen.thread = pthread_self()
      })
    #expect(pthread_join(thread, nil) == 0)
    #expect(seen.thread == thread)
    var after = sigset_t()
    pthread_sigmask(SIG_BLOCK, nil, &after)
    for signal in [SIGINT, SIGTERM, SIGCHLD, SIGUSR1, SIGPROF] {
      #expect(sigismember(&seen.mask, signal) == 1)
      #expect(sigismember(&after, signal) == sigismember(&before, signal))
    }
  }
}
