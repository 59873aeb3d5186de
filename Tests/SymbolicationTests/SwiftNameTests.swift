// Tests of SwiftName: what people write for what the demangler says.

import Testing

@testable import Symbolication

@Suite struct SwiftNameTests {
  @Test("Top-level code that waits is main, with each part of it, and nothing else is")
  func topLevelCode() {
    for name in ["async_Main", "async_MainTY1_", "async_MainTQ10_", "async_MainTY1_TY2_"] {
      #expect(isTopLevelCode(name), "\(name)")
    }
    for name in ["main", "async_Mains", "async_MainTY_x", "my_async_Main", "async_MainTYx_"] {
      #expect(!isTopLevelCode(name), "\(name)")
    }
  }

  struct Case: Sendable, CustomTestStringConvertible {
    var demangled: String
    var text: String
    var kind = SwiftName.Kind.function
    var testDescription: String { demangled }

    init(_ demangled: String, _ text: String, _ kind: SwiftName.Kind = .function) {
      self.demangled = demangled
      self.text = text
      self.kind = kind
    }
  }

  static let cases = [
    Case("main.Model.start() -> ()", "main.Model.start()"),
    Case("main.f(Swift.Int) -> ()", "main.f(_:)"),
    Case(
      "main.Model.(record in _12232F587A4C5CD8B1EEDF696793A4FC)(Swift.Int) -> ()",
      "main.Model.record(_:)"),
    Case(
      "App.Timer.(in _CD6A5B4A).init(interval: Swift.Double) -> App.Timer",
      "App.Timer.init(interval:)"),
    Case(
      "App.(Priv in _DF09).go(x: Swift.Int, _: (a: Swift.Int, b: App.X)) async throws -> ()",
      "App.Priv.go(x:_:)"),
    Case(
      "closure #1 (Swift.Int) -> () in App.Model.init(name: Swift.String) -> App.Model",
      "closure #1 in App.Model.init(name:)", .closure),
    Case(
      "partial apply forwarder for closure #2 @Sendable () async -> () in closure #1 () -> () in "
        + "App.Owner.b(App.Q) -> () with unmangled suffix \".8TQ0_\"",
      "closure #2 in closure #1 in App.Owner.b(_:)", .closure),
    Case(
      "partial apply forwarder for implicit closure #2 (Swift.Int) -> () in implicit closure #1 "
        + "@Sendable (main.Tap) -> (Swift.Int) -> () in main.Tap.start() -> ()",
      "implicit closure #2 in implicit closure #1 in main.Tap.start()", .methodReference),
    Case(
      "implicit closure #1 @autoclosure () throws -> Swift.Bool in App.f() -> ()",
      "implicit closure #1 in App.f()", .closure),
    Case("curry thunk of App.Q.p(Swift.Int) -> ()", "App.Q.p(_:)", .methodReference),
    Case(
      "partial apply forwarder for App.Q.p(Swift.Int) -> ()", "App.Q.p(_:)", .methodReference),
    Case(
      "partial apply forwarder for l #1 (y: Swift.Int) -> () in App.outer(Swift.Int) -> ()",
      "l(y:) in App.outer(_:)"),
    Case(
      "(2) suspend resume partial function for App.A.inc(by: Swift.Int) async -> Swift.Int",
      "App.A.inc(by:)"),
    Case(
      "async function pointer to function signature specialization <Arg[0] = Dead> of static "
        + "App.Main.main() async -> ()", "static App.Main.main()"),
    Case(
      "generic specialization <Swift.Int, (Swift.Int) -> ()> of App.S.gen<A where A1: "
        + "Swift.Comparable>(_: A1, by: (A) -> A1) async throws -> (a: Swift.Int, b: A)",
      "App.S.gen(_:by:)"),
    Case(
      "merged generic not re-abstracted specialization <Swift.Int> of Swift.Array.append(__owned A) "
        + "-> ()", "Swift.Array.append(_:)"),
    Case("static App.S.< infix(App.S<A>, App.S<A>) -> Swift.Bool", "static App.S.<(_:_:)"),
    Case("static App.S.>= infix(App.S<A>, App.S<A>) -> Swift.Bool", "static App.S.>=(_:_:)"),
    Case(
      "closure #1 (A) -> B in static App.S.-> infix(A, B) -> C",
      "closure #1 in static App.S.->(_:_:)",
      .closure),
    Case("App.++++ prefix(Swift.Int) -> Swift.Int", "App.++++(_:)"),
    Case("static main.Roots.eithers : [main.Either]", "static main.Roots.eithers"),
    Case("static main.Roots.eithers : Swift.Array<main.Either>", "static main.Roots.eithers"),
    Case("main.before : [Swift.String : Swift.Int]", "main.before"),
    Case(
      "static App.(Priv in _DF).shared : App.(Priv in _DF)", "static App.Priv.shared"),
    Case("App.Owner.g.getter : (Swift.Int) -> ()?", "App.Owner.g.getter"),
    Case(
      "App.S.subscript.getter : (_: Swift.Int, x: Swift.String) -> A", "App.S.subscript.getter"),
    Case("App.Base.__allocating_init() -> App.Base", "App.Base.init()"),
    Case("App.Base.__deallocating_deinit", "App.Base.deinit"),
    Case(
      "(extension in App):Swift.Array.ext(_: Swift.Int..., f: inout Swift.Int, c: (Swift.Int, "
        + "Swift.String) -> ()) -> ()", "Swift.Array.ext(_:f:c:)"),
    Case(
      "(extension in Swift):Swift.Task< where B == Swift.Never>.init(name: Swift.String?, priority: "
        + "Swift.TaskPriority?, operation: __owned @isolated(any) () async -> A) -> "
        + "Swift.Task<A, Swift.Never>", "Swift.Task.init(name:priority:operation:)"),
    Case(
      "partial apply forwarder for reabstraction thunk helper <A, B where A: Swift.Sendable> from "
        + "@escaping @callee_guaranteed (@in A) -> () to @escaping () -> ()", "reabstraction thunk",
      .thunk),
    Case(
      "protocol witness for App.P.p(Swift.Int) -> () in conformance App.Q : App.P in App",
      "protocol witness for App.P.p(_:) in conformance App.Q", .thunk),
    Case(
      "closure #1 (Swift.Int) -> Swift.Int in m(x: Swift.Int) -> () in Loc #1 in "
        + "App.outer(Swift.Int) -> ()", "closure #1 in m(x:) in Loc in App.outer(_:)", .closure),
    Case(
      "closure #1 () -> Swift.Int in default argument 0 of App.go(Swift.Int) -> ()",
      "closure #1 in default argument 0 of App.go(_:)", .closure),
    Case(
      "one-time initialization function for shared", "one-time initialization function for shared"),
    Case("type metadata accessor for App.Model", "type metadata accessor for App.Model"),
  ]

