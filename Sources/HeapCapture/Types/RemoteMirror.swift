// RemoteMirror: libswiftRemoteMirror over a captured program's memory, with its calls as Swift values.

internal import CHeapCapture
internal import Glibc

/// The library of the Swift toolchain that reads layouts out of metadata, over one captured program.
///
/// Each answer costs microseconds and memory that lives as long as the instance: ask once a type.
/// Not thread-safe.
final class RemoteMirror {
  /// A type that the mirror knows.
  struct TypeRef: Hashable {
    let rawValue: mg_type_ref
  }

  /// A field, a capture or an enum case.
  struct Child {
    var name: String
    var offset: Int
    var kind: mg_layout_kind

    /// Nil for an enum case without a payload and where the mirror does not know the type.
    var type: TypeRef?
  }

  /// The layout of a value or an instance.
  struct Info {
    var kind: mg_layout_kind
    var size: Int
    var alignment: Int
    var stride: Int
    var childCount: Int
  }

  /// Where the mirror sees bytes that no program holds: they stand at an address that no program can
  /// have, so that it can be asked what a bit pattern would mean.
  static let scratchAddress: UInt64 = 0x00ee_0000_0000_0000
  static let scratchSize = 1 << 20

  private let _reader: _MirrorReader
  private let _mirror: UnsafeMutablePointer<mg_mirror>
  private let _context: UnsafeMutableRawPointer
  private var _serial: UInt64 = 0
  private let _failuresBefore = mg_mirror_failures()

  /// Loads the library and tells it of the reflection sections of all images.
  ///
  /// - Throws: ``CaptureError/noRemoteMirror(_:)`` saying where it was looked for.
  init(memory: TargetMemory, images: [LoadedImage]) throws(CaptureError) {
    let functions = try Self.load()
    _reader = _MirrorReader(memory: memory, images: images)
    let reader = Unmanaged.passUnretained(_reader).toOpaque()
    let mirror = UnsafeMutablePointer<mg_mirror>.allocate(capacity: 1)
    mirror.initialize(to: functions)
    guard
      let context = mg_mirror_create(
        mirror, reader, _answerQuery, _freeBytes, _readBytes, _stringLength, _symbolAddress)
    else {
      mirror.deallocate()
      throw .noRemoteMirror("it makes no context for this program")
    }
    _context = context
    _mirror = mirror
    for image in images where image.sections["swift5_fieldmd"] != nil {
      var sections = mg_reflection_sections(
        fields: _section("swift5_fieldmd", image),
        associated_types: _section("swift5_assocty", image),
        builtins: _section("swift5_builtin", image), captures: _section("swift5_capture", image),
        type_references: _section("swift5_typeref", image),
        strings: _section("swift5_reflstr", image))
      _ = mg_mirror_add_sections(_mirror, _context, &sections)
    }
  }

  deinit {
    mg_mirror_destroy(_mirror, _context, _failuresBefore)
    _mirror.deallocate()
  }

  /// How many questions the library gave up on, since what it read made no sense to it.
  var failureCount: Int { Int(mg_mirror_failures() - _failuresBefore) }

  /// The bytes at `scratchAddress`, to be filled before a question.
  var scratch: UnsafeMutableRawBufferPointer { _reader.scratch }

  func type(ofMetadata metadata: UInt64) -> TypeRef? {
    _type(mg_mirror_type_for_metadata(_mirror, _context, UInt(metadata)))
  }

  /// The type of a mangled name, which begins with `$s` and has no symbolic references.
  func type(ofMangledName name: String) -> TypeRef? {
    _type(
      name.withCString {
        mg_mirror_type_for_mangled_name(_mirror, _context, $0, UInt64(name.utf8.count))
      })
  }

  func info(ofMetadata metadata: UInt64) -> Info {
    _info(mg_mirror_info_for_metadata(_mirror, _context, UInt(metadata)))
  }

  func child(_ index: Int, ofMetadata metadata: UInt64) -> Child {
    _child(mg_mirror_child_of_metadata(_mirror, _context, UInt(metadata), UInt32(index)))
  }

  /// A class's metadata and field descriptor, as far as they are shown to the mirror.
  struct ClassRecord {
    var metadata: UInt64

    /// The bytes of the metadata record from its address on.
    var size: Int
    var fields: UInt64
    var fieldCount: Int
  }

