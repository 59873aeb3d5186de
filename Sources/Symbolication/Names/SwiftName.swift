// SwiftName: the demangler's long text, taken apart and written as people write it.

internal import Glibc

/// The name of a Swift function or variable as people write it, and what was left out.
///
/// The demangler writes everything it knows: `partial apply forwarder for closure #1
/// (Swift.Int) -> () in main.Model.(start in _12F)(x: Swift.Int) -> ()`. People write
/// `closure #1 in main.Model.start(x:)`. Text that is unlike anything known comes out unchanged but for
/// its tail, so a new kind of name in a later compiler is at worst long.
struct SwiftName: Equatable {
  /// What kind of function the name stands for.
  enum Kind: Equatable {
    /// A closure in the source, or an autoclosure.
    case closure

    /// What the compiler makes of a method that is passed as a function: an implicit closure that takes
    /// `self`, and in it one that takes the arguments.
    case methodReference

    /// A function that only converts between calling conventions.
    case thunk

    /// Anything else.
    case function
  }

  var text: String
  var kind: Kind

  /// Whether the function only passes on what a closure's context holds.
  var isPartialApply = false

  /// Whether it stands for the data that describes an asynchronous function.
  var isAsyncPointer = false

  /// For a closure or local function, how many parameters it has besides its captures.
  var parameterCount: Int?

  /// Whether a closure is asynchronous.
  var isAsynchronous = false

  /// For a method reference, the type whose method it is, without generic arguments: `main.Model`.
  var referencedType: String?

  /// For the function by which a type meets a protocol's requirement, the requirement:
  /// `main.Sink.accept(_:)`.
  var witnessedRequirement: String?

  /// Takes a demangler's text apart.
  ///
  /// - Complexity: O(*n*), *n* being the length of the text.
  init(demangled: String) {
    var rest = ArraySlice(Array(demangled.utf8))
    if let suffix = rest.range(of: Self.unmangledSuffix) { rest = rest[..<suffix.lowerBound] }
    text = ""
    kind = .function
    var isCurryThunk = false
    var hasForwarder = false
    prefixes: while true {
      for prefix in Self.droppedPrefixes where rest.begins(with: prefix) {
        rest = rest.dropFirst(prefix.count)
        switch prefix {
        case Self.partialApply: hasForwarder = true
        case Self.asyncPointer: isAsyncPointer = true
        case Self.curryThunk: isCurryThunk = true
        default: break
        }
        continue prefixes
      }
      guard let end = rest.endOfSpecialization ?? rest.endOfResumePrefix else { break }
      rest = rest[end...]
    }
    isPartialApply = hasForwarder

    if rest.starts(with: "reabstraction thunk".utf8) {
      text = "reabstraction thunk"
      kind = .thunk
      return
    }
    let witness = Array("protocol witness for ".utf8)
    if rest.starts(with: witness) {
      kind = .thunk
      let subject = rest.dropFirst(witness.count)
      if let conformance = subject.topLevelRange(of: " in conformance ") {
        let requirement = Self.path(subject[..<conformance.lowerBound])
        let type = Self.entity(subject[conformance.upperBound...])
        witnessedRequirement = requirement
        text = "protocol witness for \(requirement) in conformance \(type)"
        return
      }
    }
    if rest.starts(with: "vtable thunk for ".utf8) {
      kind = .thunk
      if let target = rest.topLevelRange(of: " dispatching to ") {
        rest = rest[target.upperBound...]
      }
    }

    let segments = rest.segments
    text = Self.path(segments)
    guard let first = segments.first, kind == .function else { return }
    let isImplicit = first.starts(with: Self.implicitClosure)
    if isImplicit || first.starts(with: Self.closure) {
      kind = .closure
      parameterCount = first.signatureParameters?.topLevelCount
      isAsynchronous = String(decoding: first, as: UTF8.self).contains(") async ")
      // An implicit closure within one that takes only `self`: a method passed as a function.
      if isImplicit, segments.count > 2, segments[1].starts(with: Self.implicitClosure),
        let owner = segments[1].signatureParameters, owner.topLevelCount == 1
      {
        kind = .methodReference
        referencedType = Self.typeName(owner)
      }
    } else if isCurryThunk {
      kind = .methodReference
    } else if first.isLocalFunction {
      parameterCount = first.signatureParameters?.topLevelCount
    } else if hasForwarder, segments.count == 1, first.contains(UInt8(ascii: "(")) {
      kind = .methodReference
    }
  }

