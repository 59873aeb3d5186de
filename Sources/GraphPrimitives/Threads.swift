// Threads: work beside that of the thread that started it.

package import Glibc

/// Runs a closure on a thread of its own that takes no signal, so that what a program does at one happens where it always does.
///
/// - Returns: The thread, to be joined or detached once; nil where none can be had: then the closure is not run, and `errno` says why.
package func startThread(_ body: @escaping @Sendable () -> Void) -> pthread_t? {
  final class Work {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
  var all = sigset_t()
  var before = sigset_t()
  sigfillset(&all)
  pthread_sigmask(SIG_SETMASK, &all, &before)
  defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
  var thread = pthread_t()
  let work = Unmanaged.passRetained(Work(body))
  let error = pthread_create(
    &thread, nil,
    { argument in
      if let argument { Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body() }
      return nil
    }, work.toOpaque())
  guard error == 0 else {
    work.release()
    errno = error
    return nil
  }
  return thread
}
