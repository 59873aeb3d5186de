// DispatchCache: libdispatch's free continuations, which are full of old pointers.

/// The blocks that libdispatch keeps in a thread's cache of free continuations.
///
/// A work item is put in a 64-byte block, a *continuation*. When it has run, the block goes to a list
/// that hangs on a word of the thread's local storage, with the work item's pointers still in it. Read
/// as references they would keep alive what the last work items of each thread used.
///
/// The list is known by its own book-keeping: a continuation has the number of those from it to the
/// end of the list at byte 8 and the next at byte 16, so the numbers must count down to the end. A
/// continuation that is in use again still has those numbers: only the word that the list hangs on
/// tells them apart, so the caller must have recognised that word.
///
/// - Returns: the rows of the blocks of the list that starts with `row`; empty where it is no such list.
/// - Complexity: O(*n*) for a list of *n*.
func freeContinuations(from row: Int, nodes: HeapNodes, memory: TargetMemory) -> [Int] {
  var rows: [Int] = []
  var current = row
  var expected: UInt32?
  while true {
    let address = nodes.address[current]
    // Asked for as 64 bytes; the allocator makes 72 of them.
    guard nodes.typeID[current] < 0, (64...72).contains(nodes.size[current]),
      let count = memory.load(UInt32.self, at: address + 8),
      let next = memory.word(at: address + 16)
    else { return [] }
    if let expected, count != expected { return [] }
    rows.append(current)
    if next == 0 { return count <= 1 ? rows : [] }
    guard count > 0, let following = nodes.row(startingAt: next) else { return [] }
    expected = count - 1
    current = following
  }
}

/// The blocks of libdispatch's cache of a thread.
///
/// libdispatch's thread-local data begins with the thread's number, in three words before the list. A
/// word elsewhere may lead to a continuation that is in use, with the list's numbers still in it.
func freeContinuations(
  of stack: ThreadStack, thread: UInt32, nodes: HeapNodes, memory: TargetMemory
) -> [Int] {
  var rows: [Int] = []
  for address in stride(
    from: stack.threadLocal.lowerBound, to: stack.threadLocal.upperBound, by: 8)
  {
    guard let word = memory.word(at: address), let row = nodes.row(startingAt: word),
      memory.load(UInt32.self, at: address - 24) == thread
    else { continue }
    rows += freeContinuations(from: row, nodes: nodes, memory: memory)
  }
  return rows
}