  /// Describes one stored property of a class; nil where it has no description.
  ///
  /// The mirror describes a class only if it can describe all its properties. Here it is shown a copy
  /// of the metadata and a field descriptor that has just this one.
  ///
  /// - Parameter index: the property's place in the field descriptor.
  func child(_ index: Int, of record: ClassRecord) -> Child? {
    let prefix = 32
    let recordSize = 12
    let place = 16 + index * recordSize
    guard record.size > 0, record.size + prefix <= Self.scratchSize, index < record.fieldCount,
      let source = _reader.memory.bytes(
        at: record.metadata - UInt64(prefix), count: record.size + prefix),
      let descriptor = _reader.memory.bytes(
        at: record.fields, count: 16 + record.fieldCount * recordSize),
      descriptor.loadUnaligned(fromByteOffset: 10, as: UInt16.self) == recordSize
    else { return nil }
    // The copy of the captured memory is ours; it is put right again below.
    let local = UnsafeMutableRawPointer(mutating: descriptor)
    let saved = Array(UnsafeRawBufferPointer(start: descriptor + 12, count: 4 + recordSize))
    defer {
      UnsafeMutableRawBufferPointer(start: local + 12, count: saved.count).copyBytes(from: saved)
    }
    // Flags, type and name, the latter two relative to where they stand.
    let flags = local.loadUnaligned(fromByteOffset: place, as: UInt32.self)
    let own = record.fields &+ UInt64(place)
    let first = record.fields &+ 16
    let type = own &+ 4 &+ _displacement(local, place + 4)
    let title = own &+ 8 &+ _displacement(local, place + 8)
    local.storeBytes(of: 1, toByteOffset: 12, as: UInt32.self)
    local.storeBytes(of: flags, toByteOffset: 16, as: UInt32.self)
    local.storeBytes(
      of: Int32(truncatingIfNeeded: type &- (first &+ 4)), toByteOffset: 20, as: Int32.self)
    local.storeBytes(
      of: Int32(truncatingIfNeeded: title &- (first &+ 8)), toByteOffset: 24, as: Int32.self)
    _serial += 1
    scratch.copyMemory(from: UnsafeRawBufferPointer(start: source, count: record.size + prefix))
    let copy = Self.scratchAddress + _serial << 32 + UInt64(prefix)
    let info = info(ofMetadata: copy)
    return info.kind == MG_LAYOUT_CLASS_INSTANCE && info.childCount == 1
      ? child(0, ofMetadata: copy) : nil
  }

  func info(ofInstance object: UInt64) -> Info {
    _info(mg_mirror_info_for_instance(_mirror, _context, UInt(object)))
  }

  func child(_ index: Int, ofInstance object: UInt64) -> Child {
    _child(mg_mirror_child_of_instance(_mirror, _context, UInt(object), UInt32(index)))
  }

  func info(of type: TypeRef) -> Info {
    _info(mg_mirror_info_for_type(_mirror, _context, type.rawValue))
  }

  func child(_ index: Int, of type: TypeRef) -> Child {
    _child(mg_mirror_child_of_type(_mirror, _context, type.rawValue, UInt32(index)))
  }

  func genericArguments(of type: TypeRef) -> [TypeRef] {
    (0..<mg_mirror_generic_argument_count(_mirror, type.rawValue)).compactMap {
      _type(mg_mirror_generic_argument(_mirror, type.rawValue, $0))
    }
  }

  /// The type's demangled name as the library writes it; empty where it can't.
  func name(of type: TypeRef) -> String {
    guard let text = mg_mirror_copy_demangled_name(_mirror, _context, type.rawValue) else {
      return ""
    }
    defer { free(text) }
    return String(cString: text)
  }

  /// Which case of an enum the bytes at an address are; nil where they are none.
  func liveCase(at address: UInt64, of type: TypeRef) -> Int? {
    var index: Int32 = -1
    return mg_mirror_project_enum(_mirror, _context, address, type.rawValue, &index) != 0
      && index >= 0
      ? Int(index) : nil
  }

  /// What a relative pointer at an offset adds to its own address.
  private func _displacement(_ base: UnsafeMutableRawPointer, _ offset: Int) -> UInt64 {
    UInt64(bitPattern: Int64(base.loadUnaligned(fromByteOffset: offset, as: Int32.self)))
  }

  private func _type(_ rawValue: mg_type_ref) -> TypeRef? {
    rawValue == 0 ? nil : TypeRef(rawValue: rawValue)
  }

  private func _info(_ info: mg_type_info) -> Info {
    Info(
      kind: _kind(info.kind), size: Int(info.size), alignment: max(1, Int(info.alignment)),
      stride: Int(info.stride), childCount: Int(info.field_count))
  }

  private func _child(_ child: mg_child_info) -> Child {
    Child(
      name: child.name.map { String(cString: $0) } ?? "", offset: Int(child.offset),
      kind: _kind(child.kind), type: _type(child.type))
  }

  private func _kind(_ rawValue: Int32) -> mg_layout_kind {
    rawValue >= 0 && rawValue <= MG_LAYOUT_ARRAY.rawValue
      ? mg_layout_kind(rawValue: rawValue) : MG_LAYOUT_UNKNOWN
  }

  private func _section(_ name: String, _ image: LoadedImage) -> mg_section {
    guard let range = image.sections[name],
      let local = _reader.memory.keptBytes(at: range.lowerBound, count: range.count)
    else { return mg_section() }
    return mg_section(
      local_begin: local, local_end: local + range.count, target_begin: range.lowerBound,
      size: UInt64(range.count))
  }

