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
  guard let main = images.lazy.compactMap({ $0.range(ofFunction: "main") }).first else {
    return endedStackWithoutSymbols(of: memory, range, pointer: thread.stackPointer, images)
  }
  let exit = images.lazy.filter { $0.module.path.split(separator: "/").last == "libc.so.6" }
    .compactMap { $0.range(ofFunction: "exit") }.first
  let start = thread.stackPointer & ~7
  for place in stride(from: start, to: range.upperBound, by: 8) {
    guard let word = memory.word(at: place) else { continue }
    if main.contains(word &- 1) || exit?.contains(word &- 1) == true { return nil }
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
    }), let main = images.lazy.compactMap({ $0.range(ofFunction: "main") }).first,
    let exit = images.lazy.filter({ $0.module.path.split(separator: "/").last == "libc.so.6" })
      .compactMap({ $0.range(ofFunction: "exit") }).first
  else { return nil }
  var found: UInt64?
  for place in stride(from: threads[thread].stackPointer & ~7, to: stack.end, by: 8) {
    guard let word = memory.word(at: place) else { continue }
    // Return addresses below the last call of exit may be left over.
    if exit.contains(word &- 1) { found = place }
    if main.contains(word &- 1) { found = nil }
  }
  return found.map { (thread, $0) }
}

/// The same as `endedMainStack` where nobody knows where `main` is: the program was stripped, or its file can't be read. While the thread
/// runs, its stack has a return address into the executable that is not the one at the executable's own beginning.
private func endedStackWithoutSymbols(
  of memory: TargetMemory, _ range: Range<UInt64>, pointer: UInt64, _ images: [LoadedImage]
) -> Range<UInt64>? {
  guard let executable = images.first(where: { $0.module.path == memory.source.executable }),
    let entry = executable.entry
  else { return nil }
  let code = memory.source.mappings.filter { mapping in
    mapping.isExecutable && mapping.start >= executable.module.start
      && mapping.end <= executable.module.end
  }
  let start = pointer & ~7
  for place in stride(from: start, to: range.upperBound, by: 8) {
    guard let word = memory.word(at: place), word &- entry >= 64 else { continue }
    if code.contains(where: { $0.start <= word && word < $0.end }) { return nil }
  }
  return range.lowerBound..<start
}

/// Which blocks were allocated below `main`, by row; all where stacks are not known.
///
/// - Complexity: O(*s*) for *s* rows of stacks.
func blocksMadeInMain(
  inventory: any HeapInventory, images: [LoadedImage], nodes: HeapNodes
) -> (Int) -> Bool {
  let trie = inventory.stackTrie()
  let main = images.lazy.compactMap { $0.range(ofFunction: "main") }.first
  guard let main, trie.pcs.count > 1 else { return { _ in true } }
  var isBelow = [Bool](repeating: false, count: trie.pcs.count)
  for row in 1..<trie.pcs.count {
    // A return address: the call is before it.
    isBelow[row] = isBelow[Int(trie.parents[row])] || main.contains(trie.pcs[row] &- 1)
  }
  return { row in
    let stack = Int(
      inventory.trieRow(ofStack: nodes.stackSlot[row], trieCount: trie.parents.count))
    return stack == 0 || isBelow[stack]
  }
}
