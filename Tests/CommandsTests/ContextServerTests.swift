// ContextServerTests: the protocol of `memgraph mcp`: lines, messages, versions, and input that means harm.

import Foundation
import ReportSchema
import SnapshotDSL
import Testing

@testable import Commands

/// A server of the clinic's snapshots.
struct ServedClinic {
  let clinic: Clinic
  let shelf: SnapshotShelf
  let server: ContextServer

  init(_ operands: [String]? = nil, options: [String] = []) throws {
    let clinic = try Clinic()
    self.clinic = clinic
    let words = options + (operands?.map { "\(clinic.folder)/\($0)" } ?? [clinic.folder])
    let call = Invocation(
      tool: "memgraph", verb: .mcp,
      arguments: try Arguments(parsing: words, options: Verb.mcp.allOptions),
      console: Console(
        output: MemorySink(), errors: MemorySink(), symbolizer: { _, _ in ClinicSymbols() }))
    shelf = try SnapshotShelf(call.arguments.operands, of: call)
    server = ContextServer(tools: ContextTool.all, shelf: shelf)
  }

  /// The answer to a line; null where there is none.
  func answer(_ line: String) throws -> JSON {
    guard let text = server.answer(to: .text(Array(line.utf8))) else { return .null }
    #expect(!text.contains("\n"))
    return try JSON(parsing: text)
  }

  /// What a tool answers, and whether that is an error.
  func call(_ tool: String, _ arguments: String = "{}") throws -> (value: JSON, error: String?) {
    let result = try answer(
      #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\#(tool)","arguments":\#(arguments)}}"#
    )["result"]
    let text = result["content"][0]["text"].string?.replacingOccurrences(
      of: clinic.folder, with: "marks")
    if result["isError"] == .bool(true) { return (.null, text ?? "") }
    let value = result["structuredContent"]
    #expect(try JSON(parsing: result["content"][0]["text"].string ?? "") == value)
    return (value, nil)
  }
}

@Suite struct ContextServerTests {
  // MARK: - Lines

