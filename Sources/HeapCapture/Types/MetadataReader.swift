// MetadataReader: the facts of the Swift runtime's metadata that are read straight from memory: what
// kind a metadata record is of, a class's sizes, superclass and field offsets, names as a last resort.

/// Reads metadata records of the captured program. Every answer is nil for memory that holds none.
struct MetadataReader {
  /// The first words of metadata records that are not classes.
  enum Kind {
    static let lastValueKind: UInt64 = 0x3ff
    static let heapLocalVariable: UInt64 = 0x400
    static let genericBox: UInt64 = 0x500
    static let errorBox: UInt64 = 0x501
    static let task: UInt64 = 0x502
    static let job: UInt64 = 0x503
  }

  /// A class, from its metadata record and its descriptor.
  struct Class {
    var metadata: UInt64
    var descriptor: UInt64

    /// 0 for none.
    var superclass: UInt64
    var instanceSize: Int

    /// The bytes of the metadata record from its address on.
    var metadataSize: Int

    /// The field descriptor; 0 for none.
    var fields: UInt64

    /// Where each stored property of the class itself lies in an instance; empty where the class says
    /// nothing of them.
    var fieldOffsets: [Int]
  }

  /// A type whose values can stand in an existential.
  struct Value {
    var size: Int
    var alignment: Int

    /// Whether a value stands in an existential's own three words.
    var isInline: Bool
  }

  let memory: TargetMemory

  /// The metadata kind at an address; nil where nothing can be there.
  func kind(at metadata: UInt64) -> UInt64? {
    guard metadata & 7 == 0, metadata >= 0x10000, metadata >> 47 == 0 else { return nil }
    return memory.word(at: metadata)
  }

  /// The class whose metadata stands at an address.
  ///
  /// All of what the runtime promises of a class is checked, since any word of memory may be asked
  /// about.
  func readClass(at metadata: UInt64) -> Class? {
    // Kind, superclass, flags, address point, instance size, alignment mask, reserved, class size,
    // class address point, descriptor.
    guard kind(at: metadata) == 0, let superclass = memory.word(at: metadata + 8),
      let instanceSize = memory.load(UInt32.self, at: metadata + 24),
      let alignmentMask = memory.load(UInt16.self, at: metadata + 28),
      let classSize = memory.load(UInt32.self, at: metadata + 32),
      let addressPoint = memory.load(UInt32.self, at: metadata + 36),
      let descriptor = memory.word(at: metadata + 40),
      let witnesses = memory.word(at: metadata - 8)
    else { return nil }
    guard instanceSize >= 16, instanceSize < 1 << 28, (alignmentMask &+ 1) & alignmentMask == 0,
      classSize > addressPoint, classSize < 1 << 20, superclass & 7 == 0, descriptor & 3 == 0,
      memory.word(at: witnesses) != nil, let flags = memory.load(UInt32.self, at: descriptor),
      flags & 0x1f == 16
    else { return nil }
    if superclass != 0, kind(at: superclass) != 0 { return nil }
    return Class(
      metadata: metadata, descriptor: descriptor, superclass: superclass,
      instanceSize: Int(instanceSize), metadataSize: Int(classSize - addressPoint),
      fields: _relative(at: descriptor + 16) ?? 0,
      fieldOffsets: _fieldOffsets(metadata: metadata, descriptor: descriptor, flags: flags))
  }

  /// The names of a class's own stored properties, from its field descriptor; empty where there is none.
  func fieldNames(of one: Class) -> [String] {
    let fields = one.fields
    guard fields != 0, let recordSize = memory.load(UInt16.self, at: fields + 10),
      let count = memory.load(UInt32.self, at: fields + 12), recordSize >= 12, count < 1 << 16
    else { return [] }
    return (0..<UInt64(count)).map { index in
      let record = fields + 16 + index * UInt64(recordSize)
      guard let name = _relative(at: record + 8) else { return "" }
      return memory.text(at: name, limit: 4096) ?? ""
    }
  }

