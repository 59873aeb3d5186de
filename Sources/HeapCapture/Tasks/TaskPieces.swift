// TaskPieces: the children of `async let`, which lie in their parent's memory, as nodes of their own.

/// A part of a slab that becomes a node.
struct TaskPiece {
  /// Where it is; pieces of a slab follow each other without a gap.
  var range: Range<UInt64>

  /// Whether it is a child task; else it is memory of the task before it or around it.
  var isChild: Bool

  /// The start of the piece that it is a part of: what a rest goes on from, or what a child lies in. The
  /// slab itself for the slab's first piece.
  var owner: UInt64

  /// The words that are in use.
  var live: [Range<UInt64>]
}

extension TaskLayout {
  /// Cuts a slab where children of `async let` lie in it, and children where theirs do.
  ///
  /// - Returns: the pieces in ascending order; none where there is no child.
  /// - Complexity: O(*w*) for *w* words of the slab in use.
  func pieces(ofSlab slab: UInt64, size: UInt64) -> [TaskPiece] {
    let end = slab + size
    let liveEnd = min(liveEnd(ofSlab: slab), end)
    guard liveEnd > slab + Self.slabHeaderSize else { return [] }
    var pieces: [TaskPiece] = []
    _cut(
      slab..<end, isChild: false, owner: slab,
      live: [slab + 8..<slab + 16, slab + Self.slabHeaderSize..<liveEnd], depth: 0, into: &pieces)
    return pieces.count > 1 ? pieces : []
  }

  private func _cut(
    _ range: Range<UInt64>, isChild: Bool, owner: UInt64, live: [Range<UInt64>], depth: Int,
    into pieces: inout [TaskPiece]
  ) {
    // Where the piece that is being measured starts, and whether it is the first one.
    var start = range.lowerBound
    func close(at end: UInt64) {
      guard end > start else { return }
      let isFirst = start == range.lowerBound
      pieces.append(
        TaskPiece(
          range: start..<end, isChild: isFirst && isChild,
          owner: isFirst ? owner : range.lowerBound,
          live: live.compactMap { $0.overlaps(start..<end) ? $0.clamped(to: start..<end) : nil }))
      start = end
    }
    guard depth < 64, let frames = live.last else { return close(at: range.upperBound) }
    // Tasks are allocated at multiples of 16.
    var place = (frames.lowerBound + 15) & ~15
    while place + headerSize <= frames.upperBound {
      guard isTask(at: place), isAsyncLet(place), let own = ownSlab(ofChild: place),
        own.upperBound <= frames.upperBound
      else {
        place += 16
        continue
      }
      close(at: place)
      let used = min(liveEnd(ofSlab: own.lowerBound), own.upperBound)
      var words = words(of: place, until: own.lowerBound)
      words.append(own.lowerBound + 8..<own.lowerBound + 16)
      words.append(
        own.lowerBound + Self.slabHeaderSize..<max(used, own.lowerBound + Self.slabHeaderSize))
      _cut(
        place..<own.upperBound, isChild: true, owner: range.lowerBound, live: words,
        depth: depth + 1, into: &pieces)
      start = own.upperBound
      place = (own.upperBound + 15) & ~15
    }
    close(at: range.upperBound)
  }
}
