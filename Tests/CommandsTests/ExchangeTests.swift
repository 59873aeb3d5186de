// Tests of the formats of other tools: goldens, what they have in common with the JSON, places, names that are hostile.

import Foundation
import GoldenFiles
import ReportSchema
import SnapshotDSL
import SnapshotFormat
import Testing

@testable import Commands

#if canImport(FoundationXML)
  import FoundationXML
#endif

@Suite struct ExchangeTests {
  struct Case: Sendable, CustomTestStringConvertible {
    /// The golden's name without its format.
    var name: String
    var words: [String]
    var status: Status = .findings
    var testDescription: String { name }
  }

  /// Formats with the ending of their goldens.
  static let formats = [
    "junit": "junit.xml", "sarif": "sarif", "github": "github.txt", "gitlab": "gitlab.json",
  ]

  static let cases: [Case] = [
    Case(name: "leaks", words: ["leaks", "call-3.mgraph"]),
    Case(name: "leaks-none", words: ["leaks", "clean.mgraph"], status: .nothingFound),
    Case(name: "leaks-known", words: ["leaks", "call-3.mgraph", "--known", "known.json"]),
    Case(
      name: "leaks-all-known",
      words: [
        "leaks", "call-3.mgraph", "--known", "known.json", "--type", "App.CallViewController",
      ], status: .nothingFound),
    Case(name: "leaks-hostile", words: ["leaks", "hostile.mgraph"]),
    Case(name: "diff", words: ["diff", "call-1.mgraph", "call-3.mgraph"]),
    Case(name: "diff-alone", words: ["diff", "call-1.mgraph"]),
    Case(
      name: "diff-staircase", words: ["diff", "call-1.mgraph", "call-2.mgraph", "call-3.mgraph"]),
    Case(name: "growth", words: ["growth"] + ReportTests.steps),
    Case(
      name: "growth-of-leaks", words: ["growth", "call-1.mgraph", "call-2.mgraph", "call-3.mgraph"]),
    Case(name: "verify", words: ["verify", "waiting.mgraph", "call-3.mgraph"]),
    Case(
      name: "verify-fixed", words: ["verify", "call-3.mgraph", "clean.mgraph"],
      status: .nothingFound),
    Case(
      name: "verify-still",
      words: ["verify", "call-1.mgraph", "call-3.mgraph", "--known", "known.json"]),
    Case(name: "verify-of-reports", words: ["verify", "growth-old.json", "growth-new.json"]),
    Case(
      name: "audit-over-retained", words: ["audit", "waiting.mgraph", "--fail-on", "any"]),
  ]

  @Test(
    "Each format is as it was last found right, and the same each time",
    arguments: cases, formats.keys.sorted())
  func goldens(_ expected: Case, _ format: String) throws {
    let clinic = try Self.clinic()
    defer { clinic.remove() }
    let words = expected.words + ["--format", format, "--source-root", "/src"]
    let call = clinic.call(words)
    #expect(call.errors.isEmpty)
    #expect(call.status == expected.status)
    let ending = try #require(Self.formats[format])
    try expectGolden(call.output, named: "\(expected.name).\(ending)")
    #expect(call.output == clinic.call(words).output)
  }

