// Tests of the verbs that report: goldens in every format, exit statuses, bad input.

import Foundation
import GoldenFiles
import ReportSchema
import SnapshotFormat
import Testing

@testable import Commands

@Suite struct ReportTests {
  struct Case: Sendable, CustomTestStringConvertible {
    /// The golden's name without its format.
    var name: String
    var words: [String]
    var status: Status = .nothingFound
    var testDescription: String { name }
  }

  /// Where the first controller of the clinic stands.
  static let firstController = "0x1025a0"

  static let steps = (0..<10).map { "steps/\($0).mgraph" }

  static let cases: [Case] = [
    Case(name: "summary", words: ["summary", "call-3.mgraph"]),
    Case(
      name: "summary-filtered",
      words: ["summary", "call-3.mgraph", "--type", "App.*", "--limit", "3"]),
    Case(name: "summary-of-strings", words: ["summary", "strings.mgraph"]),
    Case(name: "leaks", words: ["leaks", "call-3.mgraph"], status: .findings),
    Case(
      name: "leaks-of-a-generation",
      words: ["leaks", "call-3.mgraph", "--generation", "call-2", "--limit", "1"], status: .findings
    ),
    Case(name: "leaks-none", words: ["leaks", "clean.mgraph"]),
    Case(name: "cycles", words: ["cycles", "call-3.mgraph"]),
    Case(name: "paths", words: ["paths", "call-3.mgraph", "Record"]),
    Case(name: "paths-merged", words: ["paths", "call-3.mgraph", "App.*", "--merged"]),
    Case(
      name: "paths-avoiding", words: ["paths", "call-3.mgraph", "Record", "--avoid", "entries"]),
    Case(name: "paths-leaked", words: ["paths", "call-3.mgraph", "App.RTCClient"]),
    Case(name: "paths-unattributed", words: ["paths", "call-3.mgraph", "malloc"]),
    Case(name: "paths-none", words: ["paths", "call-3.mgraph", "App.Recrd"]),
    Case(name: "object", words: ["object", "call-3.mgraph", firstController]),
    Case(name: "object-task", words: ["object", "waiting.mgraph", "0x100070"]),
    Case(name: "stacks", words: ["stacks", "call-3.mgraph"]),
    Case(name: "stacks-of-a-type", words: ["stacks", "call-3.mgraph", "App.Frame"]),
    Case(name: "stacks-none", words: ["stacks", "clean.mgraph"]),
    Case(name: "tasks", words: ["tasks", "waiting.mgraph"]),
    Case(
      name: "tasks-of-a-generation",
      words: ["tasks", "waiting.mgraph", "--generation", "call-2", "--limit", "2"]),
    Case(name: "tasks-none", words: ["tasks", "clean.mgraph"]),
    Case(name: "paths-through-tasks", words: ["paths", "waiting.mgraph", "App.*"]),
    Case(name: "leaks-of-tasks", words: ["leaks", "waiting.mgraph"], status: .findings),
    Case(
      name: "whatif",
      words: ["whatif", "call-3.mgraph", "--weaken", "App.RTCClient.onConnectionChange"]),
    Case(
      name: "whatif-together",
      words: [
        "whatif", "call-3.mgraph", "--weaken", "(closure #1 in *).self", "--weaken",
        "SampleTap.onBuffer -> method*", "--weaken", "Cache.entries[_]",
      ]),
    Case(
      name: "whatif-held-by-others",
      words: ["whatif", "waiting.mgraph", "--weaken", "Hub.session", "--fail-on", "leaks"],
      status: .findings),
    Case(name: "whatif-of-a-variable", words: ["whatif", "call-1.mgraph", "--weaken", "pinned"]),
    Case(name: "sampled-summary", words: ["summary", "sampled-3.mgraph"]),
    Case(name: "sampled-leaks", words: ["leaks", "sampled-3.mgraph"], status: .findings),
    Case(name: "sampled-stacks", words: ["stacks", "sampled-3.mgraph"]),
    Case(
      name: "sampled-stacks-none", words: ["stacks", "sampled-3.mgraph", "App.CallViewController"]),
    Case(name: "sampled-object", words: ["object", "sampled-3.mgraph", firstController]),
    Case(
      name: "sampled-diff", words: ["diff", "sampled-1.mgraph", "sampled-3.mgraph"],
      status: .findings),
    Case(name: "audit", words: ["audit", "call-3.mgraph"]),
    Case(
      name: "audit-of-a-type",
      words: ["audit", "call-3.mgraph", "--type", "App.Job", "--fail-on", "any"],
      status: .findings),
    Case(name: "audit-over-retained", words: ["audit", "waiting.mgraph"]),
    Case(name: "audit-explained", words: ["audit", "clean.mgraph"]),
    Case(name: "check", words: ["check", "call-3.mgraph"]),
    Case(name: "diff", words: ["diff", "call-1.mgraph", "call-3.mgraph"], status: .findings),
    Case(name: "diff-backwards", words: ["diff", "call-3.mgraph", "call-1.mgraph"]),
    Case(
      name: "diff-staircase", words: ["diff", "call-1.mgraph", "call-2.mgraph", "call-3.mgraph"],
      status: .findings),
    Case(name: "tree", words: ["tree", "call-3.mgraph"]),
    Case(name: "tree-of-a-type", words: ["tree", "call-3.mgraph", "CallViewController"]),
    Case(
      name: "tree-of-a-generation",
      words: ["tree", "call-3.mgraph", "--generation", "call-2", "--limit", "3"]),
    Case(name: "tree-none", words: ["tree", "call-3.mgraph", "App.Recrd"]),
    Case(name: "growth", words: ["growth"] + steps, status: .findings),
    Case(
      name: "growth-study",
      words: ["growth", "--warm-up", "1", "steps/0.mgraph", "steps/1.mgraph", "steps/4.mgraph"]
        + ["steps/9.mgraph", "--type", "App.*"], status: .findings),
    Case(
      name: "growth-of-leaks",
      words: ["growth", "call-1.mgraph", "call-2.mgraph", "call-3.mgraph"],
      status: .findings),
    Case(
      name: "growth-of-two", words: ["growth", "steps/1.mgraph", "steps/4.mgraph"],
      status: .findings),
    Case(
      name: "growth-none", words: ["growth", "--warm-up", "4"] + steps + ["--type", "App.Entry"]),
    Case(name: "diff-of-steps", words: ["diff"] + steps, status: .findings),
    Case(
      name: "leaks-known", words: ["leaks", "call-3.mgraph", "--known", "known.json"],
      status: .findings),
    Case(
      name: "leaks-all-known",
      words: [
        "leaks", "call-3.mgraph", "--known", "known.json", "--type", "App.CallViewController",
      ]),
    Case(
      name: "diff-known",
      words: ["diff", "call-1.mgraph", "call-3.mgraph", "--known", "known.json"], status: .findings),
    Case(name: "verify", words: ["verify", "waiting.mgraph", "call-3.mgraph"], status: .findings),
    Case(name: "verify-fixed", words: ["verify", "call-3.mgraph", "clean.mgraph"]),
    Case(
      name: "verify-still",
      words: ["verify", "call-1.mgraph", "call-3.mgraph", "--known", "known.json"],
      status: .findings),
    Case(name: "diff-alone", words: ["diff", "call-1.mgraph"], status: .findings),
    Case(name: "diff-of-two-runs", words: ["diff", "clean.mgraph", "clean.mgraph"]),
  ]

