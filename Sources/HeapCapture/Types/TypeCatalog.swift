// TypeCatalog: what the objects of a captured program are, by their first word.

internal import CHeapCapture
internal import GraphPrimitives
internal import SnapshotFormat

/// Says what an object is, by the metadata word it begins with, and finds its references.
///
/// A type is read and compiled when its first object is met; afterwards it is a look-up. Not
/// thread-safe.
package final class TypeCatalog {
  /// The labels of all references found so far.
  package let labels: LabelTable

  /// The types met so far; a type's `id` is its position.
  @exclusivity(unchecked) package private(set) var types: [SwiftType] = []

  let memory: TargetMemory
  let mirror: RemoteMirror
  let compiler: LayoutCompiler

  /// Nil for a program without tasks, or with tasks of a layout that is not known.
  let taskLayout: TaskLayout?
  private let _reader: MetadataReader
  private let _images: [LoadedImage]
  @exclusivity(unchecked) private var _typeByWord = _WordMap()
  private var _wellKnown: [UInt64: WellKnown] = [:]
  @exclusivity(unchecked) var valueByMetadata: [UInt64: ValueType] = [:]
  @exclusivity(unchecked) var programByBindings: [ContextKey: Int?] = [:]

  /// Whether blocks have the size that was asked for, and not the allocator's own.
  package var sizesAreExact = true

  /// What stands at the front of an object that is no class's instance.
  enum WellKnown {
    case task
    case taskSlab
    case block
  }

  /// How a value in an existential or an error box lies there.
  enum ValueType {
    /// A reference to an object.
    case object

    /// A value by a program, in the existential's words or in a box.
    case value(program: Int, isInline: Bool, alignment: Int)

    /// Metadata that can't be read.
    case unknown
  }

  /// A kind of closure, with the generic arguments its context holds.
  struct ContextKey: Hashable {
    var descriptor: UInt64
    var bindings: [UInt64]
  }

  /// Opens the catalog of a captured program.
  ///
  /// - Throws: ``CaptureError/noRemoteMirror(_:)`` where the toolchain's library can't be loaded.
  package init(
    memory: TargetMemory, images: [LoadedImage], labels: LabelTable = LabelTable()
  ) throws(CaptureError) {
    self.memory = memory
    self.labels = labels
    _images = images
    _reader = MetadataReader(memory: memory)
    taskLayout = TaskLayout(memory: memory, images: images)
    mirror = try RemoteMirror(memory: memory, images: images)
    compiler = LayoutCompiler(
      mirror: mirror, reader: _reader, labels: labels, images: images)
    // The concurrency library exports where it keeps the two addresses.
    for (symbol, meaning) in [
      ("_swift_concurrency_debug_asyncTaskMetadata", WellKnown.task),
      ("_swift_concurrency_debug_asyncTaskSlabMetadata", .taskSlab),
    ] {
      if let place = images.address(ofSymbol: symbol), let word = memory.word(at: place), word != 0
      {
        _wellKnown[word] = meaning
      }
    }
    for symbol in ["_NSConcreteMallocBlock", "_NSConcreteStackBlock"] {
      if let address = images.address(ofSymbol: symbol) { _wellKnown[address] = .block }
      for image in images {
        if let address = image.address(ofExportedSymbol: symbol) { _wellKnown[address] = .block }
      }
    }
  }

  /// What the capture could not describe, each with the number of times.
  package var diagnostics: [String: Int] {
    var all = compiler.diagnostics
    if mirror.failureCount > 0 {
      all["what a type says of itself made no sense, so its fields are unknown and read as words"] =
        mirror.failureCount
    }
    return all
  }

  /// The type of objects that begin with a word; nil where the word is no metadata's address.
  ///
  /// Safe for any word. Each word is decided about once.
  ///
  /// - Complexity: O(1); the first time O(*f*) calls of the mirror for *f* stored properties.
  package func type(ofMetadataWord word: UInt64) -> SwiftType? {
    guard word & 7 == 0, word >= 0x10000, word >> 47 == 0 else { return nil }
    if let known = _typeByWord[word] { return known < 0 ? nil : types[Int(known)] }
    let type = _decide(word)
    _typeByWord[word] = Int32(type?.id ?? -1)
    return type
  }

  private func _decide(_ word: UInt64) -> SwiftType? {
    switch _wellKnown[word] {
    case .task: return _add("Task", .task, isCounted: true, .task, word)
    case .taskSlab: return _add("Task slab", .taskSlab, isCounted: false, .taskSlab, word)
    case .block: return _add("block", .cBlock, isCounted: false, .block, word)
    case nil: break
    }
    guard let kind = _reader.kind(at: word) else { return nil }
    switch kind {
    case 0:
      return _reader.readClass(at: word).flatMap(_addClass)
    case MetadataReader.Kind.heapLocalVariable:
      return _addContext(word)
    case MetadataReader.Kind.genericBox:
      return _addGenericBox(word)
    case MetadataReader.Kind.errorBox:
      guard isInModule(memory.word(at: word - 16)) else { return nil }
      return _add("box", .box, isCounted: true, .errorBox, word)
    case MetadataReader.Kind.task, MetadataReader.Kind.job:
      guard isInModule(memory.word(at: word - 16)) else { return nil }
      let name = kind == MetadataReader.Kind.task ? "Task" : "Job"
      return _add(name, .task, isCounted: true, .words(from: 16), word)
    default:
      return nil
    }
  }

  private func _add(
    _ name: String, _ kind: NodeKind, isCounted: Bool, _ shape: SwiftType.Shape, _ word: UInt64
  ) -> SwiftType {
    let isNominal = kind == .object || kind == .storage || kind == .coreFoundation
    let type = SwiftType(
      id: types.count, name: name, module: isNominal ? moduleName(ofType: name) : "", kind: kind,
      isCounted: isCounted, shape: shape, metadata: word)
    types.append(type)
    return type
  }

  /// Whether a word is an address within a module: metadata that the compiler wrote names its
  /// destroying function.
  func isInModule(_ word: UInt64?) -> Bool {
    guard let word else { return false }
    return _images.contains { $0.module.start <= word && word < $0.module.end }
  }

  // MARK: Closures and boxes

  private func _addContext(_ word: UInt64) -> SwiftType? {
    guard isInModule(word), isInModule(memory.word(at: word - 16)),
      let first = memory.load(UInt32.self, at: word + 8), first == 0 || first >= 16,
      first < 1 << 16,
      let descriptor = memory.word(at: word + 16)
    else { return nil }
    guard descriptor != 0 else {
      return _add("closure context", .closureContext, isCounted: true, .words(from: 16), word)
    }
    guard let captures = memory.load(UInt32.self, at: descriptor), captures < 1 << 12,
      let sources = memory.load(UInt32.self, at: descriptor + 4), sources < 1 << 12,
      let bindings = memory.load(UInt32.self, at: descriptor + 8), bindings < 1 << 12
    else { return nil }
    let isBox = captures == 1 && bindings == 0
    // 0 says that the compiler didn't know where the first capture lies, since another library decides
    // about its type's layout. The mirror takes it for the place: the words must do.
    let shape = SwiftType.Shape.captures(
      descriptor: first == 0 ? nil : descriptor, firstCapture: max(16, Int(first)))
    return _add(
      isBox ? "box" : "closure context", isBox ? .box : .closureContext, isCounted: true, shape,
      word)
  }

  private func _addGenericBox(_ word: UInt64) -> SwiftType? {
    guard let offset = memory.load(UInt32.self, at: word + 8), offset >= 16, offset < 1 << 12,
      let boxed = memory.word(at: word + 16), isInModule(memory.word(at: word - 16)),
      let type = mirror.type(ofMetadata: boxed)
    else { return nil }
    return _add(
      "box", .box, isCounted: true,
      .box(program: compiler.boxedProgram(of: type), offset: Int(offset)),
      word)
  }

  // MARK: Classes

  private func _addClass(_ one: MetadataReader.Class) -> SwiftType {
    var chain = [one]
    var superclass = one.superclass
    while superclass != 0, chain.count < 64, let next = _reader.readClass(at: superclass) {
      chain.append(next)
      superclass = next.superclass
    }
    let reference = mirror.type(ofMetadata: one.metadata)
    var name = reference.map { readableTypeName(mirror.name(of: $0)) } ?? ""
    if name.isEmpty { name = readableTypeName(_reader.name(ofDescriptor: one.descriptor)) }
    if let storage = _storage(name, reference) {
      return _add(name, .storage, isCounted: true, storage, one.metadata)
    }
    let program = compiler.program(of: chain.reversed())
    let isCoreFoundation = name.hasPrefix("Foundation._NSCF") || name.hasPrefix("Foundation.__NSCF")
    if isCoreFoundation {
      // Metadata, count, CoreFoundation's own bits, then fields that only its C source describes.
      return _add(name, .coreFoundation, isCounted: true, .words(from: 24), one.metadata)
    }
    let isBuffer = chain.contains {
      $0.metadata != one.metadata
        && _reader.name(ofDescriptor: $0.descriptor) == "Swift.ManagedBuffer"
    }
    let shape: SwiftType.Shape =
      isBuffer
      ? .managedBuffer(program: program, size: one.instanceSize, hasTail: _bufferTail(chain))
      : .fixed(program: program, size: one.instanceSize)
    let isStorage = _storageNames.contains(_reader.name(ofDescriptor: one.descriptor))
    return _add(name, isStorage ? .storage : .object, isCounted: true, shape, one.metadata)
  }

  /// The shape of the standard library's container storage; nil for any other class.
  private func _storage(_ name: String, _ reference: RemoteMirror.TypeRef?) -> SwiftType.Shape? {
    if name == "Swift.__StringStorage" { return .string }
    if name == "Swift.CheckedContinuationCanary" { return .continuationCanary }
    guard let reference else { return nil }
    if _dequeNames.contains(where: name.hasPrefix) {
      let arguments = mirror.genericArguments(of: reference)
      guard arguments.count == 1 else { return nil }
      let element = compiler.program(of: arguments[0])
      let alignment = compiler.programs[element].alignment
      return .ring(element: element, start: (40 + alignment - 1) & ~(alignment - 1))
    }
    if name.hasPrefix("Swift._ContiguousArrayStorage<") {
      let arguments = mirror.genericArguments(of: reference)
      guard arguments.count == 1 else { return nil }
      return .array(element: compiler.program(of: arguments[0]))
    }
    if name.hasPrefix("Swift._DictionaryStorage<") {
      let arguments = mirror.genericArguments(of: reference)
      guard arguments.count == 2 else { return nil }
      return .dictionary(
        key: compiler.program(of: arguments[0]), value: compiler.program(of: arguments[1]))
    }
    if name.hasPrefix("Swift._SetStorage<") {
      let arguments = mirror.genericArguments(of: reference)
      guard arguments.count == 1 else { return nil }
      return .set(element: compiler.program(of: arguments[0]))
    }
    return nil
  }

  /// Whether the elements of a managed buffer may hold references.
  private func _bufferTail(_ chain: [MetadataReader.Class]) -> Bool {
    guard
      let base = chain.first(where: {
        _reader.name(ofDescriptor: $0.descriptor) == "Swift.ManagedBuffer"
      }), let reference = mirror.type(ofMetadata: base.metadata)
    else { return true }
    let arguments = mirror.genericArguments(of: reference)
    guard arguments.count == 2 else { return true }
    let element = compiler.program(of: arguments[1])
    return compiler.programs[element].isUnknown || !compiler.programs[element].steps.isEmpty
  }
}

