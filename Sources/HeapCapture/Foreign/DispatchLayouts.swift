// DispatchLayouts: what a block of libdispatch is and where its references lie.

/// Tells libdispatch's objects apart and knows their fields.
///
/// An object begins with its table of functions and what a source has registered with its type, both of
/// which libdispatch's own symbols name; a continuation is known by what it calls. Offsets are those of
/// swift-corelibs-libdispatch (5.0 to 6.3, 64 bits).
struct DispatchLayouts {
  /// What a block of libdispatch is.
  enum Part: Equatable {
    /// A queue, source, group or other object, by its name in libdispatch: `dispatch_source`.
    case object(String)

    /// What a source has registered with the kernel or the timers: `timer`, `read`, `after`. It starts at
    /// an offset, behind links to others that wait for the same, or at 0.
    case registration(String, at: UInt64)

    /// A work item that waits, or a source's handler.
    case continuation
  }

  private let _memory: TargetMemory
  private var _objectByTable: [UInt64: String] = [:]
  private var _sourceByType: [UInt64: String] = [:]

  /// libdispatch's own functions, and the tables of some continuations.
  private var _functions: Set<UInt64> = []
  private var _continuationTables: Range<UInt64> = 0..<0

  /// - Parameters:
  ///   - objectByTable: the names of objects by their first word.
  ///   - sourceByType: the kinds of sources by the first word of what they registered.
  ///   - functions: libdispatch's own.
  init(
    memory: TargetMemory, objectByTable: [UInt64: String], sourceByType: [UInt64: String],
    functions: Set<UInt64>
  ) {
    _memory = memory
    _objectByTable = objectByTable
    _sourceByType = sourceByType
    _functions = functions
  }

  /// nil for a program without libdispatch, or where its symbols are lost.
  init?(memory: TargetMemory, images: [LoadedImage]) {
    _memory = memory
    let types = "_dispatch_source_type_"
    for image in images {
      // A program may have copies of what it takes from a library's data.
      for (name, address) in image.symbols(prefix: types) {
        _sourceByType[address] = String(name.dropFirst(types.count))
      }
      let tables = image.symbols(prefix: "__OS_dispatch_")
      if tables.isEmpty { continue }
      for (name, address) in tables where name.hasSuffix("_vtable") {
        _objectByTable[address] = String(name.dropFirst(5).dropLast(7))
      }
      for prefix in ["_dispatch_", "__dispatch_"] {
        _functions.formUnion(image.symbols(prefix: prefix).values)
      }
      if let first = image.address(ofSymbol: "_dispatch_continuation_vtables") {
        _continuationTables = first..<(first + 16 * 64)
      }
    }
    if _objectByTable.isEmpty { return nil }
  }

  /// What a block is; nil for one that is not libdispatch's.
  func part(at block: UInt64, size: UInt64) -> Part? {
    guard size >= 64, let first = _memory.word(at: block) else { return nil }
    if let name = _objectByTable[first] { return .object(name) }
    if let kind = _sourceByType[first] { return .registration(kind, at: 0) }
    if let type = _memory.word(at: block + 24), let kind = _sourceByType[type] {
      return .registration(kind, at: 24)
    }
    // A continuation: flags or a table, priority, the next one, a voucher, a function, its argument.
    guard size <= 72, first < 0x10000 || _continuationTables.contains(first),
      let function = _memory.word(at: block + 32), function != 0,
      let argument = _memory.word(at: block + 40)
    else { return nil }
    // It calls one of libdispatch's functions, or its argument is a block and it calls that one's.
    return _functions.contains(function) || _memory.word(at: argument &+ 16) == function
      ? .continuation : nil
  }

  /// The source that something registered belongs to. It is kept with all bits turned over, so that no
  /// search for pointers sees it.
  func owner(ofRegistration block: UInt64, at start: UInt64) -> UInt64? {
    guard let word = _memory.word(at: block + start + 8), word != 0 else { return nil }
    return ~word
  }

  // MARK: The words that libdispatch reads

