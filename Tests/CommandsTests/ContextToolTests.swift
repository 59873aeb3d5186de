// ContextToolTests: what the tools of `memgraph mcp` answer: as the verbs do, a page at a time, and never much.

import Foundation
import GoldenFiles
import GraphReport
import ReportSchema
import SnapshotDSL
import SnapshotFormat
import Testing

@testable import Commands

@Suite struct ContextToolTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var name: String
    var tool: String
    var arguments: String
    var testDescription: String { name }
  }

  static let cases = [
    Case(name: "mcp-summary", tool: "summary", arguments: #"{"snapshot":"call-3","limit":3}"#),
    Case(
      name: "mcp-types", tool: "types",
      arguments: #"{"snapshot":"call-3","type":"App.*","offset":1,"limit":2}"#),
    Case(name: "mcp-findings", tool: "findings", arguments: #"{"snapshot":"call-3","limit":2}"#),
    Case(
      name: "mcp-findings-since", tool: "findings",
      arguments: #"{"snapshot":"call-3","since":"call-1"}"#),
    Case(name: "mcp-finding", tool: "finding", arguments: #"{"snapshot":"call-3","id":"a081"}"#),
    Case(
      name: "mcp-finding-reachable", tool: "finding",
      arguments: #"{"snapshot":"call-3","since":"call-1","id":"8130f8aad2b8"}"#),
    Case(name: "mcp-paths", tool: "paths", arguments: #"{"snapshot":"call-3","of":"Record"}"#),
    Case(
      name: "mcp-paths-avoiding", tool: "paths",
      arguments: #"{"snapshot":"call-3","of":"Record","avoid":"entries"}"#),
    Case(
      name: "mcp-object", tool: "object",
      arguments: #"{"snapshot":"call-3","address":"0x1025a0","list":"fields"}"#),
    Case(
      name: "mcp-whatif", tool: "whatif",
      arguments: #"{"snapshot":"call-3","weaken":["App.RTCClient.onConnectionChange"]}"#),
    Case(name: "mcp-diff", tool: "diff", arguments: #"{"from":"call-1","to":"call-3","limit":3}"#),
  ]

  @Test("Answers are as they were last found right, and the same each time", arguments: cases)
  func answers(_ expected: Case) throws {
    let served = try ServedClinic()
    defer { served.clinic.remove() }
    let line = Array(
      #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\#(expected.tool)","arguments":\#(expected.arguments)}}"#
        .utf8)
    let first = try #require(served.server.answer(to: .text(line)))
    #expect(served.server.answer(to: .text(line)) == first, "kept")
    let again = try ServedClinic()
    defer { again.clinic.remove() }
    #expect(again.server.answer(to: .text(line)) == first, "made anew")
    let (_, error) = try served.call(expected.tool, expected.arguments)
    #expect(error == nil)
    // Members in their order, and readable.
    let answer = try LocatedJSON(parsing: Array(first.utf8)).json
    let value = try #require(answer["result"]?["structuredContent"])
    try expectGolden(value.text, named: expected.name + ".json")
  }

  @Test("Findings are those of the verbs, whole by their id")
  func findings() throws {
    let served = try ServedClinic()
    defer { served.clinic.remove() }
    for (arguments, words) in [
      (#""snapshot":"call-3""#, ["leaks", "call-3.mgraph"]),
      (#""snapshot":"call-3","since":"call-1""#, ["diff", "call-1.mgraph", "call-3.mgraph"]),
    ] {
      let report = try JSON(parsing: served.clinic.call(words + ["--format", "json"]).output)
      let all = report["findings"].elements
      #expect(all.count >= 4)
      let brief = try served.call("findings", "{\(arguments)}").value
      #expect(brief["findings"].elements.map { $0["id"] } == all.map { $0["fingerprint"] })
      // A page at a time it is the same list.
      var paged: [JSON] = []
      var offset = 0
      while true {
        let page = try served.call("findings", "{\(arguments),\"limit\":1,\"offset\":\(offset)}")
          .value
        paged += page["findings"].elements
        guard let next = page["page"]["next"].integer else { break }
        #expect(next > offset && page["cut"].elements.count == 1)
        offset = next
      }
      #expect(paged == brief["findings"].elements)
      for finding in all {
        let id = finding["fingerprint"].string ?? ""
        let whole = try served.call("finding", "{\(arguments),\"id\":\"\(id)\"}").value
        #expect(whole["findings"].elements == [finding])
        #expect((whole["paths"] != .null) == (finding["path"] != .null))
      }
    }
  }

  @Test("The tools that are listed are those that there are, with parameters that they take")
  func list() throws {
    let served = try ServedClinic()
    defer { served.clinic.remove() }
    let tools = try served.answer(#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#)["result"][
      "tools"]
    #expect(
      tools.elements.compactMap { $0["name"].string } == [
        "snapshots", "summary", "findings", "finding", "paths", "object", "whatif", "diff", "types",
      ])
    for tool in tools.elements {
      let schema = tool["inputSchema"]
      #expect(schema["type"].string == "object")
      for name in schema["required"].elements.compactMap(\.string) {
        #expect(schema["properties"][name] != .null)
      }
      // Each parameter of a wrong kind is refused, with its name.
      for name in schema["properties"].members.keys {
        let error = try served.call(tool["name"].string ?? "", "{\"\(name)\":{}}").error
        #expect(error?.contains(name) == true, "\(name): \(error ?? "")")
      }
    }
  }

  struct Refusal: Sendable, CustomTestStringConvertible {
    var tool: String
    var arguments: String
    var error: String
    var testDescription: String { "\(tool) \(arguments)" }
  }

  static let names = "call-1, call-2, call-3, clean, strings, waiting"

  static let refusals = [
    Refusal(
      tool: "findings", arguments: "{}",
      error: "snapshot: it is missing, and there are 6; name one of \(names)"),
    Refusal(
      tool: "findings", arguments: #"{"snapshot":"call-4"}"#,
      error: "snapshot call-4: no such snapshot here; did you mean call-1? there are \(names)"),
    Refusal(
      tool: "findings", arguments: #"{"snapshot":"/etc/passwd"}"#,
      error: "snapshot /etc/passwd: no such snapshot here; there are \(names)"),
    Refusal(
      tool: "findings", arguments: #"{"snapshot":"../clean"}"#,
      error: "snapshot ../clean: no such snapshot here; there are \(names)"),
    Refusal(
      tool: "findings", arguments: #"{"snapshot":7}"#,
      error:
        "findings snapshot: it is a number, not a text; give the snapshot's name, as the tool snapshots lists it; may be left out where there is one only"
    ),
    Refusal(
      tool: "findings", arguments: #"{"snapshto":"call-3"}"#,
      error: "findings snapshto: it has no such parameter; did you mean snapshot?"),
    Refusal(
      tool: "findings", arguments: #"{"snapshot":"call-3","limit":51}"#,
      error:
        "findings limit: it is a number, not a whole number of 1 to 50; give how many to show at most (default: 10)"
    ),
    Refusal(
      tool: "findings", arguments: #"{"snapshot":"call-3","offset":99999999999999999999}"#,
      error:
        "findings offset: it is a number, not a whole number of 0 to 1000000; give where the page starts, as next of the page before says"
    ),
    Refusal(
      tool: "findings", arguments: "[]",
      error: "findings: its arguments are an array, not an object"),
    Refusal(
      tool: "finding", arguments: #"{"snapshot":"clean","id":"0123456789ab"}"#,
      error:
        "finding 0123456789ab: no finding has this id; there are none here; growth is found with since"
    ),
    Refusal(
      tool: "object", arguments: #"{"snapshot":"call-3","address":"0x1"}"#,
      error:
        "0x1: no object there in the snapshot; memgraph leaks and memgraph paths print addresses of this snapshot"
    ),
    Refusal(
      tool: "object", arguments: #"{"snapshot":"call-3","address":"0x1025a0","list":"all"}"#,
      error: "object list: \"all\" is none of retainers, fields, roots"),
    Refusal(
      tool: "whatif", arguments: #"{"snapshot":"call-3","weaken":[]}"#,
      error:
        "whatif weaken: it is an array, not a list of texts; give references as reports name them: TYPE.FIELD, a closure's capture, or the edge of a finding"
    ),
    Refusal(
      tool: "types", arguments: #"{"snapshot":"call-3","generation":"call-9"}"#,
      error: "--generation call-9: no such mark; the marks are call-1, call-2, call-3"),
  ]

  @Test("A call that can't be answered says what, why and what to do", arguments: refusals)
  func refuses(_ refusal: Refusal) throws {
    let served = try ServedClinic()
    defer { served.clinic.remove() }
    #expect(try served.call(refusal.tool, refusal.arguments).error == refusal.error)
  }

  @Test("Texts of a client are never options")
  func options() throws {
    let served = try ServedClinic()
    defer { served.clinic.remove() }
    let kept = served.clinic.folder + "/written"
    for text in ["--output=\(kept)", "-o\(kept)", "--symbols=/", "--help", "--"] {
      let paths = try served.call("paths", #"{"snapshot":"call-3","of":"\#(text)"}"#)
      #expect(paths.value["targets"]["count"].integer == 0, "\(text)")
      _ = try served.call("types", #"{"snapshot":"call-3","type":"\#(text)"}"#)
      _ = try served.call("whatif", #"{"snapshot":"call-3","weaken":"\#(text)"}"#)
    }
    #expect(!FileManager.default.fileExists(atPath: kept))
  }

  @Test(
    "A folder's snapshots are seen when they come, read anew when they change, and none outside of it"
  )
  func folder() throws {
    let served = try ServedClinic()
    let folder = served.clinic.folder
    let outside = try Clinic()
    defer {
      served.clinic.remove()
      outside.remove()
    }
    let files = FileManager.default
    #expect(try served.call("snapshots").value["page"]["total"].integer == 6)
    try files.createDirectory(atPath: folder + "/sub", withIntermediateDirectories: true)
    try files.copyItem(atPath: folder + "/clean.mgraph", toPath: folder + "/sub/clean.mgraph")
    // Links to what lies outside of the folder, and to a folder outside.
    try files.createSymbolicLink(
      atPath: folder + "/link.mgraph", withDestinationPath: outside.folder + "/call-1.mgraph")
    try files.createSymbolicLink(
      atPath: folder + "/outside", withDestinationPath: outside.folder)
    let names = try served.call("snapshots").value["snapshots"].elements.compactMap {
      $0["name"].string
    }
    #expect(
      names == Self.names.split(separator: ", ").map(String.init).dropLast(2) + [
        "strings", "sub/clean", "waiting",
      ])
    #expect(try served.call("summary", #"{"snapshot":"link"}"#).error != nil)
    #expect(try served.call("summary", #"{"snapshot":"outside/call-1"}"#).error != nil)

    let clean = #"{"snapshot":"sub/clean"}"#
    #expect(try served.call("findings", clean).value["page"]["total"].integer == 0)
    try files.removeItem(atPath: folder + "/sub/clean.mgraph")
    try files.copyItem(atPath: folder + "/call-3.mgraph", toPath: folder + "/sub/clean.mgraph")
    #expect(try served.call("findings", clean).value["page"]["total"].integer == 4)
    try Data("no snapshot".utf8).write(to: URL(fileURLWithPath: folder + "/sub/clean.mgraph"))
    #expect(try served.call("findings", clean).error?.hasPrefix("marks/sub/clean.mgraph: ") == true)
    try files.removeItem(atPath: folder + "/sub/clean.mgraph")
    #expect(try served.call("findings", clean).error?.contains("no such snapshot") == true)
  }

  @Test("Few snapshots stay in memory, and a comparison has both of its own")
  func shelf() throws {
    let served = try ServedClinic()
    defer { served.clinic.remove() }
    for name in ["call-1", "call-2", "call-3", "clean", "strings", "waiting", "call-1"] {
      #expect(try served.call("summary", #"{"snapshot":"\#(name)"}"#).error == nil)
      #expect(served.shelf.shelvedCount <= SnapshotShelf.mostSnapshots)
    }
    #expect(served.shelf.shelvedCount == SnapshotShelf.mostSnapshots)
    #expect(
      try served.call("diff", #"{"from":"call-2","to":"call-3"}"#).value["born"]["count"].integer
        == 9)
  }

  @Test(
    "Where there is one snapshot it need not be named; files have the names that they were given by"
  )
  func alone() throws {
    let served = try ServedClinic(["call-3.mgraph"])
    defer { served.clinic.remove() }
    #expect(try served.call("findings").value["page"]["total"].integer == 4)
    let name = served.clinic.folder + "/call-3"
    for asked in [name, name + ".mgraph"] {
      #expect(try served.call("findings", #"{"snapshot":"\#(asked)"}"#).error == nil)
    }
    #expect(
      try served.call("findings", #"{"snapshot":"\#(served.clinic.folder)/call-1"}"#).error != nil)
  }

  @Test("However much there is, an answer is small, says what it left out, and pages through all")
  func bounded() throws {
    let served = try ServedClinic()
    defer { served.clinic.remove() }
    var heap = SnapshotDSL()
    let hub = heap.object("App.Hub")
    heap.root(.global, address: 0x5000, to: hub)
    let long = String(repeating: "Wrapped<", count: 200)
    for number in 0..<600 {
      let node = heap.object("App.Kind\(number)<\(long)Int\(String(repeating: ">", count: 200))>")
      heap.edge(hub, "field\(number)\(long)", to: node)
    }
    // A cycle of many steps, and one object that all of them hold.
    let first = heap.object("App.Ring")
    var last = first
    for number in 0..<300 {
      let next = heap.object("App.Ring\(number)\(long)")
      heap.edge(last, "next", to: next)
      heap.edge(next, "hub", to: hub)
      last = next
    }
    heap.edge(last, "next", to: first)
    try heap.snapshot().write(to: served.clinic.folder + "/large.mgraph")
    var sizes: [Int] = []
    for (tool, arguments) in [
      ("summary", ""), ("types", #","limit":50"#), ("findings", ""),
      ("object", #","address":"\#(String(hub.address, radix: 16))""#),
      ("object", #","address":"\#(String(hub.address, radix: 16))","list":"fields","limit":50"#),
      ("paths", #","of":"App.*","limit":50"#), ("whatif", #","weaken":["Ring.next"]"#),
    ] {
      let (value, error) = try served.call(tool, #"{"snapshot":"large"\#(arguments)}"#)
      #expect(error == nil, "\(tool)")
      #expect(!value["cut"].elements.isEmpty, "\(tool)")
      sizes.append(try size(of: value))
    }
    let id =
      try served.call("findings", #"{"snapshot":"large"}"#).value["findings"][0]["id"].string ?? ""
    sizes.append(try size(of: served.call("finding", #"{"snapshot":"large","id":"\#(id)"}"#).value))
    #expect(sizes.allSatisfy { $0 > 200 && $0 <= AnswerPage.mostBytes + 1_000 }, "\(sizes)")

    var names: Set<String> = []
    var offset = 0
    var pages = 0
    while pages < 1_000 {
      let page = try served.call("types", #"{"snapshot":"large","limit":50,"offset":\#(offset)}"#)
        .value
      names.formUnion(page["types"].elements.compactMap { $0["type"].string })
      pages += 1
      guard let next = page["page"]["next"].integer else { break }
      offset = next
    }
    #expect(names.count == 902 && pages > 18)
  }

  private func size(of value: JSON) throws -> Int {
    let data = try JSONSerialization.data(
      withJSONObject: foundation(value), options: [.withoutEscapingSlashes])
    return data.count
  }

  private func foundation(_ value: JSON) -> Any {
    switch value {
    case .null: NSNull()
    case .bool(let value): value
    case .integer(let value): value
    case .number(let value): value
    case .string(let value): value
    case .array(let values): values.map(foundation)
    case .object(let members): members.mapValues(foundation)
    }
  }

  @Test("What is cut within a value is said there")
  func shortened() {
    #expect(AnswerPage.shortened("abc", to: 3) == "abc")
    #expect(AnswerPage.shortened("abcd", to: 3) == "abc… (1 more characters)")
    let page = AnswerPage(answer: "a", listName: "rows", limit: 5)
    let rows = JSONValue.array((0..<100).map { .integer($0) })
    let value = page.value(of: [rows])
    #expect(value["rows"]?.elements.first?.elements.count == 25)
    #expect(value["rows"]?.elements.first?.elements.last == "… (76 more)")
    #expect(value["cut"]?.elements.count == 1)
    #expect(page.value(of: [])["cut"] == nil)
  }
}
