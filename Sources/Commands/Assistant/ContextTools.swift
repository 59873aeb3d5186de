// ContextTools: the questions of the server: each is a verb's report, a page at a time.

internal import GraphReport

extension ContextTool.Parameter {
  fileprivate static let snapshot = Self(
    "snapshot",
    "the snapshot's name, as the tool snapshots lists it; may be left out where there is one only")
  fileprivate static let since = Self(
    "since",
    "an earlier snapshot of the same run: then what grew since is told as well, not just what leaked"
  )
  fileprivate static let offset = Self(
    "offset", .number(0...1_000_000), "where the page starts, as next of the page before says")
  fileprivate static func limit(_ standard: Int) -> Self {
    Self("limit", .number(1...50), "how many to show at most (default: \(standard))")
  }
  fileprivate static let type = Self(
    "type", "only types that match, as App.Model or App.*Controller")
}

extension ToolCall {
  private static let _mostOnAPage = 50

  /// The snapshot that the call is about.
  fileprivate func snapshot(_ name: String = "snapshot") throws -> SnapshotShelf.Item {
    try shelf.find(text(name))
  }

  /// A page with what the call wants of it.
  fileprivate func page(
    _ report: AnsweredReport, _ listName: String, limit: Int, members: [JSONValue.Member] = []
  ) -> AnswerPage {
    AnswerPage(
      answer: report.answer, members: members, listName: listName, offset: number("offset") ?? 0,
      limit: number("limit") ?? limit)
  }

  /// The findings of a snapshot, or those of a comparison with an earlier one.
  fileprivate func findings() throws -> AnsweredReport {
    let last = try snapshot()
    let filters = [("type", text("type")), ("module", text("module"))]
      .compactMap { name, value in value.map { (name: name, value: $0) } }
    guard text("since") != nil else {
      return try shelf.report(.leaks, of: [last], options: filters)
    }
    return try shelf.report(.diff, of: [try snapshot("since"), last], options: filters)
  }
}

extension JSONValue {
  /// Some members of an object, those that are there.
  fileprivate func members(_ names: [String]) -> [Member] {
    names.compactMap { name in self[name].map { Member(name, $0) } }
  }

  /// A table by name as a list, the most bytes first.
  fileprivate var listByBytes: [JSONValue] {
    guard case .object(let members) = self else { return [] }
    return members.sorted { left, right in
      let (a, b) = (left.value["bytes"]?.integer ?? 0, right.value["bytes"]?.integer ?? 0)
      return a != b ? a > b : left.name < right.name
    }.map { member in
      .object([Member("type", .string(member.name))] + member.value.members(["count", "bytes"]))
    }
  }

  /// Counts and bytes without the table of types.
  fileprivate var cost: JSONValue { .object(members(["count", "bytes"])) }
}

extension ContextTool {
  /// All tools.
  static let all: [ContextTool] = [
    snapshots, summary, findings, finding, paths, object, whatIf, diff, types,
  ]

  private static let snapshots = ContextTool(
    name: "snapshots", title: "Which snapshots there are",
    description:
      "The snapshots that can be asked about, with their sizes and when they were taken. A new one is listed as soon as it is there.",
    parameters: [.offset, .limit(50)]
  ) { call in
    let items = try call.shelf.items()
    let report = AnsweredReport(
      answer: items.count == 1 ? "1 snapshot" : "\(items.count) snapshots", json: .null)
    return call.page(report, "snapshots", limit: 50).value(
      of: items.map { item in
        .members([
          "name": .string(item.name), "bytes": .integer(item.bytes),
          "time": .string(UTCTime(secondsSince1970: item.secondsSince1970).text),
        ])
      })
  }

  private static let summary = ContextTool(
    name: "summary", title: "What is alive",
    description:
      "What a snapshot has in it: how many objects and bytes are alive and leaked, the largest types, roots, generations, the process's memory, how far the reference counts agree.",
    parameters: [.snapshot, .limit(10)]
  ) { call in
    let report = try call.shelf.report(.summary, of: [try call.snapshot()])
    let json = report.json
    let input = json["inputs"]?.elements.first ?? .null
    let totals = json["totals"] ?? .null
    var members = input.members(
      ["mark", "executable", "pid", "objects", "references", "diagnostics"])
    members.append(JSONValue.Member("live", totals["live"]?.cost ?? .null))
    members.append(JSONValue.Member("leaked", totals["leaked"]?.cost ?? .null))
    members += json.members(["roots", "generations", "memory", "referenceCounts", "storage"])
    var page = call.page(report, "largestTypes", limit: 10, members: members)
    page.notes = ["the tool types pages through all types"]
    return page.value(of: json["types"]?["byType"]?.listByBytes ?? [])
  }

