// Tests of what outlives its use: subscriptions that nobody can end, tasks that hold what would end them, and
// closures that hold themselves.

import SourceLint
import Testing

@Suite struct OutlivedTests {
  private static let kit = """
    protocol Disposable: AnyObject { func dispose() }
    class Handle: Disposable { func dispose() {} }
    class Lease { func dispose() {}; deinit { dispose() } }
    class Bag { func insert(_ each: any Disposable) {} }
    class Source {
      private var handlers: [(Int) -> Void] = []
      @discardableResult
      func subscribe(_ handler: @escaping (Int) -> Void) -> Handle { handlers.append(handler); return Handle() }
      @discardableResult
      func subscribe<T: AnyObject>(with owner: T, _ handler: @escaping (T, Int) -> Void) -> any Disposable {
        handlers.append { [weak owner] in handler(owner!, $0) }
        return Handle()
      }
      @discardableResult
      func lease(_ handler: @escaping (Int) -> Void) -> Lease { handlers.append(handler); return Lease() }
      func listen(_ handler: @escaping (Int) -> Void) { handlers.append(handler) }
      @discardableResult
      func each(_ handler: (Int) -> Void) -> Handle { handler(1); return Handle() }
      var first: Source { Source() }
    }
    final class Service {
      static let shared = Service()
      static var current: Service { Service() }
      let source = Source()
      let bag = Bag()
    }
    final class Account { let source = Source(); let bag = Bag() }
    extension Handle { func disposed(by bag: Bag) { bag.insert(self) } }

    """
  private static let kitLines = 28

  /// What is found in a model's function.
  private func model(_ body: String, members: String = "") -> [String] {
    let found = found(
      Self.kit + """
        final class Model {
          let service: Service
          let own = Source()
          let bag = Bag()
          \(members)
          func show(_ number: Int) {}
          func start(_ given: Service, _ account: Account) {
            \(body)
          }
        }
        """)
    return found.map { $0.replacing("\(Self.kitLines + 8) ", with: "") }
  }

  @Test(arguments: [
    "Service.shared.source.subscribe { print($0) }",
    "_ = Service.shared.source.subscribe { print($0) }",
    "Service.shared.source.first.subscribe { print($0) }",
    "given.source.subscribe { print($0) }",
    "service.source.subscribe { [weak self] in self?.show($0) }",
    "self.service.source.subscribe(with: self) { model, number in model.show(number) }",
    "let hub = Service.shared; let source = hub.source; source.subscribe { print($0) }",
    "given.source.subscribe(with: self) { model, number in model.show(number) }.disposed(by: given.bag)",
    "own.subscribe { [weak self] in self?.show($0) }.disposed(by: Service.shared.bag)",
  ])
  func subscriptionsToWhatStays(body: String) {
    #expect(model(body) == ["unended-observer"])
  }

  @Test(arguments: [
    "own.subscribe { print($0) }",
    "account.source.subscribe { print($0) }",
    "Source().subscribe { print($0) }",
    "let source = Source(); source.subscribe { print($0) }",
    "Service.current.source.subscribe { print($0) }",
    "given.source.listen { print($0) }",
    "given.source.each { print($0) }",
    "given.source.lease { print($0) }",
    "let handle = given.source.subscribe { print($0) }; keep(handle)",
    "return given.source.subscribe { print($0) }",
    "given.source.subscribe { print($0) }.disposed(by: given.bag)",
    "given.source.subscribe(with: self) { model, number in model.show(number) }.disposed(by: account.bag)",
    "given.source.subscribe { [weak self] in self?.show($0) }.disposed(by: bag)",
  ])
  func subscriptionsThatCanEnd(body: String) {
    #expect(model(body) == [])
  }

  @Test func functionsOutsideOfTypes() {
    let dropped = "func f() { Service.shared.source.subscribe { print($0) } }"
    #expect(found(Self.kit + dropped) == ["\(Self.kitLines + 1) unended-observer"])
    let kept = "func f() { Service.shared.source.subscribe { print($0) }.disposed(by: Bag()) }"
    #expect(found(Self.kit + kept) == [])
  }

