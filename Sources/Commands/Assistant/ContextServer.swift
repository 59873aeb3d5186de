// ContextServer: the Model Context Protocol over lines of JSON: who we are, which tools there are, what a tool answers.

internal import GraphReport

/// Answers a client's messages.
///
/// Revisions of the protocol that begin with a handshake and the one that says its version with each call are understood; no
/// state of a connection is needed for either. Messages are answered one after the other.
struct ContextServer {
  /// Revisions that `initialize` may agree on, the newest last.
  static let handshakeVersions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]

  /// Revisions that a call may name for itself.
  static let statelessVersions = ["2026-07-28"]

  /// The most bytes of a message.
  static let longestMessage = 1 << 20

  /// The most messages in one line.
  static let mostMessages = 100

  let tools: [ContextTool]
  let shelf: SnapshotShelf

  /// What a client may tell an assistant of us.
  static let instructions = """
    Answers about the memory of a Swift program on Linux, from snapshots of its heap: what leaked, which cycle keeps it, which \
    edge to cut, who retains what. Start with snapshots and findings; finding tells one of them whole. Every answer is small and \
    says what was left out and how to get it.
    """

  // MARK: - Lines

  /// Answers messages until the input ends.
  func serve(_ input: any ByteSource, _ output: any TextSink) throws(SinkError) {
    var lines = LineReader(input, limit: Self.longestMessage)
    while let line = try lines.next() {
      if let answer = answer(to: line) { try output.write(answer + "\n") }
    }
  }

  /// The answer to a line; nil where none is wanted.
  func answer(to line: LineReader.Line) -> String? {
    guard case .text(let bytes) = line else {
      return RemoteAnswer.error(
        .parse("a message of more than \(Self.longestMessage) bytes"), to: nil)
    }
    // An empty line is no message.
    guard bytes.contains(where: { $0 > 0x20 }) else { return nil }
    let value: LocatedJSON
    do {
      value = try LocatedJSON(parsing: bytes)
    } catch {
      return RemoteAnswer.error(.parse("no JSON: \(error.why)"), to: nil)
    }
    // Several messages at once, as JSON-RPC and one revision of the protocol have it.
    guard let messages = value.elements else { return answer(to: RemoteMessage(value)) }
    guard !messages.isEmpty, messages.count <= Self.mostMessages else {
      return RemoteAnswer.error(
        .invalidRequest("\(messages.count) messages at once; 1 to \(Self.mostMessages) may be"),
        to: nil)
    }
    let answers = messages.compactMap { answer(to: RemoteMessage($0)) }
    return answers.isEmpty ? nil : "[" + answers.joined(separator: ",") + "]"
  }

  private func answer(to message: RemoteMessage) -> String? {
    switch message {
    case .silent: return nil
    case .invalid(let id, let error): return RemoteAnswer.error(error, to: id)
    case .call(let call):
      do {
        return RemoteAnswer.result(try result(of: call), to: call.id)
      } catch {
        return RemoteAnswer.error(error, to: call.id)
      }
    }
  }

  // MARK: - Methods

  private static let _versionKey = "io.modelcontextprotocol/protocolVersion"
  private static let _capabilitiesKey = "io.modelcontextprotocol/clientCapabilities"
  private static let _serverKey = "io.modelcontextprotocol/serverInfo"

  private static let _server = JSONValue.members([
    "name": "memgraph", "title": "memory-graph", "version": .string(toolVersion),
  ])

  private static let _capabilities = JSONValue.members(["tools": .object([])])

  private func result(of call: RemoteCall) throws(RemoteError) -> JSONValue {
    let isStateless = try Self._isStateless(call)
    /// A result with what the revision wants in each.
    func complete(_ members: [JSONValue.Member], isLasting: Bool = false) -> JSONValue {
      guard isStateless else { return .object(members) }
      var more = [JSONValue.Member("resultType", "complete")]
      if isLasting {
        more += [JSONValue.Member("ttlMs", 60_000), JSONValue.Member("cacheScope", "private")]
      }
      more.append(JSONValue.Member("_meta", .members([Self._serverKey: Self._server])))
      return .object(members + more)
    }
    switch call.method {
    case "initialize" where !isStateless: return try _initialize(call)
    case "server/discover" where isStateless:
      return complete(
        [
          JSONValue.Member(
            "supportedVersions", .array(Self.statelessVersions.map { .string($0) })),
          JSONValue.Member("capabilities", Self._capabilities),
          JSONValue.Member("instructions", .string(Self.instructions)),
        ], isLasting: true)
    case "ping": return complete([])
    case "tools/list":
      if let cursor = call.params?["cursor"] {
        throw .invalidParameters(
          "\"cursor\" is \(cursor.kind) that we never gave: the list has one page")
      }
      return complete(
        [JSONValue.Member("tools", .array(tools.map(\.json)))], isLasting: true)
    case "tools/call":
      guard let name = call.params?["name"]?.string else {
        throw .invalidParameters("\"name\" must be a text: which tool to call")
      }
      guard let tool = tools.first(where: { $0.name == name }) else {
        let guess = Spelling.nearest(to: name, among: tools.map(\.name)).map {
          "; did you mean \($0)?"
        }
        throw .invalidParameters(
          "unknown tool \(name.prefix(80))" + (guess ?? "; tools/list names them"))
      }
      let answer = tool.answer(to: call.params?["arguments"], from: shelf)
      return complete(answer.members)
    default: throw .noMethod(call.method)
    }
  }

  /// Whether a call says its version itself.
  private static func _isStateless(_ call: RemoteCall) throws(RemoteError) -> Bool {
    guard let meta = call.params?["_meta"], let version = meta[_versionKey] else {
      if call.method == "server/discover" {
        throw .invalidParameters("\"_meta\" has no \"\(_versionKey)\"")
      }
      return false
    }
    guard let requested = version.string else {
      throw .invalidParameters("\"\(_versionKey)\" is \(version.kind), not a text")
    }
    guard meta[_capabilitiesKey]?.members != nil else {
      throw .invalidParameters("\"\(_capabilitiesKey)\" must be an object")
    }
    guard statelessVersions.contains(requested) else {
      throw RemoteError(
        code: -32_022, message: "unsupported protocol version",
        data: .members([
          "supported": .array(statelessVersions.map { .string($0) }),
          "requested": .string(String(requested.prefix(80))),
        ]))
    }
    return true
  }

  private func _initialize(_ call: RemoteCall) throws(RemoteError) -> JSONValue {
    guard let requested = call.params?["protocolVersion"]?.string else {
      throw .invalidParameters("\"protocolVersion\" must be a text")
    }
    let newest = Self.handshakeVersions[Self.handshakeVersions.count - 1]
    return .members([
      "protocolVersion": .string(
        Self.handshakeVersions.contains(requested) ? requested : newest),
      "capabilities": Self._capabilities,
      "serverInfo": Self._server,
      "instructions": .string(Self.instructions),
    ])
  }
}
