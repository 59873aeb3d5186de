// LayoutCompiler: asks the remote mirror about a type and writes down what it says as a program.

internal import CHeapCapture
internal import GraphPrimitives
internal import SnapshotFormat

/// Turns the mirror's description of types into programs.
///
/// What the mirror can't describe becomes untyped words, and is counted.
final class LayoutCompiler {
  let mirror: RemoteMirror
  let reader: MetadataReader
  let labels: LabelTable
  let images: [LoadedImage]
  @exclusivity(unchecked) private(set) var programs: [LayoutProgram] = []
  @exclusivity(unchecked) var decoders: [EnumDecoder] = []
  private(set) var diagnostics: [String: Int] = [:]
  @exclusivity(unchecked) private var _programByType: [RemoteMirror.TypeRef: Int] = [:]
  private var _boxedProgram: [Int: Int] = [:]

  private let _packed: PackedEnums

  /// Whether values of a type have one of those enums in them.
  private var _hasPacked: [RemoteMirror.TypeRef: Bool] = [:]

  /// How the place is declared that is being compiled.
  private var _declaration = FieldDeclaration.variable

  /// Values that hold themselves directly do not exist; metadata that says so is damaged.
  private static let _deepest = 24

  /// Arrays in place with more elements than this are words.
  private static let _mostInlineElements = 1024

  init(mirror: RemoteMirror, reader: MetadataReader, labels: LabelTable, images: [LoadedImage]) {
    self.images = images
    self.mirror = mirror
    self.reader = reader
    self.labels = labels
    _packed = PackedEnums(of: images, reader: reader)
  }

  /// The program of a value.
  func program(of type: RemoteMirror.TypeRef) -> Int {
    if let known = _programByType[type] { return known }
    let info = mirror.info(of: type)
    var program = LayoutProgram()
    _declared(.variable) {
      _value(
        kind: info.kind, type: type, offset: 0, path: "", index: Snapshot.Labels.noIndex, depth: 0,
        into: &program.steps)
    }
    program.size = info.size
    program.stride = max(1, info.stride)
    program.alignment = info.alignment
    program.isUnknown = info.kind == MG_LAYOUT_UNKNOWN || _hasPackedEnum(type, info)
    let id = _add(program)
    _programByType[type] = id
    return id
  }

  /// The program of an instance of a class: the stored properties of its superclasses and its own.
  func program(of classes: [MetadataReader.Class]) -> Int {
    var program = LayoutProgram()
    var end = 16
    for one in classes {
      _fields(of: one, after: end, into: &program.steps)
      end = one.instanceSize
    }
    program.size = end
    return _add(program)
  }

  /// The program of a closure's context or a box, of which `object` is an instance; nil where the
  /// mirror can't describe it.
  func program(ofContext object: UInt64, isBox: Bool) -> Int? {
    let info = mirror.info(ofInstance: object)
    guard info.kind == MG_LAYOUT_CLOSURE_CONTEXT else {
      note("closures whose captures have no description")
      return nil
    }
    var program = LayoutProgram()
    for index in 0..<info.childCount {
      let child = mirror.child(index, ofInstance: object)
      if let type = child.type, info.childCount > 1, _hasPackedEnum(type, mirror.info(of: type)) {
        // Where the captures behind it lie is not known.
        note("closures whose captures have no description")
        return nil
      }
      // A box has one value, which the path goes through without a name of its own.
      _value(
        kind: child.kind, type: child.type, offset: child.offset, path: isBox ? "" : "capture",
        index: isBox ? Snapshot.Labels.noIndex : UInt32(index), depth: 0, into: &program.steps)
    }
    program.size = info.size
    return _add(isBox ? _named(program) : program)
  }

  /// The program of a value that stands alone in a box.
  func boxedProgram(of type: RemoteMirror.TypeRef) -> Int {
    let plain = program(of: type)
    if let known = _boxedProgram[plain] { return known }
    let id = _add(_named(programs[plain]))
    _boxedProgram[plain] = id
    return id
  }

  /// A program in which the value itself is called `value`.
  private func _named(_ program: LayoutProgram) -> LayoutProgram {
    var named = program
    let name = labels.name("value")
    for position in named.steps.indices where named.steps[position].name == .empty {
      named.steps[position].name = name
      named.steps[position].label = labels.label(name)
    }
    return named
  }

