// ContextTool: a question that an assistant may ask: its parameters, how they are checked, and what comes of it.

internal import GraphReport

/// A tool of the server.
struct ContextTool: Sendable {
  /// What a tool wants to know.
  struct Parameter: Sendable {
    enum Kind: Sendable {
      case text

      /// One or more texts.
      case texts

      /// A whole number in a range.
      case number(ClosedRange<Int>)
    }

    let name: String
    let kind: Kind
    let isRequired: Bool
    let description: String

    init(_ name: String, isRequired: Bool = false, _ description: String) {
      self.init(name, .text, isRequired: isRequired, description)
    }

    init(_ name: String, _ kind: Kind, isRequired: Bool = false, _ description: String) {
      self.name = name
      self.kind = kind
      self.isRequired = isRequired
      self.description = description
    }

    fileprivate var json: JSONValue {
      switch kind {
      case .text:
        return .members([
          "type": "string", "minLength": 1, "description": .string(description),
        ])
      case .texts:
        return .members([
          "type": "array", "items": .members(["type": "string", "minLength": 1]), "minItems": 1,
          "description": .string(description),
        ])
      case .number(let range):
        return .members([
          "type": "integer", "minimum": .integer(range.lowerBound),
          "maximum": .integer(range.upperBound), "description": .string(description),
        ])
      }
    }
  }

  let name: String
  let title: String
  let description: String
  let parameters: [Parameter]
  let run: @Sendable (ToolCall) throws -> JSONValue

  /// The tool as a list of tools shows it.
  var json: JSONValue {
    .members([
      "name": .string(name), "title": .string(title), "description": .string(description),
      "inputSchema": .members([
        "type": "object",
        "properties": .object(parameters.map { JSONValue.Member($0.name, $0.json) }),
        "required": .array(parameters.filter(\.isRequired).map { .string($0.name) }),
        "additionalProperties": .bool(false),
      ]),
      "annotations": .members([
        "title": .string(title), "readOnlyHint": .bool(true), "destructiveHint": .bool(false),
        "idempotentHint": .bool(true), "openWorldHint": .bool(false),
      ]),
    ])
  }

  /// What a call answers: a value and the same as text, or what is wrong with the call.
  struct Answer {
    var members: [JSONValue.Member]

    fileprivate init(_ value: JSONValue) {
      members = [
        JSONValue.Member(
          "content", .array([.members(["type": "text", "text": .string(value.line)])])),
        JSONValue.Member("structuredContent", value),
        JSONValue.Member("isError", .bool(false)),
      ]
    }

    fileprivate init(error: String) {
      members = [
        JSONValue.Member(
          "content",
          .array([.members(["type": "text", "text": .string(AnswerPage.shortened(error))])])),
        JSONValue.Member("isError", .bool(true)),
      ]
    }
  }

  /// Answers a call. Errors are answers, too: what is wrong, why, and what to do instead.
  func answer(to arguments: LocatedJSON?, from shelf: SnapshotShelf) -> Answer {
    do {
      return Answer(try run(try ToolCall(arguments, of: self, shelf: shelf)))
    } catch {
      return Answer(error: CommandError(error, verb: name).sentence)
    }
  }
}

/// A call of a tool with its arguments checked.
struct ToolCall {
  let tool: ContextTool
  let shelf: SnapshotShelf
  private var _texts: [String: [String]] = [:]
  private var _numbers: [String: Int] = [:]

  /// Checks arguments.
  fileprivate init(
    _ arguments: LocatedJSON?, of tool: ContextTool, shelf: SnapshotShelf
  ) throws(CommandError) {
    self.tool = tool
    self.shelf = shelf
    guard let members = arguments.map({ $0.members }) ?? [] else {
      throw CommandError(
        tool.name, "its arguments are \(arguments?.kind ?? "none"), not an object", status: .usage)
    }
    for (name, value) in members {
      guard let parameter = tool.parameters.first(where: { $0.name == name }) else {
        let names = tool.parameters.map(\.name)
        let guess = Spelling.nearest(to: name, among: names).map { "did you mean \($0)?" }
        throw CommandError(
          "\(tool.name) \(name.prefix(80))", "it has no such parameter",
          mend: guess ?? "it has \(names.joined(separator: ", "))", status: .usage)
      }
      // Assistants write null for what they leave out.
      if case .null = value.value { continue }
      try _take(value, as: parameter)
    }
    for parameter in tool.parameters
    where parameter.isRequired && _texts[parameter.name] == nil && _numbers[parameter.name] == nil {
      throw CommandError(
        "\(tool.name) \(parameter.name)", "it is missing", mend: "give \(parameter.description)",
        status: .usage)
    }
  }

  private mutating func _take(
    _ value: LocatedJSON, as parameter: ContextTool.Parameter
  ) throws(CommandError) {
    func refuse(_ wanted: String) -> CommandError {
      CommandError(
        "\(tool.name) \(parameter.name)", "it is \(value.kind), not \(wanted)",
        mend: "give \(parameter.description)", status: .usage)
    }
    switch parameter.kind {
    case .text:
      guard let text = value.string, !text.isEmpty else { throw refuse("a text") }
      _texts[parameter.name] = [text]
    case .texts:
      // One alone is meant as a list of one.
      let elements = value.string == nil ? value.elements ?? [] : [value]
      let texts = elements.compactMap(\.string).filter { !$0.isEmpty }
      guard !texts.isEmpty, texts.count == elements.count else { throw refuse("a list of texts") }
      _texts[parameter.name] = texts
    case .number(let range):
      guard let number = value.integer, range.contains(number) else {
        throw refuse("a whole number of \(range.lowerBound) to \(range.upperBound)")
      }
      _numbers[parameter.name] = number
    }
  }

  func text(_ name: String) -> String? { _texts[name]?.first }
  func texts(_ name: String) -> [String] { _texts[name] ?? [] }
  func number(_ name: String) -> Int? { _numbers[name] }
}
