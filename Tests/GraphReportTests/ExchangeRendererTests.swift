// Tests of the formats of other tools by themselves: what characters become, pictures, names that stand twice.

import Foundation
import Testing

@testable import GraphReport

#if canImport(FoundationXML)
  import FoundationXML
#endif

@Suite struct ExchangeRendererTests {
  static func finding(
    _ type: String, fingerprint: String = "0123456789ab", more: [JSONValue.Member] = []
  ) -> JSONValue {
    .object(
      [
        JSONValue.Member("kind", "leak"),
        JSONValue.Member("fingerprint", .string(fingerprint)),
        JSONValue.Member("type", .string(type)), JSONValue.Member("count", 3),
        JSONValue.Member("bytes", 120),
      ] + more)
  }

  static func content(_ findings: [JSONValue]) -> ExchangeContent {
    ExchangeContent(
      tool: "memgraph", version: "1", verb: "leaks", answer: "3 leaked objects",
      findings: findings.map { ReportedFinding(json: $0) }, settled: [], executable: "",
      root: SourceRoot("/src"))
  }

  /// Every character that means something in one of the formats, and those that no XML may have.
  static let hostile =
    "a\r\n::error::b]]>%0A<x y=\"z\">&'`|#;\\:,\u{0}\u{1B}\u{FFFF}\u{2028}é\u{1F600}##[add-path]/x"

