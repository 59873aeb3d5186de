// LocatedJSON: reads JSON that people write, and knows the line of everything in it.

/// A value of JSON and the line that it begins on.
struct LocatedJSON {
  enum Value {
    case null
    case bool(Bool)

    /// A number as it is written.
    case number(String)
    case string(String)
    case array([LocatedJSON])

    /// Members in the order in which they are written; no name comes twice.
    case object([(name: String, value: LocatedJSON)])
  }

  var value: Value

  /// The line, counted from 1.
  var line: Int

  /// What is wrong with a text, and where.
  struct Fault: Error, Equatable {
    var line: Int

    /// What is wrong, as the end of a sentence.
    var why: String
  }

  /// Reads a document (RFC 8259).
  ///
  /// - Throws: ``Fault`` at the first byte that is no JSON, for a name that an object has twice, and for more
  ///   than 200 levels of brackets.
  /// - Complexity: O(*n*) for *n* bytes.
  init(parsing bytes: [UInt8]) throws(Fault) {
    var parser = Parser(bytes: bytes)
    self = try parser.document()
  }

  /// A member of an object; nil for other values and where there is none.
  subscript(name: String) -> LocatedJSON? {
    guard case .object(let members) = value else { return nil }
    return members.first { $0.name == name }?.value
  }

  var string: String? {
    if case .string(let text) = value { return text }
    return nil
  }

  var integer: Int? {
    if case .number(let text) = value { return Int(text) }
    return nil
  }

  var elements: [LocatedJSON]? {
    if case .array(let elements) = value { return elements }
    return nil
  }

  var members: [(name: String, value: LocatedJSON)]? {
    if case .object(let members) = value { return members }
    return nil
  }

  /// What kind of value it is, in words.
  var kind: String {
    switch value {
    case .null: "null"
    case .bool: "a Boolean"
    case .number: "a number"
    case .string: "a text"
    case .array: "an array"
    case .object: "an object"
    }
  }

  private init(_ value: Value, line: Int) {
    self.value = value
    self.line = line
  }

  private struct Parser {
    let bytes: [UInt8]
    var place = 0
    var line = 1

    private static let _deepest = 200

    init(bytes: [UInt8]) { self.bytes = bytes }

    mutating func document() throws(Fault) -> LocatedJSON {
      if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { place = 3 }
      let result = try value(depth: 0)
      skipSpace()
      if place < bytes.count { throw fault("something follows the end of the document") }
      return result
    }

    private func fault(_ why: String) -> Fault { Fault(line: line, why: why) }

    private mutating func skipSpace() {
      while place < bytes.count {
        switch bytes[place] {
        case UInt8(ascii: "\n"):
          line += 1
          place += 1
        case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): place += 1
        default: return
        }
      }
    }

    private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

    private mutating func take(_ byte: UInt8) -> Bool {
      guard next == byte else { return false }
      place += 1
      return true
    }

    private mutating func value(depth: Int) throws(Fault) -> LocatedJSON {
      skipSpace()
      guard depth < Self._deepest else {
        throw fault("more than \(Self._deepest) levels of brackets")
      }
      let start = line
      guard let first = next else { throw fault("it ends where a value should stand") }
      switch first {
      case UInt8(ascii: "{"): return LocatedJSON(.object(try members(depth: depth)), line: start)
      case UInt8(ascii: "["): return LocatedJSON(.array(try elements(depth: depth)), line: start)
      case UInt8(ascii: "\""): return LocatedJSON(.string(try text()), line: start)
      case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
        return LocatedJSON(.number(try number()), line: start)
      default:
        for (word, value) in [("true", Value.bool(true)), ("false", .bool(false)), ("null", .null)]
        where bytes[place...].starts(with: word.utf8) {
          place += word.utf8.count
          return LocatedJSON(value, line: start)
        }
        throw fault("no value begins with \(Self.shown(first))")
      }
    }