  /// Whether a stored property of a class is a `let`; false where nothing is known of it.
  func isConstant(field index: Int, of one: Class) -> Bool {
    guard one.fields != 0, let count = memory.load(UInt32.self, at: one.fields + 12),
      index < count,
      let recordSize = memory.load(UInt16.self, at: one.fields + 10), recordSize >= 12,
      let flags = memory.load(
        UInt32.self, at: one.fields + 16 + UInt64(index) * UInt64(recordSize))
    else { return false }
    return flags & 2 == 0
  }

  /// Where the mangled name of a stored property's type stands, if it names a function that makes the
  /// type's metadata instead of the type; nil for any other.
  ///
  /// The compiler does so for types that can't be copied, which older runtimes know nothing of.
  func accessorTypeName(ofField index: Int, of one: Class) -> UInt64? {
    guard one.fields != 0, let mangled = _relative(at: one.fields + 16 + UInt64(index) * 12 + 4),
      memory.load(UInt8.self, at: mangled) == 9
    else { return nil }
    return mangled
  }

  /// The name of the type that a descriptor stands for, module first, without generic arguments.
  func name(ofDescriptor descriptor: UInt64) -> String {
    var parts: [String] = []
    var context = descriptor
    for _ in 0..<32 {
      guard let flags = memory.load(UInt32.self, at: context) else { break }
      // Extensions and anonymous contexts have no name.
      switch flags & 0x1f {
      case 0, 3, 16, 17, 18:
        if let name = _relative(at: context + 8), let text = memory.text(at: name, limit: 4096) {
          parts.append(text)
        }
      default:
        break
      }
      guard let parent = _relativeIndirectable(at: context + 4), flags & 0x1f != 0 else { break }
      context = parent
    }
    return parts.reversed().joined(separator: ".")
  }

  /// The value witnesses of a type that is not a class.
  func value(of metadata: UInt64) -> Value? {
    guard let witnesses = memory.word(at: metadata &- 8), witnesses & 7 == 0, witnesses >= 0x10000,
      let size = memory.word(at: witnesses + 64),
      let flags = memory.load(UInt32.self, at: witnesses + 80),
      size < 1 << 28
    else { return nil }
    return Value(
      size: Int(size), alignment: Int(flags & 0xff) + 1, isInline: flags & 0x0002_0000 == 0)
  }

  private func _fieldOffsets(metadata: UInt64, descriptor: UInt64, flags: UInt32) -> [Int] {
    guard let count = memory.load(UInt32.self, at: descriptor + 36),
      var vector = memory.load(UInt32.self, at: descriptor + 40).map({ UInt64($0) }), vector != 0,
      count < 1 << 16
    else { return [] }
    // Below a superclass of another module's, the place is known at run time only.
    let hasResilientSuperclass = flags & 1 << 29 != 0
    if hasResilientSuperclass {
      guard let bounds = _relative(at: descriptor + 24), let members = memory.word(at: bounds)
      else {
        return []
      }
      vector = vector &+ members / 8
    }
    guard vector < 1 << 20 else { return [] }
    var offsets: [Int] = []
    for index in 0..<UInt64(count) {
      guard let offset = memory.word(at: metadata &+ (vector + index) * 8), offset < 1 << 28 else {
        return []
      }
      offsets.append(Int(offset))
    }
    return offsets
  }

  /// The address that a relative pointer at an address means; nil for none.
  private func _relative(at address: UInt64) -> UInt64? {
    guard let offset = memory.load(Int32.self, at: address), offset != 0 else { return nil }
    return address &+ UInt64(bitPattern: Int64(offset))
  }

  /// The same for a pointer whose lowest bit says that it means the address of the address.
  private func _relativeIndirectable(at address: UInt64) -> UInt64? {
    guard let target = _relative(at: address) else { return nil }
    return target & 1 == 0 ? target : memory.word(at: target & ~1)
  }
}
