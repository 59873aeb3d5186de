// ReferenceCounts: what an object's header says of who holds it.

internal import SnapshotFormat

/// The reference counts of a Swift object, as the word after its metadata holds them.
///
/// Layout (Swift 5 and 6, 64 bits): bit 0 pure-Swift deallocation, bits 1-31 unowned count, bit 32
/// deiniting, bits 33-62 strong extra count, bit 63 slow. Low 32 bits all set: immortal. Bits 63 and 62
/// set: the rest is the address of a side table, shifted right by three, whose third word has the same
/// layout and whose fourth the weak count.
struct ReferenceCounts {
  /// The number of strong references: 1 for a fresh object; 0 while it is destroyed and after. Nil for
  /// immortal objects.
  var strong: Int?

  /// Unowned references, the one that the strong ones share included.
  var unowned: Int

  /// Weak references.
  var weak: Int

  /// Whether its deinitializer runs or has run.
  var isDeiniting: Bool

  /// The side table; 0 for none.
  var sideTable: UInt64

  /// Decodes the word after the metadata; nil where it can't be a reference count, so that the block
  /// is no object.
  init?(word: UInt64, memory: TargetMemory, object: UInt64) {
    guard word >> 62 == 3 else {
      self.init(bits: word, weak: 0, sideTable: 0)
      return
    }
    let table = (word & 0x3fff_ffff_ffff_ffff) << 3
    guard let owner = memory.word(at: table), owner == object,
      let bits = memory.word(at: table + 16), let weak = memory.load(UInt32.self, at: table + 24)
    else { return nil }
    // The side table's own reference is counted as a weak one.
    self.init(bits: bits, weak: max(0, Int(weak) - 1), sideTable: table)
  }

  /// How many references a block of C code has: bits 1-15 of the flags behind its class, where bit 24 says
  /// that it is counted at all. Nil for none, and for so many that it is never freed.
  static func count(ofBlock header: UnsafeRawPointer) -> Int? {
    let flags = header.load(fromByteOffset: 8, as: UInt32.self)
    let count = Int(flags & 0xfffe) >> 1
    return flags & 1 << 24 != 0 && count > 0 && count < 0x7fff ? count : nil
  }

  private init?(bits: UInt64, weak: Int, sideTable: UInt64) {
    self.weak = weak
    self.sideTable = sideTable
    if bits & 0xffff_ffff == 0xffff_ffff {
      strong = nil
      unowned = 0
      isDeiniting = false
      return
    }
    unowned = Int((bits >> 1) & 0x7fff_ffff)
    isDeiniting = bits & (1 << 32) != 0
    let extra = Int((bits >> 33) & 0x3fff_ffff)
    strong = isDeiniting ? 0 : extra + 1
    // A live object has an unowned reference of its own, so a word without one is something else. So is one
    // with millions of references: an address, in C memory that begins with an old object's type.
    if unowned == 0 || unowned >= 1 << 24 || (unowned >= 1 << 20 && extra >= 1 << 12) { return nil }
  }
}
