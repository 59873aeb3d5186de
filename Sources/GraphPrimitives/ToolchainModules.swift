// ToolchainModules: which modules come with Swift, and how names of theirs are written.

/// The Swift modules that come with the toolchain for Linux.
///
/// It is a list of names, since a snapshot may be read on another machine than it was taken on. What is not
/// listed counts as the program's own: showing too much is better than hiding a culprit.
package enum ToolchainModules {
  /// The names of the modules. `__C` stands for what was imported from C, which has no module in the source.
  package static let names: Set<String> = [
    "Swift", "SwiftOnoneSupport", "_Concurrency", "_StringProcessing", "_RegexParser",
    "RegexBuilder",
    "_Differentiation", "_Backtracing", "_Volatile", "_Builtin_float", "Runtime", "Synchronization",
    "Observation", "Distributed", "Cxx", "CxxStdlib", "Foundation", "FoundationEssentials",
    "FoundationInternationalization", "FoundationNetworking", "FoundationXML", "_FoundationICU",
    "_FoundationCollections", "_FoundationCShims", "CoreFoundation", "Dispatch", "Glibc", "XCTest",
    "Testing", "__C", "__C_Synthesized", "__ObjC",
  ]

  /// Those whose objects do work of their own: what such an object refers to is for its own methods to let go of.
  /// The others have containers, boxes and streams, whose content is the program's.
  package static let working: Set<String> = [
    "Foundation", "FoundationEssentials", "FoundationInternationalization", "FoundationNetworking",
    "FoundationXML", "CoreFoundation", "Dispatch",
  ]

  /// Whether objects of a type are collections of Foundation's or CoreFoundation's, whose elements the program has
  /// put there. An `NSCache` is none: what is in it hangs on entries that hold each other, and goes by its methods alone.
  package static func isCollection(_ type: String) -> Bool {
    let name = type.prefix { $0 != "<" }.split(separator: ".").last.map(String.init) ?? type
    return _collections.contains(name)
      || ["CFArray", "CFDictionary", "CFSet", "CFBag", "_NSCF", "__NSCF"].contains {
        name.hasPrefix($0)
      }
  }

  /// Whether objects of a type are values of Foundation's: they do no work by which they could keep themselves alive, and
  /// a retain too many of one is the program's.
  package static func isValue(_ type: String) -> Bool {
    let name = type.prefix { $0 != "<" }.split(separator: ".").last.map(String.init) ?? type
    return isCollection(type) || _values.contains(name)
  }

  private static let _values: Set<String> = [
    "__SwiftValue", "NSString", "NSMutableString", "NSAttributedString",
    "NSMutableAttributedString", "NSNumber", "NSDecimalNumber", "NSValue", "NSData",
    "NSMutableData", "NSDate", "NSURL", "NSError", "NSUUID", "NSIndexSet", "NSMutableIndexSet",
    "NSIndexPath", "NSNull", "NSLocale", "NSTimeZone", "NSCalendar", "NSDateComponents",
    "NSCharacterSet", "NSMutableCharacterSet", "NSURLRequest", "NSMutableURLRequest",
  ]

  private static let _collections: Set<String> = [
    "NSArray", "NSMutableArray", "NSDictionary", "NSMutableDictionary", "NSSet", "NSMutableSet",
    "NSCountedSet", "NSOrderedSet", "NSMutableOrderedSet", "NSMapTable", "NSHashTable",
    "NSPointerArray", "CoreFoundation table",
  ]

  /// Whether something can be taken out of a collection for which ``isCollection(_:)`` holds.
  package static func isMutableCollection(_ type: String) -> Bool {
    let name = type.prefix { $0 != "<" }.split(separator: ".").last.map(String.init) ?? type
    return name.contains("Mutable")
      || ["NSCountedSet", "NSMapTable", "NSHashTable", "NSPointerArray"].contains(name)
  }

  /// Whether a module's file is one of the shared libraries that come with Swift.
  package static func isLibrary(path: String) -> Bool {
    let file = path.split(separator: "/").last ?? ""
    return ["libswift", "libFoundation", "lib_Foundation", "libdispatch", "libBlocksRuntime"]
      .contains { file.hasPrefix($0) } && file.contains(".so")
  }

  /// A name as people write it in the source: without the modules of the toolchain, with all others.
  ///
  /// `Swift.Array<App.Track>` becomes `Array<App.Track>` and `closure #1 in Dispatch.DispatchQueue.f()`
  /// `closure #1 in DispatchQueue.f()`, while `App.Timer` stays what it is. Reports write names so; snapshots
  /// and fingerprints keep the modules.
  ///
  /// - Parameter name: The name of a type, function or variable, its modules written out.
  /// - Complexity: O(length of the name).
  package static func sourceSpelling(of name: String) -> String {
    let text = Array(name.utf8)
    var result: [UInt8] = []
    result.reserveCapacity(text.count)
    var index = 0
    /// Whether a module may stand here: not within a word, not after a dot.
    var isStart = true
    while index < text.count {
      guard isStart, isWord(text[index]) else {
        isStart = !isWord(text[index]) && text[index] != UInt8(ascii: ".")
        result.append(text[index])
        index += 1
        continue
      }
      var end = index
      while end < text.count, isWord(text[end]) { end += 1 }
      if end + 1 < text.count, text[end] == UInt8(ascii: "."), isWord(text[end + 1]),
        names.contains(String(decoding: text[index..<end], as: UTF8.self))
      {
        // What follows is the name itself, whatever it is called.
        index = end + 1
      } else {
        result += text[index..<end]
        index = end
      }
      isStart = false
    }
    return String(decoding: result, as: UTF8.self)
  }

  private static func isWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
      true
    default: false
    }
  }
}
