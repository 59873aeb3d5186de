// Tests of allowances, of the choice of rules, and of sources that are no Swift.

import SourceLint
import Testing

@Suite struct AllowanceTests {
  private static let mistake = "var f: (() -> Void)?; func g() { f = { self.g() } }"

  @Test(arguments: [
    ("\n\(mistake) // memgraph:allow strong-self: it lives for ever", []),
    ("// memgraph:allow strong-self: it lives for ever\n\(mistake)", []),
    ("// memgraph:allow strong-self: it lives for ever\n// and more\n\(mistake)", []),
    ("// memgraph:allow strong-self\n\(mistake)", ["2 allowance", "3 strong-self"]),
    ("// memgraph:allow strong-self:  \n\(mistake)", ["2 allowance", "3 strong-self"]),
    ("// memgraph:allow strongself: why\n\(mistake)", ["2 allowance", "3 strong-self"]),
    ("// memgraph:allow endless-task: why\n\(mistake)", ["2 allowance", "3 strong-self"]),
    ("// memgraph:allow allowance: why\n\(mistake)", ["2 allowance", "3 strong-self"]),
    ("/// `// memgraph:allow RULE: reason` is how\n\(mistake)", ["3 strong-self"]),
    ("let s = \"// memgraph:allow strong-self: no\"\n\(mistake)", ["3 strong-self"]),
    (
      "let s = \"\"\"\n  // memgraph:allow strong-self: no\n  \"\"\"\n\(mistake)",
      ["5 strong-self"]
    ),
  ])
  func allowances(members: String, expected: [String]) {
    #expect(found("class A {\n\(members)\n}") == expected)
  }

  @Test func onlyTheRulesThatAreAskedFor() {
    var options = LintOptions()
    options.rules = [.strongDelegate]
    let text =
      "class A {\n// memgraph:allow strong-self: why\n\(Self.mistake)\nvar delegate: AnyObject?\n}"
    #expect(found(text, options: options) == ["4 strong-delegate"])
  }

  @Test func ordersAndRepeatsAreTheSame() {
    let inputs = ["B", "A"].map {
      LintInput(path: "Sources/\($0)/\($0).swift", text: "class A { \(Self.mistake) }")
    }
    let findings = Lint.findings(in: inputs)
    #expect(findings.map(\.place.file) == ["Sources/A/A.swift", "Sources/B/B.swift"])
    #expect(findings == Lint.findings(in: inputs.reversed()))
  }

  /// A source with all that the rules look at, cut anywhere.
  @Test func damagedSourcesAreRead() {
    let text = """
      protocol D: AnyObject {}
      enum E { case a((Int) -> Void), b }
      class HolderViewModelHolder { deinit {} }
      final class A<T>: B, D where T: D {
        var delegate: (any D)? = nil, e = E.b
        private var task: Task<Void, Never>?, timer: Timer?
        lazy var f: () -> Void = { [weak self, x = self.e] in self?.g(x, y: [1: 2]) }
        subscript(i: Int) -> Int { get { 0 } set { e = .a { _ in self.f() } } }
        init?(_ h: @escaping @Sendable (Int) async throws -> Void) { f = i ? { self.g() } : j }
        func g() async { // memgraph:allow strong-self: because
          task = Task { [weak self] in guard let self else { return }; for await x in y { self.g(x!) } }
          timer = Timer.scheduledTimer(withTimeInterval: 1, repeats: true) { _ in self?.a.b?.c() }
          a.b.subscribe { $0[self] }.disposed(by: bag); l.append(contentsOf: [{ self }])
        }
        isolated deinit { task?.cancel(); for o in os { c.removeObserver(o) } }
      }
      """
    let bytes = Array(text.utf8)
    for end in 0...bytes.count {
      _ = found(String(decoding: bytes[..<end], as: UTF8.self))
      _ = found(String(decoding: bytes[end...], as: UTF8.self))
    }
    _ = found(String(repeating: "{ self.f = ", count: 3_000))
    _ = found(String(repeating: "class A { ", count: 3_000))
    _ = found(
      String(decoding: (0...2_000).map { UInt8(truncatingIfNeeded: $0 &* 167) }, as: UTF8.self))
  }
}