  /// A name of the source: `main.Model.handle(_:)` rather than a closure, thunk or table.
  var isSourceFunction: Bool {
    kind == .function && !isPartialApply && text.hasSuffix(")") && text.contains(".")
      && !text.contains(" ")
      || kind == .function && text.hasPrefix("static ") && text.hasSuffix(")")
  }

  private static let unmangledSuffix = Array(" with unmangled suffix ".utf8)
  private static let partialApply = Array("partial apply forwarder for ".utf8)
  private static let asyncPointer = Array("async function pointer to ".utf8)
  private static let curryThunk = Array("curry thunk of ".utf8)
  private static let implicitClosure = Array("implicit closure #".utf8)
  private static let closure = Array("closure #".utf8)

  /// What says how a function came about and not which one it is.
  private static let droppedPrefixes: [[UInt8]] =
    [partialApply, asyncPointer, curryThunk]
    + [
      "partial apply ObjC forwarder for ", "merged ", "@objc ", "@nonobjc ", "dynamic ",
      "dispatch thunk of ", "method descriptor for ", "dynamically replaceable thunk for ",
      "distributed thunk ", "back deployment thunk for ", "back deployment fallback for ",
      "outlined variable #0 of ",
    ].map { Array($0.utf8) }

  /// `a in b in c`, each part written short.
  private static func path(_ text: ArraySlice<UInt8>) -> String { path(text.segments) }

  private static func path(_ segments: [ArraySlice<UInt8>]) -> String {
    if segments.count == 1 { return entity(segments[0]) }
    return segments.map { entity($0) }.joined(separator: " in ")
  }

  /// One part: everything up to the signature, argument labels in place of types, no discriminators.
  private static func entity(_ text: ArraySlice<UInt8>) -> String {
    for start in [implicitClosure, closure] where text.starts(with: start) {
      let digits = text.dropFirst(start.count).prefix { $0.isDigit }
      return String(decoding: start + digits, as: UTF8.self)
    }
    var output: [UInt8] = []
    output.reserveCapacity(text.count)
    var index = text.startIndex
    /// Whether a name starts here: at the start, after a dot, or after a word.
    var isStart = true
    loop: while index < text.endIndex {
      let byte = text[index]
      // Made where it is looked at: most bytes are just taken.
      var rest: ArraySlice<UInt8> { text[index...] }
      switch byte {
      case UInt8(ascii: "(") where isStart:
        guard let end = rest.endOfGroup else { break loop }
        let content = text[(index + 1)..<(end - 1)]
        if content.starts(with: "extension in ".utf8) {
          index = end
          if index < text.endIndex, text[index] == UInt8(ascii: ":") { index += 1 }
          continue loop
        }
        if content.starts(with: "in _".utf8) {
          // A private initialiser has no name before it: `App.Model.(in _12F).init()`.
          index = end
          if index < text.endIndex, text[index] == UInt8(ascii: ".") { index += 1 }
          continue loop
        }
        if let discriminator = content.range(of: " in ") {
          output += content[..<discriminator.lowerBound]
        } else {
          output += text[index..<end]
        }
        index = end
        isStart = false
      case UInt8(ascii: "("):
        guard let end = rest.endOfGroup else { break loop }
        output += labels(text[(index + 1)..<(end - 1)])
        break loop
      case UInt8(ascii: "<") where !isStart:
        guard let end = rest.endOfGroup else { break loop }
        index = end
      case UInt8(ascii: " "):
        if rest.begins(with: colon) || rest.begins(with: arrow) { break loop }
        if rest.begins(with: numberSign) {
          // `local #1 (Swift.Int) -> ()`: the number only tells two of the same name apart.
          let digits = rest.dropFirst(2).prefix { $0.isDigit }
          guard !digits.isEmpty else { break loop }
          if !digits.elementsEqual("1".utf8) { output += rest[..<digits.endIndex] }
          index = digits.endIndex
          if index + 1 < text.endIndex, text[index] == UInt8(ascii: " "),
            text[index + 1] == UInt8(ascii: "(")
          {
            index += 1
          }
          continue loop
        }
        for fixity in fixities where rest.begins(with: fixity) {
          index += fixity.count - 1
          continue loop
        }
        output.append(byte)
        index += 1
        isStart = true
      default:
        if isStart, byte.isOperator {
          let name = rest.prefix { $0.isOperator }
          output += name
          index = name.endIndex
          isStart = false
          continue loop
        }
        output.append(byte)
        index += 1
        isStart = byte == UInt8(ascii: ".")
      }
    }
    for special in specialMembers {
      if let range = output[...].range(of: special.long) {
        output.replaceSubrange(range, with: special.short)
        break
      }
    }
    return String(decoding: output, as: UTF8.self)
  }

