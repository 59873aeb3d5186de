// Tests of the rules strong-self and method-reference.

import SourceLint
import Testing

@Suite struct StoredClosureTests {
  /// A screen that owns a client; `body` is what its function does.
  private func screen(_ body: String, members: String = "") -> [String] {
    found(
      """
      final class Client {
        var onChange: ((Int) -> Void)?
        private var handlers: [(Int) -> Void] = []
        func each(_ body: (Int) -> Void) { body(1) }; func made(_ done: @escaping (Int) -> Void) -> Client {
          let c = Client(handler: done); return c }
        func now(_ body: @escaping (Int) -> Void) { body(1) }
        func listen(_ handler: @escaping (Int) -> Void) { handlers.append(handler) }
        func hear(_ handler: @escaping (Int) -> Void) { listen { handler($0 + 1) } }
        init(handler: @escaping (Int) -> Void) { onChange = handler }; init() {}
        func push(_ done: @escaping (Int) -> Void) { let c = Client(handler: done); c.each { _ in } }; func pop(
          _ done: @escaping (Int) -> Void) { let c = Client(); c.onChange = done; c.listen(done) }
        func hand(_ done: @escaping (Int) -> Void) { let c = Client(handler: done); take(c) }; func enqueue(_ handler: @escaping (Int) -> Void) { handlers += [handler] }
      }; struct Form { var title: String; var onTap: (Int) -> Void }
      final class Screen {
        let client = Client(); weak var other: Client?; var action: ((Int) -> Void)?; var actions: [(Int) -> Void] = []; var owned: Client?; var form = Form(title: "") { _ in }
        func show(_ number: Int) {}
        \(members)
        func start(_ given: Client, action wanted: @escaping (Int) -> Void) {
          \(body)
        }
      }
      """)
  }

  @Test(arguments: [
    "action = { self.show($0) }",
    "self.action = { number in self.show(number) }",
    "client.onChange = { self.show($0) }",
    "client.onChange = { [self] in show($0) }",
    "client.onChange = { [screen = self] in screen.show($0) }",
    "client.onChange = 1 > 0 ? { self.show($0) } : nil",
    "client.listen { self.show($0) }",
    "client.hear { self.show($0) }",
    "owned = Client { self.show($0) }",
    "owned = Client(handler: { self.show($0) })",
    "let made = Client { self.show($0) }; owned = made",
    "action = { _ in given.each { [weak self] in self?.show($0) } }",
    "(action) = { self.show($0) }",
    "action = .some({ self.show($0) })",
    "owned = .init { self.show($0) }",
    "owned = .init(handler: { self.show($0) })",
    "func local(_ number: Int) { show(number) }; action = local",
    "let local = { self.show($0) }; action = local",
    "actions += [{ self.show($0) }]",
    "client.enqueue { self.show($0) }",
    "owned = client.made { self.show($0) }",
    "form.onTap = { self.show($0) }",
    "form = Form(title: \"\", onTap: { self.show($0) })",
    "form = Form(title: \"\") { self.show($0) }",
    "form = .init(title: \"\", onTap: { self.show($0) })",
  ])
  func strongSelfIsFound(body: String) {
    #expect(screen(body) == ["19 strong-self"])
  }