    private mutating func members(depth: Int) throws(Fault) -> [(name: String, value: LocatedJSON)]
    {
      place += 1
      var members: [(name: String, value: LocatedJSON)] = []
      var names: Set<String> = []
      skipSpace()
      if take(UInt8(ascii: "}")) { return members }
      while true {
        skipSpace()
        guard next == UInt8(ascii: "\"") else { throw fault("a name in quotes should stand here") }
        let name = try text()
        guard names.insert(name).inserted else { throw fault("\"\(name)\" stands here twice") }
        skipSpace()
        guard take(UInt8(ascii: ":")) else { throw fault("a colon should follow \"\(name)\"") }
        members.append((name, try value(depth: depth + 1)))
        skipSpace()
        if take(UInt8(ascii: "}")) { return members }
        guard take(UInt8(ascii: ",")) else { throw fault("a comma or } is missing") }
      }
    }

    private mutating func elements(depth: Int) throws(Fault) -> [LocatedJSON] {
      place += 1
      var elements: [LocatedJSON] = []
      skipSpace()
      if take(UInt8(ascii: "]")) { return elements }
      while true {
        elements.append(try value(depth: depth + 1))
        skipSpace()
        if take(UInt8(ascii: "]")) { return elements }
        guard take(UInt8(ascii: ",")) else { throw fault("a comma or ] is missing") }
      }
    }

    private mutating func number() throws(Fault) -> String {
      let start = place
      _ = take(UInt8(ascii: "-"))
      if !take(UInt8(ascii: "0")) { try digits() }
      if take(UInt8(ascii: ".")) { try digits() }
      if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
        if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
        try digits()
      }
      return String(decoding: bytes[start..<place], as: UTF8.self)
    }

    private mutating func digits() throws(Fault) {
      let start = place
      while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { place += 1 }
      if place == start { throw fault("a digit is missing") }
    }

    private mutating func text() throws(Fault) -> String {
      place += 1
      var result: [UInt8] = []
      while let byte = next {
        place += 1
        switch byte {
        case UInt8(ascii: "\""):
          guard let text = String(validating: result, as: UTF8.self) else {
            throw fault("a text is not UTF-8")
          }
          return text
        case UInt8(ascii: "\\"): try escape(into: &result)
        case 0..<0x20: throw fault("a text has a line break or another control character")
        default: result.append(byte)
        }
      }
      throw fault("a text has no end")
    }

    private mutating func escape(into result: inout [UInt8]) throws(Fault) {
      guard let byte = next else { throw fault("a text has no end") }
      place += 1
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): result.append(byte)
      case UInt8(ascii: "b"): result.append(0x08)
      case UInt8(ascii: "f"): result.append(0x0C)
      case UInt8(ascii: "n"): result.append(0x0A)
      case UInt8(ascii: "r"): result.append(0x0D)
      case UInt8(ascii: "t"): result.append(0x09)
      case UInt8(ascii: "u"):
        var code = try unit()
        if (0xD800..<0xDC00).contains(code) {
          guard take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else {
            throw fault("half of a surrogate pair")
          }
          let low = try unit()
          guard (0xDC00..<0xE000).contains(low) else { throw fault("half of a surrogate pair") }
          code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(code) else { throw fault("half of a surrogate pair") }
        result += Array(String(Character(scalar)).utf8)
      default: throw fault("\\\(Self.shown(byte)) means nothing in a text")
      }
    }

    /// The four hexadecimal digits of an escape.
    private mutating func unit() throws(Fault) -> UInt32 {
      guard place + 4 <= bytes.count,
        bytes[place..<place + 4].allSatisfy({
          Character(Unicode.Scalar($0)).isHexDigit && $0 < 0x80
        }),
        let code = UInt32(String(decoding: bytes[place..<place + 4], as: UTF8.self), radix: 16)
      else { throw fault("\\u wants four hexadecimal digits") }
      place += 4
      return code
    }

    private static func shown(_ byte: UInt8) -> String {
      byte > 0x20 && byte < 0x7F ? String(Unicode.Scalar(byte)) : "byte \(byte)"
    }
  }
}
