// The collector that kept collecting: every number of the story, and what the tool says of each leak.
internal import Testing

@Suite struct FeedSampleTests {
  struct Story: Sendable, CustomTestStringConvertible {
    var variant: String
    var model = "Feed.FeedViewModel"
    var models = 0
    var holders: Int?
    var collectors = 0
    var started = 40
    var onScreen = 1
    /// The verb that explains the leak.
    var verb: String?

    var testDescription: String { variant }
  }

  static let stories = [
    Story(variant: "careless", models: 40, collectors: 40, onScreen: 40, verb: "diff"),
    Story(variant: "captured", models: 6, holders: 6, collectors: 6, onScreen: 7, verb: "paths"),
    Story(variant: "holder", holders: 0),
    Story(
      variant: "demand", model: "Feed.OnDemandFeedViewModel", models: 40, onScreen: 40,
      verb: "leaks"),
    Story(
      variant: "own-scope", model: "Feed.TrendingViewModel", models: 40, holders: 0, collectors: 40,
      started: 80, onScreen: 40, verb: "diff"),
    Story(
      variant: "both-scopes", model: "Feed.EndedTrendingViewModel", holders: 0, started: 80),
  ]

  @Test("Forty cycles leave what the story says", arguments: stories)
  func fortyCycles(_ story: Story) throws {
    let recording = try Recording(of: "Feed", ["--variant", story.variant, "--cycles", "40"])
    try #require(recording.outcome.status == 0)
    let facts = recording.facts("cycle-40")
    let live = try recording.live("cycle-40")

    #expect(live.count(of: story.model) == story.models)
    #expect(try recording.live("on-screen").count(of: story.model) == story.onScreen)
    #expect(streams(live) == story.collectors)
    #expect(facts["collectors"] == story.collectors)
    #expect(facts["calls"] == story.collectors)
    #expect(facts["started"] == story.started)
    if let holders = story.holders {
      let holder = "Feed.ViewModelHolder<\(story.model)>"
      #expect(live.count(of: holder) == holders)
      #expect(try recording.live("on-screen").count(of: holder) == holders + 1)
    }
    // Twelve arrays of 144 × 144 points hang on each, and little else: what is retained climbs with them.
    for (mark, cycles) in [("cycle-1", 1), ("cycle-20", 20), ("cycle-40", 40)] {
      let difference = try Report.of("diff", recording.mark("start"), recording.mark(mark))
      let models = difference.born?.count(of: story.model) ?? 0
      #expect(models == (recording.facts(mark)["FeedViewModel"] ?? 0))
      #expect(models == (story.models == 40 ? cycles : cycles / 6) || story.models == 0)
      let pictures = 12 * (32 + 144 * 144 * 4) * models
      let retained = difference.findings.filter { $0.type == story.model }
        .reduce(0) { $0 + ($1.retainedBytes ?? 0) }
      #expect(retained >= pictures, "\(mark)")
      #expect(retained <= pictures + 10_000 * models, "\(mark)")
    }

    switch story.verb {
    case "diff":
      try recording.expectAnswer(
        "diff", marks: "start", "cycle-40", named: "feed-\(story.variant).txt")
    case "paths":
      try recording.expectAnswer(
        "paths", marks: "cycle-40", type: story.model, named: "feed-\(story.variant).txt")
    case "leaks":
      try recording.expectAnswer("leaks", marks: "cycle-40", named: "feed-\(story.variant).txt")
    default:
      let leaks = try Report.of("leaks", recording.mark("cycle-40"))
      #expect(leaks.findings.isEmpty)
    }
  }

  @Test("Visibility is not lifetime: clearing on disappear breaks two of four actions")
  func visibility() throws {
    let outcome = try run("Feed", ["--variant", "visibility"])
    #expect(
      outcome.output == """
        action       cleared on disappear  cleared by the holder
        pop          right                 right
        push over    broken                right
        switch tab   broken                right
        background   right                 right

        """)
  }

  @Test("A variant that is none is refused with those that are")
  func usage() throws {
    let outcome = try run("Feed", ["--variant", "tidy"])
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains("there is no variant called 'tidy'"))
    #expect(outcome.errors.contains("careless|captured|holder"))
  }

  /// The streams of posts that are alive: one for each who collects.
  private func streams(_ live: Report.Tally) -> Int {
    live.byType.filter {
      $0.key.contains("AsyncStream<") && $0.key.contains("Feed.Post>")
        && $0.key.hasSuffix("._Storage")
    }.reduce(0) { $0 + $1.value.count }
  }
}