  @Test(arguments: cases)
  func writes(_ example: Case) {
    let name = SwiftName(demangled: example.demangled)
    #expect(name.text == example.text)
    #expect(name.kind == example.kind)
  }

  @Test("A method reference knows the method's type and parameters")
  func methodReference() {
    let name = SwiftName(
      demangled: "partial apply forwarder for implicit closure #2 (Swift.Int, Swift.Int) -> () in "
        + "implicit closure #1 @Sendable (App.(Hidden in _DF)<A>) -> (Swift.Int, Swift.Int) -> () in "
        + "App.f() -> ()")
    #expect(name.referencedType == "App.Hidden")
    #expect(name.parameterCount == 2)
    #expect(name.isPartialApply)
  }

  struct Count: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var count: Int?
  }

  @Test(
    arguments: [
      Count(testDescription: "closure #1 () -> () in App.f() -> ()", count: 0),
      Count(
        testDescription: "closure #1 (A, (B, C) -> D, [E : F]) -> () in App.f() -> ()", count: 3),
      Count(
        testDescription: "closure #1 @isolated(any) @Sendable (A) async -> () in App.f() -> ()",
        count: 1),
      Count(testDescription: "l #1 <A>(A, B) -> () in App.f() -> ()", count: 2),
      Count(testDescription: "App.f(A) -> ()", count: nil),
    ])
  func countsParameters(_ example: Count) {
    #expect(SwiftName(demangled: example.testDescription).parameterCount == example.count)
  }

  @Test("Damaged text never traps", arguments: 0..<40 as Range<UInt64>)
  func damaged(seed: UInt64) {
    var random = Generator(seed: seed)
    let pieces =
      Self.cases.map(\.demangled) + ["(", ")", "<", ">", " in ", " -> ", " #", ".", ": ", ", ", ""]
    for _ in 0..<200 {
      var text = ""
      for _ in 0..<Int.random(in: 0...3, using: &random) {
        let piece = pieces.randomElement(using: &random) ?? ""
        let start = Int.random(in: 0...piece.count, using: &random)
        text += piece.dropFirst(start).prefix(Int.random(in: 0...60, using: &random))
      }
      let name = SwiftName(demangled: text)
      // Nothing is made up: what is written is about what was read.
      #expect(name.text.utf8.count <= text.utf8.count * 2 + 32, "\(text)")
    }
  }
}

/// A generator of the same numbers for the same seed.
struct Generator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed &* 0x9e37_79b9_7f4a_7c15 &+ 1 }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var value = state
    value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
    value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
    return value ^ value >> 31
  }
}