  /// What the steps that `body` makes are declared as; what lies within says more.
  private func _declared<Result>(_ declaration: FieldDeclaration, _ body: () -> Result) -> Result {
    let outer = _declaration
    defer { _declaration = outer }
    _declaration = declaration
    return body()
  }

  /// How a stored property of a class is declared.
  private func _declaration(ofField index: Int, of one: MetadataReader.Class) -> FieldDeclaration {
    if isFoldedInPaths(reader.name(ofDescriptor: one.descriptor)) { return .library }
    return reader.isConstant(field: index, of: one) ? .constant : .variable
  }

  func note(_ text: String) { diagnostics[text, default: 0] += 1 }

  private func _add(_ program: LayoutProgram) -> Int {
    programs.append(program)
    return programs.count - 1
  }

  // MARK: Classes

  private func _fields(
    of one: MetadataReader.Class, after start: Int, into steps: inout [LayoutProgram.Step]
  ) {
    guard one.instanceSize > start || !one.fieldOffsets.isEmpty else { return }
    let info = mirror.info(ofMetadata: one.metadata)
    guard info.kind == MG_LAYOUT_CLASS_INSTANCE else {
      _singleFields(of: one, from: start, into: &steps)
      return
    }
    for index in 0..<info.childCount {
      let child = mirror.child(index, ofMetadata: one.metadata)
      var offset = child.offset
      // The metadata says where the program really looks; the mirror adds up sizes.
      // Metadata that is not complete yet has zeros.
      if index < one.fieldOffsets.count, one.fieldOffsets[index] >= 16,
        one.fieldOffsets[index] != offset
      {
        note("fields that the remote mirror puts elsewhere than the metadata")
        offset = one.fieldOffsets[index]
      }
      _declared(_declaration(ofField: index, of: one)) {
        _value(
          kind: child.kind, type: child.type, offset: offset, path: readableFieldName(child.name),
          index: Snapshot.Labels.noIndex, depth: 0, into: &steps)
      }
    }
  }

  /// The fields of a class of which the mirror can't describe all: one by one, and words for those
  /// that it can't.
  private func _singleFields(
    of one: MetadataReader.Class, from start: Int, into steps: inout [LayoutProgram.Step]
  ) {
    guard !one.fieldOffsets.isEmpty else {
      note("classes whose layout has no description")
      _words(from: start, to: one.instanceSize, path: "", into: &steps)
      return
    }
    let names = reader.fieldNames(of: one)
    let record = RemoteMirror.ClassRecord(
      metadata: one.metadata, size: one.metadataSize, fields: one.fields,
      fieldCount: one.fieldOffsets.count)
    for (index, offset) in one.fieldOffsets.enumerated() {
      let name = index < names.count ? readableFieldName(names[index]) : ""
      _declaration = _declaration(ofField: index, of: one)
      defer { _declaration = .variable }
      if let child = mirror.child(index, of: record) {
        _value(
          kind: child.kind, type: child.type, offset: offset, path: name,
          index: Snapshot.Labels.noIndex, depth: 0, into: &steps)
      } else if !_rawLayout(index, of: one, offset: offset, path: name, into: &steps) {
        note("fields whose layout has no description")
        // Fields need not lie in the order in which they are declared.
        let end = one.fieldOffsets.filter { $0 > offset }.min() ?? one.instanceSize
        _words(from: offset, to: end, path: name, into: &steps)
      }
    }
  }

  /// A mutex or an atomic: its memory is said to be like its argument's, and no field of it is
  /// described. Its type is known only where the module has its local symbols.
  private func _rawLayout(
    _ index: Int, of one: MetadataReader.Class, offset: Int, path: String,
    into steps: inout [LayoutProgram.Step]
  ) -> Bool {
    let prefix = "get_type_metadata "
    guard let place = reader.accessorTypeName(ofField: index, of: one),
      let image = images.image(containing: place),
      let symbol = image.symbol(at: place, prefix: prefix)
    else { return false }
    // The type's mangled name, then why it is made by a function.
    let mangled = symbol.dropFirst(prefix.count).prefix { $0 != " " }
    guard let type = mirror.type(ofMangledName: "$s" + mangled),
      let argument = mirror.genericArguments(of: type).first
    else { return false }
    let name = mirror.name(of: type)
    let info = mirror.info(of: argument)
    func value(at place: Int) -> Bool {
      guard info.kind != MG_LAYOUT_UNKNOWN else { return false }
      _declared(.locked) {
        _value(
          kind: info.kind, type: argument,
          offset: (place + info.alignment - 1) & ~(info.alignment - 1),
          path: path, index: Snapshot.Labels.noIndex, depth: 0, into: &steps)
      }
      return true
    }
    // A mutex is a futex word and then the value.
    if name.hasPrefix("Synchronization.Mutex<") { return value(at: offset + 4) }
    if name.hasPrefix("Synchronization.Atomic<") { return value(at: offset) }
    guard name.hasPrefix("Synchronization.AtomicLazyReference<") else { return false }
    _declaration = .locked
    steps.append(
      _step(
        .reference, detail: Int32(EdgeStrength.strong.rawValue), offset: offset, size: 8,
        path: path,
        index: Snapshot.Labels.noIndex))
    return true
  }

