// EndedMainThread: what the frames hold that a main thread has left when it ended.

internal import SnapshotFormat

/// The part of the main thread's stack whose frames the thread has left for good; nil where it runs.
///
/// `dispatchMain()` ends the thread, or lets it sleep where it would have ended. Its frames never return,
/// so what they hold is nobody's mistake. While the thread runs, its stack has a return address into
/// `main`; when `main` has returned it has one into `exit`, and its frames hold nothing any more.
func endedMainStack(
  of memory: TargetMemory, threads: [ThreadState], images: [LoadedImage]
) -> Range<UInt64>? {
  guard let stack = memory.source.mappings.first(where: { $0.path == "[stack]" }) else {
    return nil
  }
  let range = stack.start..<stack.end
  guard let thread = threads.first(where: { range.contains($0.stackPointer) }) else { return range }
  guard let calls = MainCalls(memory: memory, images: images) else { return nil }
  let start = thread.stackPointer & ~7
  for place in stride(from: start, to: range.upperBound, by: 8) {
    guard let word = memory.word(at: place) else { continue }
    if calls.isInMain(word) || calls.isInExit(word) { return nil }
  }
  return range.lowerBound..<start
}

/// Where the frames of a main begin that has returned, and which of the threads it is; nil where main runs, or
/// left by a call of `exit` in one of its functions.
///
/// What lies below the call of `exit` are the frames of the C library and of the agent, full of words that main's own
/// frames had left there; and what lies above was there before main.
func returnedMain(
  of memory: TargetMemory, threads: [ThreadState], images: [LoadedImage]
) -> (thread: Int, exit: UInt64)? {
  guard let stack = memory.source.mappings.first(where: { $0.path == "[stack]" }),
    let thread = threads.firstIndex(where: {
      (stack.start..<stack.end).contains($0.stackPointer)
    }), let calls = MainCalls(memory: memory, images: images)
  else { return nil }
  var found: UInt64?
  for place in stride(from: threads[thread].stackPointer & ~7, to: stack.end, by: 8) {
    guard let word = memory.word(at: place) else { continue }
    // Return addresses below the last call of exit may be left over.
    if calls.isInExit(word) { found = place }
    if calls.isInMain(word) { found = nil }
  }
  return found.map { (thread, $0) }
}

/// What the return addresses on a main thread's stack say of where the thread is.
///
/// Where nobody knows where `main` is, since the program was stripped or its file can't be read, any call that
/// the executable has made stands for it, but for the one at its own beginning.
private struct MainCalls {
  private let _memory: TargetMemory
  private let _main: Range<UInt64>?
  private let _exit: Range<UInt64>?

  /// The executable's code, where it stands for `main`, and where the program began in it.
  private var _code: [Range<UInt64>] = []
  private var _entry: UInt64 = 0

  /// The bytes from the executable's beginning in which it calls the C library, which calls `main`.
  private static let _entrySize: UInt64 = 64

  /// - Returns: nil where not even the executable's code is known.
  init?(memory: TargetMemory, images: [LoadedImage]) {
    _memory = memory
    _main = images.lazy.compactMap { $0.range(ofFunction: "main") }.first
    _exit =
      images.lazy.filter { $0.module.path.split(separator: "/").last == "libc.so.6" }
      .compactMap { $0.range(ofFunction: "exit") }.first
    if _main != nil { return }
    guard let executable = images.first(where: { $0.module.path == memory.source.executable }),
      let entry = executable.entry
    else { return nil }
    _entry = entry
    _code = memory.source.mappings.filter { mapping in
      mapping.isExecutable && mapping.start >= executable.module.start
        && mapping.end <= executable.module.end
    }.map { $0.start..<$0.end }
  }

  /// Whether a word returns into `main`, or into what stands for it.
  func isInMain(_ word: UInt64) -> Bool {
    if let _main { return _main.contains(word &- 1) }
    return word &- _entry >= Self._entrySize && _code.contains { $0.contains(word) }
      && _followsCall(word)
  }

  func isInExit(_ word: UInt64) -> Bool { _exit?.contains(word &- 1) == true }

  /// Whether a call stands before an address. The C library keeps the address of `main` on the stack, which
  /// is an address in the executable's code, too, and no call returns there.
  private func _followsCall(_ address: UInt64) -> Bool {
    func byte(_ distance: UInt64) -> UInt8? { _memory.load(UInt8.self, at: address &- distance) }
    // call with a distance; call by a register or by a word in memory, whose place takes up to 5 bytes.
    if byte(5) == 0xe8 { return true }
    for length in 2...7 as ClosedRange<UInt64> where byte(length) == 0xff {
      if let mode = byte(length - 1), mode >> 3 & 7 == 2 { return true }
    }
    return false
  }
}

/// Which blocks were allocated below `main`, by row; all where stacks are not known.
///
/// Optimized code has no frame pointers, so a stack may end before it comes to `main`. One that ends in a function
/// that `main` calls counts as coming from there.
///
/// - Complexity: O(*s* + *n*) for *s* rows of stacks and *n* symbols of the executable.
func blocksMadeInMain(
  inventory: any HeapInventory, images: [LoadedImage], nodes: HeapNodes, memory: TargetMemory
) -> (Int) -> Bool {
  let trie = inventory.stackTrie()
  guard trie.pcs.count > 1,
    let (image, main) = images.lazy.compactMap({ image in
      image.range(ofFunction: "main").map { (image, $0) }
    }).first
  else { return { _ in true } }
  let called = image.ranges(ofFunctionsAt: targetsOfCalls(in: main, memory))
  var isBelow = [Bool](repeating: false, count: trie.pcs.count)
  for row in 1..<trie.pcs.count {
    // A return address: the call is before it.
    let call = trie.pcs[row] &- 1
    isBelow[row] =
      isBelow[Int(trie.parents[row])] || main.contains(call)
      || trie.parents[row] == 0 && called.contains { $0.contains(call) }
  }
  return { row in
    let stack = Int(
      inventory.trieRow(ofStack: nodes.stackSlot[row], trieCount: trie.parents.count))
    return stack == 0 || isBelow[stack]
  }
}

/// Where calls in some code may lead: what follows each byte that a call with a distance begins with.
private func targetsOfCalls(in code: Range<UInt64>, _ memory: TargetMemory) -> Set<UInt64> {
  var targets: Set<UInt64> = []
  for place in code where memory.load(UInt8.self, at: place) == 0xe8 {
    if let distance = memory.load(Int32.self, at: place + 1) {
      targets.insert(place &+ 5 &+ UInt64(bitPattern: Int64(distance)))
    }
  }
  return targets
}
