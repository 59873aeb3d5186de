// LargeStack: room for deep calls where a program, or the shell that started it, left little.

internal import CHeapCapture

/// Calls a closure and returns what it returns, on a thread of its own where the calling thread's stack is
/// small.
///
/// Swift's runtime takes more than 64 KB of stack for some generic types alone, and a stack is as small as
/// `ulimit -s` says. Signals for the process reach the other thread, as they would have reached this one.
package func onLargeStack<Result>(_ body: () -> Result) -> Result {
  if mg_own_stack_size() >= 1 << 20 { return body() }
  return withoutActuallyEscaping(body) { body in
    var result: Result?
    let work = Work { result = body() }
    let context = Unmanaged.passUnretained(work).toOpaque()
    let isDone = mg_call_on_stack(
      16 << 20,
      { context in
        guard let context else { return }
        Unmanaged<Work>.fromOpaque(context).takeUnretainedValue().run()
      }, context)
    // No thread to be had: the caller's has to do.
    if !isDone { work.run() }
    guard let result else { preconditionFailure("the closure has returned") }
    return result
  }
}

private final class Work {
  let run: () -> Void
  init(_ run: @escaping () -> Void) { self.run = run }
}
