// KnownTests: the file of known findings: what is read, refused, added and listed; verify by reports.

import Foundation
import ReportSchema
import Testing

@testable import Commands

@Suite struct KnownTests {
  struct Refusal: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var text: String
    var sentence: String
  }

  static let entry = #"{"fingerprint": "0123456789ab", "reason": "x"}"#

  static let refusals = [
    Refusal(
      testDescription: "nothing", text: "", sentence: ":1: it ends where a value should stand"),
    Refusal(
      testDescription: "no JSON", text: "{\n  known: []\n}",
      sentence: ":2: a name in quotes should stand here"),
    Refusal(
      testDescription: "two documents", text: "{\"known\": []}\n\n{}",
      sentence: ":3: something follows the end of the document"),
    Refusal(
      testDescription: "an array", text: "[]", sentence: ":1: the file is an array, not an object"),
    Refusal(testDescription: "no list", text: "{}", sentence: ":1: the file has no \"known\""),
    Refusal(
      testDescription: "a misspelt name", text: "{\"knwon\": []}",
      sentence: ":1: the file has no \"knwon\"; did you mean \"known\"?"),
    Refusal(
      testDescription: "another schema",
      text: "{\"known\": [],\n\"schema\": \"memory-graph/known/9\"}",
      sentence:
        ":2: the schema is none that this version reads; it reads \"memory-graph/known/1\""),
    Refusal(
      testDescription: "no reason", text: "{\"known\": [\n{\"fingerprint\": \"0123456789ab\"}]}",
      sentence: ":2: a known finding has no \"reason\""),
    Refusal(
      testDescription: "an empty reason",
      text: "{\"known\": [{\"fingerprint\": \"0123456789ab\",\n \"reason\": \"\"}]}",
      sentence: ":2: \"reason\" is empty, not a text"),
    Refusal(
      testDescription: "no fingerprint",
      text: "{\"known\": [{\"fingerprint\": \"012345\", \"reason\": \"x\"}]}",
      sentence:
        ":1: \"012345\" is no fingerprint; it has 12 digits of 0-9 and a-f, as reports show after id"
    ),
    Refusal(
      testDescription: "no such day",
      text:
        "{\"known\": [{\"fingerprint\": \"0123456789ab\", \"reason\": \"x\",\n\"until\": \"2026-02-30\"}]}",
      sentence: ":2: \"2026-02-30\" is no day; write it as 2027-03-31"),
    Refusal(
      testDescription: "a number for a day",
      text: "{\"known\": [{\"fingerprint\": \"0123456789ab\", \"reason\": \"x\", \"until\": 3}]}",
      sentence: ":1: \"until\" is a number, not a text"),
    Refusal(
      testDescription: "twice the same", text: "{\"known\": [\(entry),\n\(entry)]}",
      sentence: ":2: 0123456789ab stands here twice"),
  ]

  @Test("A bad file is refused with its line", arguments: refusals)
  func refuses(_ refusal: Refusal) throws {
    let clinic = try Clinic()
    defer { clinic.remove() }
    try refusal.text.write(
      toFile: clinic.folder + "/known.json", atomically: true, encoding: .utf8)
    for words in [
      ["leaks", "call-3.mgraph", "--known", "known.json"], ["known", "list", "known.json"],
    ] {
      let call = clinic.call(words)
      #expect(call.status == .unreadable && call.output.isEmpty)
      #expect(call.errors == "memgraph: marks/known.json" + refusal.sentence + "\n")
    }
  }

  @Test("A file that is not there is said so")
  func missing() throws {
    let clinic = try Clinic()
    defer { clinic.remove() }
    let call = clinic.call(["leaks", "call-3.mgraph", "--known", "nowhere.json"])
    #expect(call.status == .unreadable)
    #expect(call.errors == "memgraph: marks/nowhere.json: No such file or directory\n")
  }

  @Test("What is added is known from then on; added again it is changed")
  func add() throws {
    let clinic = try Clinic()
    defer { clinic.remove() }
    let before = try JSON(
      parsing: clinic.call(["leaks", "call-3.mgraph", "--format", "json"]).output)
    let names = before["findings"].elements.compactMap { $0["fingerprint"].string }
    #expect(names.count == 4)
    for name in names {
      let call = clinic.call([
        "known", "add", "call-3.mgraph", name, "--reason", "\"theirs\"\n", "--until", "2027-03-31",
        "-o", "accepted.json",
      ])
      #expect(call.status == .nothingFound && call.output.isEmpty)
      #expect(call.errors.contains("\(name) is known now"))
    }
    let words = ["leaks", "call-3.mgraph", "--known", "accepted.json"]
    #expect(clinic.call(words).status == .nothingFound)
    #expect(clinic.call(words).output.hasPrefix("Nothing beside 4 known findings."))
    // A leaked cycle has the name of its leak.
    let cycles = ["cycles", "call-3.mgraph", "--fail-on", "leaks"]
    #expect(clinic.call(cycles).status == .findings)
    let rest = clinic.call(cycles + ["--known", "accepted.json", "--format", "json"])
    #expect(rest.status == .nothingFound)
    let report = try JSON(parsing: rest.output)
    #expect(try ReportSchema().objections(to: report).isEmpty)
    #expect(report["cycles"].elements.allSatisfy { $0["reachable"] == .bool(true) })
    #expect(report["known"].elements.contains { $0["state"].string == "known" })
    // Half a year later all of them count again.
    let later = clinic.call(words, environment: ["SOURCE_DATE_EPOCH": "1810000000"])
    #expect(later.status == .findings)
    #expect(later.output.contains("the time is over"))

    let again = clinic.call([
      "known", "add", "call-3.mgraph", names[0], "--reason", "ours", "-o", "accepted.json",
    ])
    #expect(again.status == .nothingFound)
    let file = try JSON(
      parsing: String(contentsOfFile: clinic.folder + "/accepted.json", encoding: .utf8))
    #expect(file["known"].elements.count == 4)
    #expect(file["known"][0]["reason"].string == "ours" && file["known"][0]["until"] == .null)
    #expect(file["known"][1]["reason"].string == "\"theirs\"\n")
    let listed = clinic.call(["known", "list", "accepted.json"])
    #expect(listed.status == .nothingFound && listed.output.hasPrefix("4 known findings\n"))
    let asJSON = clinic.call(["known", "list", "accepted.json", "--format", "json"])
    #expect(try JSON(parsing: asJSON.output) == file)
  }

  struct AddRefusal: Sendable, CustomTestStringConvertible {
    var words: [String]
    var start: String
    var testDescription: String { words.joined(separator: " ") }
  }

  static let addRefusals = [
    AddRefusal(
      words: ["add", "call-3.mgraph", "0123456789ab", "--reason", "x"],
      start: "0123456789ab: no finding of call-3.mgraph has this fingerprint; it has "),
    AddRefusal(
      words: ["add", "clean.mgraph", "0123456789ab", "--reason", "x"],
      start: "0123456789ab: no finding of clean.mgraph has this fingerprint; it has no findings; "),
    AddRefusal(
      words: ["add", "call-3.mgraph", "0123456789ab"], start: "known --reason: it is missing; "),
    AddRefusal(
      words: ["add", "call-3.mgraph"], start: "known add: a snapshot and a fingerprint are wanted; "
    ),
    AddRefusal(
      words: ["add", "call-3.mgraph", "0123456789ab", "--reason", "x", "--until", "soon"],
      start: "known --until: \"soon\" is no day; "),
    AddRefusal(
      words: ["lst", "known.json"], start: "known lst: it knows add and list; did you mean list?"),
    AddRefusal(words: ["list", "a.json", "b.json"], start: "known list: too many operands: "),
  ]

  @Test("What can't be added is said in a sentence", arguments: addRefusals)
  func refusesToAdd(_ refusal: AddRefusal) throws {
    let clinic = try Clinic()
    defer { clinic.remove() }
    let call = clinic.call(["known"] + refusal.words)
    #expect(call.status == .usage && call.output.isEmpty)
    let errors = call.errors.replacingOccurrences(of: "marks/", with: "")
    #expect(errors.hasPrefix("memgraph: " + refusal.start), "\(errors)")
  }

  @Test("Reports are verified as snapshots are, and abandoned memory with them")
  func verifiesReports() throws {
    let clinic = try Clinic()
    defer { clinic.remove() }
    for (name, words) in [
      ("old", ["diff", "call-1.mgraph", "call-3.mgraph"]),
      ("new", ["diff", "call-2.mgraph", "call-3.mgraph"]), ("leaks", ["leaks", "call-3.mgraph"]),
      ("growth", ["growth", "call-1.mgraph", "call-2.mgraph", "call-3.mgraph"]),
    ] {
      _ = clinic.call(words + ["--format", "json", "-o", "\(clinic.folder)/\(name).json"])
    }
    let call = clinic.call(["verify", "old.json", "new.json", "--format", "json"])
    #expect(call.status == .findings)
    let document = try JSON(parsing: call.output)
    #expect(try ReportSchema().objections(to: document).isEmpty)
    let verify = document["verify"]
    #expect(verify["stillThere"].elements.contains { $0["kind"].string == "abandoned" })
    // What is abandoned is none of one snapshot's leaks: nothing would be fixed.
    for unlike in ["call-3.mgraph", "leaks.json", "growth.json"] {
      let refused = clinic.call(["verify", "old.json", unlike])
      #expect(refused.status == .usage && refused.output.isEmpty, "\(unlike)")
      #expect(refused.errors.contains("two reports of the same verb"), "\(refused.errors)")
    }
    // Leaks alone are the same whoever has found them.
    let same = clinic.call(["verify", "leaks.json", "call-3.mgraph", "--format", "json"])
    #expect(try JSON(parsing: same.output)["verify"]["fixed"].elements.isEmpty)
    try "{\"schema\": \"other\"}".write(
      toFile: clinic.folder + "/other.json", atomically: true, encoding: .utf8)
    let other = clinic.call(["verify", "old.json", "other.json"])
    #expect(other.status == .unreadable)
    #expect(other.errors.contains("no report of memory-graph/report/1"))
  }
}

@Suite struct DayTests {
  @Test("Days of four centuries count up as the calendar does")
  func calendar() throws {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = TimeZone(identifier: "UTC") ?? .gmt
    var last: Day?
    for number in stride(from: 0, to: 146_097, by: 13) {
      let day = Day(secondsSince1970: number * 86_400 + number % 86_400)
      let parts = calendar.dateComponents(
        [.year, .month, .day], from: Date(timeIntervalSince1970: Double(number) * 86_400))
      let (year, month, date) = (parts.year ?? 0, parts.month ?? 0, parts.day ?? 0)
      func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
      #expect(day.description == "\(year)-\(two(month))-\(two(date))")
      #expect(Day(day.description) == day)
      if let last { #expect(last < day) }
      last = day
    }
  }

  @Test(
    "What is no day",
    arguments: [
      "", "2026", "2026-1-1", "2026-13-01", "2026-00-10", "2026-04-31", "2100-02-29", "2026-01-0x",
      "2026-01-01 ", "-026-01-01",
    ])
  func refuses(_ text: String) { #expect(Day(text) == nil) }
}
