// Whether the advice on the samples' stories is right: where their sources are mended as the first advice says, what
// is gone is what the tool said would go, type by type over all that is alive.
internal import Foundation
internal import Testing

@Suite struct MendedSamplesTests {
  /// A story that leaks, and how much of what is told of it is mended.
  struct Story: Sendable, CustomTestStringConvertible {
    var sample: String
    var variant: String
    var first = "start"
    var last = "end"
    /// What the first advice has to say.
    var advice: [String]
    /// How many of the findings are mended, the first ones.
    var mended = 1
    /// What the program's own code lets go of as well once the advice is followed. No snapshot can know that; which
    /// objects go with it is asked for all the same.
    var clears: [String] = []

    var testDescription: String { "\(sample) \(variant)" }
  }

  private static let cancel = "cancel the task when the work ends"

  /// A stream that is cancelled calls its `onTermination`, and that takes the continuation out of the table.
  private static let collectors = ["Feed.PostRepository.state.collectors[_]"]
  private static let fixes = ["Sensors.SharedSensor.state.entries[_].fixes"]

  static let stories = [
    Story(
      sample: "Feed", variant: "careless", last: "cycle-12", advice: [cancel], clears: collectors),
    // The holder that a closure has captured, and what only its end would clear.
    Story(
      sample: "Feed", variant: "captured", last: "cycle-12", advice: [cancel], mended: 2,
      clears: collectors),
    Story(sample: "Feed", variant: "demand", last: "cycle-12", advice: [cancel]),
    Story(
      sample: "Feed", variant: "own-scope", last: "cycle-12", advice: [cancel], clears: collectors),
    Story(sample: "Sensors", variant: "strong", advice: [cancel], clears: fixes),
    Story(sample: "Sensors", variant: "cancel-only", advice: [cancel], clears: fixes),
    Story(sample: "Sensors", variant: "captured-lease", advice: [cancel], clears: fixes),
    // The lease's deinit ends its stream.
    Story(
      sample: "Sensors", variant: "leases", advice: ["clear navigation when the work ends"],
      clears: fixes),
    Story(sample: "Subscriptions", variant: "strong", advice: ["capture [weak self]"]),
    Story(
      sample: "Subscriptions", variant: "method", advice: ["pass { [weak self] in self?.show($0) }"]
    ),
    // The bag is emptied as a whole, its array with it.
    Story(
      sample: "Subscriptions", variant: "with",
      advice: [
        "bound entries, or remove from it when the work ends", "remove the handler from observers",
      ],
      clears: ["Subscriptions.DisposeBag.entries -> *"]),
    Story(
      sample: "Subscriptions", variant: "dropped", advice: ["remove the handler from observers"]),
    Story(
      sample: "Subscriptions", variant: "bag", last: "all",
      advice: ["bound entries, or remove from it when the work ends"]),
  ]

  /// What of the prediction does not come true, by type, for a reason that no snapshot has.
  static let known = ["Sensors strong": afterTheModel, "Sensors cancel-only": afterTheModel]

  private static let afterTheModel = [
    // The story's own function has it in a local variable, too, and its task's frame and the other task's can't be
    // told apart by their words: one retain, two words.
    "Sensors.LoopLog": 1,
    // The story's weak variable lies in its task's frame, which has no types: the side table that it keeps is known
    // as one by its object, and when that is gone it is C memory.
    "weak reference side table": -1, "malloc block": 1,
  ]

  /// Who asks for C memory that is neither freed nor leaked: what the runtime notes once about each type and
  /// conformance that code uses, and glibc once for each thread. The mended program runs other code.
  private static let makers = [
    "ConcurrentReadableHashMap", "swift_getWitnessTable", "once_slow", "allocate_dtv",
  ]

