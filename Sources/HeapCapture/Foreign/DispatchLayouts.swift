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