  @Test(arguments: [
    "action = { [weak self] in self?.show($0) }",
    "action = { [unowned self] in self.show($0) }",
    "action = { _ in print(Screen.self) }",
    "client.onChange = { [weak self] in self?.show($0) }",
    "client.each { self.show($0) }",
    "client.now { self.show($0) }",
    "other?.onChange = { self.show($0) }",
    "given.onChange = { self.show($0) }",
    "let client = given; client.onChange = { self.show($0) }",
    "let made = Client { self.show($0) }; _ = made",
    "client.onChange = { self.show($0); self.client.onChange = nil }",
    "actions.append { self.show($0); self.actions.removeLast() }",
    "owned = given.unknown { self.show($0) }",
    "action = wanted",
    "_ = [1].map { self.show($0) }",
    "if let client = made() { client.onChange = { self.show($0) } }",
    "guard let client = made() as? Client else { return }; client.onChange = { self.show($0) }",
    "client.listen { (self, number) in self.show(number) }",
    "client.listen { (self: Screen) in self.show(1) }",
    "action = { _ in given.map { (self) in self.show(1) } }",
    "client.push { self.show($0) }",
    "client.hand { self.show($0) }",
    "client.pop { self.show($0) }",
    "func local(_ number: Int) { print(number) }; action = local",
    "func local(_ number: Int) { print(number) }; let total = 1 + 2; action = local",
    "form = Form(title: name) { [weak self] in self?.show($0) }",
    "owned = .init { [weak self] in self?.show($0) }",
    "actions += [{ [weak self] in self?.show($0) }]",
  ])
  func whatIsNotKeptIsSilent(body: String) {
    #expect(screen(body) == [])
  }

  @Test(arguments: ["action = show", "client.onChange = self.show", "client.listen(show)"])
  func methodsAreFound(body: String) {
    #expect(screen(body) == ["19 method-reference"])
  }

  @Test(arguments: [
    "client.each(show)", "client.now(show)", "let show = wanted; action = show",
    "guard let show = made() as? Client else { return }; owned = show",
    "if let show = try made() { owned = show }",
  ])
  func methodsThatAreNotKeptAreSilent(body: String) {
    #expect(screen(body) == [])
  }