  private static let types = ContextTool(
    name: "types", title: "Objects by type",
    description: "How many objects of each type are alive and their bytes, the largest first.",
    parameters: [
      .snapshot, .type, .init("module", "only types of this module"),
      .init("generation", "only objects born between the mark of this name and the one before"),
      .offset, .limit(20),
    ]
  ) { call in
    let options = ["type", "module", "generation"].compactMap { name in
      call.text(name).map { (name: name, value: $0) }
    }
    let report = try call.shelf.report(.summary, of: [try call.snapshot()], options: options)
    let types = report.json["types"] ?? .null
    return call.page(
      report, "types", limit: 20, members: [JSONValue.Member("all", types.cost)]
    ).value(of: types["byType"]?.listByBytes ?? [])
  }

  private static let findings = ContextTool(
    name: "findings", title: "What leaked or grew",
    description:
      "What is wrong with the memory, the largest first, each in a few words with its id and the edge to cut: leaks of a snapshot, and with since also what grew from an earlier snapshot. The tool finding tells one of them whole.",
    parameters: [
      .snapshot, .since, .type, .init("module", "only findings with a type of this module"),
      .offset, .limit(10),
    ]
  ) { call in
    let report = try call.findings()
    let totals = report.json["totals"] ?? .null
    let rows: [JSONValue] = (report.json["findings"]?.elements ?? []).map { finding in
      var members = [JSONValue.Member("id", finding["fingerprint"] ?? .null)]
      members += finding.members(["kind", "type", "count", "bytes", "retainedBytes"])
      members += finding["cut"]?.members(["edge", "advice"]) ?? []
      members += finding.members(["location"])
      return .object(members)
    }
    let leaked = [JSONValue.Member("leaked", totals["leaked"]?.cost ?? .null)]
    return call.page(report, "findings", limit: 10, members: leaked).value(of: rows)
  }

  private static let finding = ContextTool(
    name: "finding", title: "One finding whole",
    description:
      "All that is known of a finding: its cycle or the path from a root, the edge to cut, what to write there, what that frees, where the objects were made, and addresses of some. paths has the ways that lead to it where it is reachable.",
    parameters: [
      .init("id", isRequired: true, "the finding's id, or at least four digits of it"), .snapshot,
      .since,
    ]
  ) { call in
    let asked = call.text("id") ?? ""
    let report = try call.findings()
    let all = report.json["findings"]?.elements ?? []
    let matching = all.filter { $0["fingerprint"]?.string?.hasPrefix(asked) ?? false }
    let names = Set(matching.compactMap { $0["fingerprint"]?.string })
    guard asked.utf8.count >= 4, names.count == 1, let first = matching.first else {
      let known = all.prefix(8).compactMap { finding in
        finding["fingerprint"]?.string.map { "\($0) (\(finding["type"]?.string ?? ""))" }
      }
      throw CommandError(
        "finding \(asked.prefix(40))",
        names.count > 1 ? "several ids begin so" : "no finding has this id",
        mend: known.isEmpty
          ? "there are none here; growth is found with since"
          : "there are \(known.joined(separator: ", "))"
            + (all.count > 8 ? " and \(all.count - 8) more" : ""), status: .usage)
    }
    var page = AnswerPage(
      answer: ReportedFinding(json: first).item.title.text, listName: "findings",
      limit: matching.count)
    // What a root reaches has ways that lead to it.
    let kind = first["kind"]?.string ?? ""
    if kind == "abandoned" || kind == "zombie",
      let address = first["addresses"]?.elements.first?.string
    {
      let paths = try call.shelf.report(.paths, of: [try call.snapshot()], [address])
      page.members = [
        JSONValue.Member(
          "paths", .array(Array(paths.json["paths"]?.elements.prefix(3) ?? [])))
      ]
    }
    return page.value(of: matching)
  }

  private static let paths = ContextTool(
    name: "paths", title: "Who retains it",
    description:
      "The ways by which roots hold objects: of a type, or one object at an address. Each step reads: this type, by this field, holds the next. What no root reaches has none: see findings.",
    parameters: [
      .init(
        "of", isRequired: true,
        "a type, as App.Model or *Controller, or an address, as 0x7f3a10002340"),
      .snapshot,
      .init("through", .texts, "only ways by these fields, as listeners or App.Hub.listeners"),
      .init("avoid", .texts, "no ways by these fields"), .offset, .limit(5),
    ]
  ) { call in
    let offset = call.number("offset") ?? 0
    let wanted = offset + (call.number("limit") ?? 5)
    var options = call.texts("through").map { (name: "through", value: $0) }
    options += call.texts("avoid").map { (name: "avoid", value: $0) }
    // The first ways of all say most; more of them are looked for when they are asked for.
    if wanted > 5 { options.append((name: "max", value: String(min(wanted, 1_000)))) }
    let report = try call.shelf.report(
      .paths, of: [try call.snapshot()], [call.text("of") ?? ""], options: options)
    var page = call.page(report, "paths", limit: 5, members: report.json.members(["targets"]))
    page.isOpen = report.json["more"] == .bool(true) && wanted < 1_000
    return page.value(of: report.json["paths"]?.elements ?? [])
  }