  /// What people call the initializer and deinitializer, whichever of their two functions it is.
  private static let specialMembers: [(long: [UInt8], short: [UInt8])] = [
    ("__allocating_init", "init"), ("__deallocating_deinit", "deinit"),
    ("__isolated_deallocating_deinit", "deinit"),
  ].map { (Array($0.utf8), Array($1.utf8)) }

  /// `(x: Swift.Int, Swift.Int)` as `(x:_:)`, without the parentheses of the input.
  private static func labels(_ parameters: ArraySlice<UInt8>) -> [UInt8] {
    var output = Array("(".utf8)
    for parameter in parameters.topLevelParts {
      let label = parameter.prefix { $0.isIdentifier }
      if !label.isEmpty, parameter[label.endIndex...].starts(with: ": ".utf8) {
        output += label
      } else {
        output.append(UInt8(ascii: "_"))
      }
      output.append(UInt8(ascii: ":"))
    }
    output.append(UInt8(ascii: ")"))
    return output
  }

  /// A type without ownership, generic arguments and discriminators: `main.Model`.
  private static func typeName(_ type: ArraySlice<UInt8>) -> String {
    var type = type
    for word in ["inout ", "__owned ", "__shared ", "any ", "some "]
    where type.starts(with: word.utf8) {
      type = type.dropFirst(word.utf8.count)
    }
    return path(type)
  }
}

extension UInt8 {
  fileprivate var isDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }

  fileprivate var isIdentifier: Bool {
    isDigit || self == UInt8(ascii: "_") || self == UInt8(ascii: "`") || self >= 0x80
      || (self | 0x20) >= UInt8(ascii: "a") && (self | 0x20) <= UInt8(ascii: "z")
  }

  fileprivate var isOperator: Bool {
    switch self {
    case UInt8(ascii: "/"), UInt8(ascii: "="), UInt8(ascii: "-"), UInt8(ascii: "+"),
      UInt8(ascii: "!"), UInt8(ascii: "*"), UInt8(ascii: "%"), UInt8(ascii: "<"),
      UInt8(ascii: ">"), UInt8(ascii: "&"), UInt8(ascii: "|"), UInt8(ascii: "^"),
      UInt8(ascii: "~"), UInt8(ascii: "?"):
      true
    default: false
    }
  }
}

extension ArraySlice<UInt8> {
  /// The first occurrence of a text.
  fileprivate func range(of text: String) -> Range<Int>? { range(of: Array(text.utf8)) }

  /// The first occurrence of some bytes.
  fileprivate func range(of pattern: [UInt8]) -> Range<Int>? {
    let place = withUnsafeBytes { text in
      pattern.withUnsafeBytes { pattern -> Int? in
        guard let start = text.baseAddress, let sought = pattern.baseAddress else { return nil }
        var index = 0
        while index + pattern.count <= text.count,
          let found = memchr(
            start + index, Int32(pattern[0]), text.count - pattern.count + 1 - index)
        {
          let candidate = UnsafeRawPointer(found)
          if memcmp(candidate, sought, pattern.count) == 0 { return candidate - start }
          index = candidate - start + 1
        }
        return nil
      }
    }
    return place.map { startIndex + $0..<startIndex + $0 + pattern.count }
  }

  /// Whether the text begins with some bytes.
  fileprivate func begins(with prefix: [UInt8]) -> Bool {
    guard count >= prefix.count, first == prefix.first else { return false }
    return withUnsafeBytes { text in
      prefix.withUnsafeBytes { prefix in
        guard let start = text.baseAddress, let sought = prefix.baseAddress else { return true }
        return memcmp(start, sought, prefix.count) == 0
      }
    }
  }

  /// Where the walk over balanced text goes after the byte at an index: past a whole group, past an
  /// operator's name, or one byte on.
  private func step(from index: Int) -> Int {
    let byte = self[index]
    switch byte {
    case UInt8(ascii: "("), UInt8(ascii: "["): return self[index...].endOfGroup ?? index + 1
    case UInt8(ascii: "."):
      // `App.< infix(...)`: the operator's name is no bracket.
      let name = self[(index + 1)...].prefix { $0.isOperator }
      return name.endIndex
    case UInt8(ascii: "<"): return self[index...].endOfGroup ?? index + 1
    case UInt8(ascii: "-") where index + 1 < endIndex && self[index + 1] == UInt8(ascii: ">"):
      return index + 2
    default: return index + 1
    }
  }

