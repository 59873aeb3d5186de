// Whether the advice is right: the first one is the true mending of each case, and where the source is
// mended like that, what is gone is what the tool said would go.
internal import Foundation
internal import Testing

@Suite struct AdviceTests {
  static let cases = CaseExpectation.all.filter { $0.fixes != nil }

  /// The mended program has an argument more, which is too long to lie in its string's own words.
  private static let byTheOption = ["__StringStorage": -1]

  /// What the mended programs let go of beyond the prediction, or have made, by type; for reasons that no snapshot
  /// has. C memory is compared in the samples' stories, by who asked for it.
  private static let byNature: [String: [String: Int]] = [
    // A cancelled source is let go by libdispatch, with what it had for it.
    "dispatch-timer": [
      "block": 9, "dispatch continuation": 9, "dispatch timer": 9, "dispatch_source": 9,
    ],
    "read-source": [
      "block": 9, "dispatch continuation": 9, "dispatch read source": 9, "dispatch_source": 9,
    ],
    // The center takes the entry out of its tables, not the capture out of the closure, and drops tables that are empty.
    "notification-observer": [
      "closure context": 9, "_DictionaryStorage<UInt64, @Sendable (MessageBox) -> ()>": 1,
      "_DictionaryStorage<Optional<ObjectIdentifier>, AutoDictionary<@Sendable (MessageBox) -> ()>>":
        1,
    ],
    // [weak self] has a box for the reference, and a side table.
    "run-loop-timer": ["box": -9, "weak reference side table": -9],
    "timer-thread": ["box": -9, "weak reference side table": -9],
    // Emptied as a whole, with its storage.
    "singleton-cache": ["_DictionaryStorage<Int, LeakCases.Receipt>": 1],
    // The group's own task goes on, and has made itself another slab to wait in.
    "task-group": ["Task slab": -1],
    // The program's list of those who wait is emptied as a whole.
    "task-local": ["_ContiguousArrayStorage<UnsafeContinuation<(), Never>>": 1],
  ]

  /// What differs from run to run: an ended stream keeps the array in which its reader waited, or not, as the two met.
  private static let unsteady = [
    "awaited-method": "_ContiguousArrayStorage<UnsafeContinuation<Optional<Int>, Never>>"
  ]

  @Test("Every case that leaks says what its true mending is")
  func complete() {
    #expect(CaseExpectation.all.filter { $0.kind != .none }.map(\.name) == Self.cases.map(\.name))
  }

  @Test(
    "The first advice is the true mending, and frees type by type what the mending frees",
    arguments: cases)
  func agrees(_ expectation: CaseExpectation) throws {
    let broken = try Recording(of: "LeakCases", [expectation.name])
    let mended = try Recording(of: "LeakCases", [expectation.name, "--fixed-by-advice"])
    #expect(broken.outcome.status == 0 && mended.outcome.status == 0)
    let last = broken.mark("round-3")
    let report =
      try expectation.kind == .abandoned
      ? Report.of("diff", broken.mark("round-1"), last) : Report.of("leaks", last)
    let cuts = report.findings.compactMap(\.cut)
    for (edge, advice) in expectation.fixes ?? [:] {
      #expect(
        cuts.contains { $0.edge.contains(edge) && $0.advice.contains(advice) },
        "\(edge): \(advice) is none of \(cuts.map { "\($0.edge): \($0.advice)" })")
    }
    if expectation.kind != .abandoned {
      // What is abandoned may be told a second time where a thread still has its hands on one object.
      #expect(report.findings.count == expectation.fixes?.count, "one finding a cause")
    }

