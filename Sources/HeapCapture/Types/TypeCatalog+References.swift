// References of instances: runs a type's program over an object's bytes.

internal import GraphPrimitives
internal import SnapshotFormat

/// Where an object's references are tagged: bits of the word that are no part of an address.
private let _addressMask: UInt64 = 0x00ff_ffff_ffff_fff8

extension TypeCatalog {
  /// Reports the references of an object to a sink, in the order of their places.
  ///
  /// Counts and sizes that the object itself states are held against `allocatedSize`, so that a
  /// damaged object reports fewer references and nothing worse.
  ///
  /// - Parameters:
  ///   - object: where the object starts.
  ///   - type: the type of its first word.
  ///   - allocatedSize: the bytes that were asked for from the allocator.
  /// - Complexity: O(*r*) for *r* references.
  package func references(
    of object: UInt64, type: SwiftType, allocatedSize: Int, into sink: inout some ReferenceSink
  ) {
    let available = type.usesSlack ? usableSize(of: object, allocatedSize) : allocatedSize
    guard allocatedSize >= 16, let bytes = memory.bytes(at: object, count: available) else {
      return
    }
    let value = _Value(address: object, bytes: bytes, available: available)
    switch type.shape {
    case .fixed(let program, let size):
      _run(program, value, into: &sink)
      // A class may ask for a tail that its metadata does not tell of. Where the size is the
      // allocator's own, it is up to 31 bytes more than what was asked for.
      if allocatedSize >= size + (sizesAreExact ? 8 : 32) {
        _words(value, from: size, .none, into: &sink)
      }
    case .managedBuffer(let program, let size, let hasTail):
      _run(program, value, into: &sink)
      if hasTail { _words(value, from: size, .none, into: &sink) }
    case .array(let element):
      _array(value, element, into: &sink)
    case .ring(let element, let start):
      _ring(value, element, from: start, into: &sink)
    case .dictionary(let key, let element):
      _hashed(value, key: key, element: element, into: &sink)
    case .set(let element):
      _hashed(value, key: nil, element: element, into: &sink)
    case .string:
      _string(value, into: &sink)
    case .captures(let descriptor, let firstCapture):
      if let descriptor, let program = _contextProgram(value, type, descriptor: descriptor) {
        _run(program, value, into: &sink)
      } else {
        _words(value, from: firstCapture, labels.label("capture"), into: &sink)
      }
    case .box(let program, let offset) where compiler.programs[program].isUnknown:
      _words(value, from: offset, .none, into: &sink)
    case .box(let program, let offset):
      if let inner = value.advanced(by: offset) { _run(program, inner, into: &sink) }
    case .errorBox:
      _errorBox(value, into: &sink)
    case .continuationCanary:
      _continuationCanary(value, into: &sink)
    case .task:
      _task(value, into: &sink)
    case .taskSlab:
      _taskSlab(value, into: &sink)
    case .block:
      _block(value, into: &sink)
    case .words(let start):
      _words(value, from: start, .none, into: &sink)
    }
  }

  /// Reports the references of a value that lies outside any object, as a global variable does.
  func references(
    ofValueAt address: UInt64, program: Int, into sink: inout some ReferenceSink
  ) {
    let size = compiler.programs[program].size
    guard let bytes = memory.bytes(at: address, count: size) else { return }
    _run(program, _Value(address: address, bytes: bytes, available: size), into: &sink)
  }
}

extension SwiftType {
  /// Whether instances use all of what the allocator gave, which may be more than was asked for.
  fileprivate var usesSlack: Bool {
    switch shape {
    case .array, .ring, .string, .managedBuffer: return true
    default: return false
    }
  }
}

/// A value's bytes, here and in the captured program.
private struct _Value {
  var address: UInt64
  var bytes: UnsafeRawPointer
  var available: Int

  func word(_ offset: Int) -> UInt64? {
    guard offset >= 0, offset <= available - 8 else { return nil }
    return (bytes + offset).loadUnaligned(as: UInt64.self)
  }

