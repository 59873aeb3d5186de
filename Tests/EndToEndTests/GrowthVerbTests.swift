// growth and verify on the consultation screen: what grows with each call, and whether it is fixed.
internal import Testing

@Suite struct GrowthVerbTests {
  private func marks(_ recording: Recording, _ calls: ClosedRange<Int>) -> [String] {
    calls.map { recording.mark("call-\($0)") }
  }

  @Test("Without teardown the screens grow by one a call; with it nothing of the program grows")
  func growth() throws {
    let leaky = try Recording(of: "VideoCall", ["--calls", "8"])
    let found = try run("memgraph", ["growth", "--warm-up", "1"] + marks(leaky, 1...8))
    #expect(found.status == 1, "\(found.errors)")
    #expect(found.output.contains("+1 a mark"))
    let screens = found.output.split(separator: "\n").first {
      $0.hasSuffix("  VideoCall.CallViewController") && $0.contains("grows")
    }
    #expect(screens?.contains("2       3") == true, "\(found.output)")

    let mended = try Recording(of: "VideoCall", ["--calls", "8", "--variant", "teardown"])
    let none = try run("memgraph", ["growth", "--warm-up", "1"] + marks(mended, 1...8))
    #expect(none.output.hasPrefix("Nothing of the program's own keeps growing"), "\(none.output)")
    #expect(none.status == 0)

    let fixed = try run("memgraph", ["verify", leaky.mark("call-8"), mended.mark("call-8")])
    #expect(fixed.status == 0, "\(fixed.output)")
    #expect(fixed.output.contains("0 still there, 0 new") && !fixed.output.contains(": 0 fixed"))
    let broken = try run("memgraph", ["verify", mended.mark("call-8"), leaky.mark("call-8")])
    #expect(broken.status == 1)
    // Two runs of one build have the same findings by name.
    let again = try Recording(of: "VideoCall", ["--calls", "8"])
    let still = try run("memgraph", ["verify", leaky.mark("call-8"), again.mark("call-8")])
    #expect(still.output.contains(": 0 fixed") && still.output.contains("0 new"), "\(still.output)")
  }
}
