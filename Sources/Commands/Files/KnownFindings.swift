// KnownFindings: findings that were looked at and accepted, in a file of the project.

package import GraphAnalysis
package import GraphReport

/// The findings that a project has accepted for now, each with a reason.
///
///     {"schema": "memory-graph/known/1",
///      "known": [{"fingerprint": "9f2c41d0a7be", "reason": "upstream, see their issue 12", "until": "2027-03-31"}]}
package struct KnownFindings {
  struct Entry {
    var fingerprint: String
    var reason: String

    /// The last day on which it is accepted; nil for always.
    var until: Day?

    /// What the finding was when it was accepted, for people who read the file.
    var kind: String?
    var type: String?

    var json: JSONValue {
      .members([
        "fingerprint": .string(fingerprint), "kind": kind.map { .string($0) },
        "type": type.map { .string($0) }, "reason": .string(reason),
        "until": until.map { .string($0.description) },
      ])
    }
  }

  static let schema = "memory-graph/known/1"

  var entries: [Entry] = []

  init() {}

  /// Reads a file.
  ///
  /// - Throws: an error of status *unreadable* with the line that is wrong.
  package init(contentsOf path: String) throws(CommandError) {
    let file = try InputFile(path)
    _ = try file.members(of: file.document, "the file", known: ["schema", "known"])
    if let schema = file.document["schema"], schema.string != Self.schema {
      throw file.error(
        schema, "the schema is none that this version reads", mend: "it reads \"\(Self.schema)\"")
    }
    guard let known = file.document["known"] else {
      throw file.error(file.document, "the file has no \"known\"")
    }
    guard let elements = known.elements else {
      throw file.error(known, "\"known\" is \(known.kind), not an array")
    }
    for element in elements {
      let entry = try Self.entry(element, in: file)
      if entries.contains(where: { $0.fingerprint == entry.fingerprint }) {
        throw file.error(element, "\(entry.fingerprint) stands here twice")
      }
      entries.append(entry)
    }
  }

  private static func entry(
    _ element: LocatedJSON, in file: InputFile
  ) throws(CommandError) -> Entry {
    let what = "a known finding"
    _ = try file.members(
      of: element, what, known: ["fingerprint", "kind", "type", "reason", "until"])
    let fingerprint = try file.text("fingerprint", of: element, what)
    guard isFingerprint(fingerprint) else {
      throw file.error(
        element["fingerprint"] ?? element, "\"\(fingerprint)\" is no fingerprint",
        mend: "it has 12 digits of 0-9 and a-f, as reports show after id")
    }
    var until: Day?
    if element["until"] != nil {
      let text = try file.text("until", of: element, what)
      until = Day(text)
      if until == nil {
        throw file.error(
          element["until"] ?? element, "\"\(text)\" is no day", mend: "write it as 2027-03-31")
      }
    }
    var entry = Entry(
      fingerprint: fingerprint, reason: try file.text("reason", of: element, what), until: until)
    if element["kind"] != nil { entry.kind = try file.text("kind", of: element, what) }
    if element["type"] != nil { entry.type = try file.text("type", of: element, what) }
    return entry
  }

  static func isFingerprint(_ text: String) -> Bool {
    text.utf8.count == 12
      && text.utf8.allSatisfy {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
          || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
      }
  }

  /// Adds an entry, or puts it in the place of the one with its fingerprint.
  mutating func put(_ entry: Entry) {
    if let place = entries.firstIndex(where: { $0.fingerprint == entry.fingerprint }) {
      entries[place] = entry
    } else {
      entries.append(entry)
    }
  }

  /// The file's text.
  var text: String {
    JSONValue.members([
      "schema": .string(Self.schema), "known": .array(entries.map(\.json)),
    ]).text
  }

  /// Findings told apart by what is known of them.
  package struct Judgement {
    /// The findings that count: those that are not known, and those of which the time is over.
    package var open: [Finding]

    /// What is known, in the order of the file.
    package var rows: [KnownRow]

    /// Whether some findings don't count.
    var hidesAny: Bool { rows.contains { $0.state == .known } }
  }

  /// Tells findings apart.
  package func judge(_ findings: [Finding], today: Day, names: Names) -> Judgement {
    let rows = rows(today: today) { fingerprint in
      let matching = findings.filter { $0.fingerprint == fingerprint }
      guard let first = matching.first else { return nil }
      return (
        names.typeName(of: first.representative), matching.reduce(0) { $0 + $1.members.count }
      )
    }
    let hidden = Set(rows.filter { $0.state == .known }.map(\.fingerprint))
    return Judgement(open: findings.filter { !hidden.contains($0.fingerprint) }, rows: rows)
  }

  /// What has become of each entry.
  ///
  /// - Parameter found: The type and number of objects of what was found with a fingerprint; nil for nothing.
  func rows(today: Day, found: (String) -> (type: String, count: Int)?) -> [KnownRow] {
    entries.map { entry in
      let match = found(entry.fingerprint)
      let isOver = entry.until.map { $0 < today } ?? false
      return KnownRow(
        state: match == nil ? .unmatched : isOver ? .expired : .known,
        fingerprint: entry.fingerprint, reason: entry.reason, until: entry.until?.description,
        type: match?.type ?? entry.type, count: match?.count ?? 0)
    }
  }
}

/// A day of the calendar, in UTC.
package struct Day: Comparable, CustomStringConvertible {
  private let _year: Int
  private let _month: Int
  private let _day: Int

  /// Reads `2027-03-31`; nil for what is no day.
  init?(_ text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard text.utf8.count == 10, parts.count == 3, parts.map(\.utf8.count) == [4, 2, 2],
      parts.allSatisfy({ $0.allSatisfy { $0.isASCII && $0.isNumber } }),
      let year = Int(parts[0]), let month = Int(parts[1]), let day = Int(parts[2]),
      (1...12).contains(month), day >= 1, day <= Self._length(ofMonth: month, year: year)
    else { return nil }
    (_year, _month, _day) = (year, month, day)
  }

  /// The day of a time in seconds since 1970, not before.
  package init(secondsSince1970 seconds: Int) {
    var days = max(0, seconds) / 86_400
    var year = 1970
    while days >= (Self._isLeap(year) ? 366 : 365) {
      days -= Self._isLeap(year) ? 366 : 365
      year += 1
    }
    var month = 1
    while days >= Self._length(ofMonth: month, year: year) {
      days -= Self._length(ofMonth: month, year: year)
      month += 1
    }
    (_year, _month, _day) = (year, month, days + 1)
  }

  /// How many days lie between 1 January 1970 and this one, which may be before.
  ///
  /// - Complexity: O(years).
  var daysSince1970: Int {
    var days = _day - 1
    for month in 1..<_month { days += Self._length(ofMonth: month, year: _year) }
    if _year >= 1970 {
      for year in 1970..<_year { days += Self._isLeap(year) ? 366 : 365 }
    } else {
      for year in _year..<1970 { days -= Self._isLeap(year) ? 366 : 365 }
    }
    return days
  }

  private static func _isLeap(_ year: Int) -> Bool {
    year % 4 == 0 && year % 100 != 0 || year % 400 == 0
  }

  private static func _length(ofMonth month: Int, year: Int) -> Int {
    month == 2 ? (_isLeap(year) ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
  }

  package static func < (left: Day, right: Day) -> Bool {
    (left._year, left._month, left._day) < (right._year, right._month, right._day)
  }

  package var description: String {
    func padded(_ number: Int, _ width: Int) -> String {
      let digits = String(number)
      return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
    return "\(padded(_year, 4))-\(padded(_month, 2))-\(padded(_day, 2))"
  }
}
