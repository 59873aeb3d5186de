// Tests of bundle: what is in the folder, that it is whole or not there, not too large, and says what it lacks.

import Foundation
import GoldenFiles
import ReportSchema
import SnapshotDSL
import SnapshotFormat
import Symbolication
import Testing

@testable import Commands

@Suite struct BundleTests {
  @Test(
    "A bundle has every format, a page for each run, the snapshots, and links that lead somewhere")
  func whole() throws {
    let recordings = try Recordings()
    defer { recordings.remove() }
    let call = recordings.bundle()
    #expect(call.status == .nothingFound, "only --fail-on makes findings a failure")
    #expect(call.errors.hasPrefix("memgraph: marks/bundle: "))
    #expect(
      recordings.written == [
        "code-quality.json", "index.html", "junit.xml", "report.json", "report.sarif",
        "reports/call-3.html", "reports/worker/exit.html", "snapshots/call-1.mgraph",
        "snapshots/call-2.mgraph", "snapshots/call-3.mgraph", "snapshots/worker/exit.mgraph",
        "summary.md",
      ])
    let report = try JSON(parsing: recordings.text("report.json"))
    #expect(try ReportSchema().objections(to: report).isEmpty)
    #expect(report["bundle"]["runs"].elements.count == 2)
    #expect(report["bundle"]["runs"][0]["snapshots"].integer == 3)
    #expect(report["bundle"]["leftOut"].elements.isEmpty)
    let index = recordings.text("index.html")
    let links = index.matches(of: /href="\.\/([^"]+)"/).map { String($0.output.1) }
    #expect(links.count == 7)
    for link in links { #expect(recordings.written.contains(link), "\(link)") }
    #expect(
      try Data(contentsOf: recordings.url("bundle/snapshots/call-2.mgraph"))
        == Data(contentsOf: recordings.url("marks/call-2.mgraph")))
    try expectGolden(call.output, named: "bundle.txt")
    try expectGolden(recordings.text("summary.md"), named: "bundle-summary.md")
  }

  @Test("The leaks of a run are those of its last snapshot, of all runs one for each cause")
  func findings() throws {
    let recordings = try Recordings()
    defer { recordings.remove() }
    try FileManager.default.copyItem(
      at: recordings.url("marks/worker"), to: recordings.url("marks/another"))
    _ = recordings.bundle()
    let findings = try JSON(parsing: recordings.text("report.json"))["findings"].elements
    #expect(
      findings.compactMap(\.["type"].string) == [
        "App.CallViewController", "App.Job", "App.SampleTap", "App.Slab",
      ])
    #expect(findings.map { $0["count"].integer } == [3, 5, 3, 3], "where there are most")
    #expect(
      findings[1]["seenIn"] == .array([.string("worker/exit"), .string("call-3")]),
      "the copied snapshot is of the same run")
  }

  @Test("The same folder gives the same bundle")
  func deterministic() throws {
    let recordings = try Recordings()
    defer { recordings.remove() }
    _ = recordings.bundle()
    let first = try recordings.written.map { try Data(contentsOf: recordings.url("bundle/" + $0)) }
    // It takes the place of the first one.
    _ = recordings.bundle()
    let second = try recordings.written.map { try Data(contentsOf: recordings.url("bundle/" + $0)) }
    #expect(first == second)
    let left = try FileManager.default.contentsOfDirectory(atPath: recordings.folder)
    #expect(left.sorted() == ["bundle", "marks"])
  }

  @Test("What a link leads to outside the folder is not published")
  func links() throws {
    let recordings = try Recordings()
    defer { recordings.remove() }
    let secret = recordings.folder + "/secret"
    try Data("a secret".utf8).write(to: URL(fileURLWithPath: secret))
    for name in ["x.mgraph", "x.html", "x.json"] {
      try FileManager.default.createSymbolicLink(
        atPath: recordings.url("marks/" + name).path, withDestinationPath: secret)
    }
    // One that stays within it is as good as what it leads to.
    try FileManager.default.createSymbolicLink(
      atPath: recordings.url("marks/again.mgraph").path, withDestinationPath: "call-1.mgraph")
    _ = recordings.bundle()
    for name in recordings.written {
      let data = try Data(contentsOf: recordings.url("bundle/" + name))
      #expect(data.range(of: Data("a secret".utf8)) == nil, "\(name)")
    }
    let leftOut = try JSON(parsing: recordings.text("report.json"))["bundle"]["leftOut"].elements
    #expect(leftOut.compactMap(\.["path"].string).sorted() == ["x.html", "x.json", "x.mgraph"])
    #expect(recordings.written.contains("snapshots/again.mgraph"))
  }

  @Test("What does not fit is left out, the least telling first, and told")
  func limit() throws {
    let recordings = try Recordings()
    defer { recordings.remove() }
    try Data(count: 3_000_000).write(to: recordings.url("marks/huge.html"))
    let call = recordings.bundle("--max-size", "2")
    #expect(call.status == .nothingFound)
    #expect(!recordings.written.contains("reports/huge.html"))
    #expect(recordings.written.contains("snapshots/call-1.mgraph"), "the others fit")
    let gaps = try JSON(parsing: recordings.text("report.json"))["bundle"]["leftOut"]
    #expect(gaps.elements.count == 1)
    #expect(gaps[0]["path"].string == "huge.html" && gaps[0]["bytes"].integer == 3_000_000)
    for text in [call.output, recordings.text("summary.md"), recordings.text("index.html")] {
      #expect(text.contains("huge.html") && text.contains("Left out"))
    }
    #expect(recordings.bytes < 2_100_000)
  }

  @Test("What can't be read is told, kept, and makes the status 3; the rest is there")
  func unreadable() throws {
    let recordings = try Recordings()
    defer { recordings.remove() }
    let whole = try Data(contentsOf: recordings.url("marks/call-1.mgraph"))
    for (name, bytes) in [
      ("empty", Data()), ("short", whole.dropLast(whole.count / 3)), ("text", Data("#!".utf8)),
    ] {
      try bytes.write(to: recordings.url("marks/\(name).mgraph"))
    }
    try Data(#"{"schema": "memory-graph/report/1", "findings": ["#.utf8).write(
      to: recordings.url("marks/broken.json"))
    try Data("{]".utf8).write(to: recordings.url("marks/not-ours.json"))
    let call = recordings.bundle()
    #expect(call.status == .unreadable)
    #expect(call.output.contains("; 4 files could not be read"))
    let gaps = try JSON(parsing: recordings.text("report.json"))["bundle"]["unreadable"].elements
    #expect(
      gaps.compactMap(\.["path"].string) == [
        "broken.json", "empty.mgraph", "short.mgraph", "text.mgraph",
      ])
    #expect(recordings.written.contains("unreadable/short.mgraph"))
    #expect(recordings.written.contains("snapshots/call-3.mgraph"))
    #expect(recordings.bundle("--fail-on", "leaks").status == .findings, "findings come first")
  }

  @Test("Reports that lie in the folder are collected, and their growth with them")
  func reports() throws {
    let recordings = try Recordings()
    defer { recordings.remove() }
    try recordings.clinic.writeSteps()
    let growth = recordings.clinic.call(["growth"] + ReportTests.steps + ["--format", "json"])
    try growth.output.write(
      to: recordings.url("marks/growth.json"), atomically: true, encoding: .utf8)
    #expect(recordings.bundle("--fail-on", "growth").status == .findings)
    let kinds = try JSON(parsing: recordings.text("report.json"))["findings"].elements
      .compactMap(\.["kind"].string)
    #expect(kinds.count { $0 == "abandoned" } == 2)
    #expect(recordings.written.contains("reports/growth.json"))
  }

  /// The report that a failed check leaves: of the third call's leaks, or of a check that could not be made.
  private func checkReport(_ check: String, leaksOf snapshot: String?, by clinic: Clinic) -> String
  {
    guard let snapshot else {
      return """
        {"schema": "memory-graph/report/1", "tool": {"name": "memgraph", "version": "1", "verb": "leak-test"},
         "inputs": [], "findings": [], "totals": {"live": {"count": 0, "bytes": 0, "byType": {}},
         "leaked": {"count": 0, "bytes": 0, "byType": {}}}, "check": \(check)}
        """
    }
    return clinic.call(["leaks", snapshot, "--format", "json"]).output
      .replacingOccurrences(of: "\"inputs\":", with: "\"check\": \(check), \"inputs\":")
  }

  @Test(
    "Each leak check that failed is told with its test; what the program's end shows as well is one finding"
  )
  func failedChecks() throws {
    let recordings = try Recordings()
    defer { recordings.remove() }
    _ = recordings.bundle()
    let before = try JSON(parsing: recordings.text("report.json"))["findings"].elements.count
    for (name, check, snapshot) in [
      (
        "CallTests.ending",
        #"{"test": "CallTests.ending", "answer": "3 × App.Call are not freed", "made": true, "file": "/src/CallTests.swift", "line": 7}"#,
        "call-3.mgraph"
      ),
      (
        "CallTests.again", #"{"test": "CallTests.again", "answer": "leaks again", "made": true}"#,
        "call-3.mgraph"
      ),
      (
        "MailTests.sending",
        #"{"test": "MailTests.sending", "answer": "The leak check could not be made", "made": false}"#,
        nil
      ),
    ] as [(String, String, String?)] {
      try checkReport(check, leaksOf: snapshot, by: recordings.clinic)
        .write(to: recordings.url("marks/\(name).json"), atomically: true, encoding: .utf8)
    }
    let call = recordings.bundle()
    let report = try JSON(parsing: recordings.text("report.json"))
    #expect(try ReportSchema().objections(to: report).isEmpty)
    #expect(report["findings"].elements.count == before, "each is one finding")
    let tests: JSON = .array([.string("CallTests.again"), .string("CallTests.ending")])
    let told = report["findings"].elements.filter { $0["tests"] == tests }
    #expect(told.count == 4, "those of the third call's snapshot")
    #expect(
      report["bundle"]["failedChecks"].elements.compactMap(\.["test"].string)
        == ["CallTests.again", "CallTests.ending", "MailTests.sending"])
    for text in [call.output, recordings.text("summary.md"), recordings.text("index.html")] {
      for part in [
        "3 leak checks failed", "CallTests.ending", "MailTests.sending",
        "3 × App.Call are not freed",
        "CallTests.swift:7", "could not be made",
      ] {
        #expect(text.contains(part), "\(part)\n\(text)")
      }
    }
    #expect(call.output.contains("tests  CallTests.again, CallTests.ending"), "\(call.output)")
    #expect(recordings.text("junit.xml").contains("CallTests.ending"))

    // One that could not be made is no success.
    for name in try FileManager.default.contentsOfDirectory(atPath: recordings.folder + "/marks")
    where !name.hasPrefix("MailTests") {
      try FileManager.default.removeItem(at: recordings.url("marks/" + name))
    }
    let alone = recordings.bundle("--fail-on", "any")
    #expect(alone.status == .findings)
    #expect(alone.output.hasPrefix("Nothing found in 0 runs; 1 leak check failed"))
    #expect(recordings.bundle("--fail-on", "leaks").status == .nothingFound)
  }

  @Test("What could not be named is told, as leaks does")
  func symbolGaps() throws {
    let recordings = try Recordings()
    defer { recordings.remove() }
    // A program on disk that is not the one that was recorded.
    let program = recordings.folder + "/Worker"
    try FileManager.default.copyItem(atPath: "/bin/true", toPath: program)
    var heap = SnapshotDSL()
    heap.builder.process.runIdentity = 9
    heap.builder.process.executable = program
    heap.module(program, buildID: "5eee", addresses: 0x5000..<0xA000)
    heap.object(
      "App.Job", bytes: 24, strongCount: 1, stack: heap.stack(0x8001, 0x8120, 0x8200))
    try heap.snapshot().write(to: recordings.folder + "/marks/stale.mgraph")
    let marks = recordings.folder + "/marks"
    let leaks = Call(
      ["leaks", marks + "/stale.mgraph"],
      symbolizer: { Symbolizer(modules: $0, debugDirectories: $1) })
    let said = "Worker: the file on disk is another build; rebuild or give --symbols"
    #expect(leaks.errors.contains(said), "\(leaks.errors)")
    let bundle = Call(
      ["bundle", marks, "-o", recordings.folder + "/bundle"],
      symbolizer: { Symbolizer(modules: $0, debugDirectories: $1) })
    #expect(bundle.errors.contains(said), "\(bundle.errors)")
    for text in [bundle.output, recordings.text("summary.md"), recordings.text("index.html")] {
      #expect(text.contains("another build"))
    }
    let report = try JSON(parsing: recordings.text("report.json"))
    #expect(report["symbolGaps"].elements.contains { $0["text"].string == said })
    #expect(try ReportSchema().objections(to: report).isEmpty)
  }

  @Test("A page that lies beside the last snapshot is the run's page")
  func pages() throws {
    let recordings = try Recordings()
    defer { recordings.remove() }
    try Data("<p>mine".utf8).write(to: recordings.url("marks/call-3.html"))
    _ = recordings.bundle()
    #expect(recordings.text("reports/call-3.html") == "<p>mine")
    let runs = try JSON(parsing: recordings.text("report.json"))["bundle"]["runs"]
    #expect(runs[0]["page"].string == "reports/call-3.html")
  }

  @Test("Known findings don't count, and findings of a module can be left out")
  func filters() throws {
    let recordings = try Recordings()
    defer { recordings.remove() }
    try recordings.clinic.writeKnown()
    let known = recordings.clinic.folder + "/known.json"
    _ = recordings.bundle("--known", known)
    #expect(recordings.text("junit.xml").contains("<skipped message=\"known: the vendor's\"/>"))
    #expect(
      try JSON(parsing: recordings.text("report.json"))["findings"].elements.count == 3)
    let none = recordings.bundle("--without-module", "App", "--fail-on", "any")
    #expect(none.status == .nothingFound)
    #expect(none.output.hasPrefix("Nothing found in 2 runs"))
    #expect(recordings.bundle("--fail-on", "any").status == .findings)
  }

  @Test("The report is printed in the format that is asked for")
  func format() throws {
    let recordings = try Recordings()
    defer { recordings.remove() }
    let call = recordings.bundle("--format", "github", "--source-root", "/src")
    #expect(call.output.contains("\n::error file=App/Call.swift,line=42,title=leak%3A "))
    #expect(recordings.bundle("--quiet").output.isEmpty)
    let sarif = try JSON(parsing: recordings.text("report.sarif"))
    #expect(sarif["runs"][0]["results"].elements.count == 4)
  }

  @Test("Nothing of somebody else's is overwritten, and an empty folder is no success")
  func refusals() throws {
    let recordings = try Recordings()
    defer { recordings.remove() }
    try FileManager.default.createDirectory(
      at: recordings.url("bundle"), withIntermediateDirectories: true)
    try Data("precious".utf8).write(to: recordings.url("bundle/file"))
    let taken = recordings.bundle()
    #expect(taken.status == .usage)
    #expect(
      taken.errors
        == "memgraph: marks/bundle: a folder with something else in it; give a new one with -o, or remove it\n"
    )
    #expect(recordings.text("file") == "precious")
    #expect(recordings.written == ["file"])
    try FileManager.default.removeItem(at: recordings.url("marks"))
    try FileManager.default.createDirectory(
      at: recordings.url("marks"), withIntermediateDirectories: true)
    let empty = recordings.bundle()
    #expect(empty.status == .unreadable)
    #expect(
      empty.errors
        == "memgraph: marks/marks: no snapshots and no reports in it; `memgraph run --out DIR -- PROGRAM` writes some\n"
    )
    try FileManager.default.removeItem(at: recordings.url("marks"))
    #expect(recordings.bundle().errors == "memgraph: marks/marks: No such file or directory\n")
  }
}

