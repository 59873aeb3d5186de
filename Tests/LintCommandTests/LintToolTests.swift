// Tests of the verb lint: files and folders, formats, errors, and what it says of this project.

import Commands
import Foundation
import GoldenFiles
import LintCommand
import Testing

/// What a call printed and returned.
struct LintCall {
  var status: Int32
  var output: String
  var errors: String

  init(_ words: [String]) {
    let output = MemorySink()
    let errors = MemorySink()
    status =
      LintTool.tool.run(["lint"] + words, on: Console(output: output, errors: errors)).rawValue
    self.output = output.text
    self.errors = errors.text
  }
}

/// The package's own folder.
private let packageFolder = URL(fileURLWithPath: #filePath)
  .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

@Suite struct LintToolTests {
  private static let source =
    "class A {\n  var delegate: AnyObject?\n  var f: (() -> Void)?\n  func g() { f = { self.g() } }\n}\n"

  /// Makes a folder of files and gives its path.
  private func withFolder(_ files: [String: String], _ body: (String) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("lint \(UUID())")
    defer { try? FileManager.default.removeItem(at: folder) }
    for (name, text) in files {
      let url = folder.appendingPathComponent(name)
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try text.write(to: url, atomically: true, encoding: .utf8)
    }
    try body(folder.path)
  }

  @Test func text() throws {
    try withFolder([
      "b/B.swift": Self.source, "A.swift": "let a = 1\n", ".build/C.swift": Self.source,
      "D.txt": Self.source,
    ]) { folder in
      let call = LintCall([folder])
      #expect(call.status == 1)
      #expect(call.errors == "")
      let lines = call.output.replacingOccurrences(of: folder, with: "F").split(
        separator: "\n", omittingEmptySubsequences: false)
      #expect(lines[0] == "2 findings in 1 of 2 files: strong-self 1, strong-delegate 1")
      #expect(
        lines[2] == "F/b/B.swift:2:7: strong-delegate: 'delegate' holds its AnyObject strongly")
      #expect(
        lines[3]
          == "F/b/B.swift:4:18: strong-self: self.f keeps a closure that captures self strongly")
      #expect(lines.contains("    fix: declare it weak"))

      #expect(LintCall([folder + "/A.swift"]).output == "nothing found in 1 file\n")
      #expect(LintCall([folder + "/A.swift"]).status == 0)
      #expect(LintCall([folder, "--quiet"]).output == "")
      #expect(LintCall([folder, "--quiet"]).status == 1)
      #expect(LintCall([folder, folder + "/b/B.swift"]).output == call.output)

      let file = folder + "/report"
      #expect(LintCall([folder, "-o", file]).output == "")
      let written = try String(contentsOfFile: file, encoding: .utf8)
      #expect(written == call.output)
    }
  }

  @Test func json() throws {
    try withFolder(["B.swift": Self.source]) { folder in
      let call = LintCall([folder, "--format", "json", "--rule", "strong-self"])
      let document = try #require(
        try JSONSerialization.jsonObject(with: Data(call.output.utf8)) as? [String: Any])
      #expect(document["schema"] as? String == "memory-graph/lint/1")
      #expect(document["files"] as? Int == 1)
      let findings = try #require(document["findings"] as? [[String: Any]])
      #expect(findings.count == 1)
      #expect(findings[0]["rule"] as? String == "strong-self")
      #expect(findings[0]["line"] as? Int == 4)
      #expect((findings[0]["reason"] as? String)?.isEmpty == false)
      #expect(findings[0]["fix"] as? String == "capture [weak self]")
    }
  }

  @Test func sarif() throws {
    try withFolder(["B.swift": Self.source]) { folder in
      let call = LintCall([folder, "--format", "sarif"])
      let document = try #require(
        try JSONSerialization.jsonObject(with: Data(call.output.utf8)) as? [String: Any])
      #expect(document["version"] as? String == "2.1.0")
      let run = try #require((document["runs"] as? [[String: Any]])?.first)
      let driver = try #require((run["tool"] as? [String: Any])?["driver"] as? [String: Any])
      let rules = try #require(driver["rules"] as? [[String: Any]])
      let results = try #require(run["results"] as? [[String: Any]])
      #expect(results.count == 2)
      for result in results {
        let index = try #require(result["ruleIndex"] as? Int)
        #expect(rules[index]["id"] as? String == result["ruleId"] as? String)
        let location = try #require((result["locations"] as? [[String: Any]])?.first)
        let physical = try #require(location["physicalLocation"] as? [String: Any])
        let uri = try #require((physical["artifactLocation"] as? [String: Any])?["uri"] as? String)
        #expect(URL(string: uri)?.path == folder + "/B.swift")
        #expect(uri.contains("%20"))
      }
    }
  }

  /// What scripts/test-exchange holds against the official schema.
  @Test func sarifGoldens() throws {
    let related =
      "class B {\n  var t: Task<Void, Never>?\n  deinit { t?.cancel() }\n"
      + "  func f() { t = Task { for await x in s { self.g(x) } } }\n}\n"
    try withFolder(["a b/B.swift": Self.source, "C.swift": related]) { folder in
      let path = folder.replacingOccurrences(of: " ", with: "%20")
      func golden(_ words: [String], named name: String) throws {
        let output = LintCall([folder, "--format", "sarif"] + words).output
        try expectGolden(output.replacingOccurrences(of: path, with: "/project"), named: name)
      }
      try golden([], named: "lint.sarif")
      try golden(["--rule", "endless-task"], named: "lint-none.sarif")
    }
  }

  @Test func errors() {
    let missing = LintCall(["/proc/self/nowhere"])
    #expect(missing.status == 3)
    #expect(missing.errors == "memgraph: /proc/self/nowhere: No such file or directory\n")
    let rule = LintCall([".", "--rule", "strong-sel"])
    #expect(rule.status == 2)
    #expect(
      rule.errors
        == "memgraph: lint --rule: there is no rule called strong-sel; did you mean strong-self?\n")
    let device = LintCall(["/dev/null"])
    #expect(device.status == 3)
    #expect(
      device.errors == "memgraph: /dev/null: not a file; give a Swift file or a folder of them\n")
    #expect(LintCall([]).status == 2)
    #expect(LintCall(["--help"]).output.hasPrefix("usage: memgraph lint [OPTION...] PATH...\n"))
  }

  /// A folder that was meant to be another one isn't proved right.
  @Test func foldersWithoutSources() throws {
    try withFolder(["empty/.build/C.swift": Self.source, "full/B.swift": Self.source]) { folder in
      for operands in [["empty"], ["full", "empty"]] {
        let call = LintCall(operands.map { folder + "/" + $0 })
        #expect(call.status == 3)
        #expect(call.output == "")
        #expect(
          call.errors.hasSuffix(
            "/empty: no Swift file in it; give the folder that has the sources\n"))
      }
      // Reading from it would wait for somebody who writes.
      let pipe = folder + "/pipe.swift"
      #expect(mkfifo(pipe, 0o600) == 0)
      #expect(
        LintCall([pipe]).errors.hasSuffix(
          "/pipe.swift: not a file; give a Swift file or a folder of them\n"))
      #expect(LintCall([folder + "/full"]).status == 1)
      #expect(LintCall([folder]).output.contains("in 1 of 1 file"))
    }
  }

  @Test func thisProjectIsSilent() {
    let call = LintCall([packageFolder + "/Sources", packageFolder + "/Tests"])
    #expect(call.status == 0)
    #expect(call.output.hasPrefix("nothing found in "), "\(call.output)")
  }

  /// What is found in each sample: the mistakes that can be seen, and nothing in what mends them.
  @Test func samples() throws {
    let expected: [String: [String]] = [
      "Feed/FeedScreen.swift": [
        "view-model-outside-holder", "view-model-outside-holder", "view-model-outside-holder",
      ],
      "Feed/TrendingViewModel.swift": ["endless-task"],
      "LeakCases/Cases/ActorCallback.swift": ["strong-self"],
      "LeakCases/Cases/AwaitedMethod.swift": ["endless-task"],
      "LeakCases/Cases/DelegateCycle.swift": ["strong-delegate"],
      "LeakCases/Cases/EnumPayload.swift": ["strong-self"],
      "LeakCases/Cases/HandlerList.swift": ["strong-self"],
      "LeakCases/Cases/LazyImmediate.swift": ["strong-self"],
      "LeakCases/Cases/MethodReference.swift": ["method-reference"],
      "LeakCases/Cases/NestedWeak.swift": ["strong-self"],
      "LeakCases/Cases/NotificationObserver.swift": ["strong-self"],
      "LeakCases/Cases/Promise.swift": ["strong-self"],
      "LeakCases/Cases/RecursiveClosure.swift": ["recursive-closure"],
      "LeakCases/Cases/RunLoopTimer.swift": ["cleanup-in-deinit"],
      "LeakCases/Cases/StreamTermination.swift": ["strong-self"],
      "LeakCases/Cases/TaskIsland.swift": ["endless-task"],
      "LeakCases/Cases/WorkItem.swift": ["strong-self"],
      "Sensors/Features.swift": ["cleanup-in-deinit"],
      "Sensors/TrackModel.swift": ["cleanup-in-deinit"],
      "Subscriptions/OwnerStory.swift": ["unended-observer"],
      "Subscriptions/SearchModel.swift": ["strong-self", "method-reference", "unended-observer"],
      "VideoCall/CallViewController+Client.swift": ["strong-self"],
      "VideoCall/CallViewController+Connection.swift": ["strong-self"],
      "VideoCall/CallViewController+Observers.swift": ["strong-self", "strong-self"],
      "VideoCall/PeerConnection.swift": ["strong-delegate"],
      "VideoCall/Video.swift": ["strong-delegate"],
    ]
    let folder = packageFolder + "/samples/"
    let call = LintCall([folder, "--format", "json"])
    let document = try #require(
      try JSONSerialization.jsonObject(with: Data(call.output.utf8)) as? [String: Any])
    var found: [String: [String]] = [:]
    for finding in try #require(document["findings"] as? [[String: Any]]) {
      let file = try #require(finding["file"] as? String).replacingOccurrences(of: folder, with: "")
      found[file, default: []].append(try #require(finding["rule"] as? String))
    }
    let there = Set(try FileManager.default.contentsOfDirectory(atPath: folder))
    #expect(found == expected.filter { there.contains(String($0.key.prefix { $0 != "/" })) })
  }
}
