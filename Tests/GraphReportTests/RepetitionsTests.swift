// RepetitionsTests: what repeats itself in a long way is told once.

import Testing

@testable import GraphReport

@Suite struct RepetitionsTests {
  private static func text(_ links: [String]) -> String {
    Repetitions.folded(links.map { Line.code($0) }).map(\.text).joined(separator: " → ")
  }

  @Test("The links of a list are one, with their number")
  func list() {
    #expect(
      Self.text(["head"] + Array(repeating: "App.Node.next", count: 49_999) + ["App.Node"])
        == "head → App.Node.next ×49,999 → App.Node")
  }

  @Test("A few that are alike stay as they are")
  func few() {
    let links = ["head", "App.Node.next", "App.Node.next", "App.Node.next", "App.Node"]
    #expect(Self.text(links) == links.joined(separator: " → "))
  }

  @Test("Steps that take turns")
  func inTurn() {
    let turns = (0..<20_000).flatMap { _ in ["App.Node.link", "App.Link.node"] }
    #expect(
      Self.text(["head"] + turns + ["App.Node"])
        == "head → App.Node.link → App.Link.node → (these 2 ×20,000) → App.Node")
  }

  @Test("Indices that differ are folded")
  func indices() {
    let steps = (0..<8).map { "App.Folder.children[\($0 % 3)]" }
    #expect(Self.text(["root"] + steps) == "root → App.Folder.children[_] ×8")
    #expect(
      Self.text(["root"] + Array(repeating: "App.Folder.children[2]", count: 5))
        == "root → App.Folder.children[2] ×5")
  }

  @Test("Of a long way that repeats nothing the middle is left out")
  func long() {
    let links = (0..<10_000).map { "App.Type\($0 * $0).field" }
    let shown = Repetitions.folded(links.map { Line.code($0) })
    #expect(shown.count == 101)
    #expect(shown[60].text == "(9,900 further steps)")
    #expect(shown.last?.text == links.last)
  }

  @Test("Fields that repeat themselves in boxes")
  func fields() {
    let path = "App.Model.items." + Array(repeating: "cons.1", count: 40).joined(separator: ".")
    #expect(Repetitions.folded(path: path) == "App.Model.items.(cons.1)×40")
    #expect(Repetitions.folded(path: "App.Model.a.a.a.a.a") == "App.Model.a.a.a.a.a")
  }
}