  @Test("No name becomes a command, markup or a line of its own")
  func hostileNames() throws {
    let content = Self.content([Self.finding(Self.hostile)])
    let github = GitHubRenderer.render(content)
    #expect(github.split(whereSeparator: \.isNewline).filter { $0.hasPrefix("::") }.count == 1)
    #expect(!github.contains("\r"))
    #expect(github.contains("%250A"), "a per cent sign stays one")
    #expect(
      Data(github.utf8).range(of: Data("##[".utf8)) == nil,
      "the host looks for the older form anywhere in a line")
    let parser = XMLParser(data: Data(JUnitRenderer.render(content).utf8))
    #expect(parser.parse(), "\(String(describing: parser.parserError))")
    let sarif = try JSONSerialization.jsonObject(
      with: Data(SARIFRenderer.render(content).text.utf8))
    #expect(sarif is [String: Any])
  }

  @Test(
    "An answer that looks like a command is none",
    arguments: [
      ("::set-output name=x::y", ": :set-output name=x::y"),
      // The host takes away spaces before it looks.
      (" \u{A0}::error::y", ": :error::y"),
      ("1 leak: f##[set-env name=x]y", "1 leak: f## [set-env name=x]y"),
      ("##[\u{301}error]y", "## [\u{301}error]y"), ("###[error]y", "### [error]y"),
    ])
  func answer(answer: String, told: String) {
    var content = Self.content([])
    content.answer = answer
    #expect(GitHubRenderer.render(content) == told + "\n")
  }

  @Test("Findings with one fingerprint have names of their own")
  func names() {
    let content = Self.content([
      Self.finding("A"), Self.finding("B", fingerprint: "bbbbbbbbbbbb"), Self.finding("C"),
    ])
    #expect(content.names == ["0123456789ab", "bbbbbbbbbbbb", "0123456789ab-2"])
  }

  @Test("A folder is the start of whole names")
  func roots() {
    let root = SourceRoot("/src/app/")
    #expect(root.relative("/src/app/A.swift") == "A.swift")
    #expect(root.relative("/src/apple/A.swift") == nil)
    #expect(root.relative("/src/app") == nil)
    #expect(root.relative("Sources/A.swift") == "Sources/A.swift")
    #expect(SourceRoot("/").relative("/src/A.swift") == "src/A.swift")
  }

  @Test("A finding of tests is told with the test: the call furthest out that somebody wrote")
  func caller() {
    func frame(_ function: String, _ file: String?, _ line: Int?) -> JSONValue {
      .members([
        "function": .string(function), "file": file.map { .string($0) },
        "line": line.map { .integer($0) },
      ])
    }
    func told(_ frames: [JSONValue]) -> ReportedFinding {
      let more = [JSONValue.Member("allocation", .array(frames))]
      return ReportedFinding(json: Self.finding("A", more: more)).tellingCaller()
    }
    let finding = told([
      frame("App.Screen.init()", "/src/App/Screen.swift", 7),
      frame("AppTests.leaks()", "/src/Tests/ScreenTests.swift", 5),
      frame("implicit closure", "/src/Tests/ScreenTests.swift", nil),
      frame("macro", "/tmp/swift-generated-sources/@__swiftmacro.swift", 4),
      frame("main", "/src/.build/AppPackageTests.derived/runner.swift", 9),
      frame("swift_job_run", nil, nil), frame("start_thread", "pthread_create.c", 442),
    ])
    #expect(finding.json["from"]?["function"]?.string == "AppTests.leaks()")
    #expect(finding.text.contains("from  AppTests.leaks() at ScreenTests.swift:5"))
    for frames in [[], [frame("f", nil, nil)], [frame("f", "/src/A.swift", nil)]] {
      #expect(told(frames).json["from"] == nil)
    }
  }

  // MARK: - Pictures

  private func step(_ type: String, _ field: String, strength: String = "strong") -> JSONValue {
    .members([
      "type": .string(type), "field": .string(field), "strength": .string(strength),
    ])
  }

  @Test("A cycle is drawn round, with the edge to cut")
  func cycle() throws {
    let finding = Self.finding(
      "A",
      more: [
        JSONValue.Member("cycle", .array([step("A", "b"), step("B<#>", "a[12]")])),
        JSONValue.Member("cut", .members(["step": 1])),
      ])
    let diagram = try #require(Diagram(ofFinding: finding))
    #expect(
      MermaidRenderer.render(diagram) == """
        flowchart LR
          n0["A"]
          n1["B#60;#35;#62;"]
          n0 -->|"b"| n1
          n1 -->|"cut: a[#95;]"| n0
          linkStyle 1 stroke:#d1242f,stroke-width:3px

        """)
  }

  @Test("A path is drawn from its root to the type")
  func path() throws {
    let finding = Self.finding(
      "A",
      more: [
        JSONValue.Member(
          "path",
          .array([
            .members(["root": "global", "name": "hub"]), step("Hub", "last", strength: "unowned"),
          ]))
      ])
    let diagram = try #require(Diagram(ofFinding: finding))
    #expect(
      MermaidRenderer.render(diagram) == """
        flowchart LR
          n0(["hub"])
          n1["Hub"]
          n2["A"]
          n0 --> n1
          n1 -.->|"last"| n2

        """)
  }

  @Test("What has neither has no picture")
  func nothing() {
    #expect(Diagram(ofFinding: Self.finding("A")) == nil)
    #expect(Diagram(ofFinding: .null) == nil)
  }

  @Test("A long one keeps its ends and the edge to cut", arguments: 0..<40)
  func long(_ cut: Int) throws {
    let steps = (0..<40).map { step("T\($0)", "f\($0)") }
    let finding = Self.finding(
      "T0",
      more: [
        JSONValue.Member("cycle", .array(steps)),
        JSONValue.Member("cut", .members(["step": .integer(cut)])),
      ])
    let diagram = try #require(Diagram(ofFinding: finding))
    #expect(diagram.boxes.count <= 12)
    let arrow = try #require(diagram.arrows.first { $0.isCut })
    #expect(diagram.boxes[arrow.from].text == "T\(cut)")
    #expect(diagram.boxes[arrow.to].text == "T\((cut + 1) % 40)")
    // Each box has one arrow in and one out: it is still one cycle.
    #expect(diagram.arrows.map(\.from).sorted() == Array(diagram.boxes.indices))
    #expect(diagram.arrows.map(\.to).sorted() == Array(diagram.boxes.indices))
    let hidden = diagram.boxes.reduce(0) { sum, box in
      sum + (box.text.firstMatch(of: /… (\d+) more …/).flatMap { Int($0.output.1) } ?? 1)
    }
    #expect(hidden == 40, "no box is lost")
  }
}

@Suite struct MarkdownMentionTests {
  @Test("No text becomes a mention of a person or an issue")
  func mentions() {
    let document = Document(answer: "owned by @MainActor, closure #1 in #a", blocks: [])
    #expect(
      MarkdownRenderer.render(document)
        == "**owned by @<!-- -->MainActor, closure \\#<!-- -->1 in \\#a**\n")
    let code = Document(answer: Line.code("@MainActor () -> ()"), blocks: [])
    #expect(MarkdownRenderer.render(code) == "**`@MainActor () -> ()`**\n")
  }
}