  /// The end of the bracketed group that starts here; nil where it isn't closed.
  fileprivate var endOfGroup: Int? {
    var depth = 0
    var index = startIndex
    while index < endIndex {
      switch self[index] {
      case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "<"): depth += 1
      case UInt8(ascii: ">") where index > startIndex && self[index - 1] == UInt8(ascii: "-"): break
      case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: ">"):
        depth -= 1
        if depth == 0 { return index + 1 }
      default: break
      }
      index += 1
    }
    return nil
  }

  /// The first occurrence of a text outside all brackets.
  fileprivate func topLevelRange(of text: String) -> Range<Int>? {
    let pattern = Array(text.utf8)
    // Most texts don't have it anywhere.
    guard range(of: pattern) != nil else { return nil }
    var index = startIndex
    while index < endIndex {
      if self[index] == pattern[0], self[index...].begins(with: pattern) {
        return index..<(index + pattern.count)
      }
      index = step(from: index)
    }
    return nil
  }

  /// The parts between ` in `, outside brackets.
  fileprivate var segments: [ArraySlice<UInt8>] {
    var result: [ArraySlice<UInt8>] = []
    var rest = self
    while let range = rest.topLevelRange(of: " in ") {
      result.append(rest[..<range.lowerBound])
      rest = rest[range.upperBound...]
    }
    result.append(rest)
    return result
  }

  /// The parts between commas, outside brackets; none for empty text.
  fileprivate var topLevelParts: [ArraySlice<UInt8>] {
    guard !isEmpty else { return [] }
    var result: [ArraySlice<UInt8>] = []
    var rest = self
    while let range = rest.topLevelRange(of: ", ") {
      result.append(rest[..<range.lowerBound])
      rest = rest[range.upperBound...]
    }
    result.append(rest)
    return result
  }

  fileprivate var topLevelCount: Int { topLevelParts.count }

  /// The inside of the first parentheses after `#1 `, attributes skipped.
  fileprivate var signatureParameters: ArraySlice<UInt8>? {
    guard let number = range(of: " #") ?? range(of: "#") else { return nil }
    var index = number.upperBound
    while index < endIndex {
      if self[index] == UInt8(ascii: "(") {
        guard let end = self[index...].endOfGroup else { return nil }
        // `@isolated(any)` is an attribute, not the parameters.
        if [UInt8(ascii: " "), UInt8(ascii: ">")].contains(self[index - 1]) {
          return self[(index + 1)..<(end - 1)]
        }
        index = end
      } else if self[index] == UInt8(ascii: "<") {
        index = self[index...].endOfGroup ?? endIndex
      } else {
        index += 1
      }
    }
    return nil
  }

  /// `name #1 (Swift.Int) -> ()`.
  fileprivate var isLocalFunction: Bool {
    guard let number = range(of: " #") else { return false }
    let rest = self[number.upperBound...].drop { $0.isDigit }
    return rest.starts(with: " (".utf8) || rest.starts(with: " <".utf8)
      || rest.starts(with: "<".utf8)
  }

  /// The end of `generic specialization <Swift.Int> of `, for all kinds of specialization.
  fileprivate var endOfSpecialization: Int? {
    guard let word = prefix(39 + specialization.count).range(of: specialization) else {
      return begins(with: specialized) ? startIndex + specialized.count : nil
    }
    // Only words before it: a name that happens to have the word in it is none.
    guard self[..<word.lowerBound].allSatisfy({ $0.isIdentifier || $0 == 0x20 || $0 == 0x2d })
    else {
      return nil
    }
    var rest = self[word.upperBound...]
    if rest.first == UInt8(ascii: "<") {
      guard let end = rest.endOfGroup else { return nil }
      rest = rest[end...]
      if rest.first == UInt8(ascii: " ") { rest = rest.dropFirst() }
    }
    return rest.starts(with: "of ".utf8) ? rest.startIndex + 3 : nil
  }

  /// The end of `(1) suspend resume partial function for `, or of the form for the other half.
  fileprivate var endOfResumePrefix: Int? {
    guard first == UInt8(ascii: "("), let end = endOfGroup,
      self[(startIndex + 1)..<(end - 1)].allSatisfy({ $0.isDigit })
    else { return nil }
    for words in [" suspend resume partial function for ", " await resume partial function for "]
    where self[end...].starts(with: words.utf8) {
      return end + words.utf8.count
    }
    return nil
  }
}

private let colon = Array(" : ".utf8)
private let arrow = Array(" -> ".utf8)
private let numberSign = Array(" #".utf8)
private let fixities = [" infix(", " prefix(", " postfix("].map { Array($0.utf8) }
private let specialization = Array("specialization ".utf8)
private let specialized = Array("specialized ".utf8)