  func advanced(by offset: Int) -> _Value? {
    guard offset >= 0, offset <= available else { return nil }
    return _Value(
      address: address + UInt64(offset), bytes: bytes + offset, available: available - offset)
  }
}

/// What stands before a program's own labels: the element's index and the path to the value.
private struct _Place {
  var prefix = LabelTable.Name.empty
  var index = Snapshot.Labels.noIndex

  var isPlain: Bool { prefix == .empty && index == Snapshot.Labels.noIndex }
}

extension TypeCatalog {
  /// The bytes that the allocator gave for a block of which `allocated` were asked for.
  ///
  /// glibc keeps a block's size in the word before it, with flags in the low bits. What is no such
  /// size, because the block is another allocator's, is not believed.
  func usableSize(of object: UInt64, _ allocated: Int) -> Int {
    guard object >= 16, let header = memory.word(at: object - 8), header < 1 << 47 else {
      return allocated
    }
    let isMapped = header & 2 != 0
    let usable = Int(header & ~7) - (isMapped ? 16 : 8)
    let slack = isMapped ? 1 << 13 : 48
    guard usable > allocated, usable - allocated <= slack,
      memory.bytes(at: object, count: usable) != nil
    else { return allocated }
    return usable
  }

  private func _run(
    _ program: Int, _ value: _Value, at place: _Place = _Place(), depth: Int = 0,
    into sink: inout some ReferenceSink
  ) {
    let steps = compiler.programs[program].steps
    _run(steps, 0..<steps.count, value, at: place, depth, into: &sink)
  }

  private func _run(
    _ steps: [LayoutProgram.Step], _ range: Range<Int>, _ value: _Value, at place: _Place,
    _ depth: Int, into sink: inout some ReferenceSink
  ) {
    var position = range.lowerBound
    while position < range.upperBound {
      let step = steps[position]
      position += 1
      let offset = Int(step.offset)
      switch step.kind {
      case .reference:
        guard let word = value.word(offset) else { continue }
        let target = word & _addressMask
        if target >= EnumDecoder.leastPointer {
          sink.reference(
            at: value.address + UInt64(offset), to: target, label: _label(step, place),
            strength: EdgeStrength(rawValue: UInt8(truncatingIfNeeded: step.detail)) ?? .strong)
        }
      case .continuation:
        guard let word = value.word(offset) else { continue }
        let task = word & _addressMask
        if task >= EnumDecoder.leastPointer {
          sink.continuation(
            at: value.address + UInt64(offset), to: task, label: _label(step, place))
        }
      case .weak:
        guard let word = value.word(offset), word & _addressMask >= EnumDecoder.leastPointer else {
          continue
        }
        // A side table begins with the object and has its counts from byte 16 on; bit 32 says that
        // the object is being destroyed or is gone.
        let table = word & _addressMask
        if let object = memory.word(at: table), object >= EnumDecoder.leastPointer,
          let counts = memory.word(at: table + 16)
        {
          if counts >> 32 & 1 == 0 {
            sink.reference(
              at: value.address + UInt64(offset), to: object, label: _label(step, place),
              strength: .weak)
          } else {
            sink.sideTable(ofDestroyedAt: table)
          }
        }
      case .bridge:
        // The sign bit: a small or immortal string, which owns nothing.
        guard let word = value.word(offset), word >> 63 == 0 else { continue }
        let target = word & _addressMask
        if target >= EnumDecoder.leastPointer {
          sink.reference(
            at: value.address + UInt64(offset), to: target, label: _label(step, place),
            strength: .strong)
        }
      case .words:
        let end = min(offset + Int(step.size), value.available & ~7)
        guard offset < end else { continue }
        sink.untypedWords(
          in: (value.address + UInt64(offset))..<(value.address + UInt64(end)),
          label: _label(step, place))
      case .function:
        guard let function = value.word(offset), let context = value.word(offset + 8) else {
          continue
        }
        let code = function & 0x00ff_ffff_ffff_ffff
        let target = context & _addressMask
        if code >= EnumDecoder.leastPointer, target >= EnumDecoder.leastPointer {
          sink.reference(
            at: value.address + UInt64(offset) + 8, to: target,
            label: labels.label(
              labels.join(place.prefix, step.name), index: _index(step, place), function: code),
            strength: .strong)
        }
      case .existential:
        if let inner = value.advanced(by: offset) {
          let name = labels.join(place.prefix, step.name)
          _existential(
            inner, at: _Place(prefix: name, index: _index(step, place)), depth, into: &sink)
        }
      case .choice:
        let end = position + Int(step.count)
        if let inner = value.advanced(by: offset),
          let live = compiler.decoders[Int(step.detail)].liveCase(
            at: inner.address, bytes: inner.bytes, available: inner.available, mirror: mirror)
        {
          while position < end {
            let branch = steps[position]
            let next = position + 1 + Int(branch.count)
            if branch.detail == live {
              _run(steps, (position + 1)..<next, value, at: place, depth, into: &sink)
              break
            }
            position = next
          }
        }
        position = end
      case .branch:
        // Only reached through its choice.
        position += Int(step.count)
      }
    }
  }

