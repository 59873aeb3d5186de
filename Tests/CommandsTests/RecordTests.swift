// RecordTests: what is kept of a run: the lines, where their facts come from, and that files are whole.

import Foundation
import GoldenFiles
import ReportSchema
import SnapshotDSL
import SnapshotFormat
import Testing

@testable import Commands

@Suite struct RecordTests {
  /// A call whose facts are all given.
  static let facts = [
    "--commit", "c0ffee", "--host", "ci-7", "--test", "CallTests", "--time", "2027-03-31T14:05:00Z",
  ]

  /// The files of a folder of records, by their path in it, in the order of their names.
  static func files(in folder: String) throws -> [(path: String, lines: [JSON])] {
    try FileManager.default.subpathsOfDirectory(atPath: folder).sorted()
      .filter { !$0.hasPrefix("date=") || $0.contains("/") }
      .map { path in
        let text = try String(contentsOfFile: folder + "/" + path, encoding: .utf8)
        #expect(path.hasSuffix(".jsonl") && text.hasSuffix("\n"), "\(path)")
        return (path, try text.split(separator: "\n").map { try JSON(parsing: String($0)) })
      }
  }

  struct Case: Sendable, CustomTestStringConvertible {
    var name: String
    var snapshots: [String]
    var findingCount: Int
    var testDescription: String { name }
  }

  static let cases = [
    Case(name: "record", snapshots: ["call-3.mgraph"], findingCount: 4),
    Case(
      name: "record-of-marks", snapshots: ["call-1.mgraph", "call-2.mgraph", "call-3.mgraph"],
      findingCount: 5),
    Case(name: "record-of-steps", snapshots: ReportTests.steps, findingCount: 2),
    Case(name: "record-clean", snapshots: ["clean.mgraph"], findingCount: 0),
  ]

  @Test(
    "A record is as it was last found right, keeps to the schema, and counts itself",
    arguments: cases)
  func record(_ expected: Case) throws {
    let clinic = try Clinic()
    defer { clinic.remove() }
    try clinic.writeSteps()
    let folder = clinic.folder + "/fleet"
    let call = clinic.call(["record"] + expected.snapshots + ["--to", folder] + Self.facts)
    #expect(call.status == .nothingFound && call.errors.isEmpty, "\(call.errors)")
    let files = try Self.files(in: folder)
    #expect(files.count == 1)
    let (path, lines) = try #require(files.first)
    let run = try #require(lines.first?["run"].string)
    #expect(path == "date=2027-03-31/\(run).jsonl" && run.hasPrefix("20270331T140500Z-"))
    #expect(call.output.hasPrefix("marks/fleet/\(path): "))
    #expect(lines.map { $0["line"].string } == ["run"] + lines.dropFirst().map { _ in "finding" })
    #expect(lines[0]["findings"].integer == lines.count - 1)
    #expect(lines.count - 1 == expected.findingCount)
    let schema = try ReportSchema(named: "record")
    for line in lines {
      #expect(schema.objections(to: line) == [])
      #expect(line["run"].string == run)
    }
    #expect(Set(lines.compactMap { $0["fingerprint"].string }).count == lines.count - 1)
    let text = try String(contentsOfFile: folder + "/" + path, encoding: .utf8)
    try expectGolden(text, named: expected.name + ".jsonl")
  }

  @Test("The schema refuses a line of neither kind, and one that lacks something")
  func schema() throws {
    let schema = try ReportSchema(named: "record")
    let head =
      #""schema": "memory-graph/record/1", "run": "20270331T140500Z-0123456789ab", "time": "2027-03-31T14:05:00Z", "tool": "1""#
    for body in [
      #""line": "walk""#, #""line": "run", "marks": 1"#,
      #""line": "finding", "fingerprint": "0123456789ab", "kind": "leak", "type": "A", "count": 1"#,
    ] {
      #expect(try !schema.objections(to: JSON(parsing: "{\(head), \(body)}")).isEmpty, "\(body)")
    }
  }