/// The buffers of deques: the concurrency library's and the one of the collections package. All
/// have the same header.
private let _dequeNames = [
  "Swift._DequeBuffer<", "_Concurrency._DequeBuffer<", "DequeModule._DequeBuffer<",
]

/// Classes whose instances are the storage of a container, by their names without generic arguments.
private let _storageNames: Set<String> = [
  "Swift.__SharedStringStorage", "Swift.__StringStorage", "Swift.__EmptyArrayStorage",
  "Swift.__EmptyDictionarySingleton", "Swift.__EmptySetSingleton", "Swift.__RawDictionaryStorage",
  "Swift.__RawSetStorage", "Swift._ContiguousArrayStorage", "Foundation.__DataStorage",
  "FoundationEssentials.__DataStorage",
]

/// Words to small numbers: open addressing, since nearly every block's first word is asked about.
private struct _WordMap {
  private var _keys = [UInt64](repeating: 0, count: 1 << 12)
  private var _values = [Int32](repeating: 0, count: 1 << 12)
  private var _count = 0

  /// The number of a word other than 0.
  subscript(word: UInt64) -> Int32? {
    get {
      let slot = _slot(of: word)
      return _keys[slot] == word ? _values[slot] : nil
    }
    set {
      guard let newValue else { return }
      if _count * 2 >= _keys.count { _grow() }
      let slot = _slot(of: word)
      if _keys[slot] == 0 { _count += 1 }
      _keys[slot] = word
      _values[slot] = newValue
    }
  }

  private func _slot(of word: UInt64) -> Int {
    let mask = _keys.count - 1
    var slot = Int(truncatingIfNeeded: (word &* 0x9e37_79b9_7f4a_7c15) >> 32) & mask
    while _keys[slot] != 0 && _keys[slot] != word { slot = (slot + 1) & mask }
    return slot
  }

  private mutating func _grow() {
    let keys = _keys
    let values = _values
    _keys = [UInt64](repeating: 0, count: keys.count * 2)
    _values = [Int32](repeating: 0, count: keys.count * 2)
    for (index, key) in keys.enumerated() where key != 0 {
      let slot = _slot(of: key)
      _keys[slot] = key
      _values[slot] = values[index]
    }
  }
}