  @Test("Lines are the same however the input is cut into pieces")
  func lines() throws {
    var random = SeededGenerator(seed: 3)
    for round in 0..<400 {
      var bytes: [UInt8] = []
      for _ in 0..<Int.random(in: 0...60, using: &random) {
        bytes.append([10, 10, 13, 65, 66, 0xC3][Int.random(in: 0..<6, using: &random)])
      }
      var pieces: [[UInt8]] = []
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = Int.random(in: 1...7, using: &random)
        pieces.append(Array(rest.prefix(count)))
        rest = rest.dropFirst(count)
      }
      let limit = 5
      var expected: [LineReader.Line] = []
      var parts = bytes.split(separator: 10, omittingEmptySubsequences: false)
      let last = parts.removeLast()
      for part in parts {
        let line = part.last == 13 ? part.dropLast() : part
        // A return alone doesn't make a line too long.
        expected.append(line.count > limit ? .tooLong : .text(Array(line)))
      }
      if !last.isEmpty { expected.append(last.count > limit ? .tooLong : .text(Array(last))) }
      var reader = LineReader(MemorySource(pieces), limit: limit)
      var found: [LineReader.Line] = []
      while let line = try reader.next() { found.append(line) }
      #expect(found == expected, "round \(round)")
    }
  }

  @Test("A line without an end takes no more memory than a line may have, and the next is read")
  func endless() throws {
    let piece = [UInt8](repeating: 0x41, count: 1 << 16)
    var reader = LineReader(
      MemorySource([[UInt8]](repeating: piece, count: 64) + [Array("\nnext\n".utf8)]),
      limit: 100_000)
    #expect(try reader.next() == .tooLong)
    #expect(try reader.next() == .text(Array("next".utf8)))
    #expect(try reader.next() == nil)
  }

  // MARK: - Messages

  struct Message: Sendable, CustomTestStringConvertible {
    var line: String

    /// The whole answer; empty for none.
    var answer: String
    var testDescription: String { String(line.prefix(100)) }
  }

  private static func refusal(_ code: Int, _ message: String, id: String = "null") -> String {
    #"{"jsonrpc":"2.0","id":\#(id),"error":{"code":\#(code),"message":"\#(message)"}}"#
  }

  static let messages = [
    Message(
      line: #"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
      answer: #"{"jsonrpc":"2.0","id":1,"result":{}}"#),
    Message(
      line: #" {"method":"ping","params":{},"id":"a\"b","jsonrpc":"2.0"} "#,
      answer: #"{"jsonrpc":"2.0","id":"a\"b","result":{}}"#),
    // A number that no type of ours holds.
    Message(
      line: #"{"jsonrpc":"2.0","id":123456789012345678901234567890,"method":"ping"}"#,
      answer: #"{"jsonrpc":"2.0","id":123456789012345678901234567890,"result":{}}"#),
    Message(
      line: #"{"jsonrpc":"2.0","id":-1.5e400,"method":"ping"}"#,
      answer: #"{"jsonrpc":"2.0","id":-1.5e400,"result":{}}"#),
    Message(line: #"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, answer: ""),
    Message(
      line: #"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#,
      answer: ""),
    Message(line: #"{"jsonrpc":"2.0","method":"no such thing"}"#, answer: ""),
    Message(line: #"{"jsonrpc":"2.0","id":4,"result":{}}"#, answer: ""),
    Message(line: #"{"jsonrpc":"2.0","id":4,"error":{"code":1,"message":"x"}}"#, answer: ""),
    Message(line: "", answer: ""),
    Message(line: " \t", answer: ""),
    Message(line: "hello", answer: refusal(-32_700, "no JSON: no value begins with h")),
    Message(
      line: #"{"jsonrpc":"2.0","id":1,"method":"pi"#,
      answer: refusal(-32_700, "no JSON: a text has no end")),
    Message(line: "1", answer: refusal(-32_600, "a message is a number, not an object")),
    Message(line: "null", answer: refusal(-32_600, "a message is null, not an object")),
    Message(line: "[]", answer: refusal(-32_600, "0 messages at once; 1 to 100 may be")),
    Message(
      line: #"{"id":1,"method":"ping"}"#,
      answer: refusal(-32_600, #"\"jsonrpc\" is not \"2.0\""#, id: "1")),
    Message(
      line: #"{"jsonrpc":"2.0","id":2}"#,
      answer: refusal(-32_600, #"there is no \"method\""#, id: "2")),
    Message(
      line: #"{"jsonrpc":"2.0","id":2,"method":3}"#,
      answer: refusal(-32_600, #"\"method\" is a number, not a text"#, id: "2")),
    Message(
      line: #"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
      answer: refusal(-32_600, "an id is a text or a number of at most 256 characters")),
    Message(
      line: #"{"jsonrpc":"2.0","id":{},"method":"ping"}"#,
      answer: refusal(-32_600, "an id is a text or a number of at most 256 characters")),
    Message(
      line: #"{"jsonrpc":"2.0","id":"\#(String(repeating: "9", count: 300))","method":"ping"}"#,
      answer: refusal(-32_600, "an id is a text or a number of at most 256 characters")),
    Message(
      line: #"{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}"#,
      answer: refusal(-32_602, #"\"params\" is an array, not an object"#, id: "1")),
    Message(
      line: #"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#,
      answer: refusal(-32_700, #"no JSON: \"id\" stands here twice"#)),
    Message(
      line: #"{"jsonrpc":"2.0","id":1,"method":"resources/list"}"#,
      answer: refusal(-32_601, "no method resources/list", id: "1")),
    Message(
      line: #"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}"#,
      answer: refusal(
        -32_602, #"\"cursor\" is a text that we never gave: the list has one page"#, id: "1")),
    Message(
      line: #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#,
      answer: refusal(-32_602, #"\"name\" must be a text: which tool to call"#, id: "1")),
    Message(
      line: #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"finding2"}}"#,
      answer: refusal(-32_602, "unknown tool finding2; did you mean findings?", id: "1")),
    Message(
      line: #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"delete"}}"#,
      answer: refusal(-32_602, "unknown tool delete; tools/list names them", id: "1")),
    Message(
      line: #"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#,
      answer: refusal(-32_602, #"\"protocolVersion\" must be a text"#, id: "1")),
    Message(
      line: #"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"x"},7]"#,
      answer: #"[{"jsonrpc":"2.0","id":1,"result":{}},"#
        + refusal(-32_600, "a message is a number, not an object") + "]"),
    Message(line: #"[{"jsonrpc":"2.0","method":"x"}]"#, answer: ""),
    Message(
      line: String(repeating: "[", count: 5_000),
      answer: refusal(-32_700, "no JSON: more than 200 levels of brackets")),
  ]

  @Test("A message has its answer", arguments: messages)
  func message(_ message: Message) throws {
    let served = try ServedClinic()
    defer { served.clinic.remove() }
    let answer = served.server.answer(to: .text(Array(message.line.utf8))) ?? ""
    #expect(answer == message.answer)
  }

  @Test(
    "A line that is too long, and bytes that are no text, are refused, and the next is answered")
  func badLines() throws {
    let served = try ServedClinic()
    defer { served.clinic.remove() }
    let output = MemorySink()
    let ping = Array((#"{"jsonrpc":"2.0","id":1,"method":"ping"}"# + "\n").utf8)
    let long = [UInt8](repeating: 0x20, count: ContextServer.longestMessage + 1) + [10]
    // The last line has no end: its client is gone, but it may listen still.
    try served.server.serve(
      MemorySource([long, ping, [0xFF, 0xFE, 10], ping, Array(ping.dropLast())]), output)
    let lines = output.text.split(separator: "\n").map(String.init)
    #expect(lines.count == 5)
    #expect(lines[0].contains("a message of more than 1048576 bytes"))
    #expect(lines[2].contains("\"code\":-32700"))
    for place in [1, 3, 4] { #expect(lines[place] == #"{"jsonrpc":"2.0","id":1,"result":{}}"#) }
  }

  @Test("The handshake agrees on a version that both know, else on our newest")
  func handshake() throws {
    let served = try ServedClinic()
    defer { served.clinic.remove() }
    for (asked, agreed) in [
      ("2024-11-05", "2024-11-05"), ("2025-06-18", "2025-06-18"), ("2025-11-25", "2025-11-25"),
      ("1999-01-01", "2025-11-25"), ("2026-07-28", "2025-11-25"),
    ] {
      let result = try served.answer(
        #"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"\#(asked)","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#
      )["result"]
      #expect(result["protocolVersion"].string == agreed)
      #expect(result["serverInfo"]["name"].string == "memgraph")
      #expect(result["capabilities"]["tools"] == .object([:]))
    }
  }

  /// A call that says its version itself.
  private func stateless(
    _ method: String, version: String = #""2026-07-28""#, more: String = "",
    capabilities: String = #","io.modelcontextprotocol/clientCapabilities":{}"#
  ) -> String {
    #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":{\#(more)"_meta":{"io.modelcontextprotocol/protocolVersion":\#(version)\#(capabilities)}}}"#
  }

  @Test(
    "A call that says its version needs no handshake, and its results have what that version wants")
  func statelessCalls() throws {
    let served = try ServedClinic()
    defer { served.clinic.remove() }
    let found = try served.answer(stateless("server/discover"))["result"]
    #expect(found["supportedVersions"].elements == [.string("2026-07-28")])
    #expect(found["ttlMs"].integer == 60_000 && found["cacheScope"].string == "private")
    let listed = try served.answer(stateless("tools/list"))["result"]
    #expect(listed["tools"].elements.count == ContextTool.all.count)
    let called = try served.answer(stateless("tools/call", more: #""name":"snapshots","#))["result"]
    #expect(called["isError"] == .bool(false) && called["ttlMs"] == .null)
    for result in [found, listed, called] {
      #expect(result["resultType"].string == "complete")
      #expect(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"].string == "memgraph")
    }
    // What is not of that version, and versions that are not ours.
    #expect(try served.answer(stateless("initialize"))["error"]["code"].integer == -32_601)
    let other = try served.answer(stateless("tools/list", version: #""2030-01-01""#))["error"]
    #expect(other["code"].integer == -32_022)
    #expect(other["data"]["supported"].elements == [.string("2026-07-28")])
    #expect(other["data"]["requested"].string == "2030-01-01")
    for line in [
      stateless("tools/list", version: "3"), stateless("tools/list", capabilities: ""),
      #"{"jsonrpc":"2.0","id":1,"method":"server/discover"}"#,
    ] {
      #expect(try served.answer(line)["error"]["code"].integer == -32_602)
    }
    // An older client's results have none of it.
    let plain = try served.answer(#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#)["result"]
    #expect(plain["resultType"] == .null && plain["_meta"] == .null)
  }

  @Test("Damaged messages never end the server, and each that asks for an answer has one")
  func damaged() throws {
    let served = try ServedClinic()
    defer { served.clinic.remove() }
    let seeds = [
      #"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
      #"{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"findings","arguments":{"snapshot":"call-3","limit":3}}}"#,
      #"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"whatif","arguments":{"snapshot":"call-3","weaken":["RTCClient.onConnectionChange"]}}}"#,
      #"[{"jsonrpc":"2.0","id":3,"method":"ping"},{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"paths","arguments":{"snapshot":"call-3","of":"Record"}}}]"#,
      stateless(
        "tools/call",
        more: #""name":"object","arguments":{"snapshot":"call-3","address":"0x1025a0"},"#),
    ].map { Array($0.utf8) }
    var random = SeededGenerator(seed: 1_014)
    for _ in 0..<3_000 {
      var bytes = seeds[Int.random(in: 0..<seeds.count, using: &random)]
      for _ in 0..<Int.random(in: 1...6, using: &random) where !bytes.isEmpty {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<5, using: &random) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.remove(at: place)
        case 2: bytes.insert(contentsOf: bytes[place...].prefix(12), at: place)
        case 3: bytes.replaceSubrange(place..<place, with: Array("-99999999999999999999".utf8))
        default: bytes.removeSubrange(place...)
        }
      }
      bytes.removeAll { $0 == 10 }
      guard let text = served.server.answer(to: .text(bytes)) else { continue }
      let answer = try JSON(parsing: text)
      for answer in answer.elements.isEmpty ? [answer] : answer.elements {
        #expect(answer["jsonrpc"].string == "2.0")
        #expect((answer["result"] == .null) != (answer["error"] == .null))
        #expect(text.utf8.count < 200_000)
      }
    }
  }

  @Test("The verb serves its standard input until it ends")
  func verb() throws {
    let clinic = try Clinic()
    defer { clinic.remove() }
    let output = MemorySink()
    let errors = MemorySink()
    let input = """
      {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}
      {"jsonrpc":"2.0","method":"notifications/initialized"}
      {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"findings","arguments":{"snapshot":"call-3"}}}

      """
    let status = Tool.memgraph.run(
      ["mcp", clinic.folder],
      on: Console(
        output: output, errors: errors, input: MemorySource([Array(input.utf8)]),
        symbolizer: { _, _ in ClinicSymbols() }))
    #expect(status == .nothingFound && errors.text.isEmpty)
    let lines = output.text.split(separator: "\n").map(String.init)
    #expect(lines.count == 2 && lines[1].contains("CallViewController"))
    let missing = clinic.call(["mcp", "nowhere.mgraph"])
    #expect(missing.status == .unreadable)
    #expect(
      missing.errors
        == "memgraph: marks/nowhere.mgraph: No such file or directory; give snapshots, or folders with snapshots\n"
    )
  }
}
