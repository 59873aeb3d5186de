// StreamBuffers: the buffers of the C library's streams, which are text and old words.

internal import GraphPrimitives

/// The blocks that are buffers of the C library's streams (`stdout`, files that `fopen` opened).
///
/// A stream asks for its buffer with the first character that it writes. What lies behind the text is
/// what the block's last owner left there, and may point to anything: such a word held a leaked task
/// that nothing else did.
///
/// - Returns: the rows of the buffers; none where the program's C library is another one.
func streamBuffers(images: [LoadedImage], nodes: HeapNodes, memory: TargetMemory) -> [Int] {
  let lists = images.lazy.compactMap { $0.address(ofExportedSymbol: "_IO_list_all") }
  return lists.first.map { streamBuffers(from: $0, nodes: nodes, memory: memory) } ?? []
}

/// The buffers of the streams of a list. The fields' places are those of `struct _IO_FILE`, which is
/// part of glibc's binary interface.
///
/// - Parameter list: where the list's first stream is said.
/// - Complexity: O(*n*) for *n* open streams.
func streamBuffers(from list: UInt64, nodes: HeapNodes, memory: TargetMemory) -> [Int] {
  let bufferOffset: UInt64 = 56
  let nextOffset: UInt64 = 104
  var rows: [Int] = []
  // A list that was caught in the middle of a change may lead anywhere, in a circle, too.
  var seen: Set<UInt64> = []
  var stream = memory.word(at: list) ?? 0
  while stream != 0, seen.insert(stream).inserted,
    let buffer = memory.word(at: stream + bufferOffset),
    let next = memory.word(at: stream + nextOffset)
  {
    if let row = nodes.row(startingAt: buffer), nodes.typeID[row] < 0 { rows.append(row) }
    stream = next
  }
  return rows
}
