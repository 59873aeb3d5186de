// CoreFoundationLayouts: what a CoreFoundation object is and where its references lie.

/// Tells CoreFoundation's objects apart and knows the fields of those that lie on the way to a program's.
///
/// An object's third word has the number of its class, and a table that CoreFoundation keeps for tools
/// says what the class is called. What the fields are called is written down here, from the structures
/// of swift-corelibs-foundation (6.0 to 6.3, 64 bits). A layout is believed only for an object whose
/// fields lead to what the layout says.
struct CoreFoundationLayouts {
  /// A reference of an object.
  struct Field {
    var offset: UInt64
    var name: String

    /// The class that it leads to where it isn't nil; nil for any.
    var target: String?

    init(_ offset: UInt64, _ name: String, _ target: String? = nil) {
      self.offset = offset
      self.name = name
      self.target = target
    }
  }

  private let _memory: TargetMemory

  /// An array of pointers to classes, by number.
  private let _classes: UInt64
  private static let _classLimit: UInt64 = 1024

  /// - Parameter classes: where the table of classes lies.
  init(memory: TargetMemory, classes: UInt64) {
    _memory = memory
    _classes = classes
  }

  /// nil for a program without CoreFoundation, or where its symbols are lost.
  init?(memory: TargetMemory, images: [LoadedImage]) {
    for image in images {
      if let table = image.symbols(prefix: "__CFRuntimeClassTables")["__CFRuntimeClassTables"] {
        self.init(memory: memory, classes: table)
        return
      }
    }
    return nil
  }

  /// The name of an object's class: `CFRunLoopTimer`; nil where there is no such class.
  func className(of object: UInt64) -> String? {
    // A class: its version, its name. Number 0 is no class.
    guard let info = _memory.word(at: object + 16) else { return nil }
    let number = info >> 8 & (Self._classLimit - 1)
    guard number != 0, let description = _memory.word(at: _classes + 8 * number), description != 0,
      let name = _memory.word(at: description + 8), let text = _memory.text(at: name, limit: 128),
      text.hasPrefix("CF")
    else { return nil }
    return text
  }

  /// Classes that a path says nothing of: what they hold is said of the field that holds them.
  static let folded: Set<String> = [
    "CFArray", "CFBag", "CFBasicHash", "CFDictionary", "CFRunLoopMode", "CFSet",
  ]

  /// Collections that are hash tables: the values' table at 48, a dictionary's keys at 56.
  static let hashTables: Set<String> = ["CFBag", "CFBasicHash", "CFDictionary", "CFSet"]

  /// The fields of a class. Its objects begin with metadata, count and information, 24 bytes; most go on
  /// with a lock of 40 bytes.
  static let fieldsByClass: [String: [Field]] = [
    "CFRunLoop": [
      Field(96, "commonModes", "CFSet"), Field(104, "commonModeItems", "CFSet"),
      Field(112, "currentMode", "CFRunLoopMode"), Field(120, "modes", "CFSet"),
      Field(128, "blocks"), Field(136, "lastBlock"), Field(160, "counterpart"),
    ],
    "CFRunLoopMode": [
      Field(64, "name", "CFString"), Field(80, "sources", "CFSet"),
      Field(88, "portSources", "CFSet"), Field(96, "observers", "CFArray"),
      Field(104, "timers", "CFArray"), Field(112, "sourcesByPort", "CFDictionary"),
    ],
    "CFRunLoopSource": [Field(80, "runLoops", "CFBag"), Field(96, "info")],
    "CFRunLoopObserver": [Field(64, "runLoop", "CFRunLoop"), Field(112, "info")],
    "CFRunLoopTimer": [
      Field(72, "runLoop", "CFRunLoop"), Field(80, "modes", "CFSet"), Field(144, "info"),
    ],
    "CFSocket": [
      Field(48, "address", "CFData"), Field(56, "peerAddress", "CFData"),
      Field(72, "source", "CFRunLoopSource"), Field(80, "runLoops", "CFArray"), Field(104, "info"),
      Field(136, "dataQueue", "CFArray"), Field(144, "addressQueue", "CFArray"),
    ],
  ]
}
