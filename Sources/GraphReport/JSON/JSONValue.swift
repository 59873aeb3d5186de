// JSONValue: a JSON document as a value whose objects keep the order of their members.

/// A value of JSON. Objects keep the order in which their members were written, so the same report
/// is the same bytes each time and reads in the order in which it is meant.
package enum JSONValue: Sendable, Equatable {
  case null
  case bool(Bool)
  case integer(Int)
  case string(String)
  case array([JSONValue])
  case object([Member])

  /// A name and a value in an object.
  package struct Member: Sendable, Equatable {
    package var name: String
    package var value: JSONValue

    package init(_ name: String, _ value: JSONValue) {
      self.name = name
      self.value = value
    }
  }

  /// An object of those members that have a value.
  package static func members(_ members: KeyValuePairs<String, JSONValue?>) -> JSONValue {
    .object(members.compactMap { name, value in value.map { Member(name, $0) } })
  }

  /// The value as text, indented by two spaces a level and ended by a newline.
  ///
  /// - Complexity: O(*n*) for *n* characters; the depth of the value is the depth of the call stack.
  package var text: String {
    var text = ""
    write(to: &text, indent: 0)
    return text + "\n"
  }

  /// The value on one line, without a newline.
  ///
  /// - Complexity: O(*n*) for *n* characters; the depth of the value is the depth of the call stack.
  package var line: String {
    var text = ""
    writeCompact(to: &text)
    return text
  }

  /// The value on one line, for a `script` element of HTML: no text in it can end the element, begin a
  /// comment or break a line.
  ///
  /// - Complexity: O(*n*) for *n* characters; the depth of the value is the depth of the call stack.
  package var textInHTML: String {
    let text = line
    var safe = ""
    safe.reserveCapacity(text.utf8.count)
    // Outside strings JSON has none of these, within them a number may stand for any character.
    for scalar in text.unicodeScalars {
      switch scalar {
      case "<": safe += "\\u003c"
      case ">": safe += "\\u003e"
      case "&": safe += "\\u0026"
      case "\u{2028}": safe += "\\u2028"
      case "\u{2029}": safe += "\\u2029"
      default: safe.unicodeScalars.append(scalar)
      }
    }
    return safe
  }

  /// A member of an object; nil where there is none.
  package subscript(name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.name == name }?.value
  }

  /// The text of a string; nil for other values.
  package var string: String? {
    if case .string(let text) = self { return text }
    return nil
  }

  /// A whole number; nil for other values.
  package var integer: Int? {
    if case .integer(let number) = self { return number }
    return nil
  }

  /// The elements of an array; none for other values.
  package var elements: [JSONValue] {
    if case .array(let elements) = self { return elements }
    return []
  }

  private func writeCompact(to text: inout String) {
    switch self {
    case .null, .bool, .integer, .string: write(to: &text, indent: 0)
    case .array(let values):
      text += "["
      for (place, value) in values.enumerated() {
        if place > 0 { text += "," }
        value.writeCompact(to: &text)
      }
      text += "]"
    case .object(let members):
      text += "{"
      for (place, member) in members.enumerated() {
        if place > 0 { text += "," }
        Self.write(member.name, to: &text)
        text += ":"
        member.value.writeCompact(to: &text)
      }
      text += "}"
    }
  }

  private func write(to text: inout String, indent: Int) {
    switch self {
    case .null: text += "null"
    case .bool(let value): text += value ? "true" : "false"
    case .integer(let value): text += String(value)
    case .string(let value): Self.write(value, to: &text)
    case .array(let values):
      Self.write(values, brackets: ("[", "]"), to: &text, indent: indent) { value, text in
        value.write(to: &text, indent: indent + 1)
      }
    case .object(let members):
      Self.write(members, brackets: ("{", "}"), to: &text, indent: indent) { member, text in
        Self.write(member.name, to: &text)
        text += ": "
        member.value.write(to: &text, indent: indent + 1)
      }
    }
  }

  private static func write<Element>(
    _ elements: [Element], brackets: (String, String), to text: inout String, indent: Int,
    each: (Element, inout String) -> Void
  ) {
    text += brackets.0
    for (place, element) in elements.enumerated() {
      text += place == 0 ? "\n" : ",\n"
      text += String(repeating: "  ", count: indent + 1)
      each(element, &text)
    }
    if !elements.isEmpty { text += "\n" + String(repeating: "  ", count: indent) }
    text += brackets.1
  }

  private static func write(_ string: String, to text: inout String) {
    text += "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\t": text += "\\t"
      case "\r": text += "\\r"
      case _ where scalar.value < 0x20 || scalar.value == 0x7F:
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByStringInterpolation,
  ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral
{
  package init(stringLiteral value: String) { self = .string(value) }
  package init(integerLiteral value: Int) { self = .integer(value) }
  package init(booleanLiteral value: Bool) { self = .bool(value) }
  package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
}
