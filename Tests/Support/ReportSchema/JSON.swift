// JSON: a JSON document as a value, for tests that look into reports.

internal import Foundation

/// A value of JSON as Foundation reads it.
public enum JSON: Decodable, Hashable, Sendable {
  case null
  case bool(Bool)
  case integer(Int)
  case number(Double)
  case string(String)
  case array([JSON])
  case object([String: JSON])

  /// Reads a document.
  public init(parsing text: String) throws {
    self = try JSONDecoder().decode(JSON.self, from: Data(text.utf8))
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Int.self) {
      self = .integer(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode([JSON].self) {
      self = .array(value)
    } else {
      self = .object(try container.decode([String: JSON].self))
    }
  }

  /// A member of an object; null where there is none.
  public subscript(name: String) -> JSON {
    if case .object(let members) = self { return members[name] ?? .null }
    return .null
  }

  /// An element of an array; null where there is none.
  public subscript(place: Int) -> JSON {
    if case .array(let elements) = self, elements.indices.contains(place) { return elements[place] }
    return .null
  }

  public var string: String? {
    if case .string(let value) = self { return value }
    return nil
  }

  public var integer: Int? {
    if case .integer(let value) = self { return value }
    return nil
  }

  public var elements: [JSON] {
    if case .array(let value) = self { return value }
    return []
  }

  public var members: [String: JSON] {
    if case .object(let value) = self { return value }
    return [:]
  }
}
