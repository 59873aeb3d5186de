// Threads that free blocks of other threads and end: their caches go back to the arenas' fast bins.
import Glibc

private struct Work {
  var seed: UInt64

  /// Blocks of the thread that starts this one, which it frees.
  var given: [UnsafeMutableRawPointer] = []

  /// Blocks of its own, which outlive it.
  var left: [UnsafeMutableRawPointer] = []
}

/// Each thread frees half of the main thread's blocks and ends; then the main thread frees half of what
/// the thread left. Not every size is used, so that any of the fast bins may stay empty.
func handOver(seed: UInt64, threads: Int) {
  var random = Generator(state: seed &* 0x9e37_79b9_7f4a_7c15 | 1)
  // Half of the sizes are those of fast bins.
  let sizes = (0..<10).map { index in
    index % 2 == 0 ? 24 + 16 * random.next(below: 7) : random.next(below: 420)
  }
  for index in 0..<threads {
    let work = UnsafeMutablePointer<Work>.allocate(capacity: 1)
    work.initialize(to: Work(seed: seed &* 1_000 &+ UInt64(index)))
    for _ in 0..<240 {
      if let block = malloc(sizes[random.next(below: sizes.count)]) {
        work.pointee.given.append(block)
      }
      _ = malloc(sizes[random.next(below: sizes.count)])
    }
    var handle = pthread_t()
    let status = pthread_create(
      &handle, nil,
      { context in
        guard let work = context?.assumingMemoryBound(to: Work.self) else { return nil }
        var random = Generator(state: work.pointee.seed)
        for block in work.pointee.given {
          free(block)
          if let block = malloc(random.next(below: 420)) { work.pointee.left.append(block) }
        }
        work.pointee.given = []
        return nil
      }, work)
    precondition(status == 0)
    pthread_join(handle, nil)
    for block in work.pointee.left where random.next(below: 2) == 0 { free(block) }
    work.deinitialize(count: 1)
    work.deallocate()
  }
  standStill()
}