  private func _index(_ step: LayoutProgram.Step, _ place: _Place) -> UInt32 {
    place.index == Snapshot.Labels.noIndex ? step.index : place.index
  }

  private func _label(_ step: LayoutProgram.Step, _ place: _Place) -> LabelIndex {
    if place.isPlain { return step.label }
    let name = labels.join(place.prefix, step.name)
    let index = _index(step, place)
    return index < LabelTable.firstUnnamedIndex
      ? labels.element(name, at: Int(index)) : labels.label(name, index: index)
  }

  private func _words(
    _ value: _Value, from start: Int, _ label: LabelIndex, into sink: inout some ReferenceSink
  ) {
    let first = (start + 7) & ~7
    let end = value.available & ~7
    if first < end {
      sink.untypedWords(
        in: (value.address + UInt64(first))..<(value.address + UInt64(end)), label: label)
    }
  }

  /// A checked continuation's object. Its fields are in a tail that no metadata describes: the task to
  /// resume, nil once that was done, and the name of the function that waits.
  private func _continuationCanary(_ value: _Value, into sink: inout some ReferenceSink) {
    guard let word = value.word(16) else { return }
    let task = word & _addressMask
    if task >= EnumDecoder.leastPointer {
      sink.continuation(at: value.address + 16, to: task, label: labels.label("continuation"))
    }
    _words(value, from: 24, labels.label("function"), into: &sink)
  }

  /// A task: the words that can hold something, or all where the runtime is of a version that is not known.
  private func _task(_ value: _Value, into sink: inout some ReferenceSink) {
    guard let taskLayout, taskLayout.isTask(at: value.address) else {
      return _words(value, from: 16, .none, into: &sink)
    }
    let end = value.address + UInt64(value.available)
    for range in taskLayout.words(of: value.address, until: end) {
      sink.untypedWords(in: range, label: .none)
    }
  }

  /// A slab of a task's allocator: its metadata, the next slab, its capacity and, at byte 20, how many
  /// bytes behind the 32 of the header are in use. What lies behind those is dead and full of old
  /// pointers.
  private func _taskSlab(_ value: _Value, into sink: inout some ReferenceSink) {
    guard value.available >= 24 else { return }
    sink.untypedWords(in: (value.address + 8)..<(value.address + 16), label: labels.label("next"))
    let used = Int(clamping: value.bytes.loadUnaligned(fromByteOffset: 20, as: UInt32.self))
    let end = min(32 + used, value.available) & ~7
    if end > 32 {
      sink.untypedWords(in: (value.address + 32)..<(value.address + UInt64(end)), label: .none)
    }
  }

  // MARK: Values of types that stand beside them