  @Test func whatTheObjectClearsItselfIsSilent() {
    let body = "action = { self.show($0) }"
    #expect(screen(body, members: "func end() { action = nil }") == [])
    #expect(screen(body, members: "deinit { action = nil }") == ["19 strong-self"])
    #expect(screen(body, members: "func end() { action = nil }; deinit { action = nil }") == [])
    #expect(screen(body, members: "func end() { action = nil }; deinit { end() }") != [])
    #expect(
      screen(
        body,
        members: "func end() { action = nil }; func viewDidDisappear() { end() }; deinit { end() }")
        == [])
  }

  @Test func whatIsEmptiedIsThatAndNothingElse() {
    let body = "client.onChange = { self.show($0) }"
    func end(_ property: String, in function: String = "viewDidDisappear") -> [String] {
      screen(body, members: "func \(function)() { client.\(property) = nil }")
    }
    #expect(end("onChange") == [])
    #expect(end("onEnd") == ["19 strong-self"])
    #expect(end("onChange", in: "end") == ["19 strong-self"])
    #expect(
      screen("client.listen { self.show($0) }", members: "func end() { client.onChange = nil }")
        == ["19 strong-self"])
    // What a conditional expression empties, it fills as well.
    let either = "action = 1 > 0 ? { self.show($0) } : nil"
    #expect(screen(either) == ["19 strong-self"])
    #expect(
      screen("action = { self.show($0) }", members: "func on() { \(either) }").contains(
        "19 strong-self"))
  }

  @Test func whatIsInAnObjectThatIsLetGoIsSilent() {
    let body = "owned?.onChange = { self.show($0) }"
    #expect(screen(body) == ["19 strong-self"])
    #expect(screen(body, members: "func tearDown() { owned = nil }") == [])
    #expect(screen(body, members: "deinit { owned = nil }") == ["19 strong-self"])
  }

  @Test func aSetterIsNotKnownToKeep() {
    func button(_ property: String) -> [String] {
      found(
        """
        class Button { \(property) }
        class View { let button = Button(); func f() { button.onTap = { self.f() } } }
        """)
    }
    #expect(button("var onTap: (() -> Void)?") == ["2 strong-self"])
    #expect(button("var onTap: (() -> Void)? { didSet { print(1) } }") == ["2 strong-self"])
    #expect(button("var onTap: (() -> Void)? { get { nil } set { newValue?() } }") == [])
  }

  @Test(arguments: [
    ("waiting.append(done)", "waiting = []", false),
    ("waiting.append(done)", "waiting.removeFirst()()", true),
    ("waiting.append(done)", "while let next = waiting.popLast() { next() }", true),
    ("waiting.append(done)", "let all = waiting; waiting = []; for one in all { one() }", false),
    ("waiting.append(done)", "for one in waiting { one() }", false),
    ("end = done", "end?(); end = nil", true),
    ("end = done", "let done = end; end = nil; done?()", true),
    ("end = done", "end?()", false),
    ("end = done", "end = nil", false),
  ])
  func whatIsKeptForOneUseIsSilent(store: String, use: String, isSilent: Bool) {
    let text = """
      class Channel {
        private var waiting: [() -> Void] = []
        private var end: (() -> Void)?
        func read(_ done: @escaping () -> Void) { \(store) }
        func arrive() { \(use) }
      }
      class Reader { let channel = Channel(); func f() { channel.read { self.f() } } }
      """
    #expect(found(text) == (isSilent ? [] : ["7 strong-self"]))
  }

  @Test func whatLivesAsLongAsTheProgramIsSilent() {
    func model(
      _ members: String, before: String = "", inherits: String = "", after: String = ""
    ) -> [String] {
      found(
        """
        \(before) class Model\(inherits) { var f: (() -> Void)?; \(members)
          func g() { f = { self.g() } } }
        \(after)
        """)
    }
    #expect(model("") == ["2 strong-self"])
    #expect(model("static let shared = Model()") == [])
    #expect(model("static let shared: Model = { Model() }()") == [])
    #expect(model("static let only = Model(); private init() {}") == [])
    #expect(model("static let preview = Model()") == ["2 strong-self"])
    #expect(model("static let shared = Model(); static let other = Model()") == ["2 strong-self"])
    #expect(model("static var shared: Model { Model() }") == ["2 strong-self"])
    #expect(model("") == ["2 strong-self"])
    for owner in [
      "let model = Model()", "enum Globals { static let model = Model() }",
      "@main class App { let model = Model() }", "@main struct App { var model: Model = .init() }",
      "let world = World(); class World { var model = Model() }",
    ] { #expect(model("", after: owner) == [], "\(owner)") }
    for owner in [
      "var model: Model? = Model()", "class World { var model = Model() }",
      "func f() { g(Model()) }",
      "let model = Model(); func f() { g(Model()) }", "let model = Model(); class Other: Model {}",
    ] { #expect(model("", after: owner) == ["2 strong-self"], "\(owner)") }
    #expect(model("", before: "@main") == [])
    #expect(model("", before: "@UIApplicationMain") == [])
    #expect(model("", inherits: ": NSObject, UIApplicationDelegate") == [])
    #expect(model("", inherits: ": XCTestCase") == [])
    #expect(model("", inherits: ": Base", after: "class Base: XCTestCase {}") == [])
    #expect(model("", inherits: ": NSObject, UIWindowSceneDelegate") == ["2 strong-self"])
  }

  @Test func whatIsEndedThroughItsHandleIsSilent() {
    let body = "owned = Client { self.show($0) }"
    #expect(screen(body, members: "func end() { owned?.dispose() }") == [])
    #expect(screen(body, members: "func end() -> Any { both(owned) }") == [])
    #expect(screen(body, members: "deinit { owned?.dispose() }") == ["19 strong-self"])
  }

  @Test func bagsOfTheObject() {
    func bag(_ chain: String) -> [String] {
      found(
        """
        final class Model {
          private var cancellables: Set<AnyCancellable> = []
          private let bag = DisposeBag()
          func show() {}
          func start(_ service: Service) { service.events\(chain) }
        }
        """)
    }
    #expect(bag(".sink { self.show() }.store(in: &cancellables)") == ["5 strong-self"])
    #expect(bag(".map { 1 }.subscribe(onNext: show).disposed(by: bag)") == ["5 method-reference"])
    #expect(bag(".sink { [weak self] in self?.show() }.store(in: &cancellables)") == [])
    #expect(bag(".sink { self.show() }.disposed(by: service.bag)") == [])
    #expect(bag(".assign(to: \\.name, on: self).store(in: &cancellables)") == ["5 strong-self"])
    #expect(bag(".assign(to: \\.name, on: service).store(in: &cancellables)") == [])
    #expect(bag(".first().sink { self.show() }.store(in: &cancellables)") == [])
  }

  @Test func subscriptionsThatAreKeptAnotherWay() {
    func model(_ body: String, _ members: String = "") -> [String] {
      found(
        """
        final class Model {
          private var cancellables: Set<AnyCancellable> = []
          private var cancellable: AnyCancellable?
          func show() {}
          func start(_ service: Service) { \(body) }
          \(members)
        }
        """)
    }
    for kept in ["cancellables.insert($)", "cancellable = $"] {
      func body(_ subscription: String) -> String { kept.replacing("$", with: subscription) }
      #expect(model(body("service.events.sink { self.show() }")) == ["5 strong-self"])
      #expect(model(body("service.events.sink(receiveValue: show)")) == ["5 method-reference"])
      #expect(model(body("service.events.assign(to: \\.name, on: self)")) == ["5 strong-self"])
      #expect(model(body("service.events.sink { [weak self] in self?.show() }")) == [])
      #expect(model(body("service.events.first().sink { self.show() }")) == [])
      #expect(model(body("service.events.assign(to: \\.name, on: service)")) == [])
    }
    let once = "{ self.show(); self.cancellable?.cancel() }"
    #expect(model("cancellable = service.events.sink \(once)") == [])
    let end = "func end() { cancellable?.cancel() }"
    #expect(model("cancellable = service.events.sink { self.show() }", end) == [])
  }

  @Test func lazyProperties() {
    func lazy(_ property: String) -> [String] {
      found("class View {\n  var text = \"\"\n  \(property)\n}")
    }
    #expect(lazy("lazy var shout: () -> String = { self.text }") == ["3 strong-self"])
    #expect(lazy("lazy var loud: String = { self.text }()") == [])
    #expect(lazy("lazy var shout: () -> String = { [unowned self] in self.text }") == [])
  }

  @Test func closuresInEnumCases() {
    let text = """
      enum Stage { case idle, reading((Int) -> Void) }
      class Scanner {
        var stage = Stage.idle
        func start() { stage = .reading { _ in self.start() } }
      }
      """
    #expect(found(text) == ["4 strong-self"])
  }

  @Test func valuesAndTypesHoldNothing() {
    #expect(
      found("struct S { var f: (() -> Void)?; mutating func g() { f = { _ = self } } }") == [])
    #expect(
      found("class S { static var f: (() -> Void)?; static func g() { f = { _ = self } } }") == [])
  }

  /// Each function of a type is looked at with what all of them end; that is to be found out once.
  @Test func largeTypes() {
    func methods(_ count: Int, _ method: (Int) -> String) -> String {
      "class C { var f: (() -> Void)?\n" + (0..<count).map { method($0) + "\n" }.joined() + "}"
    }
    let one = methods(2_000) { "func g\($0)() { f = { self.g\($0)() } }" }
    #expect(found(one).count == 2_000)
    let each = methods(2_000) {
      "var f\($0): (() -> Void)?; func g\($0)() { f\($0) = { self.g\($0)() } }"
    }
    #expect(found(each).count == 2_000)
  }

  @Test func declarationsOfOtherFilesAreKnown() {
    let files = [
      LintInput(
        path: "Sources/App/A.swift",
        text: "class A { let b = B()\nfunc f() { b.keep { self.f() } } }"),
      LintInput(
        path: "Sources/App/B.swift",
        text: "class B { var c: (() -> Void)?\nfunc keep(_ d: @escaping () -> Void) { c = d } }"),
    ]
    #expect(found(files) == ["2 strong-self"])
    #expect(found([files[0]]) == [])
  }
}