  /// The advice as changes of the source, one a line of advice.
  private static let edits: [String: [SampleSources.Edit]] = [
    "Feed": [
      .init(
        file: "FeedScreen.swift",
        old: "await (model as? OnDemandFeedViewModel)?.shared.unsubscribe() }",
        new: """
          await (model as? OnDemandFeedViewModel)?.shared.unsubscribe()
              model.clear()
            }
          """),
      .init(
        file: "Announcements.swift", old: "  func announce(",
        new: "  func end() { handlers.removeAll(keepingCapacity: true) }\n\n  func announce("),
      .init(
        file: "FeedScreen.swift", old: "  func didDisappear() async {}\n",
        new: "  func didDisappear() async { Announcements.shared.end() }\n"),
      .init(
        file: "TrendingViewModel.swift", old: "  override func start() {\n    super.start()\n",
        new: """
            override func onClear() { trends.cancel() }

            override func start() {
              super.start()

          """),
    ],
    "Sensors": [
      .init(
        file: "TrackModel.swift", old: "  private func receive(",
        new: "  func end() { task?.cancel() }\n\n  private func receive("),
      .init(
        file: "ModelStory.swift", old: "    ended = model\n",
        new: "    ended = model\n    model.end()\n"),
      .init(
        file: "Features.swift", old: "      Task {\n        for await fix in lease.fixes",
        new: "      task = Task {\n        for await fix in lease.fixes"),
      .init(
        file: "Features.swift", old: "  init(_ sensor: SharedSensor, capturesLease: Bool) {",
        new: """
            private var task: Task<Void, Never>?
            isolated deinit { task?.cancel() }

            init(_ sensor: SharedSensor, capturesLease: Bool) {
          """),
      .init(
        file: "LeaseStory.swift", old: "    report(\"forgotten\")\n",
        new: "    report(\"forgotten\")\n    open.navigation = nil\n"),
    ],
    "Subscriptions": [
      .init(
        file: "SearchModel.swift", old: "subscribe { self.show($0) }",
        new: "subscribe { [weak self] in self?.show($0) }"),
      .init(
        file: "SearchModel.swift", old: "subscribe(onNext: show)",
        new: "subscribe(onNext: { [weak self] in self?.show($0) })"),
      .init(
        file: "OwnerStory.swift",
        old:
          "  await settle()\n  print(\"end: \\(LiveCounts.summary) observers=\\(service.queries.observerCount)\")",
        new: """
            service.bag.dispose()
            await settle()
            print("end: \\(LiveCounts.summary) observers=\\(service.queries.observerCount)")
          """),
      .init(
        file: "OwnerStory.swift",
        old: "  service.queries.events.subscribe { (_: String) in heard += 1 }\n",
        new:
          "  func hear() {\n  let hearing = service.queries.events.subscribe { (_: String) in heard += 1 }\n"
      ),
      .init(
        file: "OwnerStory.swift", old: "service.queries.send(\"swift\") }\n",
        new: "service.queries.send(\"swift\") }\n  hearing.dispose()\n  }\n  hear()\n"),
      .init(
        file: "FinishedStory.swift", old: "      ticks.send(number)\n",
        new: "      ticks.send(number)\n      (bag as? DisposeBag)?.removeFinished()\n"),
      .init(
        file: "Kit/DisposeBag.swift", old: "  func dispose() {",
        new: """
            func removeFinished() {
              entries.removeAll { ($0 as? any FinishingDisposable)?.isFinished == true }
            }

            func dispose() {
          """),
    ],
  ]

  /// The samples with all edits: each story has its own part of the source.
  private static let programs: Result<[String: URL], any Error> = Result {
    try edits.reduce(into: [:]) { $0[$1.key] = try sources.get().program($1.key, edits: $1.value) }
  }
  private static let sources: Result<SampleSources, any Error> = Result {
    try SampleSources(["-Onone"])
  }

  @Test(
    "A story's source, mended as is advised, lacks what the tool said would go", arguments: stories)
  func agrees(_ story: Story) throws {
    let program = try #require(try Self.programs.get()[story.sample])
    let arguments =
      ["--variant", story.variant] + (story.sample == "Feed" ? ["--cycles", "12"] : [])
    let broken = try Recording(of: story.sample, arguments)
    let mended = try Recording(of: program, arguments)
    #expect(broken.outcome.status == 0 && mended.outcome.status == 0)

    let last = broken.mark(story.last)
    var report = try Report.of("leaks", last)
    if report.findings.isEmpty { report = try Report.of("diff", broken.mark(story.first), last) }
    let cuts = report.findings.prefix(story.mended).compactMap(\.cut)
    let first = try #require(cuts.first)
    for wanted in story.advice {
      #expect(first.advice.contains(wanted), "\(wanted) is not in \(first.advice)")
    }
    let edges = cuts.flatMap(\.edges) + story.clears
    let answer = try Report.of("whatif", [last] + edges.flatMap { ["--weaken", $0] })
    let predicted = (answer.whatif?.freed.byType ?? [:]).mapValues(\.count)
    let before = try Self.census(last)
    let after = try Self.census(mended.mark(story.last))
    let known = Self.known[story.testDescription] ?? [:]
    for type in Set(before.keys).union(after.keys).union(predicted.keys) {
      let (was, left) = (before[type] ?? 0, after[type] ?? 0)
      #expect(
        was - left == (predicted[type] ?? 0) - (known[type] ?? 0),
        "\(type): \(was) before, \(left) after, \(predicted[type] ?? 0) were to be freed")
    }
    #expect(predicted.contains { $0.key.hasPrefix(story.sample + ".") && $0.value > 0 })
  }

  /// How many objects of each type are alive at a mark, C memory that the runtime keeps for itself left out.
  private static func census(_ mark: String) throws -> [String: Int] {
    let live = try #require(try Report.of("summary", mark).totals?.live)
    var counts = live.byType.mapValues(\.count)
    let block = "malloc block"
    counts[block] = try blocks(mark).filter { name in !makers.contains { name.contains($0) } }.count
    return counts
  }

  /// The blocks of C memory, each as reports call it: `malloc[48] in make_room`.
  private static func blocks(_ mark: String) throws -> [String] {
    let outcome = try run("memgraph", ["export", mark, "--format", "json", "--table", "objects"])
    let export = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8))
    let tables = (export as? [String: Any])?["tables"] as? [String: Any]
    let table = try #require(tables?["objects"] as? [String: Any])
    let columns = try #require(table["columns"] as? [String])
    let (type, kind) = (columns.firstIndex(of: "type"), columns.firstIndex(of: "kind"))
    let (typeColumn, kindColumn) = (try #require(type), try #require(kind))
    return try #require(table["rows"] as? [[Any]]).compactMap { row in
      guard row[kindColumn] as? String == "block", let name = row[typeColumn] as? String,
        name.hasPrefix("malloc[")
      else { return nil }
      return name
    }
  }
}