  private func _existential(
    _ value: _Value, at place: _Place, _ depth: Int, into sink: inout some ReferenceSink
  ) {
    // An existential within an existential is a box of its own; more than a few are damaged memory.
    guard depth < 8, let first = value.word(0), let metadata = value.word(24) else { return }
    func object() {
      let target = first & _addressMask
      if target >= EnumDecoder.leastPointer {
        sink.reference(
          at: value.address, to: target, label: labels.label(place.prefix, index: place.index),
          strength: .strong)
      }
    }
    guard metadata & _addressMask >= EnumDecoder.leastPointer else { return }
    switch _valueType(metadata & _addressMask) {
    case .object:
      object()
    case .value(let program, let isInline, _):
      if isInline {
        _run(program, value, at: place, depth: depth + 1, into: &sink)
      } else if !compiler.programs[program].isEmptyValue {
        object()
      }
    case .unknown:
      sink.untypedWords(
        in: value.address..<(value.address + 24),
        label: labels.label(place.prefix, index: place.index))
    }
  }

  private func _errorBox(_ value: _Value, into sink: inout some ReferenceSink) {
    // The value's type, its conformance to Error, the value.
    guard let metadata = value.word(16) else { return }
    switch _valueType(metadata & _addressMask) {
    case .object:
      if let target = value.word(32), target & _addressMask >= EnumDecoder.leastPointer {
        sink.reference(
          at: value.address + 32, to: target & _addressMask, label: .none, strength: .strong)
      }
    case .value(let program, _, let alignment):
      if let inner = value.advanced(by: (32 + alignment - 1) & ~(alignment - 1)) {
        _run(program, inner, into: &sink)
      }
    case .unknown:
      _words(value, from: 32, .none, into: &sink)
    }
  }

  private func _valueType(_ metadata: UInt64) -> ValueType {
    if let known = valueByMetadata[metadata] { return known }
    let type = _readValueType(metadata)
    if case .unknown = type { compiler.note("existentials whose type can't be read") }
    valueByMetadata[metadata] = type
    return type
  }

  private func _readValueType(_ metadata: UInt64) -> ValueType {
    let reader = compiler.reader
    guard let kind = reader.kind(at: metadata) else { return .unknown }
    if kind == 0 { return reader.readClass(at: metadata) == nil ? .unknown : .object }
    guard kind <= MetadataReader.Kind.lastValueKind, let witnesses = reader.value(of: metadata),
      let type = mirror.type(ofMetadata: metadata)
    else { return .unknown }
    let program = compiler.program(of: type)
    if compiler.programs[program].isUnknown { return .unknown }
    return .value(
      program: program, isInline: witnesses.isInline, alignment: witnesses.alignment)
  }

  // MARK: Closures

  private func _contextProgram(_ value: _Value, _ type: SwiftType, descriptor: UInt64) -> Int? {
    let isBox = type.kind == .box
    // Captures, then sources of generic arguments, then the words at the front of a context that
    // hold some of them. Other sources are the captures themselves, whose metadata must be asked for
    // anew for each context.
    guard let sources = memory.load(UInt32.self, at: descriptor + 4),
      let bindings = memory.load(UInt32.self, at: descriptor + 8)
    else { return nil }
    var key = ContextKey(descriptor: descriptor, bindings: [])
    if sources > 0 {
      for index in 0..<Int(bindings) {
        guard let word = value.word(16 + 8 * index) else { return nil }
        key.bindings.append(word)
      }
      if sources > bindings { return compiler.program(ofContext: value.address, isBox: isBox) }
    }
    if let known = programByBindings[key] { return known }
    let program = compiler.program(ofContext: value.address, isBox: isBox)
    programByBindings[key] = .some(program)
    return program
  }

  /// A block: class, flags, invoke function, descriptor, then what it captured.
  private func _block(_ value: _Value, into sink: inout some ReferenceSink) {
    // A Swift closure that was made a block is captured as its function and its context.
    let function = value.word(32).flatMap { isInModule($0) ? $0 : nil } ?? value.word(16) ?? 0
    _words(
      value, from: 32, labels.label("capture", function: isInModule(function) ? function : 0),
      into: &sink)
  }

  // MARK: Containers

