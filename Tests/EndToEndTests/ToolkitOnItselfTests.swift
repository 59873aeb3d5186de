// The toolkit looked at with the toolkit: its own processes leak nothing, and nothing of them is called leaked.
internal import Foundation
internal import Testing

@Suite struct ToolkitOnItselfTests {
  /// What the tool is asked, with the marks of a recording by name.
  static let calls = [
    ["leaks", "round-3"], ["diff", "round-1", "round-3"], ["view", "round-3", "-o", "/dev/null"],
    ["growth", "round-1", "round-2", "round-3"], ["tree", "round-3"],
    ["paths", "round-3", "LeakCases.Branch"],
  ]

  @Test("A verb's own process leaks nothing, and its counts are explained", arguments: calls)
  func verb(call: [String]) throws {
    let subject = try Recording(of: "LeakCases", ["containers"])
    let arguments = call.map { $0.hasPrefix("round-") ? subject.mark($0) : $0 }
    let own = try Recording(of: "memgraph", arguments)
    #expect(own.outcome.status <= 1, "\(own.outcome.errors)")
    #expect(!own.outcome.output.isEmpty || call.contains("-o"))
    try expectClean(own.mark("exit"))
  }

  @Test("The process that runs a program and takes its marks is as clean")
  func runs() throws {
    let marks = try ScratchFolder()
    let program = buildFolder.appendingPathComponent("LeakCases").path
    let own = try Recording(
      of: "memgraph", ["run", "--out", marks.url.path, "--", program, "containers"])
    #expect(own.outcome.status == 0, "\(own.outcome.errors)")
    // The program's own marks are where its own `run` wants them.
    let last = marks.url.appendingPathComponent("round-3.mgraph").path
    #expect(try Report.of("leaks", last).findings.count == 3)
    try expectClean(own.mark("exit"))
  }

  private func expectClean(_ mark: String) throws {
    let leaks = try Report.of("leaks", mark)
    #expect(leaks.findings.isEmpty)
    #expect(leaks.totals?.leaked?.byType.isEmpty == true)
    #expect((leaks.totals?.live?.count ?? 0) > 50)
    let audit = try #require(try Report.of("audit", mark).audit)
    #expect(audit.exact == audit.counted && audit.counted > 20)
    #expect(audit.types.isEmpty)
  }
}