  // MARK: Values

  private func _value(
    kind: mg_layout_kind, type: RemoteMirror.TypeRef?, offset: Int, path: String, index: UInt32,
    depth: Int, into steps: inout [LayoutProgram.Step]
  ) {
    guard depth < Self._deepest else {
      note("types that are nested too deeply")
      return
    }
    func step(_ kind: LayoutProgram.Step.Kind, detail: Int32 = 0, at place: Int, size: Int) {
      steps.append(_step(kind, detail: detail, offset: place, size: size, path: path, index: index))
    }
    func reference(_ strength: EdgeStrength) {
      step(.reference, detail: Int32(strength.rawValue), at: offset, size: 8)
    }
    switch kind {
    case MG_LAYOUT_STRONG:
      // Who resumes a task owns the reference that its run is; copies of the continuation do not.
      if let type, mirror.name(of: type).hasPrefix("Builtin.RawUnsafeContinuation") {
        step(.continuation, at: offset, size: 8)
      } else {
        reference(.strong)
      }
    case MG_LAYOUT_ERROR_EXISTENTIAL:
      reference(.strong)
    case MG_LAYOUT_UNOWNED:
      reference(.unowned)
    case MG_LAYOUT_UNMANAGED:
      reference(.unmanaged)
    case MG_LAYOUT_WEAK:
      step(.weak, at: offset, size: 8)
    case MG_LAYOUT_RAW_POINTER:
      step(.words, at: offset, size: 8)
    case MG_LAYOUT_THICK_FUNCTION:
      step(.function, at: offset, size: 16)
    case MG_LAYOUT_OPAQUE_EXISTENTIAL:
      _declared(_declaration == .library ? .library : .existential) {
        step(.existential, at: offset, size: 32)
      }
    case MG_LAYOUT_EXISTENTIAL_METATYPE, MG_LAYOUT_NO_PAYLOAD_ENUM:
      break
    default:
      guard let type else {
        note("values whose type has no description")
        return
      }
      _compound(
        kind: kind, type: type, offset: offset, path: path, index: index, depth: depth, into: &steps
      )
    }
  }

  private func _compound(
    kind: mg_layout_kind, type: RemoteMirror.TypeRef, offset: Int, path: String, index: UInt32,
    depth: Int, into steps: inout [LayoutProgram.Step]
  ) {
    let info = mirror.info(of: type)
    if _hasPackedEnum(type, info) {
      note("generic enums that the remote mirror lays out otherwise than the compiler")
      _words(from: offset, to: offset + info.size, path: path, index: index, into: &steps)
      return
    }
    switch kind {
    case MG_LAYOUT_BUILTIN:
      _builtin(mirror.name(of: type), info, offset: offset, path: path, index: index, into: &steps)
    case MG_LAYOUT_CLASS_EXISTENTIAL:
      // The object with its strength; the words behind it are witness tables.
      guard info.childCount > 0 else { return }
      let object = mirror.child(0, of: type)
      _value(
        kind: object.kind, type: object.type, offset: offset + object.offset, path: path,
        index: index, depth: depth + 1, into: &steps)
    case MG_LAYOUT_TUPLE:
      let elements = tupleLabels(mirror.name(of: type))
      for place in 0..<info.childCount {
        let child = mirror.child(place, of: type)
        let element = place < elements.count ? elements[place] : nil
        _declared(_declaration == .library ? .library : .tuple) {
          _value(
            kind: child.kind, type: child.type, offset: offset + child.offset,
            path: joinPath(path, element ?? String(place)), index: index, depth: depth + 1,
            into: &steps)
        }
      }
    case MG_LAYOUT_STRUCT:
      _structure(type, info, offset: offset, path: path, index: index, depth: depth, into: &steps)
    case MG_LAYOUT_SINGLE_PAYLOAD_ENUM, MG_LAYOUT_MULTI_PAYLOAD_ENUM:
      _enumeration(type, info, offset: offset, path: path, index: index, depth: depth, into: &steps)
    default:
      note("values whose type has no description")
      _words(from: offset, to: offset + info.size, path: path, index: index, into: &steps)
    }
  }

