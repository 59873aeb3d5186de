// Blocks: memory of C in which each third word is a pointer, for who looks at memory word by word.

import Foundation
import Glibc

private struct Block {
  static let words = 14
}

/// Makes blocks of 112 bytes that lead to each other, all alive, and has them looked at: by LeakSanitizer where it is in the
/// program, else by a mark.
///
/// Tells how long the look took, and how long a second one kept another thread from running.
func scanBlocks(count: Int) {
  var random: UInt = 1
  let all = UnsafeMutablePointer<UnsafeMutablePointer<UInt>?>.allocate(capacity: count)
  for place in 0..<count {
    guard let block = malloc(Block.words * 8)?.bindMemory(to: UInt.self, capacity: Block.words)
    else { fail("Workload: no memory", status: 1) }
    for word in 0..<Block.words { block[word] = UInt(word) }
    // Four or five of the fourteen words.
    for word in stride(from: 0, to: 9, by: 2) where place > 0 && (word < 8 || place % 2 == 0) {
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let far = Int(random >> 33) % place
      block[word] = UInt(bitPattern: all[word < 4 ? max(0, place - 1 - word) : far])
    }
    all[place] = block
  }
  // Each leads to the one before it.
  last = all[count - 1]
  all.deallocate()

  typealias Check = @convention(c) () -> CInt
  let check = dlsym(nil, "__lsan_do_recoverable_leak_check").map {
    unsafeBitCast($0, to: Check.self)
  }
  // A watch would take a core from the reader, so it watches a second look.
  let start = now()
  look(check)
  let took = now() - start
  let watch = RunningWatch()
  look(check)
  let pause = watch.end()
  let bytes = count * Block.words * 8
  print("RESULT sum=\(count) ns=\(took) pause=\(pause) bytes=\(bytes)")
  fflush(nil)
  _exit(0)
}

private func look(_ check: (@convention(c) () -> CInt)?) {
  if let check {
    _ = check()
  } else if !mark("blocks") {
    fail("Workload: no agent, or it took no mark", status: 1)
  }
}

/// What leads to all blocks.
nonisolated(unsafe) private var last: UnsafeMutablePointer<UInt>?