  @Test("Text is as it was last found right", arguments: cases)
  func text(_ expected: Case) throws {
    let clinic = try Clinic(for: expected)
    defer { clinic.remove() }
    let call = clinic.call(expected.words)
    #expect(
      call.errors
        == (expected.name == "diff-backwards"
          ? "memgraph: call-3 was taken after call-1: the comparison goes backwards\n" : ""))
    #expect(call.status == expected.status)
    try expectGolden(call.output, named: expected.name + ".txt")
    #expect(!call.output.contains("\u{1B}"), "no colours where nobody watches")
  }

  @Test("Markdown is as it was last found right", arguments: cases)
  func markdown(_ expected: Case) throws {
    let clinic = try Clinic(for: expected)
    defer { clinic.remove() }
    let call = clinic.call(expected.words + ["--format", "markdown"])
    #expect(call.status == expected.status)
    try expectGolden(call.output, named: expected.name + ".md")
  }

  @Test(
    "JSON is as it was last found right, keeps to the schema, and has all its names",
    arguments: cases)
  func json(_ expected: Case) throws {
    let clinic = try Clinic(for: expected)
    defer { clinic.remove() }
    let call = clinic.call(expected.words + ["--format", "json"])
    #expect(call.status == expected.status)
    try expectGolden(call.output, named: expected.name + ".json")
    let document = try JSON(parsing: call.output)
    #expect(try ReportSchema().objections(to: document).isEmpty)
    #expect(document["schema"].string == "memory-graph/report/1")
  }

  @Test(
    "A terminal gets its width, colours and signs",
    arguments: [
      (["LANG": "C.UTF-8"], 60, "narrow"), (["LC_ALL": "C", "NO_COLOR": "1"], 72, "ascii"),
    ] as [([String: String], Int, String)])
  func terminal(_ environment: [String: String], _ columns: Int, _ name: String) throws {
    let clinic = try Clinic()
    defer { clinic.remove() }
    try clinic.writeSteps()
    for verb in ["leaks", "diff-staircase", "growth", "tree"] {
      let words = try #require(Self.cases.first { $0.name == verb }).words
      let call = clinic.call(words, environment: environment, columns: columns)
      try expectGolden(call.output, named: "\(verb)-\(name).txt")
      if name == "ascii" { #expect(call.output.utf8.allSatisfy { $0 < 0x80 }) }
    }
  }

  @Test("The same call writes the same bytes", arguments: cases)
  func deterministic(_ expected: Case) throws {
    let clinic = try Clinic(for: expected)
    defer { clinic.remove() }
    for format in ["text", "json", "markdown"] {
      let words = expected.words + ["--format", format]
      #expect(clinic.call(words).output == clinic.call(words).output)
    }
  }

  @Test("graphdiff does what memgraph diff does")
  func graphdiff() throws {
    let clinic = try Clinic()
    defer { clinic.remove() }
    let words = ["call-1.mgraph", "call-3.mgraph"]
    let call = clinic.call(words, of: .graphdiff)
    #expect(call.output == clinic.call(["diff"] + words).output)
    #expect(call.status == .findings)
    let names = clinic.call(["--in", clinic.folder, "call-1", "call-3"], of: .graphdiff)
    #expect(names.output == call.output, "marks have names, too")
    let environment = ["LANG": "C.UTF-8", "MEMORY_GRAPH_OUT": clinic.folder]
    let found = clinic.call(["call-1", "call-3"], of: .graphdiff, environment: environment)
    #expect(found.output == call.output, "the environment names the folder")
  }

  struct StatusCase: Sendable, CustomTestStringConvertible {
    var words: [String]
    var status: Status
    var testDescription: String { words.joined(separator: " ") }
  }

  static let statuses: [StatusCase] = [
    StatusCase(words: ["leaks", "call-3.mgraph", "--fail-on", "none"], status: .nothingFound),
    StatusCase(words: ["leaks", "call-3.mgraph", "--fail-on", "leaks"], status: .findings),
    StatusCase(words: ["leaks", "call-3.mgraph", "--type", "App.Hub"], status: .nothingFound),
    StatusCase(words: ["leaks", "call-3.mgraph", "--type", "App.RTC*"], status: .findings),
    StatusCase(words: ["leaks", "call-3.mgraph", "--module", "Other"], status: .nothingFound),
    StatusCase(
      words: ["leaks", "call-3.mgraph", "--without-module", "App"], status: .nothingFound),
    StatusCase(
      words: ["leaks", "call-3.mgraph", "--without-module", "Other"], status: .findings),
    StatusCase(words: ["summary", "call-3.mgraph", "--fail-on", "any"], status: .findings),
    StatusCase(words: ["summary", "clean.mgraph", "--fail-on", "any"], status: .nothingFound),
    StatusCase(words: ["cycles", "call-3.mgraph", "--fail-on", "leaks"], status: .findings),
    StatusCase(
      words: ["diff", "call-1.mgraph", "call-2.mgraph", "--fail-on", "growth"], status: .findings),
    StatusCase(
      words: ["diff", "call-1.mgraph", "call-2.mgraph", "--fail-on", "abandoned"], status: .findings
    ),
    StatusCase(
      words: ["diff", "call-1.mgraph", "call-2.mgraph", "--fail-on", "none"], status: .nothingFound),
    StatusCase(
      words: ["diff", "call-1.mgraph", "call-2.mgraph", "--type", "App.Hub"], status: .nothingFound),
    StatusCase(words: ["diff", "call-2.mgraph", "call-2.mgraph"], status: .nothingFound),
    StatusCase(
      words: ["diff", "call-2.mgraph", "call-1.mgraph", "--fail-on", "any"], status: .nothingFound),
  ]

  @Test("What was found makes the exit status", arguments: statuses)
  func status(_ expected: StatusCase) throws {
    let clinic = try Clinic()
    defer { clinic.remove() }
    let call = clinic.call(expected.words)
    #expect(call.status == expected.status)
    let isBackwards = expected.words.prefix(3) == ["diff", "call-2.mgraph", "call-1.mgraph"]
    #expect(call.errors.isEmpty != isBackwards && !call.output.isEmpty)
    let quiet = clinic.call(expected.words + ["--quiet"])
    #expect(quiet.status == expected.status)
    #expect(quiet.errors.isEmpty && quiet.output.isEmpty)
  }

  @Test("Leaving a module out asks for no types: Swift's own growth is still no finding")
  func withoutModule() throws {
    let clinic = try Clinic()
    defer { clinic.remove() }
    let words = ["diff", "call-1.mgraph", "call-3.mgraph"]
    let whole = clinic.call(words)
    #expect(clinic.call(words + ["--without-module", "Other"]).output == whole.output)
    let rest = clinic.call(words + ["--without-module", "App"])
    #expect(rest.status == .nothingFound)
    #expect(rest.output.contains("closure context") && !rest.output.contains("App.Job"))
  }

  struct Refusal: Sendable, CustomTestStringConvertible {
    var words: [String]
    var status: Status
    var sentence: String
    var testDescription: String { words.joined(separator: " ") }
  }

  static let refusals: [Refusal] = [
    Refusal(
      words: ["leaks", "nowhere.mgraph"], status: .unreadable,
      sentence:
        "marks/nowhere.mgraph: No such file or directory; give a snapshot's file, or the name "
        + "of a mark in ./memory-graph"),
    Refusal(
      words: ["leaks", "call-9", "--in", "FOLDER"], status: .unreadable,
      sentence:
        "call-9: neither a file nor a mark; the marks in marks are call-1, call-2, call-3, clean, strings, waiting"
    ),
    Refusal(
      words: ["leaks", "call-9", "--in", "/nonexistent"], status: .unreadable,
      sentence:
        "call-9: neither a file nor a mark; there are no snapshots in /nonexistent; --in DIR "
        + "names another folder"),
    Refusal(
      words: ["leaks", "FOLDER"], status: .unreadable,
      sentence:
        "marks: a folder, not a snapshot; give a file in it, or the name of a mark with --in marks"),
    Refusal(
      words: ["leaks", "call-3.mgraph", "--generation", "call-7"], status: .usage,
      sentence: "--generation call-7: no such mark; the marks are call-1, call-2, call-3"),
    Refusal(
      words: ["summary", "call-3.mgraph", "--fail-on", "growth"], status: .usage,
      sentence:
        "summary --fail-on growth: a single snapshot does not show growth; compare two with diff"),
    Refusal(
      words: ["summary", "call-3.mgraph", "--format", "sarif"], status: .usage,
      sentence: "summary --format: \"sarif\" is none of text, json, markdown"),
    Refusal(
      words: ["leaks", "call-3.mgraph", "--format", "unit"], status: .usage,
      sentence:
        "leaks --format: \"unit\" is none of text, json, markdown, junit, sarif, github, gitlab; did you mean junit?"
    ),
    Refusal(
      words: ["object", "call-3.mgraph", "0x1"], status: .usage,
      sentence:
        "0x1: no object there in the snapshot; memgraph leaks and memgraph paths print addresses "
        + "of this snapshot"),
    Refusal(
      words: ["object", "call-3.mgraph", "App.Hub"], status: .usage,
      sentence: "App.Hub: no address; write it as 0x7f3a10002340"),
    Refusal(
      words: ["paths", "call-3.mgraph", "App.Hub", "--all", "--max", "3"], status: .usage,
      sentence: "paths --all: does not go with --max; give one of them"),
    Refusal(
      words: ["growth", "call-1.mgraph", "call-3.mgraph", "--warm-up", "1"], status: .usage,
      sentence:
        "growth --warm-up 1: of 2 marks it leaves 1, and growth wants two; leave out fewer"),
    Refusal(
      words: ["leaks", "call-3.mgraph", "-o", "/nonexistent/x.txt"], status: .impossible,
      sentence: "/nonexistent/x.txt: cannot write the report: No such file or directory"),
    Refusal(
      words: ["whatif", "call-3.mgraph"], status: .usage,
      sentence: "whatif --weaken: missing; name a reference, as --weaken App.Client.delegate"),
    Refusal(
      words: ["whatif", "call-3.mgraph", "--weaken", " "], status: .usage,
      sentence: "whatif --weaken: \" \" is no TYPE.FIELD: it is empty"),
    Refusal(
      words: ["whatif", "call-3.mgraph", "--weaken", " -> App.Hub"], status: .usage,
      sentence:
        "--weaken \" -> App.Hub\": it names no reference; name one as a report does, TYPE.FIELD; "
        + "--weaken '*' stands for all"),
    Refusal(
      words: ["whatif", "call-3.mgraph", "--weaken", "RTCClient.onConectionChange"], status: .usage,
      sentence:
        "--weaken RTCClient.onConectionChange: RTCClient has no such reference; did you mean "
        + "onConnectionChange? what it holds: onConnectionChange"),
    Refusal(
      words: ["whatif", "call-3.mgraph", "--weaken", "App.RTCCleint.onConnectionChange"],
      status: .usage,
      sentence:
        "--weaken App.RTCCleint.onConnectionChange: no such reference in the snapshot; did you mean "
        + "App.RTCClient.FIELD?"),
    Refusal(
      words: ["whatif", "call-3.mgraph", "--weaken", "App.Hub.delegate"], status: .usage,
      sentence:
        "--weaken App.Hub.delegate: that reference is weak, not strong; there is nothing to weaken"),
    Refusal(
      words: ["whatif", "call-3.mgraph", "--weaken", "nonsense"], status: .usage,
      sentence:
        "--weaken nonsense: no such reference in the snapshot; write it as a report shows it, "
        + "TYPE.FIELD: memgraph leaks names edges, and memgraph object shows what an object holds"),
    Refusal(
      words: ["mark", "abc", "x"], status: .usage,
      sentence: "abc: no process id; `pgrep PROGRAM` tells it"),
    Refusal(
      words: ["run", "--all-blocks", "--swift-only", "--", "true"], status: .usage,
      sentence: "run --all-blocks: does not go with --swift-only; give one of them"),
  ]

  @Test("What can't be done is said in a sentence", arguments: refusals)
  func refuses(_ expected: Refusal) throws {
    let clinic = try Clinic()
    defer { clinic.remove() }
    let words = expected.words.map { $0 == "FOLDER" ? clinic.folder : $0 }
    let call = clinic.call(words)
    #expect(call.status == expected.status)
    #expect(call.output.isEmpty)
    #expect(call.errors == "memgraph: " + expected.sentence + "\n")
  }

  @Test(
    "Every verb that reads a file refuses what is none",
    arguments: [
      "summary", "leaks", "cycles", "paths", "object", "stacks", "tasks", "audit", "view", "check",
      "diff", "tree", "growth", "verify", "known", "whatif",
    ])
  func refusesFiles(_ verb: String) throws {
    let clinic = try Clinic()
    defer { clinic.remove() }
    let path = clinic.folder + "/call-3.mgraph"
    let whole = try Data(contentsOf: URL(fileURLWithPath: path))
    var flipped = whole
    flipped[whole.count / 2] ^= 0x10
    var newer = whole
    newer[8] = 99
    for (name, bytes) in [
      ("empty", Data()), ("text", Data("#!/bin/sh\necho this is no snapshot at all\n".utf8)),
      ("short", whole.dropLast(whole.count / 3)), ("flipped", flipped), ("newer", newer),
    ] {
      let bad = clinic.folder + "/\(name).bad"
      try bytes.write(to: URL(fileURLWithPath: bad))
      var words = [verb, bad]
      if verb == "paths" { words.append("App.Hub") }
      if verb == "object" { words.append("0x1000") }
      if ["diff", "growth", "verify"].contains(verb) { words.append(path) }
      if verb == "known" { words = ["known", "add", bad, "0123456789ab", "--reason", "x"] }
      if verb == "whatif" { words += ["--weaken", "App.Hub.listeners"] }
      let call = clinic.call(words)
      #expect(call.status == .unreadable, "\(name)")
      #expect(call.output.isEmpty, "\(name)")
      #expect(call.errors.hasPrefix("memgraph: marks/\(name).bad: "), "\(call.errors)")
      #expect(
        call.errors.contains("; ") && call.errors.last == "\n", "it says what to do: \(call.errors)"
      )
      #expect(call.errors.split(separator: "\n").count == 1, "one sentence: \(call.errors)")
    }
  }

  @Test("A report goes to the file that -o names, whole or not at all")
  func outputFile() throws {
    let clinic = try Clinic()
    defer { clinic.remove() }
    let file = clinic.folder + "/report.json"
    let call = clinic.call(["leaks", "call-3.mgraph", "--format", "json", "-o", file])
    #expect(call.status == .findings && call.output.isEmpty && call.errors.isEmpty)
    let written = try String(contentsOfFile: file, encoding: .utf8)
      .replacingOccurrences(of: clinic.folder, with: "marks")
    #expect(written == clinic.call(["leaks", "call-3.mgraph", "--format", "json"]).output)
    let left = try FileManager.default.contentsOfDirectory(atPath: clinic.folder)
    #expect(!left.contains { $0.contains("partial") })
  }

  @Test("--limit holds for JSON where it is given")
  func limits() throws {
    let clinic = try Clinic()
    defer { clinic.remove() }
    let all = try JSON(parsing: clinic.call(["leaks", "call-3.mgraph", "--format", "json"]).output)
    #expect(all["findings"].elements.count == 4)
    let two = ["leaks", "call-3.mgraph", "--format", "json", "--limit", "2"]
    #expect(try JSON(parsing: clinic.call(two).output)["findings"].elements.count == 2)
    #expect(
      clinic.call(["leaks", "call-3.mgraph", "--limit", "2"]).output.contains("… and 2 more groups")
    )
    #expect(
      !clinic.call(["leaks", "call-3.mgraph", "--limit", "all"]).output.contains("more groups"))
  }
}