  /// A block of a source's or a timer's registration that waits to be called.
  struct Handler {
    var block: UInt64

    /// Whether it has its source in its data, as what `dispatch_after` asks for.
    var hasSource: Bool
  }

  /// The handlers of something registered; empty where its source doesn't know it: then it only looks like one, in
  /// memory that is used for something else.
  func handlers(ofRegistration block: UInt64, kind: String, at start: UInt64) -> [Handler] {
    guard let source = owner(ofRegistration: block, at: start),
      let table = _memory.word(at: source), _objectByTable[table] == "dispatch_source",
      _memory.word(at: source + 88) == block + start
    else { return [] }
    return ([40, 48, 56] as [UInt64]).compactMap { place in
      guard let handler = _memory.word(at: block + start + place), handler != 0 else { return nil }
      return Handler(block: handler, hasSource: kind == "after")
    }
  }

  /// The flags of a continuation (`DC_FLAG_`): its function waits for it, another way of waiting, and what each from
  /// the allocator has.
  private static let _waits: UInt64 = 0x001 | 0x080
  private static let _isAllocated: UInt64 = 0x100
  private static let _allFlags: UInt64 = 0x3ff

  /// The flags of a continuation whose words are known by them; nil for another, or a block that is none.
  private func _flags(ofContinuation block: UInt64, size: UInt64) -> UInt64? {
    guard (64...72).contains(size), let flags = _memory.word(at: block),
      flags & ~Self._allFlags == 0, flags & Self._isAllocated != 0, flags & Self._waits == 0
    else { return nil }
    return flags
  }

  /// The places in a continuation that libdispatch reads or has written; nil for all of it.
  ///
  /// It takes a continuation from a list of those that have run, and writes what this work item needs. The rest is
  /// the last one's: the word behind the data is a redirected work item's, and of those that wait; the link to the next is
  /// written where it is put in a queue, and the data where it has a group or a queue to notify. On Linux there are
  /// no vouchers.
  ///
  /// - Parameter handler: What the block is to a source; nil for a work item that is known by what it calls.
  func wordsInUse(
    ofContinuation block: UInt64, size: UInt64, handler: Handler? = nil
  ) -> [Range<UInt64>]? {
    guard _flags(ofContinuation: block, size: size) != nil else { return nil }
    if let handler { return [40..<(handler.hasSource ? 56 : 48)] }
    return [16..<24, 40..<(_isObject(at: _memory.word(at: block + 48)) ? 56 : 48)]
  }

  private func _isObject(at address: UInt64?) -> Bool {
    address.flatMap { _memory.word(at: $0) }.map { _objectByTable[$0] != nil } ?? false
  }

  // MARK: Names

  /// What the reference at a place in a block is called; nil where it has no name.
  static func name(ofPlace place: UInt64, in part: Part) -> String? {
    switch part {
    case .object(let name):
      let isQueue = name.hasPrefix("dispatch_queue") || name == "dispatch_workloop"
      let isSource = name == "dispatch_source"
      switch place {
      case 16: return "next"
      case 24: return "target"
      case 32: return "context"
      case 48 where isQueue: return "lastItem"
      case 88 where isSource: return "registration"
      case 88 where isQueue: return "specific"
      case 104 where isQueue: return "items"
      default: return nil
      }
    case .registration(_, let start):
      switch place {
      case start + 40: return "eventHandler"
      case start + 48: return "cancelHandler"
      case start + 56: return "registrationHandler"
      case 0 where start > 0: return "next"
      case 16 where start > 0: return "event"
      default: return nil
      }
    case .continuation:
      switch place {
      case 16: return "next"
      case 40: return "work"
      case 48: return "data"
      default: return nil
      }
    }
  }

  /// What a block is called in reports.
  static func typeName(of part: Part) -> String {
    switch part {
    case .object(let name): name
    case .registration("after", _), .registration("timer", _),
      .registration("timer_with_clock", _), .registration("interval", _):
      "dispatch timer"
    case .registration(let kind, _): "dispatch \(kind) source"
    case .continuation: "dispatch continuation"
    }
  }
}
