// The consultation screen: the staircase, the baseline, and each of its four mistakes alone.
internal import Testing

@Suite struct VideoCallTests {
  static let screen = "VideoCall.CallViewController"

  @Test(
    "Fifteen calls without teardown are a staircase, in every mark what the program counts itself")
  func staircase() throws {
    let recording = try Recording(of: "VideoCall", ["--calls", "15"])
    let counts = recording.liveCounts
    try #require(counts.count == 15)
    for call in 1...15 {
      let live = try #require(
        try Report.of("summary", recording.mark("call-\(call)")).totals?.live)
      #expect(live.count(of: Self.screen) == call)
      for (type, count) in counts[call - 1] where type != "open-connections" {
        #expect(live.count(of: "VideoCall.\(type)") == count, "\(type) after call \(call)")
      }
      #expect(live.count(of: "PeerConnectionHandle") == counts[call - 1]["open-connections"])
    }
    let difference = try Report.of("diff", recording.mark("call-1"), recording.mark("call-15"))
    #expect(difference.born?.count(of: Self.screen) == 14)
    #expect(difference.died?.count(of: Self.screen) == 0)
  }

  @Test("Fifteen calls with teardown keep their baseline")
  func baseline() throws {
    let recording = try Recording(of: "VideoCall", ["--calls", "15", "--variant", "teardown"])
    let counts = recording.liveCounts
    try #require(counts.count == 15)
    let first = try ownTypes(recording.mark("call-1"))
    for call in 1...15 {
      #expect(try ownTypes(recording.mark("call-\(call)")) == first)
      #expect(counts[call - 1] == counts[0])
    }
    #expect(first[Self.screen] == nil)
    let leaks = try Report.of("leaks", recording.mark("call-15"))
    #expect(leaks.totals?.leaked?.byType.keys.filter { $0.hasPrefix("VideoCall.") } == [])
  }

  @Test("Between the first and the fifth call, four screens survive")
  func fourScreens() throws {
    let recording = try Recording(of: "VideoCall", [])
    let outcome = try run(
      "graphdiff", [recording.mark("call-1"), recording.mark("call-5"), "--format", "json"])
    #expect(outcome.status == 1)
    let difference = try Report.of("diff", recording.mark("call-1"), recording.mark("call-5"))
    #expect(difference.born?.count(of: Self.screen) == 4)
    #expect(difference.born?.count(of: "VideoCall.NativeRenderer") == 12)
    // The run loop, the notification center and the native library hold the screens: not leaked, but
    // nobody can reach the first camera's track and renderer any more.
    let leaks = try Report.of("leaks", recording.mark("call-5"))
    #expect(leaks.totals?.leaked?.count(of: Self.screen) == 0)
    #expect(leaks.totals?.leaked?.count(of: "VideoCall.VideoTrack") == 5)
    #expect(cycles(leaks).contains(["VideoTrack.renderers", "NativeRenderer.track"]))
  }

  @Test("(a) alone: the client's closure is named")
  func closure() throws {
    let recording = try Recording(of: "VideoCall", ["--variant", "closure"])
    let leaks = try Report.of("leaks", recording.mark("call-5"))
    #expect(leaks.totals?.leaked?.count(of: Self.screen) == 5)
    #expect(
      cycles(leaks).contains([
        "CallViewController.client", "SignalingClient.onConnectionChange",
      ]))
    let finding = try #require(
      leaks.findings.first { ($0.cycle ?? []).contains { $0.field == "onConnectionChange" } })
    #expect(finding.cycle?.contains { $0.text.contains("listenToClient") } == true)
    #expect(finding.cut?.edge.contains("onConnectionChange") == true)
    #expect(finding.cut?.advice.contains("[weak self]") == true)
    try recording.expectAnswer("leaks", marks: "call-5", named: "videocall-closure.txt")
  }

  @Test("(b) alone: the delegate's and the renderer's cycle are named")
  func renderers() throws {
    let recording = try Recording(of: "VideoCall", ["--variant", "renderers"])
    let leaks = try Report.of("leaks", recording.mark("call-5"))
    #expect(leaks.totals?.leaked?.count(of: Self.screen) == 5)
    let found = cycles(leaks)
    #expect(found.contains(["CallViewController.connection", "PeerConnection.delegate"]))
    #expect(found.contains(["VideoTrack.renderers", "NativeRenderer.track"]))
    try recording.expectAnswer("leaks", marks: "call-5", named: "videocall-renderers.txt")
  }

  @Test("(c) alone: the notification center and the run loop's timer are named")
  func observers() throws {
    let recording = try Recording(of: "VideoCall", ["--variant", "observers"])
    let mark = recording.mark("call-5")
    #expect(try Report.of("leaks", mark).totals?.leaked?.count(of: Self.screen) == 0)
    let paths = try texts(of: "paths", mark)
    #expect(paths.contains { $0.contains("NotificationCenter") && $0.contains("startObserving") })
    #expect(paths.contains { $0.contains("Timer") && $0.contains("RepeatingTimer.onTick") })
    try recording.expectAnswer(
      "paths", marks: "call-5", type: Self.screen, named: "videocall-observers.txt")
  }

  @Test("(d) alone: the native handle that nobody closed is named")
  func handle() throws {
    let recording = try Recording(of: "VideoCall", ["--variant", "handle"])
    let mark = recording.mark("call-5")
    let leaks = try Report.of("leaks", mark)
    #expect(leaks.totals?.leaked?.count(of: Self.screen) == 0)
    #expect(leaks.totals?.live?.count(of: "PeerConnectionHandle") == 5)
    // Two buffers of 64 KiB each hang on every one.
    let difference = try Report.of("diff", recording.mark("call-1"), mark)
    let retained = difference.findings.filter { $0.type == "PeerConnectionHandle" }
      .compactMap(\.retainedBytes)
    #expect(retained.reduce(0, +) >= 4 * 2 * 64 * 1024)
    let paths = try texts(of: "paths", mark)
    #expect(
      paths.contains {
        $0.contains("open_connections") && $0.contains("PeerConnectionHandle.context")
          && $0.contains("EventReceiver.onEvent")
      })
    try recording.expectAnswer(
      "paths", marks: "call-5", type: Self.screen, named: "videocall-handle.txt")
  }

  struct Story: Sendable, CustomTestStringConvertible {
    var variant: String
    var afterOne = 1
    var afterFive = 5
    var leaked = 0

    var testDescription: String { variant }
  }

  static let stories = [
    Story(variant: "all"),
    Story(variant: "closure", leaked: 5),
    Story(variant: "renderers", leaked: 5),
    Story(variant: "observers"),
    Story(variant: "handle"),
    Story(variant: "closure,renderers", leaked: 5),
    Story(variant: "none", afterOne: 0, afterFive: 0),
    Story(variant: "teardown", afterOne: 0, afterFive: 0),
  ]

  @Test("Five consultations leave what the story says", arguments: stories)
  func fiveCalls(_ story: Story) throws {
    let recording = try Recording(of: "VideoCall", ["--variant", story.variant])
    try #require(recording.outcome.status == 0)
    #expect(try recording.live("call-1").count(of: Self.screen) == story.afterOne)
    let live = try recording.live("call-5")
    #expect(live.count(of: Self.screen) == story.afterFive)
    // Each screen that stays keeps its connection open.
    #expect(live.count(of: "PeerConnectionHandle") == story.afterFive)
    let leaks = try Report.of("leaks", recording.mark("call-5"))
    #expect(leaks.totals?.leaked?.count(of: Self.screen) == story.leaked)
    if story.variant == "all" {
      try recording.expectAnswer("leaks", marks: "call-5", named: "videocall-all.txt")
    }
  }

  @Test("Each mistake can be switched off alone: the others hold the screens, and it doesn't")
  func threeOfFour() throws {
    let mistakes = AdviceTests.mistakes
    let all = try Recording(of: "VideoCall", ["--variant", "all"])
    for off in mistakes.indices {
      let others = mistakes.indices.filter { $0 != off }.map { mistakes[$0] }
      let names = others.map(\.name).joined(separator: ",")
      let recording = try Recording(of: "VideoCall", ["--variant", names])
      #expect(try recording.live("call-5").count(of: Self.screen) == 5)
      let cuts = others.flatMap(\.edges).flatMap { ["--weaken", $0] }
      for (program, freed) in [(recording, 5), (all, 0)] {
        let answer = try Report.of("whatif", [program.mark("call-5")] + cuts)
        #expect(
          answer.whatif?.freed.count(of: Self.screen) == freed, "without \(mistakes[off].name)")
      }
    }
  }

  @Test("A variant that is none is refused with those that are")
  func usage() throws {
    for variant in ["tidy", "closure,", "none,closure", "closure,all"] {
      let outcome = try run("VideoCall", ["--variant", variant])
      #expect(outcome.status == 2)
      #expect(outcome.errors.contains("there is no variant called '\(variant)'"))
      #expect(outcome.errors.contains("all|closure|renderers|observers|handle|none|teardown"))
    }
  }

  @Test("Under the agent the program behaves as alone", arguments: [[], ["--calls", "nine"]])
  func behavesAsAlone(_ arguments: [String]) throws {
    let alone = try run("VideoCall", arguments)
    let recorded = try Recording(of: "VideoCall", arguments).outcome
    #expect(recorded.output == alone.output)
    #expect(recorded.status == alone.status)
    #expect(recorded.errors.contains(alone.errors))
  }

  /// The sample's own types that are alive in a mark, with how many.
  private func ownTypes(_ mark: String) throws -> [String: Int] {
    let live = try Report.of("summary", mark).totals?.live
    return (live?.byType ?? [:]).mapValues(\.count).filter {
      $0.key.hasPrefix("VideoCall.") && $0.value > 0
    }
  }

  /// The cycles found, each as the fields of the sample's classes, begun at the one that the finding
  /// starts with or any other.
  private func cycles(_ report: Report) -> Set<[String]> {
    var cycles: Set<[String]> = []
    for cycle in report.findings.compactMap(\.cycle) {
      let fields = cycle.filter { $0.type?.hasPrefix("VideoCall.") == true }.map { step in
        "\(step.type ?? "").\(step.field ?? "")"
          .replacing("VideoCall.", with: "").replacing(/\[[^\]]*\]/, with: "")
      }
      for start in fields.indices { cycles.insert(Array(fields[start...] + fields[..<start])) }
    }
    return cycles
  }

  private func texts(of verb: String, _ mark: String) throws -> [String] {
    try (Report.of(verb, mark, Self.screen, "--max", "8").paths ?? []).map(\.text)
  }
}