  @Test("Each format has the findings of the JSON, no more and no fewer", arguments: cases)
  func agree(_ expected: Case) throws {
    let clinic = try Self.clinic()
    defer { clinic.remove() }
    func output(_ format: String) -> String {
      clinic.call(expected.words + ["--format", format, "--source-root", "/src"]).output
    }
    let report = try JSON(parsing: output("json"))
    let fingerprints = report["findings"].elements.compactMap(\.["fingerprint"].string).sorted()
    let known = report["known"].elements.filter { $0["state"] == .string("known") }
    let fixed = report["verify"]["fixed"].elements

    let junit = try JUnitFile(output("junit"))
    #expect(junit.names(.failed).sorted() == fingerprints)
    #expect(junit.names(.skipped) == known.compactMap(\.["fingerprint"].string))
    let passed = junit.names(.passed)
    let isEmpty = fingerprints.isEmpty && known.isEmpty && fixed.isEmpty
    #expect(passed == (isEmpty ? [expected.words[0]] : fixed.compactMap(\.["fingerprint"].string)))
    #expect(junit.declaredTests == junit.cases.count, "a strict reader counts")
    #expect(junit.declaredFailures == fingerprints.count)

    let results = try JSON(parsing: output("sarif"))["runs"][0]["results"].elements
    #expect(
      results.compactMap(\.["partialFingerprints"]["memoryGraph/v1"].string).sorted()
        == fingerprints)
    let quality = try JSON(parsing: output("gitlab")).elements
    #expect(quality.compactMap(\.["fingerprint"].string).sorted() == fingerprints)
    let commands = output("github").split(separator: "\n").filter { $0.hasPrefix("::") }
    #expect(commands.count == fingerprints.count, "a finding is one command, whatever its names")
  }

  @Test("A finding stands at the capture, else at the closure on its way, else where it was made")
  func places() throws {
    let clinic = try Self.clinic()
    defer { clinic.remove() }
    let report = try JSON(
      parsing: clinic.call(["leaks", "call-3.mgraph", "--format", "json"]).output)
    func place(_ number: Int) -> [String] {
      let location = report["findings"][number]["location"]
      return [
        location["of"].string ?? "", location["file"].string ?? "",
        location["line"].integer.map { "\($0)" } ?? "",
      ]
    }
    #expect(place(0) == ["capture", "/src/App/Call.swift", "42"], "a closure's capture")
    #expect(place(1) == ["capture", "/src/App/Tap.swift", "7"], "a method's")
    #expect(place(2) == ["allocation", "/src/App/Call.swift", "88"], "no closure is on the way")
    let held = try JSON(
      parsing: clinic.call(["diff", "handlers-1.mgraph", "handlers-2.mgraph", "--format", "json"])
        .output)
    #expect(held["findings"][0]["kind"].string == "abandoned")
    #expect(held["findings"][0]["location"]["line"].integer == 42, "the closure that holds it")
  }

  @Test("Paths are relative to the sources' folder, and whole where a file lies elsewhere")
  func roots() throws {
    let clinic = try Self.clinic()
    defer { clinic.remove() }
    let words = ["leaks", "call-3.mgraph", "--format", "github"]
    func files(_ words: [String], _ environment: [String: String] = [:]) -> Set<String> {
      let call = clinic.call(
        words, environment: environment.merging(["LANG": "C.UTF-8"]) { left, _ in left })
      return Set(
        call.output.split(separator: "\n").compactMap { line in
          line.firstMatch(of: /^::\w+ file=([^,]+),/).map { String($0.output.1) }
        })
    }
    #expect(files(words) == ["/src/App/Call.swift", "/src/App/Tap.swift"])
    #expect(files(words + ["--source-root", "/src/"]) == ["App/Call.swift", "App/Tap.swift"])
    #expect(files(words, ["GITHUB_WORKSPACE": "/src/App"]) == ["Call.swift", "Tap.swift"])
    #expect(files(words, ["CI_PROJECT_DIR": "/src/App"]) == ["Call.swift", "Tap.swift"])
    #expect(
      files(words + ["--source-root", "/sr"]) == ["/src/App/Call.swift", "/src/App/Tap.swift"],
      "a folder whose name begins alike is another")
    let sarif = try JSON(
      parsing: clinic.call(["leaks", "call-3.mgraph", "--format", "sarif", "--source-root", "/src"])
        .output)
    let artifact = sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"][
      "artifactLocation"]
    #expect(artifact["uri"].string == "App/Call.swift")
    #expect(artifact["uriBaseId"].string == "SRCROOT")
  }

  @Test("What is not known in the source stands at the program, which hosts want a file for")
  func fallback() throws {
    let clinic = try Self.clinic()
    defer { clinic.remove() }
    let words = ["growth"] + ReportTests.steps + ["--source-root", "/"]
    let sarif = try JSON(parsing: clinic.call(words + ["--format", "sarif"]).output)
    let location = sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    #expect(location["artifactLocation"]["uri"].string == "app/App")
    #expect(location["region"] == .null)
    let quality = try JSON(parsing: clinic.call(words + ["--format", "gitlab"]).output)
    #expect(quality[0]["location"]["path"].string == "app/App")
    #expect(quality[0]["location"]["lines"]["begin"].integer == 1)
  }

  @Test(
    "verify fails on what it is told to",
    arguments: [
      ("any", Status.findings), ("leaks", .findings), ("abandoned", .nothingFound),
      ("growth", .nothingFound), ("none", .nothingFound),
    ])
  func failOn(_ word: String, _ status: Status) throws {
    let clinic = try Self.clinic()
    defer { clinic.remove() }
    let words = ["verify", "waiting.mgraph", "call-3.mgraph", "--fail-on", word]
    #expect(clinic.call(words).status == status)
    let grown = ["verify", "growth-old.json", "growth-new.json", "--fail-on", word]
    #expect(
      clinic.call(grown).status == (["leaks", "none"].contains(word) ? .nothingFound : .findings))
  }

  /// The clinic with every file that a case names.
  static func clinic() throws -> Clinic {
    let clinic = try Clinic()
    try clinic.writeSteps()
    try clinic.writeKnown()
    try ViewerPagesTests.hostile.snapshot().write(to: clinic.folder + "/hostile.mgraph")
    for count in 1...2 {
      try handlers(count).write(to: "\(clinic.folder)/handlers-\(count).mgraph")
    }
    for (name, steps) in [("old", 1...5), ("new", 0...9)] {
      let words =
        ["growth"] + steps.map { "steps/\($0).mgraph" } + ["--type", "App.*", "--format", "json"]
      try clinic.call(words).output.write(
        toFile: "\(clinic.folder)/growth-\(name).json", atomically: true, encoding: .utf8)
    }
    return clinic
  }

  /// A list of handlers, closures with a screen each, which a global holds.
  private static func handlers(_ count: Int) -> Snapshot {
    var heap = SnapshotDSL()
    heap.module("/app/App", buildID: "5eed", addresses: 0x5000..<0xA000)
    let hub = heap.object("App.Hub", bytes: 48)
    heap.root(.global, address: 0x5000, to: hub)
    let storage = heap.storage(bytes: 256)
    heap.edge(hub, "handlers", to: storage)
    for place in 0..<count {
      let generation = UInt16(place)
      let handler = heap.closureContext(bytes: 40, generation: generation)
      let screen = heap.object("App.Screen", bytes: 400, generation: generation)
      heap.edge(storage, "[\(place)]", to: handler, function: 0x9000)
      heap.edge(handler, "capture[0]", to: screen)
      heap.mark("call-\(place + 1)", generation: generation)
    }
    return heap.snapshot()
  }
}

/// What a file of JUnit says, read by Foundation's strict parser.
final class JUnitFile: NSObject, XMLParserDelegate {
  enum State {
    case passed
    case failed
    case skipped
  }

  private(set) var cases: [(name: String, state: State)] = []
  private(set) var declaredTests = 0
  private(set) var declaredFailures = 0

  init(_ text: String) throws {
    super.init()
    let parser = XMLParser(data: Data(text.utf8))
    parser.delegate = self
    try #require(parser.parse(), "\(String(describing: parser.parserError))")
  }

  func names(_ state: State) -> [String] { cases.filter { $0.state == state }.map(\.name) }

  func parser(
    _ parser: XMLParser, didStartElement element: String, namespaceURI: String?,
    qualifiedName: String?, attributes: [String: String] = [:]
  ) {
    switch element {
    case "testsuites":
      declaredTests = Int(attributes["tests"] ?? "") ?? -1
      declaredFailures = Int(attributes["failures"] ?? "") ?? -1
    case "testcase": cases.append((attributes["name"] ?? "", .passed))
    case "failure": cases[cases.count - 1].state = .failed
    case "skipped": cases[cases.count - 1].state = .skipped
    default: break
    }
  }
}
