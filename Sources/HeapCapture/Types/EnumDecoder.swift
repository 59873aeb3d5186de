// EnumDecoder: which case of an enum a value is.

/// Says which case of an enum a value is.
///
/// The remote mirror knows, but asking it for each value is slow. How the answer depends on the value
/// is learned once a type, by asking the mirror about made-up values.
struct EnumDecoder {
  enum Method {
    /// The payload is there unless the word at an offset is less than any pointer.
    case unlessNull(offset: Int)

    /// The payload is there if these bytes are zero.
    case ifZero(offset: Int, size: Int)

    /// Some bits decide; the case for each of their values is remembered.
    case tagBits([(offset: Int, mask: UInt8)])

    /// The mirror is asked for each value.
    case ask
  }

  let type: RemoteMirror.TypeRef
  let method: Method

  /// The case that is meant by each answer of the mirror; -1 for one without a payload.
  let caseByAnswer: [Int32]

  /// The case by the value of the tag bits.
  private var _caseByTag: [UInt64: Int32] = [:]

  /// The least address that any pointer has.
  static let leastPointer: UInt64 = 0x1000

  /// A word that is a valid value of a reference, function or metatype.
  private static let _somePointer: UInt64 = 0x5555_5555_1000

  /// The most bytes of a value whose bits are tried one by one.
  private static let _mostBytes = 64

  init(type: RemoteMirror.TypeRef, method: Method, caseByAnswer: [Int32]) {
    self.type = type
    self.method = method
    self.caseByAnswer = caseByAnswer
  }

  /// A decoder of an enum with one payload, whose size is known, and of cases without one.
  static func single(
    _ type: RemoteMirror.TypeRef, info: RemoteMirror.Info, payloadSize: Int, payloadCase: Int,
    mirror: RemoteMirror
  ) -> EnumDecoder {
    // The mirror's answer 0 means the payload, whichever case has it.
    var cases = [Int32](repeating: -1, count: max(info.childCount, 1))
    cases[0] = Int32(payloadCase)
    var method = Method.ask
    if info.size > payloadSize {
      method = .ifZero(offset: payloadSize, size: info.size - payloadSize)
    } else if let offset = _nullOffset(type, size: payloadSize, mirror) {
      method = .unlessNull(offset: offset)
    }
    return EnumDecoder(type: type, method: method, caseByAnswer: cases)
  }

  /// A decoder of an enum with several payloads.
  static func multiple(
    _ type: RemoteMirror.TypeRef, info: RemoteMirror.Info, payloadCases: [Int], mirror: RemoteMirror
  ) -> EnumDecoder {
    let last = max(info.childCount, (payloadCases.max() ?? 0) + 1)
    var cases = [Int32](repeating: -1, count: last)
    // The mirror counts payloads that take room.
    for (answer, place) in payloadCases.enumerated() { cases[answer] = Int32(place) }
    guard info.size <= _mostBytes else {
      return EnumDecoder(type: type, method: .ask, caseByAnswer: cases)
    }
    let scratch = mirror.scratch
    _fillScratch(scratch, with: 0, count: info.size)
    let base = mirror.liveCase(at: RemoteMirror.scratchAddress, of: type)
    var bits: [(offset: Int, mask: UInt8)] = []
    for offset in 0..<info.size {
      var mask: UInt8 = 0
      for bit in 0..<8 {
        scratch[offset] = 1 << bit
        if mirror.liveCase(at: RemoteMirror.scratchAddress, of: type) != base { mask |= 1 << bit }
      }
      scratch[offset] = 0
      if mask != 0 { bits.append((offset, mask)) }
    }
    let method: Method = bits.count <= 8 && base != nil ? .tagBits(bits) : .ask
    return EnumDecoder(type: type, method: method, caseByAnswer: cases)
  }

  /// The case of the value at an address, whose bytes are at hand; nil for one without a payload.
  mutating func liveCase(
    at address: UInt64, bytes: UnsafeRawPointer, available: Int, mirror: RemoteMirror
  ) -> Int32? {
    switch method {
    case .unlessNull(let offset):
      guard offset + 8 <= available else { return nil }
      let word = (bytes + offset).loadUnaligned(as: UInt64.self)
      return word < Self.leastPointer ? nil : _onlyCase
    case .ifZero(let offset, let size):
      guard offset + size <= available else { return nil }
      for place in offset..<(offset + size) where (bytes + place).load(as: UInt8.self) != 0 {
        return nil
      }
      return _onlyCase
    case .tagBits(let bits):
      var tag: UInt64 = 0
      for (offset, mask) in bits {
        guard offset < available else { return nil }
        tag = tag << 8 | UInt64((bytes + offset).load(as: UInt8.self) & mask)
      }
      if let live = _caseByTag[tag] { return live < 0 ? nil : live }
      let live = _case(ofTag: tag, bits: bits, mirror)
      _caseByTag[tag] = live
      return live < 0 ? nil : live
    case .ask:
      guard let answer = mirror.liveCase(at: address, of: type), answer < caseByAnswer.count else {
        return nil
      }
      return caseByAnswer[answer] < 0 ? nil : caseByAnswer[answer]
    }
  }

  private var _onlyCase: Int32? { caseByAnswer.first { $0 >= 0 } }

  private func _case(
    ofTag tag: UInt64, bits: [(offset: Int, mask: UInt8)], _ mirror: RemoteMirror
  ) -> Int32 {
    let scratch = mirror.scratch
    Self._fillScratch(scratch, with: 0, count: Self._mostBytes)
    var rest = tag
    for (offset, _) in bits.reversed() {
      scratch[offset] = UInt8(truncatingIfNeeded: rest)
      rest >>= 8
    }
    guard let answer = mirror.liveCase(at: RemoteMirror.scratchAddress, of: type),
      answer < caseByAnswer.count
    else { return -1 }
    return caseByAnswer[answer]
  }

  /// The offset of the one word that, when it is null, means that the payload is not there; nil where
  /// it is not so simple.
  private static func _nullOffset(
    _ type: RemoteMirror.TypeRef, size: Int, _ mirror: RemoteMirror
  ) -> Int? {
    guard size >= 8, size <= RemoteMirror.scratchSize - 8 else { return nil }
    let scratch = mirror.scratch
    _fillScratch(scratch, with: _somePointer, count: size)
    defer { _fillScratch(scratch, with: 0, count: size) }
    guard mirror.liveCase(at: RemoteMirror.scratchAddress, of: type) == 0 else { return nil }
    var found: Int?
    for offset in stride(from: 0, through: size - 8, by: 8) {
      scratch.storeBytes(of: 0, toByteOffset: offset, as: UInt64.self)
      if mirror.liveCase(at: RemoteMirror.scratchAddress, of: type) != 0 {
        if found != nil { return nil }
        found = offset
      }
      scratch.storeBytes(of: _somePointer, toByteOffset: offset, as: UInt64.self)
    }
    return found
  }

  private static func _fillScratch(
    _ scratch: UnsafeMutableRawBufferPointer, with word: UInt64, count: Int
  ) {
    for offset in stride(from: 0, to: min(count + 8, scratch.count - 7), by: 8) {
      scratch.storeBytes(of: word, toByteOffset: offset, as: UInt64.self)
    }
  }
}
