// ReportSchema: holds the JSON of reports against docs/report.schema.json.

internal import Foundation

/// The schema of reports.
///
/// It knows the keywords of JSON Schema that the file uses and refuses any other, so that nothing in the
/// file goes unchecked.
public struct ReportSchema: Sendable {
  private let _schema: JSON

  /// Reads a schema of this package: that of reports, or another one's.
  public init(named name: String = "report") throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    let file = folder.appendingPathComponent("../../../docs/\(name).schema.json")
    self.init(try JSON(parsing: String(contentsOf: file, encoding: .utf8)))
  }

  /// A schema of one's own, for tests of this type.
  public init(_ schema: JSON) { _schema = schema }

  /// What of a document is not as the schema has it, each with the place: `findings/0/kind: …`.
  public func objections(to document: JSON) -> [String] {
    objections(to: document, at: "", schema: _schema)
  }

  private func objections(to value: JSON, at place: String, schema: JSON) -> [String] {
    var found: [String] = []
    func object(_ why: String) { found.append((place.isEmpty ? "." : place) + ": " + why) }
    for (keyword, wanted) in schema.members.sorted(by: { $0.key < $1.key }) {
      switch keyword {
      case "$schema", "$id", "$defs", "title", "description": break
      case "$ref":
        let name = wanted.string.map { String($0.dropFirst("#/$defs/".count)) } ?? ""
        let definition = _schema["$defs"][name]
        if definition == .null { object("no definition \(wanted)") }
        found += objections(to: value, at: place, schema: definition)
      case "type":
        if type(of: value) != wanted.string { object("a \(type(of: value)), not \(wanted)") }
      case "const":
        if value != wanted { object("\(value), not \(wanted)") }
      case "enum":
        if !wanted.elements.contains(value) { object("\(value) is none of \(wanted)") }
      case "minimum":
        if let number = value.integer, let least = wanted.integer, number < least {
          object("\(number) is less than \(least)")
        }
      case "minItems":
        if case .array(let items) = value, items.count < wanted.integer ?? 0 { object("too short") }
      case "minLength":
        if let text = value.string, text.count < wanted.integer ?? 0 { object("too short") }
      case "pattern":
        guard let text = value.string, let pattern = wanted.string else { break }
        if text.range(of: pattern, options: .regularExpression) == nil {
          object("\"\(text)\" does not match \(pattern)")
        }
      case "required":
        guard case .object(let members) = value else { break }
        for name in wanted.elements.compactMap(\.string) where members[name] == nil {
          object("\(name) is missing")
        }
      case "properties":
        for (name, schema) in wanted.members.sorted(by: { $0.key < $1.key }) {
          guard let member = value.members[name] else { continue }
          found += objections(to: member, at: join(place, name), schema: schema)
        }
      case "additionalProperties":
        let known = schema["properties"].members
        for (name, member) in value.members.sorted(by: { $0.key < $1.key }) where known[name] == nil
        {
          found += objections(to: member, at: join(place, name), schema: wanted)
        }
      case "propertyNames":
        for name in value.members.keys.sorted() {
          found += objections(to: .string(name), at: join(place, name), schema: wanted)
        }
      case "items":
        for (number, item) in value.elements.enumerated() {
          found += objections(to: item, at: join(place, "\(number)"), schema: wanted)
        }
      case "allOf":
        for schema in wanted.elements { found += objections(to: value, at: place, schema: schema) }
      case "anyOf":
        let each = wanted.elements.map { objections(to: value, at: place, schema: $0) }
        if !each.contains(where: \.isEmpty) { found += each.flatMap { $0 } }
      default:
        object("the schema has a keyword that is not known: \(keyword)")
      }
    }
    return found
  }

  private func join(_ place: String, _ name: String) -> String {
    place.isEmpty ? name : place + "/" + name
  }

  private func type(of value: JSON) -> String {
    switch value {
    case .null: "null"
    case .bool: "boolean"
    case .integer: "integer"
    case .number: "number"
    case .string: "string"
    case .array: "array"
    case .object: "object"
    }
  }
}