  /// Loads the library from the loader's path, from beside this process's Swift runtime, from the
  /// toolchain whose compiler is on PATH, or from beside this program, where an installation has it.
  static func load() throws(CaptureError) -> mg_mirror {
    let file = "libswiftRemoteMirror.so"
    var candidates = [file]
    if let runtime = mg_path_of_swift_runtime().map({ String(cString: $0) }),
      runtime.hasSuffix("/libswiftCore.so")
    {
      candidates.append(String(runtime.dropLast("libswiftCore.so".count)) + file)
    }
    let path = getenv("PATH").map { String(cString: $0) } ?? ""
    for folder in path.split(separator: ":") {
      guard let resolved = realpath("\(folder)/swiftc", nil) else { continue }
      defer { free(resolved) }
      // …/usr/bin/swift-frontend, …/usr/lib/swift/linux.
      let parts = String(cString: resolved).split(separator: "/").dropLast(2)
      candidates.append("/" + parts.joined(separator: "/") + "/lib/swift/linux/" + file)
    }
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
    let length = max(0, readlink("/proc/self/exe", &buffer, buffer.count - 1))
    let program = String(decoding: buffer[..<length].map(UInt8.init(bitPattern:)), as: UTF8.self)
    if let slash = program.lastIndex(of: "/") { candidates.append(program[...slash] + file) }
    var reasons: [String] = []
    for candidate in candidates {
      var mirror = mg_mirror()
      var reason = [CChar](repeating: 0, count: 512)
      if mg_mirror_load(candidate, &mirror, &reason, UInt32(reason.count)) { return mirror }
      let text = reason.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
      reasons.append(String(decoding: text, as: UTF8.self))
    }
    throw .noRemoteMirror(
      "\(file) was looked for along the loader's path, beside libswiftCore.so, beside swiftc and beside this"
        + " program: "
        + reasons.joined(separator: "; "))
  }
}

/// What the mirror's callbacks need: the memory and the symbols.
private final class _MirrorReader {
  let memory: TargetMemory
  let images: [LoadedImage]
  let scratch: UnsafeMutableRawBufferPointer
  private var _addressBySymbol: [String: UInt64] = [:]

  init(memory: TargetMemory, images: [LoadedImage]) {
    self.memory = memory
    self.images = images
    scratch = .allocate(byteCount: RemoteMirror.scratchSize, alignment: 16)
    scratch.initializeMemory(as: UInt8.self, repeating: 0)
  }

  deinit { scratch.deallocate() }

  func bytes(at address: UInt64, count: UInt64) -> UnsafeRawPointer? {
    if address >= RemoteMirror.scratchAddress {
      // The same bytes stand at many addresses: the mirror remembers what it read at each of them.
      let offset = (address - RemoteMirror.scratchAddress) & 0xffff_ffff
      guard offset <= UInt64(scratch.count), count <= UInt64(scratch.count) - offset,
        let base = scratch.baseAddress
      else { return nil }
      return UnsafeRawPointer(base + Int(offset))
    }
    guard count <= 1 << 30 else { return nil }
    // The library keeps what it was given.
    return memory.keptBytes(at: address, count: Int(count))
  }

  func address(ofSymbol name: String) -> UInt64 {
    if let address = _addressBySymbol[name] { return address }
    let address = images.address(ofSymbol: name) ?? 0
    _addressBySymbol[name] = address
    return address
  }
}

private func _reader(_ pointer: UnsafeMutableRawPointer?) -> _MirrorReader? {
  pointer.map { Unmanaged<_MirrorReader>.fromOpaque($0).takeUnretainedValue() }
}

private let _answerQuery: mg_query_function = { _, query, _, answer in
  guard let answer else { return 0 }
  switch mg_layout_query(rawValue: query) {
  case MG_QUERY_POINTER_SIZE, MG_QUERY_SIZE_SIZE:
    answer.storeBytes(of: 8, as: UInt8.self)
  case MG_QUERY_POINTER_AUTHENTICATION_MASK:
    answer.storeBytes(of: 0x00ff_ffff_ffff_ffff, as: UInt64.self)
  case MG_QUERY_OBJC_RESERVED_LOW_BITS, MG_QUERY_OBJC_INTEROP:
    answer.storeBytes(of: 0, as: UInt8.self)
  case MG_QUERY_LEAST_VALID_POINTER:
    answer.storeBytes(of: 0x1000, as: UInt64.self)
  default:
    return 0
  }
  return 1
}

/// Nothing to free: the bytes belong to the captured memory's copy.
private let _freeBytes: mg_free_function = { _, _, _ in }

private let _readBytes: mg_read_function = { reader, address, size, context in
  context?.pointee = nil
  return _reader(reader)?.bytes(at: address, count: size)
}

private let _stringLength: mg_string_length_function = { reader, address in
  guard let reader = _reader(reader) else { return 0 }
  var length: UInt64 = 0
  while length < 1 << 20, let byte = reader.bytes(at: address &+ length, count: 1) {
    if byte.load(as: UInt8.self) == 0 { return length }
    length += 1
  }
  return 0
}

private let _symbolAddress: mg_symbol_function = { reader, name, length in
  guard let name, let reader = _reader(reader) else { return 0 }
  let bytes = UnsafeRawBufferPointer(start: name, count: Int(length))
  return reader.address(ofSymbol: String(decoding: bytes, as: UTF8.self))
}
