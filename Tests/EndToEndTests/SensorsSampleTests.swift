// Stopping updates when a feature ends: what each half of the mend is worth, and who has a lease.
internal import Testing

@Suite struct SensorsSampleTests {
  struct Story: Sendable, CustomTestStringConvertible {
    var variant: String
    var models = 0
    var received = 0
    var passes = 0
    var isOn = true

    var testDescription: String { variant }
  }

  static let stories = [
    Story(variant: "strong", models: 1, received: 10, passes: 10),
    Story(variant: "cancel-only", models: 1, received: 10, passes: 10),
    Story(variant: "weak-only", passes: 10),
    Story(variant: "fixed", isOn: false),
  ]

  @Test("Ten seconds after its end a model has heard what the story says", arguments: stories)
  func tenTicks(_ story: Story) throws {
    let recording = try Recording(of: "Sensors", ["--variant", story.variant])
    try #require(recording.outcome.status == 0)
    let facts = recording.facts("after the end")
    #expect(facts["received"] == story.received)
    #expect(facts["passes"] == story.passes)
    #expect(facts["ended"] == (story.isOn ? 0 : 1))
    #expect(facts["on"] == (story.isOn ? 1 : 0))

    let live = try recording.live("end")
    #expect(live.count(of: "Sensors.TrackModel") == story.models)
    // The program's own task, and the loop where it goes on.
    #expect(live.count(of: "Task") == (story.isOn ? 2 : 1))
    #expect(try Report.of("leaks", recording.mark("end")).findings.isEmpty)
    if story.models > 0 {
      try recording.expectAnswer(
        "diff", marks: "start", "end", named: "sensors-\(story.variant).txt")
    } else if story.isOn {
      try recording.expectAnswer(
        "tasks", marks: "end", options: ["--generation", "end"],
        named: "sensors-\(story.variant).txt")
    }
  }

  @Test("Leases: released, released twice, forgotten, and the one that is held")
  func leases() throws {
    let recording = try Recording(of: "Sensors", ["--variant", "leases"])
    #expect(
      recording.outcome.output == """
        first lease: on=1 starts=1 stops=0 holders=navigation
        second lease: on=1 starts=1 stops=0 holders=navigation,run
        released: on=1 starts=1 stops=0 holders=navigation
        released twice: on=1 starts=1 stops=0 holders=navigation
        forgotten: on=1 starts=1 stops=0 holders=navigation
        end: Lease=1

        """)
    #expect(try recording.live("end").count(of: "Sensors.Lease") == 1)
    try recording.expectAnswer(
      "paths", marks: "end", type: "Sensors.Lease", named: "sensors-leases.txt")
  }

  @Test("A lease that a task holds keeps the sensor on when its feature is gone")
  func capturedLease() throws {
    let recording = try Recording(of: "Sensors", ["--variant", "captured-lease"])
    let live = try recording.live("end")
    #expect(live.count(of: "Sensors.Lease") == 1)
    #expect(live.count(of: "Sensors.WeatherFeature") == 0)
    #expect(
      recording.outcome.output.contains("not captured: on=1 starts=1 stops=0 holders=weather"))
    try recording.expectAnswer(
      "paths", marks: "end", type: "Sensors.Lease", named: "sensors-captured-lease.txt")
  }

  @Test("The hardware is told the fastest rate that is asked for, and nothing twice")
  func rates() throws {
    let outcome = try run("Sensors", ["--variant", "rates"])
    #expect(
      outcome.output == """
        fixes: weather=4 navigation=20 run=8
        orders: 10s 1s 5s 10s off
        end: Lease=0

        """)
  }

  @Test("A stream that owns the stop: broken off, cancelled, dropped")
  func stream() throws {
    let recording = try Recording(of: "Sensors", ["--variant", "stream"])
    #expect(
      recording.outcome.output == """
        break: on=0 starts=1 stops=1 holders=
        cancel: on=0 starts=2 stops=2 holders=
        nobody: on=0 starts=3 stops=3 holders=
        end:\u{20}

        """)
    #expect(try Report.of("leaks", recording.mark("end")).findings.isEmpty)
  }
}
