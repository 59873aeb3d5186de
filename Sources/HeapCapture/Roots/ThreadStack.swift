// ThreadStack: the part of a thread's stack that is in use, and which frame a word of it belongs to.

/// The part of a thread's memory that can hold references: its stack from the stack pointer up, and
/// its thread-local data.
struct ThreadStack {
  /// The words from the saved stack pointer to the outermost frame. What lies below the stack pointer
  /// is dead, and full of old pointers.
  var live: Range<UInt64>

  /// Static thread-local storage and the thread's descriptor, which holds the thread-specific data.
  var threadLocal: Range<UInt64>

  /// The frames from the innermost: where each ends, and the address of code in the function that it
  /// belongs to.
  private var _frameEnds: [UInt64] = []
  private var _framePCs: [UInt64] = []

  /// Finds the ranges in the mappings, and the frames by the chain of frame pointers.
  ///
  /// - Parameter threadLocalSize: how much static thread-local storage the modules ask for.
  init?(
    thread: ThreadState, memory: TargetMemory, mappings: [MemoryMapping],
    threadLocalSize: UInt64
  ) {
    let pointer = thread.stackPointer
    guard let mapping = Self._mapping(of: pointer, in: mappings) else { return nil }
    var end = mapping.end
    if let bounds = thread.stackBounds, bounds.contains(pointer) {
      end = min(end, bounds.upperBound)
    }

    let descriptor = thread.threadPointer
    var local: Range<UInt64> = 0..<0
    if let own = Self._mapping(of: descriptor, in: mappings) {
      // The thread-local blocks lie below the descriptor on x86-64; glibc's descriptor is 2,304 bytes.
      // The C library aligns the blocks, so a page more is looked at.
      let low = max(own.start, descriptor &- min(descriptor, threadLocalSize + 4096))
      local = ((low + 7) & ~7)..<min(own.end, descriptor + 2304)
      // A thread's descriptor lies at the top of its own stack. No word belongs to both.
      if own == mapping, pointer < descriptor {
        end = min(end, max(pointer, descriptor &- min(descriptor, threadLocalSize)) & ~7)
        local = max(local.lowerBound, end)..<local.upperBound
      }
    }
    threadLocal = local
    live = (pointer & ~7)..<max(end & ~7, pointer & ~7)

    var frame = thread.framePointer
    var pc = thread.pc
    // A function without frame pointers keeps anything in the register.
    while frame >= pointer, frame < end, end - frame >= 16, frame & 7 == 0, _frameEnds.count < 4096
    {
      guard let next = memory.word(at: frame), let caller = memory.word(at: frame + 8) else {
        break
      }
      _frameEnds.append(frame + 16)
      _framePCs.append(pc)
      pc = caller
      if next <= frame { break }
      frame = next
    }
    _frameEnds.append(end)
    _framePCs.append(pc)
  }

  /// Leaves out what lies below a place.
  mutating func begin(at place: UInt64) {
    live = min(max(place, live.lowerBound), live.upperBound)..<live.upperBound
  }

  /// The address of code in the function whose frame holds a word; 0 where the frames are unknown.
  func pc(ofWordAt address: UInt64) -> UInt64 {
    var low = 0
    var high = _frameEnds.count
    while low < high {
      let middle = (low + high) / 2
      if _frameEnds[middle] <= address { low = middle + 1 } else { high = middle }
    }
    return low < _framePCs.count ? _framePCs[low] : 0
  }

  private static func _mapping(of address: UInt64, in mappings: [MemoryMapping]) -> MemoryMapping? {
    var low = 0
    var high = mappings.count
    while low < high {
      let middle = (low + high) / 2
      if mappings[middle].end <= address { low = middle + 1 } else { high = middle }
    }
    guard low < mappings.count, mappings[low].start <= address, mappings[low].isReadable else {
      return nil
    }
    return mappings[low]
  }
}

/// The registers in the order of the agent's table.
let registerNames = [
  "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13",
  "r14", "r15",
]