  /// Whether a value has an enum in it, in place, whose cases are told apart in bits where the mirror doesn't look.
  private func _hasPackedEnum(
    _ type: RemoteMirror.TypeRef, _ info: RemoteMirror.Info, depth: Int = 0
  ) -> Bool {
    guard depth < Self._deepest else { return false }
    switch info.kind {
    case MG_LAYOUT_STRUCT, MG_LAYOUT_TUPLE, MG_LAYOUT_SINGLE_PAYLOAD_ENUM,
      MG_LAYOUT_MULTI_PAYLOAD_ENUM:
      break
    default:
      return false
    }
    if let known = _hasPacked[type] { return known }
    var found =
      info.kind == MG_LAYOUT_MULTI_PAYLOAD_ENUM
      && (_packed.contains(name: mirror.name(of: type)) || _hasWeak(type, info))
    for place in 0..<info.childCount where !found {
      if let child = mirror.child(place, of: type).type {
        found = _hasPackedEnum(child, mirror.info(of: child), depth: depth + 1)
      }
    }
    _hasPacked[type] = found
    return found
  }

  /// Whether a value has a weak reference in it. The mirror takes bits of it for bits that tell an enum's cases
  /// apart, and the compiler doesn't.
  private func _hasWeak(
    _ type: RemoteMirror.TypeRef, _ info: RemoteMirror.Info, depth: Int = 0
  ) -> Bool {
    guard depth < Self._deepest else { return false }
    switch info.kind {
    case MG_LAYOUT_WEAK: return true
    case MG_LAYOUT_STRUCT, MG_LAYOUT_TUPLE, MG_LAYOUT_SINGLE_PAYLOAD_ENUM,
      MG_LAYOUT_MULTI_PAYLOAD_ENUM:
      return (0..<info.childCount).contains { place in
        let child = mirror.child(place, of: type)
        if child.kind == MG_LAYOUT_WEAK { return true }
        return child.type.map { _hasWeak($0, mirror.info(of: $0), depth: depth + 1) } ?? false
      }
    default: return false
    }
  }

  private func _builtin(
    _ name: String, _ info: RemoteMirror.Info, offset: Int, path: String, index: UInt32,
    into steps: inout [LayoutProgram.Step]
  ) {
    if name.hasPrefix("Builtin.BridgeObject") {
      steps.append(_step(.bridge, offset: offset, size: 8, path: path, index: index))
    } else if name.hasPrefix("Builtin.FPIEEE") || name.hasPrefix("Builtin.Vec")
      || name.contains("->")
      || name.hasSuffix(".Type")
    {
      // Numbers that are no addresses, code, metadata.
    } else {
      // A 64-bit integer may be an address that the program keeps as a number; a C struct, a lock or
      // an actor's queue may hold one.
      _words(from: offset, to: offset + info.size, path: path, index: index, into: &steps)
    }
  }

  private func _structure(
    _ type: RemoteMirror.TypeRef, _ info: RemoteMirror.Info, offset: Int, path: String,
    index: UInt32,
    depth: Int, into steps: inout [LayoutProgram.Step]
  ) {
    let name = readableTypeName(mirror.name(of: type))
    if name == "Swift._StringObject" {
      // The other word is the count, never an address.
      steps.append(_step(.bridge, offset: offset + 8, size: 8, path: path, index: index))
      return
    }
    // Offsets within a string.
    if name == "Swift.String.Index" { return }
    if name.hasPrefix("Swift.InlineArray<"),
      _inlineArray(type, info, offset: offset, path: path, index: index, depth: depth, into: &steps)
    {
      return
    }
    let isFolded = isFoldedInPaths(name)
    for place in 0..<info.childCount {
      let child = mirror.child(place, of: type)
      let name = isFolded ? path : joinPath(path, readableFieldName(child.name))
      if child.kind == MG_LAYOUT_UNKNOWN {
        // Where the next field begins is not known either.
        note("values whose type has no description")
        _words(from: offset + child.offset, to: offset + info.size, path: name, into: &steps)
        continue
      }
      _declared(isFolded || _declaration == .library ? _declaration : .structure) {
        _value(
          kind: child.kind, type: child.type, offset: offset + child.offset, path: name,
          index: index, depth: depth + 1, into: &steps)
      }
    }
  }