  private static let object = ContextTool(
    name: "object", title: "One object",
    description:
      "One object by its address: its type, size, counts, what it holds (fields), what holds it (retainers and roots), where it was made, and what would go with it.",
    parameters: [
      .init("address", isRequired: true, "an address in the object, as 0x7f3a10002340"), .snapshot,
      .init("list", "which list to page through: retainers (default), fields or roots"), .offset,
      .limit(10),
    ]
  ) { call in
    let report = try call.shelf.report(
      .object, of: [try call.snapshot()], [call.text("address") ?? ""])
    let object = report.json["object"] ?? .null
    let lists = ["retainers", "fields", "roots"]
    let list = call.text("list") ?? "retainers"
    guard lists.contains(list) else {
      throw CommandError(
        "object list", "\"\(list.prefix(80))\" is none of \(lists.joined(separator: ", "))",
        status: .usage)
    }
    guard case .object(let all) = object else {
      return call.page(report, list, limit: 10).value(of: [])
    }
    // The other lists are short here; paging through them is asked for by name.
    let members = all.filter { $0.name != list }.map { member in
      lists.contains(member.name)
        ? JSONValue.Member(member.name, member.value.first(8, "list: \(member.name)")) : member
    }
    return call.page(report, list, limit: 10, members: members).value(
      of: object[list]?.elements ?? [])
  }

  private static let whatIf = ContextTool(
    name: "whatif", title: "What a cut would free",
    description:
      "What would be freed if references were weak or cleared, played out by reference counting. Nothing is changed: it tells whether a mend is enough before it is made.",
    parameters: [
      .init(
        "weaken", .texts, isRequired: true,
        "references as reports name them: TYPE.FIELD, a closure's capture, or the edge of a finding"
      ),
      .snapshot, .offset, .limit(10),
    ]
  ) { call in
    let report = try call.shelf.report(
      .whatIf, of: [try call.snapshot()],
      options: call.texts("weaken").map { (name: "weaken", value: $0) })
    let answer = report.json["whatif"] ?? .null
    var members = answer.members(["weakened"])
    members.append(JSONValue.Member("freed", answer["freed"]?.cost ?? .null))
    members += answer.members(["freedLeaked", "freedReachable"])
    members.append(JSONValue.Member("stillLeaked", answer["stillLeaked"]?.cost ?? .null))
    return call.page(report, "freedTypes", limit: 10, members: members).value(
      of: answer["freed"]?["byType"]?.listByBytes ?? [])
  }

  private static let diff = ContextTool(
    name: "diff", title: "What changed between two snapshots",
    description:
      "What was born between two snapshots of a run and is still alive, and what died, by type, what grew most first. The tool findings with since tells what holds it.",
    parameters: [
      .init("from", isRequired: true, "the earlier snapshot's name"),
      .init("to", isRequired: true, "the later snapshot's name"), .type,
      .init("module", "only types of this module"), .offset, .limit(15),
    ]
  ) { call in
    let filters = ["type", "module"].compactMap { name in
      call.text(name).map { (name: name, value: $0) }
    }
    let report = try call.shelf.report(
      .diff, of: [try call.snapshot("from"), try call.snapshot("to")], options: filters)
    let json = report.json
    let (born, died) = (json["born"]?["byType"] ?? .null, json["died"]?["byType"] ?? .null)
    var names: Set<String> = []
    for case .object(let members) in [born, died] { names.formUnion(members.map(\.name)) }
    func number(_ side: JSONValue, _ name: String, _ member: String) -> Int {
      side[name]?[member]?.integer ?? 0
    }
    struct Change {
      var name: String
      var born: Int
      var died: Int
      var bytes: Int
    }
    var changes: [Change] = names.map { name in
      Change(
        name: name, born: number(born, name, "count"), died: number(died, name, "count"),
        bytes: number(born, name, "bytes") - number(died, name, "bytes"))
    }
    changes.sort { $0.bytes != $1.bytes ? $0.bytes > $1.bytes : $0.name < $1.name }
    var members = [
      JSONValue.Member("born", json["born"]?.cost ?? .null),
      JSONValue.Member("died", json["died"]?.cost ?? .null),
    ]
    members += json.members(["survived", "exact", "marksBetween"])
    members.append(
      JSONValue.Member("findings", .integer(json["findings"]?.elements.count ?? 0)))
    let rows: [JSONValue] = changes.map { change in
      .members([
        "type": .string(change.name), "born": .integer(change.born),
        "died": .integer(change.died), "net": .integer(change.born - change.died),
        "netBytes": .integer(change.bytes),
      ])
    }
    return call.page(report, "changes", limit: 15, members: members).value(of: rows)
  }
}

extension JSONValue {
  /// The first elements of a list, and how to get the others.
  fileprivate func first(_ count: Int, _ how: String) -> JSONValue {
    guard case .array(let elements) = self, elements.count > count else { return self }
    return .array(
      elements.prefix(count) + [.string("… (\(elements.count - count) more: \(how))")])
  }
}
