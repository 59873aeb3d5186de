// Whether the advice on the samples' stories is right: where their sources are mended as the first advice says, what
// is gone is what the tool said would go.
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

    var testDescription: String { "\(sample) \(variant)" }
  }

  private static let cancel = "cancel the task when the work ends"

  static let stories = [
    Story(sample: "Feed", variant: "careless", last: "cycle-12", advice: [cancel]),
    // The holder that a closure has captured, and what only its end would clear.
    Story(
      sample: "Feed", variant: "captured", last: "cycle-12", advice: [cancel], mended: 2),
    Story(sample: "Feed", variant: "demand", last: "cycle-12", advice: [cancel]),
    Story(sample: "Feed", variant: "own-scope", last: "cycle-12", advice: [cancel]),
    Story(sample: "Sensors", variant: "strong", advice: [cancel]),
    Story(sample: "Sensors", variant: "cancel-only", advice: [cancel]),
    Story(sample: "Sensors", variant: "captured-lease", advice: [cancel]),
    Story(sample: "Sensors", variant: "leases", advice: ["clear navigation when the work ends"]),
    Story(sample: "Subscriptions", variant: "strong", advice: ["capture [weak self]"]),
    Story(
      sample: "Subscriptions", variant: "method", advice: ["pass { [weak self] in self?.show($0) }"]
    ),
    Story(
      sample: "Subscriptions", variant: "with",
      advice: ["remove it from entries", "remove the handler from observers"]),
    Story(
      sample: "Subscriptions", variant: "dropped", advice: ["remove the handler from observers"]),
    Story(sample: "Subscriptions", variant: "bag", last: "all", advice: ["remove it from entries"]),
  ]

  /// What of a sample's own is not as predicted, for a reason that no snapshot has.
  static let known: [String: Set<String>] = [
    // The story's own function has it in a local variable, too, and its task's frame and the other task's can't be
    // told apart by their words: one retain, two words.
    "Sensors strong": ["Sensors.LoopLog"], "Sensors cancel-only": ["Sensors.LoopLog"],
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
        file: "FeedScreen.swift", old: "{ [holder] _ in\n      holder.model",
        new: "{ [weak holder] _ in\n      holder?.model"),
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
    let answer = try Report.of(
      "whatif", [last] + cuts.flatMap(\.edges).flatMap { ["--weaken", $0] })
    let predicted = (answer.whatif?.freed.byType ?? [:]).mapValues(\.count)
    let before = try broken.live(story.last)
    let after = try mended.live(story.last)
    let known = Self.known[story.testDescription] ?? []
    var freed = 0
    for type in Set(before.byType.keys).union(after.byType.keys).union(predicted.keys)
    where type.hasPrefix(story.sample + ".") && !known.contains(type) {
      freed += predicted[type] ?? 0
      #expect(
        before.count(of: type) - after.count(of: type) == predicted[type] ?? 0,
        "\(type): \(before.count(of: type)) before, \(after.count(of: type)) after")
    }
    #expect(freed > 0)
  }
}