  /// The elements of an array that lies in place.
  private func _inlineArray(
    _ type: RemoteMirror.TypeRef, _ info: RemoteMirror.Info, offset: Int, path: String,
    index: UInt32,
    depth: Int, into steps: inout [LayoutProgram.Step]
  ) -> Bool {
    guard let element = mirror.genericArguments(of: type).last else { return false }
    let layout = mirror.info(of: element)
    guard layout.size > 0, layout.stride > 0, info.size / layout.stride <= Self._mostInlineElements
    else { return false }
    for place in 0..<(info.size / layout.stride) {
      _value(
        kind: layout.kind, type: element, offset: offset + place * layout.stride,
        path: "\(path)[\(place)]", index: index, depth: depth + 1, into: &steps)
    }
    return true
  }

  private func _enumeration(
    _ type: RemoteMirror.TypeRef, _ info: RemoteMirror.Info, offset: Int, path: String,
    index: UInt32,
    depth: Int, into steps: inout [LayoutProgram.Step]
  ) {
    let name = readableTypeName(mirror.name(of: type))
    let isFolded = isFoldedInPaths(name) && !name.hasPrefix("Swift.Result<")
    let isGeneric = !mirror.genericArguments(of: type).isEmpty
    var branches: [(place: Int, size: Int, steps: [LayoutProgram.Step])] = []
    for place in 0..<info.childCount {
      let child = mirror.child(place, of: type)
      guard let payload = child.type else { continue }
      let layout = mirror.info(of: payload)
      if layout.kind == MG_LAYOUT_UNKNOWN {
        note("values whose type has no description")
        return _words(from: offset, to: offset + info.size, path: path, index: index, into: &steps)
      }
      let size = layout.size
      // Payloads without a size are laid out as cases without a payload, unless they are generic.
      if size == 0 && !isGeneric { continue }
      var inner: [LayoutProgram.Step] = []
      _declared(isFolded || _declaration == .library ? _declaration : .payload) {
        _value(
          kind: child.kind, type: payload, offset: offset,
          path: isFolded ? path : joinPath(path, child.name),
          index: index, depth: depth + 1, into: &inner)
      }
      branches.append((place, size, inner))
    }
    guard branches.contains(where: { !$0.steps.isEmpty }) else { return }
    let decoder: EnumDecoder
    if branches.count == 1 {
      let only = branches[0]
      // A single reference is its own test: no pointer, no payload.
      if info.size == only.size, only.steps.count == 1, only.steps[0].kind != .words {
        steps.append(contentsOf: only.steps)
        return
      }
      decoder = .single(
        type, info: info, payloadSize: only.size, payloadCase: only.place, mirror: mirror)
    } else {
      decoder = .multiple(type, info: info, payloadCases: branches.map(\.place), mirror: mirror)
    }
    decoders.append(decoder)
    let all = branches.filter { !$0.steps.isEmpty }
    var choice = _step(
      .choice, detail: Int32(decoders.count - 1), offset: offset, size: info.size, path: path,
      index: index)
    choice.count = UInt32(all.reduce(0) { $0 + 1 + $1.steps.count })
    steps.append(choice)
    for branch in all {
      var head = _step(
        .branch, detail: Int32(branch.place), offset: offset, size: 0, path: path, index: index)
      head.count = UInt32(branch.steps.count)
      steps.append(head)
      steps.append(contentsOf: branch.steps)
    }
  }

  private func _words(
    from start: Int, to end: Int, path: String, index: UInt32 = Snapshot.Labels.noIndex,
    into steps: inout [LayoutProgram.Step]
  ) {
    let first = (start + 7) & ~7
    let last = end & ~7
    guard first < last else { return }
    steps.append(_step(.words, offset: first, size: last - first, path: path, index: index))
  }

  private func _step(
    _ kind: LayoutProgram.Step.Kind, detail: Int32 = 0, offset: Int, size: Int, path: String,
    index: UInt32
  ) -> LayoutProgram.Step {
    let name = labels.name(path)
    return LayoutProgram.Step(
      kind: kind, detail: detail, offset: UInt32(clamping: offset), size: UInt32(clamping: size),
      count: 0, name: name, index: index, declaration: _declaration,
      label: path.isEmpty && index == Snapshot.Labels.noIndex
        ? .none : labels.label(name, index: index))
  }
}