  @Test func numbersThatStandForSubscriptions() {
    func guest(_ end: String, _ capture: String = "") -> [String] {
      found(
        """
        final class Bell {
          static let shared = Bell()
          private var handlers: [Int: () -> Void] = [:]
          func add(_ handler: @escaping () -> Void) -> Int { handlers[1] = handler; return 1 }
          func remove(_ number: Int) { handlers[number] = nil }
        }
        class Guest {
          private var number = 0
          func hear() {}
          func arrive() { number = Bell.shared.add { \(capture) self.hear() } }
          \(end)
        }
        """)
    }
    #expect(guest("") == ["10 unended-observer"])
    #expect(guest("deinit { Bell.shared.remove(number) }") == ["10 cleanup-in-deinit"])
    #expect(
      guest("func leave() { Bell.shared.remove(number) }; deinit { leave() }") == ["10 strong-self"]
    )
    #expect(guest("func leave() { Bell.shared.remove(number) }") == [])
    #expect(guest("func leave() { Bell.shared.forget(number) }") == [])
    #expect(guest("deinit { Bell.shared.remove(number) }", "[unowned self] in") == [])
    #expect(guest("static let shared = Guest()") == [])
  }

  // MARK: - Tasks

  /// A feature that has a lease, whose end is that of the lease's fixes.
  private func feature(
    _ body: String, members: String = "", end: String = "deinit { release() }"
  ) -> [String] {
    found(
      """
      final class Lease { let fixes: AsyncStream<Int>; func release() {}; \(end) }
      final class Sensor { func lease() -> Lease { Lease() } }
      final class Feature {
        private let lease: Lease
        private var work: Task<Void, Never>?
        \(members)
        init(_ sensor: Sensor) {
          let lease = sensor.lease()
          self.lease = lease
          \(body)
        }
      }
      """)
  }

  private static let holding = [
    "Task { for await fix in lease.fixes { print(fix) } }",
    "Task.detached { [lease] in for await fix in lease.fixes { print(fix) } }",
    "work = Task { for await fix in lease.fixes { print(fix) } }",
    "if sensor.isOn { Task { for await fix in lease.fixes { print(fix) } } }",
  ]

  @Test(arguments: holding)
  func tasksThatHoldWhatWouldEndThem(body: String) {
    #expect(feature(body) == ["10 cleanup-in-deinit"])
    #expect(feature(body, end: "") == [])
    #expect(feature(body, end: "deinit { print(1) }") == [])
    #expect(feature(body, members: "func end() { lease.release() }") == [])
    #expect(feature(body, members: "deinit { lease.release() }") == [])
    #expect(feature(body + "; if sensor.isOff { lease.release() }") == [])
    #expect(feature(body + "; sensor.take(lease)") == [])
  }

  @Test(arguments: [
    "Task { [fixes = lease.fixes] in for await fix in fixes { print(fix) } }",
    "Task { [weak lease] in for await fix in lease!.fixes { print(fix) } }",
    "Task { for await fix in lease.fixes { print(fix); break } }",
    "Task { print(lease.fixes) }",
    "let task = Task { for await fix in lease.fixes { print(fix) } }; sensor.take(task)",
    "Task { let lease = Lease(); for await fix in lease.fixes { print(fix) } }",
  ])
  func tasksThatDoNot(body: String) {
    #expect(feature(body) == [])
  }

  @Test func aTaskThatItsOwnerEnds() {
    #expect(feature(Self.holding[2], members: "deinit { work?.cancel() }") == [])
    #expect(feature(Self.holding[2], members: "func end() { work?.cancel() }") == [])
  }

  // MARK: - Closures

  @Test(arguments: [
    ("var step: (() -> Void)?; step = { step?() }; step?()", ["1 recursive-closure"]),
    ("var step: () -> Void = {}; step = { [weak x] in x?.add(step) }", ["1 recursive-closure"]),
    ("var step: (() -> Void)!\n  later { step = { later { step() } } }", ["2 recursive-closure"]),
    ("var step: (() -> Void)?; step = { step?() }; defer { step = nil }", []),
    ("var step: (() -> Void)?; step = { step?(); step = nil }", []),
    ("var step: (() -> Void)?; step = { step?() }; empty(&step)", []),
    ("var step: (() -> Void)?; step = { [step] in step?() }", []),
    ("var step: (() -> Void)?; step = { step in step() }", []),
    ("var step: (() -> Void)?; step = { print(1) }", []),
    ("var count = 0; count = { count + 1 }()", []),
    ("func step() { step() }; step()", []),
  ])
  func closuresThatHoldThemselves(body: String, expected: [String]) {
    #expect(found("func f() { \(body) }") == expected)
    #expect(found("class C { func f() { \(body) } }") == expected)
  }
}