  @Test("Marks are sorted by age, and a leak that grows says by how much")
  func growth() throws {
    let clinic = try Clinic()
    defer { clinic.remove() }
    let marks = ["call-1.mgraph", "call-2.mgraph", "call-3.mgraph"]
    for (folder, marks) in [("a", marks), ("b", [marks[2], marks[0], marks[1]])] {
      let call = clinic.call(
        ["record"] + marks + ["--to", clinic.folder + "/" + folder] + Self.facts)
      #expect(call.status == .nothingFound)
    }
    let (a, b) = (
      try Self.files(in: clinic.folder + "/a"), try Self.files(in: clinic.folder + "/b")
    )
    #expect(a.map(\.lines) == b.map(\.lines) && a.map(\.path) == b.map(\.path))
    let leak = try #require(
      a[0].lines.first { $0["type"].string == "App.CallViewController" })
    #expect(leak["kind"].string == "leak" && leak["growth"].integer == 2)
    #expect(leak["growthBytes"].integer == 960 && leak["count"].integer == 3)
    let abandoned = try #require(a[0].lines.first { $0["kind"].string == "abandoned" })
    #expect(abandoned["type"].string == "App.Record" && abandoned["growth"].integer == 2)
  }

  @Test("Snapshots of two runs are two records; without an agent the process tells them apart")
  func runs() throws {
    let clinic = try Clinic()
    defer { clinic.remove() }
    func write(_ name: String, identity: UInt64, pid: UInt32) throws {
      var heap = SnapshotDSL()
      heap.root(.global, address: 0x5000, to: heap.object("App.Hub"))
      heap.builder.process.runIdentity = identity
      heap.builder.process.pid = pid
      try heap.snapshot().write(to: "\(clinic.folder)/\(name).mgraph")
    }
    try write("a-1", identity: 1, pid: 10)
    try write("a-2", identity: 1, pid: 10)
    // Another run with the same process number.
    try write("b", identity: 2, pid: 10)
    try write("c-1", identity: 0, pid: 20)
    try write("c-2", identity: 0, pid: 20)
    try write("d", identity: 0, pid: 21)
    let names = ["a-1", "b", "c-1", "d", "a-2", "c-2"].map { $0 + ".mgraph" }
    let folder = clinic.folder + "/fleet"
    let call = clinic.call(["record"] + names + ["--to", folder] + Self.facts)
    #expect(call.status == .nothingFound && call.output.split(separator: "\n").count == 4)
    let marks = try Self.files(in: folder).map { $0.lines[0]["marks"].integer ?? 0 }
    #expect(marks.sorted() == [1, 1, 2, 2])
  }

  @Test("The same run is recorded once, and a damaged file of it is mended")
  func again() throws {
    let clinic = try Clinic()
    defer { clinic.remove() }
    let folder = clinic.folder + "/fleet"
    let words = ["record", "call-3.mgraph", "--to", folder] + Self.facts
    let first = clinic.call(words)
    let second = clinic.call(words)
    #expect(
      second.output == first.output.replacingOccurrences(of: "\n", with: ", recorded before\n"))
    let before = try Self.files(in: folder)
    let path = try folder + "/" + #require(before.first).path
    try "{\"half\": ".write(toFile: path, atomically: true, encoding: .utf8)
    #expect(clinic.call(words).output == first.output)
    #expect(try Self.files(in: folder).map(\.lines) == before.map(\.lines))
    // Another test, or another program with the same numbers, is another run.
    _ = clinic.call(words + ["--test", "Other"])
    _ = clinic.call(["record", "call-2.mgraph", "--to", folder] + Self.facts)
    #expect(try Self.files(in: folder).count == 3)
  }

  @Test("Without a time the snapshot's file tells it, so that the same run has the same name later")
  func timeOfFile() throws {
    let clinic = try Clinic()
    defer { clinic.remove() }
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: 1_800_000_000)],
      ofItemAtPath: clinic.folder + "/clean.mgraph")
    let folder = clinic.folder + "/fleet"
    let words = ["record", "clean.mgraph", "--to", folder, "--host", "h", "--commit", "c"]
    #expect(clinic.call(words, environment: [:]).status == .nothingFound)
    #expect(clinic.call(words, environment: [:]).output.hasSuffix(", recorded before\n"))
    #expect(
      try Self.files(in: folder).map { $0.lines[0]["time"].string } == ["2027-01-15T08:00:00Z"])
    let fixed = clinic.call(words, environment: ["SOURCE_DATE_EPOCH": "86400"])
    #expect(fixed.output.contains("/date=1970-01-02/19700102T000000Z-"))
  }

  @Test("Many may record into a folder at once: each file is whole, and nothing else is left")
  func atOnce() async throws {
    let clinic = try Clinic()
    defer { clinic.remove() }
    let folder = clinic.folder + "/fleet"
    await withTaskGroup(of: Status.self) { group in
      for number in 0..<24 {
        // Each of twelve runs is recorded by two writers.
        let words = ["record", "call-3.mgraph", "--to", folder, "--test", "test \(number % 12)"]
        group.addTask {
          clinic.call(words + ["--time", "2027-03-3\(number % 2)", "--host", "h"]).status
        }
      }
      for await status in group { #expect(status == .nothingFound) }
    }
    let files = try Self.files(in: folder)
    #expect(files.count == 12)
    for file in files { #expect(file.lines.count == 5) }
  }

  struct Source: Sendable, CustomTestStringConvertible {
    var variable: String
    var member: String
    var testDescription: String { variable }
  }

  static let sources =
    RunFacts.commitVariables.map { Source(variable: $0, member: "commit") }
    + RunFacts.hostVariables.map { Source(variable: $0, member: "host") }
    + RunFacts.testVariables.map { Source(variable: $0, member: "test") }

  @Test(
    "Build hosts say what the caller does not; an empty variable says nothing", arguments: sources)
  func variables(_ source: Source) throws {
    let clinic = try Clinic()
    defer { clinic.remove() }
    func told(_ environment: [String: String], _ more: [String] = []) throws -> String? {
      let folder = clinic.folder + "/" + UUID().uuidString
      let words = ["record", "clean.mgraph", "--to", folder, "--time", "2027-03-31"] + more
      #expect(clinic.call(words, environment: environment).status == .nothingFound)
      return try Self.files(in: folder).first?.lines[0][source.member].string
    }
    let unset = try told([:])
    #expect(try told([source.variable: "its \"own\""]) == "its \"own\"")
    #expect(try told([source.variable: ""]) == unset)
    #expect(try told([source.variable: "x"], ["--" + source.member, "mine"]) == "mine")
  }

  @Test("The commit of a clone is git's, also in a folder of it; elsewhere there is none")
  func git() throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("clone-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(
      atPath: folder + "/below", withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    #expect(RunFacts.commit(ofFolder: folder) == nil)
    #expect(RunFacts.commit(ofFolder: folder + "/nowhere") == nil)
    func git(_ words: [String]) throws {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      process.arguments =
        ["git", "-C", folder, "-c", "user.name=T", "-c", "user.email=t@example.org"] + words
      process.standardOutput = nil
      try process.run()
      process.waitUntilExit()
      #expect(process.terminationStatus == 0)
    }
    try git(["init", "--quiet"])
    #expect(RunFacts.commit(ofFolder: folder) == nil, "nothing is committed yet")
    try git(["commit", "--quiet", "--allow-empty", "-m", "first"])
    let commit = try #require(RunFacts.commit(ofFolder: folder))
    #expect(commit.count == 40 && RunFacts.commit(ofFolder: folder + "/below") == commit)
  }

  struct Refusal: Sendable, CustomTestStringConvertible {
    var words: [String]
    var status: Status
    var errors: String
    var testDescription: String { words.joined(separator: " ") }
  }

  static let refusals = [
    Refusal(
      words: ["clean.mgraph"], status: .usage,
      errors: "record --to: it is missing; name the folder of records, as --to fleet\n"),
    Refusal(
      words: ["clean.mgraph", "--to", "/x", "--time", "yesterday"], status: .usage,
      errors:
        "record --time: \"yesterday\" is no time; write it as 2027-03-31T14:05:00Z, or with +02:00 for Z\n"
    ),
    Refusal(
      words: ["clean.mgraph", "--to", "/x", "--host", ""], status: .usage,
      errors: "record --host: it is empty\n"),
    Refusal(
      words: ["clean.mgraph", "--to", "/dev/null", "--time", "2027-03-31"], status: .impossible,
      errors: "/dev/null/date=2027-03-31: cannot make the folder: Not a directory\n"),
    Refusal(
      words: ["clean.mgraph", "nowhere.mgraph", "--to", "/x"], status: .unreadable,
      errors:
        "marks/nowhere.mgraph: No such file or directory; give a snapshot's file, or the name of a mark in ./memory-graph\n"
    ),
  ]

  @Test("What can't be recorded is said, and nothing is written", arguments: refusals)
  func refuses(_ refusal: Refusal) throws {
    let clinic = try Clinic()
    defer { clinic.remove() }
    let call = clinic.call(["record"] + refusal.words)
    #expect(call.status == refusal.status && call.output.isEmpty)
    #expect(call.errors == "memgraph: " + refusal.errors)
    #expect(!FileManager.default.fileExists(atPath: "/x"))
  }

  @Test("--fail-on tells findings by the status")
  func failOn() throws {
    let clinic = try Clinic()
    defer { clinic.remove() }
    let words = ["--to", clinic.folder + "/fleet", "--quiet", "--fail-on"]
    let leaky = clinic.call(["record", "call-3.mgraph"] + words + ["leaks"])
    #expect(leaky.status == .findings && leaky.output.isEmpty && leaky.errors.isEmpty)
    #expect(clinic.call(["record", "clean.mgraph"] + words + ["any"]).status == .nothingFound)
    #expect(clinic.call(["record", "call-3.mgraph"] + words + ["growth"]).status == .nothingFound)
  }

  @Test("Times are read as Foundation reads them, and written as they were")
  func times() throws {
    let oracle = ISO8601DateFormatter()
    var random = SeededGenerator(seed: 10)
    for _ in 0..<2_000 {
      let seconds = Int.random(in: 0..<8_000_000_000, using: &random)
      let time = UTCTime(secondsSince1970: seconds)
      #expect(time.text == oracle.string(from: Date(timeIntervalSince1970: Double(seconds))))
      #expect(UTCTime(time.text) == time)
      let minutes = Int.random(in: -14 * 60...14 * 60, using: &random)
      let shift = abs(minutes)
      let digits = String(format: "%02d:%02d", shift / 60, shift % 60)
      let local = UTCTime(secondsSince1970: seconds + minutes * 60).text.dropLast()
      guard seconds + minutes * 60 >= 0 else { continue }
      let form = "\(local)\(minutes < 0 ? "-" : "+")\(digits)"
      #expect(UTCTime(form) == time, "\(form)")
      let fraction = "\(local).123456\(minutes < 0 ? "-" : "+")\(digits)"
      #expect(UTCTime(fraction) == time, "\(fraction)")
    }
    #expect(UTCTime("2027-03-31") == UTCTime("2027-03-31T00:00:00Z"))
    for text in [
      "", "2027", "2027-02-30", "2027-03-31T", "2027-03-31T14:05", "2027-03-31T14:05:00",
      "2027-03-31T24:05:00Z", "2027-03-31T14:60:00Z", "2027-03-31T14:05:61Z", "2027-03-31T1:05:00Z",
      "2027-03-31T14:05:00.Z", "2027-03-31T14:05:00Zulu", "2027-03-31T14:05: 0Z", "now",
      "1969-12-31T23:00:00Z", "2027-03-31x14:05:00Z", "2027-03-31T14:05:00+25:00",
    ] {
      #expect(UTCTime(text) == nil, "\(text)")
    }
  }
}
