// Every way to leak that the project knows, run and explained; and each check seen to fail.
internal import Testing

@Suite struct LeakCasesTests {
  @Test("Every case has an expectation and every expectation a case")
  func complete() throws {
    let listed = try run("LeakCases", ["--list"]).output.split(separator: "\n").map(String.init)
    #expect(listed.count > 20)
    #expect(listed.sorted() == CaseExpectation.all.map(\.name).sorted())
  }

  @Test("What a case leaks, and why, is found", arguments: CaseExpectation.all)
  func isFound(_ expectation: CaseExpectation) throws {
    let recording = try Recording(of: "LeakCases", [expectation.name])
    let problems =
      try expectation.problems(in: recording) + expectation.auditProblems(in: recording)
    #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
  }

  @Test("The case's opposite does not pass for it", arguments: CaseExpectation.all)
  func oppositeIsToldApart(_ expectation: CaseExpectation) throws {
    let recording = try Recording(of: "LeakCases", [expectation.name, "--opposite"])
    #expect(recording.outcome.status == 0)
    #expect(try !expectation.problems(in: recording).isEmpty)
    guard expectation.kind != .none else { return }
    let leaked = try Report.of("leaks", recording.mark("round-3")).totals?.leaked
    for type in expectation.counts.keys {
      #expect(leaked?.count(of: type) == 0, "\(type) is called leaked where the mistake is mended")
    }
  }
}
