// RemoteCall: JSON-RPC 2.0: what a client's message asks for, and how it is answered.

internal import GraphReport

/// A message that a client sent.
enum RemoteMessage {
  case call(RemoteCall)

  /// Something that wants no answer: a notification, or the answer to a call that we never made.
  case silent

  /// No call, with what is wrong; the identifier where there is one.
  case invalid(RemoteID?, RemoteError)

  /// Takes a value apart.
  init(_ value: LocatedJSON) {
    guard value.members != nil else {
      self = .invalid(nil, .invalidRequest("a message is \(value.kind), not an object"))
      return
    }
    let id: RemoteID?
    switch value["id"].map({ RemoteID($0) }) {
    case nil: id = nil
    case .some(nil):
      self = .invalid(
        nil,
        .invalidRequest("an id is a text or a number of at most \(RemoteID.longest) characters"))
      return
    case .some(let known): id = known
    }
    guard value["jsonrpc"]?.string == "2.0" else {
      self = .invalid(id, .invalidRequest("\"jsonrpc\" is not \"2.0\""))
      return
    }
    guard let method = value["method"] else {
      self =
        value["result"] != nil || value["error"] != nil
        ? .silent : .invalid(id, .invalidRequest("there is no \"method\""))
      return
    }
    guard let name = method.string else {
      self = .invalid(id, .invalidRequest("\"method\" is \(method.kind), not a text"))
      return
    }
    guard let id else {
      self = .silent
      return
    }
    if let params = value["params"], params.members == nil {
      self = .invalid(id, .invalidParameters("\"params\" is \(params.kind), not an object"))
      return
    }
    self = .call(RemoteCall(id: id, method: name, params: value["params"]))
  }
}

/// A call that a client made.
struct RemoteCall {
  var id: RemoteID
  var method: String

  /// An object; nil where there are none.
  var params: LocatedJSON?
}

/// What a client calls its call, kept as it was written.
struct RemoteID: Equatable {
  /// The most characters.
  static let longest = 256

  /// The identifier in JSON.
  let text: String

  /// nil for what may be none.
  init?(_ value: LocatedJSON) {
    switch value.value {
    case .string(let name): text = JSONValue.string(name).line
    // A number that no type of ours holds is the client's own all the same.
    case .number(let digits): text = digits
    default: return nil
    }
    if text.utf8.count > Self.longest { return nil }
  }
}

/// Why a call got no result.
struct RemoteError: Error, Equatable {
  var code: Int
  var message: String
  var data: JSONValue?

  static func parse(_ why: String) -> RemoteError { RemoteError(code: -32_700, message: why) }
  static func invalidRequest(_ why: String) -> RemoteError {
    RemoteError(code: -32_600, message: why)
  }
  static func noMethod(_ name: String) -> RemoteError {
    RemoteError(code: -32_601, message: "no method \(name.prefix(80))")
  }
  static func invalidParameters(_ why: String) -> RemoteError {
    RemoteError(code: -32_602, message: why)
  }
}

/// An answer's text.
enum RemoteAnswer {
  static func result(_ value: JSONValue, to id: RemoteID) -> String {
    #"{"jsonrpc":"2.0","id":\#(id.text),"result":\#(value.line)}"#
  }

  static func error(_ error: RemoteError, to id: RemoteID?) -> String {
    let value = JSONValue.members([
      "code": .integer(error.code), "message": .string(error.message), "data": error.data,
    ])
    return #"{"jsonrpc":"2.0","id":\#(id?.text ?? "null"),"error":\#(value.line)}"#
  }
}
