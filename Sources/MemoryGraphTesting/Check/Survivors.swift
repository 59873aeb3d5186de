// Survivors: which of a scope's blocks are objects, without a snapshot.

internal import CMemoryGraphHooks
internal import Glibc

/// Looks into blocks of a scope.
///
/// Most checks end here: where no object survives, no snapshot is needed. What is taken for an object too many
/// costs a snapshot, nothing else; so where it is unknown, a block is one. Memory is read through the kernel,
/// since another thread may free it meanwhile.
enum Survivors {
  /// Blocks that are objects, boxes, closure contexts or tasks, or that the program registered; without
  /// those that the test library made for itself.
  ///
  /// - Complexity: a system call or two for each block, and three for each type.
  static func objects(among blocks: [memory_graph_survivor]) -> [memory_graph_survivor] {
    var kinds = TypeKinds()
    var libraries = TestLibraries()
    return blocks.filter { block in
      if block.is_registered { return true }
      let kind = kinds.kind(of: block)
      guard kind != .other else { return false }
      guard let type = word(at: block.address) else { return true }
      return !libraries.own(block, type: type, isClass: kind == .object)
    }
  }

  /// How long the containers and texts among some objects are: elements, or bytes of a text, by the metadata of the
  /// storage's type.
  ///
  /// - Complexity: a system call or two for each container.
  static func lengths(
    of objects: [memory_graph_survivor]
  ) -> [(object: memory_graph_survivor, type: UInt64, length: Int)] {
    var layouts = StorageLayouts()
    return objects.compactMap { object in
      guard let type = word(at: object.address), let offset = layouts.offset(ofLengthIn: type),
        object.bytes >= offset + 8, let word = word(at: object.address + UInt64(offset))
      else { return nil }
      // A text has flags beside its length.
      return (object, type, Int(word & 0xffff_ffff_ffff))
    }
  }

  /// The tasks among some blocks.
  static func tasks(among blocks: [memory_graph_survivor]) -> [memory_graph_survivor] {
    var kinds = TypeKinds()
    return blocks.filter { kinds.kind(of: $0) == .task }
  }

  /// Whether a task is among some objects: it may end soon, and let go what it has.
  static func hasTask(among objects: [memory_graph_survivor]) -> Bool {
    var kinds = TypeKinds()
    return objects.contains { kinds.kind(of: $0) == .task }
  }

  /// The addresses of the metadata of some classes, with which their objects begin.
  static func metadata(of classes: [AnyClass]) -> Set<UInt64> {
    Set(classes.map { UInt64(UInt(bitPattern: unsafeBitCast($0, to: UnsafeRawPointer.self))) })
  }

  /// The objects of some classes, given by their metadata, and of their subclasses.
  static func objects(
    of wanted: Set<UInt64>, among blocks: [memory_graph_survivor]
  ) -> [memory_graph_survivor] {
    var isWanted: [UInt64: Bool] = [:]
    return blocks.filter { block in
      guard let type = word(at: block.address) else { return false }
      if let known = isWanted[type] { return known }
      var current = type
      var answer = false
      // No class has so many superclasses; a word that is none may lead in a circle.
      for _ in 0..<64 {
        if wanted.contains(current) {
          answer = true
          break
        }
        guard word(at: current) == 0, let next = word(at: current &+ 8), next != 0 else { break }
        current = next
      }
      isWanted[type] = answer
      return answer
    }
  }

  static func word(at address: UInt64) -> UInt64? {
    var word: UInt64 = 0
    return memory_graph_copy(address, &word, 8) ? word : nil
  }
}

/// Where the storage of containers and texts has its length.
private struct StorageLayouts {
  private var _offsets: [UInt64: UInt32?] = [:]

  /// The classes that storage is of, or of a subclass of.
  private static let _bases: [UInt64: UInt32] = {
    let names: [(String, UInt32)] = [
      ("s28__ContiguousArrayStorageBaseC", 16), ("s22__RawDictionaryStorageC", 16),
      ("s15__RawSetStorageC", 16), ("s15__StringStorageC", 24),
    ]
    var bases: [UInt64: UInt32] = [:]
    for (name, offset) in names {
      guard let type = _typeByName(name) as? AnyClass else { continue }
      for metadata in Survivors.metadata(of: [type]) { bases[metadata] = offset }
    }
    return bases
  }()

  /// Where storage of a type has its length; nil for what is no storage.
  mutating func offset(ofLengthIn type: UInt64) -> UInt32? {
    if let known = _offsets[type] { return known }
    var current = type
    var answer: UInt32?
    for _ in 0..<8 {
      if let offset = Self._bases[current] {
        answer = offset
        break
      }
      guard Survivors.word(at: current) == 0, let next = Survivors.word(at: current &+ 8),
        next != 0
      else { break }
      current = next
    }
    _offsets[type] = .some(answer)
    return answer
  }
}

/// What blocks are, by their first words.
private struct TypeKinds {
  enum Kind {
    case object
    case context  // of a closure, or a box
    case task
    case other
  }

  private var _kinds: [UInt64: (kind: Kind, bytes: UInt32)] = [:]

  private static let _taskMetadata: UInt64? = dlsym(
    nil, "_swift_concurrency_debug_asyncTaskMetadata"
  ).map { UInt64(UInt(bitPattern: $0.load(as: UnsafeRawPointer?.self))) }

  /// Whether the kernel lets the process read itself.
  private static let _canRead: Bool = {
    var here: UInt64 = 1
    return withUnsafePointer(to: &here) { Survivors.word(at: UInt64(UInt(bitPattern: $0))) == 1 }
  }()

  mutating func kind(of block: memory_graph_survivor) -> Kind {
    guard Self._canRead else { return .context }
    guard block.bytes >= 16, let type = Survivors.word(at: block.address), type >= 0x1000 else {
      return .other
    }
    let known = _kinds[type] ?? _read(type)
    _kinds[type] = known
    return known.bytes <= block.bytes ? known.kind : .other
  }

  /// Whether a description is that of a class; a class that was made at run time has none.
  private func _isClass(description: UInt64) -> Bool {
    if description == 0 { return true }
    var flags: UInt32 = 0
    return memory_graph_copy(description, &flags, 4) && flags & 31 == 16
  }

  /// The kind that metadata tells, and the least size of an instance.
  private func _read(_ type: UInt64) -> (Kind, UInt32) {
    if type == Self._taskMetadata { return (.task, 16) }
    // Kind, superclass, flags and address point, size of an instance and its alignment, of the class, description.
    var words: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0)
    guard type % 8 == 0, memory_graph_copy(type, &words, 32) else { return (.other, 0) }
    switch words.0 {
    case 0:
      // Many a word of C memory leads to a zero.
      let bytes = UInt32(truncatingIfNeeded: words.3)
      guard bytes >= 16, memory_graph_copy(type, &words, 48), _isClass(description: words.5)
      else { return (.other, 0) }
      return (.object, bytes)
    case 0x400..<0x600: return (.context, 16)
    default: return (.other, 0)
    }
  }
}