  private func _array(_ value: _Value, _ element: Int, into sink: inout some ReferenceSink) {
    let program = compiler.programs[element]
    if program.isUnknown { return _words(value, from: 32, .none, into: &sink) }
    guard !program.steps.isEmpty, let count = value.word(16) else { return }
    let start = (32 + program.alignment - 1) & ~(program.alignment - 1)
    let room = max(0, value.available - start) / program.stride
    for index in 0..<min(Int(clamping: count), room) {
      if let inner = value.advanced(by: start + index * program.stride) {
        _run(program.steps, 0..<program.steps.count, inner, at: _element(index), 0, into: &sink)
      }
    }
  }

  /// A deque's buffer: capacity, count and first slot, then the slots.
  private func _ring(
    _ value: _Value, _ element: Int, from start: Int, into sink: inout some ReferenceSink
  ) {
    let program = compiler.programs[element]
    if program.isUnknown { return _words(value, from: start, .none, into: &sink) }
    guard !program.steps.isEmpty else { return }
    guard let capacity = value.word(16), let count = value.word(24), let first = value.word(32),
      count <= capacity, first < max(1, capacity),
      capacity <= UInt64(max(0, value.available - start) / program.stride)
    else {
      compiler.note("deques whose header is not understood")
      _words(value, from: start, .none, into: &sink)
      return
    }
    for index in 0..<Int(count) {
      let slot = (Int(first) + index) % Int(capacity)
      if let inner = value.advanced(by: start + slot * program.stride) {
        _run(program.steps, 0..<program.steps.count, inner, at: _element(index), 0, into: &sink)
      }
    }
  }

  private func _element(_ index: Int) -> _Place {
    index < Int(LabelTable.firstUnnamedIndex)
      ? _Place(index: UInt32(index)) : _Place(index: Snapshot.Labels.anyIndex)
  }

  /// A dictionary's storage, or a set's where there is no key.
  private func _hashed(
    _ value: _Value, key: Int?, element: Int, into sink: inout some ReferenceSink
  ) {
    guard let scale = value.word(32).map({ $0 & 0xff }), scale < 40 else { return }
    let buckets = 1 << Int(scale)
    let bitmap = key == nil ? 56 : 64
    if [key, element].contains(where: { $0.map { compiler.programs[$0].isUnknown } ?? false }) {
      return _words(value, from: bitmap + (buckets + 63) / 64 * 8, .none, into: &sink)
    }
    // Keys or elements at 48, a dictionary's values at 56: addresses within the storage.
    func elements(at place: Int, _ program: LayoutProgram, _ name: LabelTable.Name) {
      guard !program.steps.isEmpty, let first = value.word(place), first >= value.address else {
        return
      }
      let start = Int(clamping: first - value.address)
      for bucket in 0..<buckets {
        guard let bits = value.word(bitmap + bucket / 64 * 8) else { return }
        if bits >> UInt64(bucket % 64) & 1 == 0 { continue }
        let offset = start.addingReportingOverflow(bucket &* program.stride)
        guard !offset.overflow, let inner = value.advanced(by: offset.partialValue) else { return }
        _run(
          program.steps, 0..<program.steps.count, inner,
          at: _Place(prefix: name, index: Snapshot.Labels.anyIndex), 0, into: &sink)
      }
    }
    if let key {
      elements(at: 48, compiler.programs[key], labels.name("key"))
      elements(at: 56, compiler.programs[element], .empty)
    } else {
      elements(at: 48, compiler.programs[element], .empty)
    }
  }

  private func _string(_ value: _Value, into sink: inout some ReferenceSink) {
    // Capacity and flags at 16, the bytes from 32 on. Where the sign bit says so, the word behind
    // them holds the table that maps UTF-16 offsets.
    guard let flags = value.word(16), flags >> 63 == 1 else { return }
    let place = 32 + Int(flags & 0x0000_ffff_ffff_ffff)
    if place & 7 == 0, let target = value.word(place), target >= EnumDecoder.leastPointer {
      sink.reference(
        at: value.address + UInt64(place), to: target & _addressMask,
        label: labels.label("breadcrumbs"), strength: .strong)
    }
  }
}

extension LayoutProgram {
  /// Whether values take no room, so that nothing is allocated for them.
  var isEmptyValue: Bool { size == 0 }
}