extension Clinic {
  /// The clinic with the files that a case names.
  fileprivate init(for expected: ReportTests.Case) throws {
    try self.init()
    if expected.words.contains(where: { $0.hasPrefix("steps/") }) { try writeSteps() }
    if expected.words.contains(where: { $0.hasPrefix("sampled-") }) { try writeSampled() }
    if expected.words.contains("known.json") { try writeKnown() }
  }
}

@Suite struct ReportSchemaTests {
  @Test("The schema refuses what it does not describe")
  func objections() throws {
    let schema = try ReportSchema()
    let clinic = try Clinic()
    defer { clinic.remove() }
    let text = clinic.call(["leaks", "call-3.mgraph", "--format", "json"]).output
    #expect(schema.objections(to: try JSON(parsing: text)).isEmpty)
    for (wrong, right) in [
      ("\"kind\": \"leek\"", "\"kind\": \"leak\""), ("\"findingz\"", "\"findings\""),
      ("\"strength\": 3", "\"strength\": \"strong\""), ("\"count\": \"3\",", "\"count\": 3,"),
      ("report/2", "report/1"), ("\"freed\"", "\"frees\""),
    ] {
      let damaged = text.replacingOccurrences(of: right, with: wrong)
      #expect(damaged != text, "\(right) is in the report")
      #expect(!schema.objections(to: try JSON(parsing: damaged)).isEmpty, "\(wrong)")
    }
  }

  @Test("A keyword that the reader does not know is an objection")
  func keywords() throws {
    let schema = ReportSchema(try JSON(parsing: #"{"type": "object", "oneOf": []}"#))
    #expect(schema.objections(to: .object([:])).count == 1)
  }
}
