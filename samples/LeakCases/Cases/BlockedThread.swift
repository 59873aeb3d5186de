// Control: a local variable of a thread that waits is a holder, though nothing on the heap points there.
import Glibc

final class Diver {
  var depth = 10
  init() { Live.born(Self.self) }
  deinit { Live.died(Self.self) }
}

/// Waits for good, with a diver in a local variable.
@inline(never)
private func waitBelow() {
  let diver = Diver()
  diver.depth += 1
  while true { pause() }
  withExtendedLifetime(diver) {}
}

/// Waits for good; its diver was retained once too often and nothing knows where it is.
@inline(never)
private func loseDiver() {
  _ = Unmanaged.passRetained(Diver())
}

extension LeakCase {
  static let blockedThread = LeakCase("blocked-thread") { variant in
    await forEachSettledRound {
      var thread = pthread_t()
      let body: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? =
        variant == .asNamed
        ? { _ in
          waitBelow()
          return nil
        }
        : { _ in
          loseDiver()
          return nil
        }
      pthread_create(&thread, nil, body, nil)
      pthread_detach(thread)
    }
  }
}
