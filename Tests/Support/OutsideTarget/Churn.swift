// What the malloc family can do, in random order on several threads that then wait.
import Glibc

/// A generator of its own for each thread, so that a seed gives the same calls.
struct Generator {
  var state: UInt64
  mutating func next(below limit: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int((state >> 33) % UInt64(limit))
  }
}

private func allocateAndFree(seed: UInt64) {
  var random = Generator(state: seed &* 0x9e37_79b9_7f4a_7c15 | 1)
  var blocks: [UnsafeMutableRawPointer] = []
  for _ in 0..<6_000 {
    let size: Int
    switch random.next(below: 1_000) {
    case 0..<600: size = random.next(below: 200)
    case 600..<900: size = random.next(below: 2_000)
    case 900..<990: size = random.next(below: 60_000)
    default: size = 100_000 + random.next(below: 1_000_000)
    }
    switch random.next(below: 100) {
    case 0..<35:
      if let block = malloc(size) { blocks.append(block) }
    case 35..<45:
      if let block = calloc(1, size) { blocks.append(block) }
    case 45..<50:
      var block: UnsafeMutableRawPointer?
      if posix_memalign(&block, 16 << random.next(below: 10), size) == 0, let block {
        blocks.append(block)
      }
    case 50..<65 where !blocks.isEmpty:
      let index = random.next(below: blocks.count)
      if let block = realloc(blocks[index], size + 1) { blocks[index] = block }
    default:
      guard !blocks.isEmpty else { continue }
      let index = random.next(below: blocks.count)
      blocks.swapAt(index, blocks.count - 1)
      free(blocks.removeLast())
    }
    // What a program leaves in its memory.
    if let block = blocks.last { block.storeBytes(of: seed, as: UInt64.self) }
  }
  // The blocks stay; the array that lists them goes.
}

func churn(seed: UInt64, threads: Int) {
  /// Every third thread ends before the program stands still, and its cache and arena with it.
  func isShortLived(_ index: Int) -> Bool { index % 3 == 0 }
  var shortLived: [pthread_t] = []
  for index in 1..<max(threads, 1) {
    let work = UnsafeMutablePointer<Work>.allocate(capacity: 1)
    work.initialize(to: Work(seed: seed &* 1_000 &+ UInt64(index), ends: isShortLived(index)))
    var handle = pthread_t()
    let status = pthread_create(
      &handle, nil,
      { context in
        guard let work = context?.load(as: Work.self) else { return nil }
        allocateAndFree(seed: work.seed)
        free(context)
        if !work.ends { park() }
        return nil
      }, work)
    precondition(status == 0)
    if isShortLived(index) { shortLived.append(handle) }
  }
  allocateAndFree(seed: seed)
  for handle in shortLived { pthread_join(handle, nil) }
  waitUntilParked(threads: max(threads, 1) - 1 - shortLived.count)
  shortLived = []
  standStill()
}

private struct Work {
  var seed: UInt64
  var ends: Bool
}

nonisolated(unsafe) private var lock = pthread_mutex_t()
nonisolated(unsafe) private var parkedCount = 0

private func park() {
  pthread_mutex_lock(&lock)
  parkedCount += 1
  pthread_mutex_unlock(&lock)
  while true { pause() }
}

private func waitUntilParked(threads: Int) {
  while true {
    pthread_mutex_lock(&lock)
    let count = parkedCount
    pthread_mutex_unlock(&lock)
    if count == threads { return }
    usleep(1_000)
  }
}

/// Moves the program's break between allocations, as other allocators do.
func sharedBreak() {
  var random = Generator(state: 7)
  for round in 0..<6 {
    for _ in 0..<400 {
      if let block = malloc(random.next(below: 3_000)), random.next(below: 3) == 0 { free(block) }
    }
    if let foreign = sbrk(4_096 * (round + 1)), foreign != UnsafeMutableRawPointer(bitPattern: -1) {
      memset(foreign, 0x5a, 4_096 * (round + 1))
    }
    // More than what is left, so that the heap has to go on behind the foreign memory.
    _ = malloc(120_000)
  }
  standStill()
}