    if expectation.kind == .zombie {
      // Zombies are not alive: the finding says how many there are, and none is left.
      #expect(report.findings.map(\.count) == cuts.map(\.frees.count))
      #expect(try Report.of("leaks", mended.mark("round-3"), "--no-symbols").findings.isEmpty)
      return
    }
    let predicted = try freed(by: report.findings, in: last)
    let before = try #require(try Report.of("summary", last, "--no-symbols").totals?.live)
    let after = try #require(
      try Report.of("summary", mended.mark("round-3"), "--no-symbols").totals?.live)
    let byNature = Self.byNature[expectation.name] ?? [:]
    for type in Set(before.byType.keys).union(after.byType.keys).union(predicted.keys)
    where type != "malloc block" && Self.unsteady[expectation.name] != type {
      let expected =
        (predicted[type] ?? 0) + (byNature[type] ?? 0) + (Self.byTheOption[type] ?? 0)
      #expect(
        before.count(of: type) - after.count(of: type) == expected,
        "\(type): \(before.count(of: type)) before, \(after.count(of: type)) after")
    }
    #expect(predicted.keys.contains { $0.hasPrefix("LeakCases.") })
  }

  @Test("A list without a name, in a stack's local variable, is told as what it is")
  func localList() throws {
    let recording = try Recording(of: "LeakCases", ["local-list"])
    let report = try Report.of("diff", recording.mark("round-1"), recording.mark("round-3"))
    let finding = try #require(report.findings.first { $0.type == "LeakCases.Leaflet" })
    #expect(finding.cut?.edge.contains("in LeakCases.pileUp(removes:)[") == true)
    #expect(
      finding.cut?.advice
        == "bound the list in the local variable, or remove from it when the work ends: it keeps every entry"
    )
    // As the report prints it.
    let edges = try #require(finding.cut?.edges)
    let answer = try Report.of(
      "whatif", [recording.mark("round-3")] + edges.flatMap { ["--weaken", $0] })
    #expect(answer.whatif?.freed.byType["LeakCases.Leaflet"]?.count == finding.cut?.frees.count)
  }

  @Test("A continuation that the program keeps is to be resumed, whatever is looked at")
  func keptContinuation() throws {
    let recording = try Recording(of: "LeakCases", ["pending-requests"])
    let advice = "resume the continuation when the work ends"
    let report = try Report.of("diff", recording.mark("round-1"), recording.mark("round-3"))
    let finding = try #require(report.findings.first { $0.type == "LeakCases.Request" })
    #expect(finding.cut?.advice.hasPrefix(advice) == true, "\(String(describing: finding.cut))")
    // The task and the continuation's own object: removed from the dictionary, they would wait for ever.
    for type in ["Task", "CheckedContinuationCanary"] {
      let report = try Report.of(
        "diff", recording.mark("round-1"), recording.mark("round-3"), "--type", "*\(type)")
      let cuts = report.findings.filter { $0.type.hasSuffix(type) }.compactMap(\.cut?.advice)
      #expect(!cuts.isEmpty && cuts.allSatisfy { $0.hasPrefix(advice) }, "\(type): \(cuts)")
    }
  }

  /// What the advised cuts free, by type.
  private func freed(by findings: [Report.Finding], in mark: String) throws -> [String: Int] {
    let edges = findings.compactMap(\.cut).flatMap(\.edges)
    let answer = try Report.of("whatif", [mark] + edges.flatMap { ["--weaken", $0] })
    return (answer.whatif?.freed.byType ?? [:]).mapValues(\.count)
  }

  // MARK: - The consultation screen

  /// One mistake of the sample alone, and the edges that mend it.
  struct Mistake: Sendable, CustomTestStringConvertible {
    var name: String
    var edges: [String]
    var advice: [String]
    var testDescription: String { name }
  }

  static let mistakes = [
    Mistake(
      name: "closure", edges: ["SignalingClient.onConnectionChange"],
      advice: ["capture [weak self]"]
    ),
    Mistake(
      name: "renderers",
      edges: ["PeerConnection.delegate", "NativeRenderer.delegate", "NativeRenderer.track"],
      advice: ["make each of them weak", "make track weak"]),
    Mistake(
      name: "observers",
      edges: [
        "(closure #1 in VideoCall.CallViewController.startObserving()).self",
        "RepeatingTimer.onTick",
      ],
      advice: ["remove the observer when the work ends"]),
    Mistake(
      name: "handle", edges: ["PeerConnectionHandle.context"], advice: ["close() before release"]),
  ]

  @Test(
    "Each mistake of the video call is advised on, and frees what the program frees without it",
    arguments: mistakes)
  func videoCall(_ mistake: Mistake) throws {
    let broken = try Recording(of: "VideoCall", ["--variant", mistake.name])
    let mended = try Recording(of: "VideoCall", ["--variant", "none"])
    let last = broken.mark("call-5")
    let report = try Report.of("diff", broken.mark("call-1"), last)
    let advice = report.findings.compactMap(\.cut?.advice)
    for wanted in mistake.advice {
      #expect(advice.contains { $0.contains(wanted) }, "\(wanted) is none of \(advice)")
    }
    let answer = try Report.of("whatif", [last] + mistake.edges.flatMap { ["--weaken", $0] })
    let predicted = (answer.whatif?.freed.byType ?? [:]).mapValues(\.count)
    #expect(predicted["VideoCall.CallViewController"] == 5)
    let before = try #require(try Report.of("summary", last, "--no-symbols").totals?.live)
    let after = try #require(
      try Report.of("summary", mended.mark("call-5"), "--no-symbols").totals?.live)
    // What a deinit does no tool can know: a screen's gives its timer back to be used again, a connection's
    // closes the handle, which lets go of the receiver.
    let byDeinit =
      ["VideoCall.RepeatingTimer"] + (mistake.name == "handle" ? [] : ["VideoCall.EventReceiver"])
    for type in Set(before.byType.keys).union(after.byType.keys).union(predicted.keys)
    where type.hasPrefix("VideoCall.") && !byDeinit.contains(type) {
      #expect(
        before.count(of: type) - after.count(of: type) == predicted[type] ?? 0,
        "\(type): \(before.count(of: type)) before, \(after.count(of: type)) after")
    }
  }

  @Test(
    "What a cut of all four mistakes frees is what its pasted edges free, for each of the five screens"
  )
  func pastedCuts() throws {
    let recording = try Recording(of: "VideoCall", ["--variant", "all"])
    let report = try Report.of("diff", recording.mark("call-1"), recording.mark("call-5"))
    #expect(report.findings.count == 4)
    for finding in report.findings {
      // The findings are of the four calls after the first mark; an edge of the source is cut in all five.
      #expect(finding.count == 4)
      let cut = try #require(finding.cut)
      let answer = try Report.of(
        "whatif", [recording.mark("call-5")] + cut.edges.flatMap { ["--weaken", $0] })
      #expect(answer.whatif?.freed.count == cut.frees.count / 4 * 5, "\(cut.edge)")
    }
  }

  @Test(
    "A cut that is a part of another finding's says so, and so one that goes with another's mending"
  )
  func relatedCuts() throws {
    let renderers = try Recording(of: "VideoCall", ["--variant", "renderers"])
    let leaks = try run("memgraph", ["leaks", renderers.mark("call-5")]).output
    #expect(
      leaks.contains(
        "; VideoCall.NativeRenderer.track is in the cut of finding 2, too, and frees its objects as well"
      ))
    let all = try Recording(of: "VideoCall", ["--variant", "all"])
    let abandoned = try run("memgraph", ["diff", all.mark("call-1"), all.mark("call-5")]).output
    #expect(
      abandoned.contains(
        "; with finding 3 mended VideoCall.CallViewController.clock goes by itself"))
  }
}
