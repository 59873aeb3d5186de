// Pauses: how long a mark keeps a program from running, seen from inside.

import Foundation
import Glibc

/// The longest time that a thread which does nothing but look at the clock did not run.
private final class Watch: @unchecked Sendable {
  private let _lock = NSLock()
  private var _longest: UInt64 = 0
  private var _passes: UInt64 = 0
  private var _isOver = false

  func run() {
    var last = now()
    while true {
      let time = now()
      if time - last > 100_000 {
        let isOver = _lock.withLock {
          _longest = max(_longest, time - last)
          return _isOver
        }
        if isOver { return }
      }
      if time & 0xFFFF < 256 {
        let isOver = _lock.withLock {
          _passes += 1
          return _isOver
        }
        if isOver { return }
      }
      last = now()
    }
  }

  /// The longest gap since the last call. Waits until the watch has run again: a gap is noted by the thread it stopped.
  func take() -> UInt64 {
    let before = _lock.withLock { _passes }
    while _lock.withLock({ _passes }) == before { usleep(100) }
    return _lock.withLock {
      defer { _longest = 0 }
      return _longest
    }
  }

  func end() { _lock.withLock { _isOver = true } }
}

/// A watch on a thread of its own.
struct RunningWatch {
  private let _watch = Watch()

  init() {
    let watch = _watch
    Thread { watch.run() }.start()
    _ = watch.take()
  }

  /// Ends the watch: nanoseconds of the longest gap since its beginning.
  func end() -> UInt64 {
    defer { _watch.end() }
    return _watch.take()
  }
}

private final class Page {
  var next: Page?
  let bytes: [UInt8]

  init(_ next: Page?) {
    self.next = next
    bytes = [UInt8](repeating: 1, count: 8_000)
  }

  // A list of so many is not freed by recursion.
  func cut() {
    var rest = next
    next = nil
    while let page = rest {
      rest = page.next
      page.next = nil
    }
  }
}

/// Makes a child that ends at once: nanoseconds of the kernel's copy of the process alone.
private func forkAlone() -> UInt64 {
  typealias Fork = @convention(c) () -> pid_t
  guard let symbol = dlsym(nil, "fork") else { return 0 }
  let start = now()
  let child = unsafeBitCast(symbol, to: Fork.self)()
  if child == 0 { _exit(0) }
  let took = now() - start
  waitpid(child, nil, 0)
  return took
}

/// Takes five marks with so much memory resident; each gap of the watch without and with a mark.
func measurePauses(gigabytes: Double) {
  var last: Page?
  for _ in 0..<Int(gigabytes * Double(1 << 30) / 8_192) { last = Page(last) }
  let watch = Watch()
  let thread = Thread { watch.run() }
  thread.start()
  var quiet: [UInt64] = []
  var forked: [UInt64] = []
  var marked: [UInt64] = []
  for round in 0..<5 {
    _ = watch.take()
    usleep(50_000)
    quiet.append(watch.take())
    forked.append(forkAlone())
    _ = watch.take()
    guard mark("pause-\(round)") else {
      fail("Workload: no agent, or it took no mark", status: 1)
    }
    marked.append(watch.take())
  }
  watch.end()
  func list(_ gaps: [UInt64]) -> String { gaps.map(String.init).joined(separator: ",") }
  print("RESULT sum=5 ns=0 quiet=\(list(quiet)) forked=\(list(forked)) marked=\(list(marked))")
  last?.cut()
}

private final class Held {
  var first: Held?
  var second: Held?
  var third: Held?
}

/// Marks with so many objects alive, each with two to three references, and again with each tenth one new.
func holdObjects(count: Int) {
  var all: [Held] = []
  all.reserveCapacity(count)
  func add(_ place: Int) -> Held {
    let held = Held()
    if place > 0 {
      held.first = all[place - 1]
      held.second = all[place / 2]
      if place % 2 == 0 { held.third = all[place * 7 / 11] }
    }
    return held
  }
  for place in 0..<count { all.append(add(place)) }
  var starts: [Double] = []
  for name in ["objects-1", "objects-2"] {
    starts.append(Date().timeIntervalSince1970)
    guard mark(name) else { fail("Workload: no agent, or it took no mark", status: 1) }
    for place in stride(from: 1, to: count, by: 10) { all[place] = add(place) }
  }
  print("RESULT sum=\(all.count) ns=0 starts=\(starts.map { String($0) }.joined(separator: ","))")
  fflush(nil)
  // Freeing a list of so many would recurse.
  _exit(0)
}