/// A folder `marks` with the recordings of two programs, and the bundle beside it.
private struct Recordings {
  let clinic: Clinic
  var folder: String { clinic.folder + "/recordings" }

  init() throws {
    clinic = try Clinic()
    try FileManager.default.createDirectory(
      atPath: folder + "/marks/worker", withIntermediateDirectories: true)
    for call in 1...3 {
      try FileManager.default.copyItem(
        atPath: "\(clinic.folder)/call-\(call).mgraph",
        toPath: "\(folder)/marks/call-\(call).mgraph")
    }
    var heap = SnapshotDSL()
    heap.builder.process.runIdentity = 7
    heap.builder.process.executable = "/app/Worker"
    heap.module("/app/Worker", buildID: "5eee", addresses: 0x5000..<0xA000)
    let logged = heap.stack(0x8001, 0x8120, 0x8200)
    for _ in 0..<5 { heap.object("App.Job", bytes: 24, strongCount: 1, stack: logged) }
    try heap.snapshot().write(to: folder + "/marks/worker/exit.mgraph")
  }

  func remove() { clinic.remove() }

  func bundle(_ words: String...) -> Call {
    var call = clinic.call(
      ["bundle", folder + "/marks", "-o", folder + "/bundle", "--symbols", "/nowhere"] + words)
    call.errors = call.errors.replacingOccurrences(of: "marks/recordings", with: "marks")
    return call
  }

  func url(_ path: String) -> URL { URL(fileURLWithPath: folder + "/" + path) }

  /// A file of the bundle; empty where it isn't there.
  func text(_ name: String) -> String {
    (try? String(contentsOf: url("bundle/" + name), encoding: .utf8)) ?? ""
  }

  /// The files of the bundle.
  var written: [String] {
    let names = FileManager.default.enumerator(atPath: folder + "/bundle")?.compactMap {
      $0 as? String
    }
    return (names ?? []).filter { name in
      var isFolder: ObjCBool = false
      return FileManager.default.fileExists(
        atPath: "\(folder)/bundle/\(name)", isDirectory: &isFolder) && !isFolder.boolValue
    }.sorted()
  }

  var bytes: Int {
    written.reduce(0) { sum, name in
      sum + ((try? Data(contentsOf: url("bundle/" + name)))?.count ?? 0)
    }
  }
}
