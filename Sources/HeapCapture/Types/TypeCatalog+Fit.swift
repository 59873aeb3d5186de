// Whether a block can be what its first words say: an instance of a type.

internal import GraphPrimitives

extension TypeCatalog {
  /// Whether a block may be an instance of the type that its first word names, by its size and by what
  /// instances of the type say of themselves.
  ///
  /// Memory of C and C++ is not cleared when it is taken anew, so a block of it may begin with the first words of an
  /// object that was there before. What is no object is words, so a real object that is refused here still holds
  /// what it holds.
  ///
  /// - Parameter allocatedSize: the block's bytes, as the inventory has them.
  /// - Complexity: O(1).
  package func fits(_ type: SwiftType, at object: UInt64, allocatedSize: Int) -> Bool {
    if allocatedSize < type.leastSize { return false }
    let usable = usableSize(of: object, allocatedSize)
    func word(_ offset: Int) -> UInt64? {
      offset + 8 <= usable ? memory.word(at: object + UInt64(offset)) : nil
    }
    switch type.shape {
    case .fixed(_, let size):
      // The compiler gives a tail to the libraries' own classes and to managed buffers alone. The allocator may give 31
      // bytes more than what was asked for.
      return !type.hasNoTail || allocatedSize <= size + Self._mostSlack
    case .array(let element):
      // The count, and the capacity above a flag. Elements take a byte each at least, if they take any room.
      guard let count = word(16), let capacity = word(24) else { return false }
      if compiler.programs[element].isEmptyValue && !compiler.programs[element].isUnknown {
        return true
      }
      return count <= UInt64(max(0, usable - 32)) && count <= capacity >> 1
    case .dictionary, .set:
      // Count, capacity, the logarithm of the number of buckets; then a bit for each of them, then the slots, whose
      // addresses are known.
      let isSet = if case .set = type.shape { true } else { false }
      let bitmap = isSet ? 56 : 64
      guard let count = word(16), let capacity = word(24), let scale = word(32).map({ $0 & 0xff }),
        let first = word(48), count <= capacity, scale < 40, capacity <= 1 << scale
      else { return false }
      return bitmap + max(8, 1 << Int(scale) / 8) <= usable
        && first >= object && first <= object + UInt64(usable)
    case .string:
      guard let capacity = word(16) else { return false }
      return capacity & 0x0000_ffff_ffff_ffff <= UInt64(max(0, usable - 32))
    case .taskSlab:
      // Nothing but its task holds a slab, so memory that is taken for one would be held by nothing.
      guard let capacity = memory.load(UInt32.self, at: object + 16),
        let used = memory.load(UInt32.self, at: object + 20)
      else { return false }
      let whole = Int(TaskLayout.slabHeaderSize) + Int(capacity)
      return used <= capacity && whole <= usable && allocatedSize <= whole + Self._mostSlack
    default:
      return true
    }
  }

  private static let _mostSlack = 48
}

extension SwiftType {
  /// The bytes that an instance has at least.
  var leastSize: Int {
    switch shape {
    case .fixed(_, let size), .managedBuffer(_, let size, _): size
    case .array, .dictionary, .set, .ring, .string, .errorBox, .taskSlab, .block: 32
    case .captures(_, let firstCapture): firstCapture
    case .box(_, let offset): offset
    case .continuationCanary, .task: 24
    case .words(let start): min(start, 24)
    }
  }
}
