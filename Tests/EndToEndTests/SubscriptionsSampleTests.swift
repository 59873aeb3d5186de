// Every subscription has a lifetime: who is kept, by what, and what a finished one costs.
internal import Testing

@Suite struct SubscriptionsSampleTests {
  struct Story: Sendable, CustomTestStringConvertible {
    var variant: String
    var models = 0
    var subscriptions = 0
    var observers = 0
    var verb: String?

    var testDescription: String { variant }
  }

  static let stories = [
    Story(variant: "strong", models: 5, subscriptions: 5, verb: "leaks"),
    Story(variant: "method", models: 5, subscriptions: 5, verb: "leaks"),
    Story(variant: "weak"),
    Story(variant: "with", subscriptions: 5, observers: 5, verb: "diff"),
    Story(variant: "dropped", subscriptions: 1, observers: 1, verb: "diff"),
  ]

  @Test("Five models that subscribed", arguments: stories)
  func models(_ story: Story) throws {
    let recording = try Recording(of: "Subscriptions", ["--variant", story.variant])
    try #require(recording.outcome.status == 0)
    let live = try recording.live("end")
    #expect(live.count(of: "Subscriptions.SearchModel") == story.models)
    #expect(subscriptions(live) == story.subscriptions)
    #expect(recording.facts("end")["observers"] == story.observers)
    if story.variant == "dropped" { #expect(recording.facts("end")["heard"] == 10) }

    let leaks = try Report.of("leaks", recording.mark("end"))
    let isLeak = story.verb == "leaks"
    #expect(
      leaks.totals?.leaked?.count(of: "Subscriptions.SearchModel") == (isLeak ? story.models : 0))
    #expect(leaks.findings.count == (isLeak ? 1 : 0))
    switch story.verb {
    case "leaks":
      try recording.expectAnswer(
        "leaks", marks: "end", named: "subscriptions-\(story.variant).txt")
    case "diff":
      try recording.expectAnswer(
        "diff", marks: "start", "end", named: "subscriptions-\(story.variant).txt")
    default: break
    }
  }

  @Test("A thousand finished subscriptions have released their payloads")
  func finished() throws {
    let recording = try Recording(of: "Subscriptions", ["--variant", "finished"])
    let payload = "Subscriptions.Payload"
    #expect(try recording.live("running").count(of: payload) == 1_000)
    let finished = try recording.live("finished")
    #expect(finished.count(of: payload) == 0)
    #expect(subscriptions(finished) == 1_000)
  }

  @Test("A hundred thousand finished subscriptions keep an entry each in a bag")
  func bag() throws {
    let recording = try Recording(of: "Subscriptions", ["--variant", "bag"])
    let counts = try ["start", "half", "all"].map { subscriptions(try recording.live($0)) }
    #expect(counts == [0, 50_000, 100_000])
    #expect(recording.facts("all")["entries"] == 100_000)
    // 64 bytes of a finished subscription and 16 of the bag's array, which has room for more.
    let bytes = try bornBytes(recording)
    #expect((80...90).contains(bytes / 100_000), "\(bytes) bytes")
    try recording.expectAnswer("diff", marks: "start", "all", named: "subscriptions-bag.txt")
    try recording.expectAnswer(
      "growth", marks: "start", "half", "all", named: "subscriptions-bag-growth.txt")
  }

  @Test("A lifetime bag keeps nothing of a hundred thousand finished subscriptions")
  func lifetimeBag() throws {
    let recording = try Recording(of: "Subscriptions", ["--variant", "lifetime-bag"])
    #expect(subscriptions(try recording.live("half")) == 0)
    #expect(subscriptions(try recording.live("all")) == 0)
    #expect(recording.facts("all")["entries"] == 0)
    #expect(try bornBytes(recording) < 10_000)
  }

  @Test("A synchronous source can't be stopped halfway, a scheduled one can")
  func take() throws {
    #expect(
      try run("Subscriptions", ["--variant", "take"]).output == """
        synchronous: emitted=1000 received=3
        scheduled: emitted=3 received=3

        """)
  }

  @Test(
    "A bag disposes in order when it goes, early when it is replaced, at once when it is too late")
  func order() throws {
    #expect(
      try run("Subscriptions", ["--variant", "order"]).output == """
        gone: 1 2 3 4
        replaced: 1 2 3
        too late: 1
        finished early: 2
        the rest: 1 3 4

        """)
  }

  private func subscriptions(_ live: Report.Tally) -> Int {
    live.byType.filter { $0.key.hasPrefix("Subscriptions.Subscription<") }
      .reduce(0) { $0 + $1.value.count }
  }

  /// The bytes of Swift objects born since the start and still alive.
  private func bornBytes(_ recording: Recording) throws -> Int {
    let difference = try Report.of("diff", recording.mark("start"), recording.mark("all"))
    return (difference.born?.byType ?? [:]).filter { $0.key != "malloc block" }
      .reduce(0) { $0 + $1.value.bytes }
  }
}
