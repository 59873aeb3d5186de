// Tests of the rules endless-task, unended-observer and cleanup-in-deinit.

import SourceLint
import Testing

@Suite struct LifetimeTests {
  private func model(_ body: String, members: String = "") -> [String] {
    found(
      """
      final class Model {
        private var task: Task<Void, Never>?
        private var timer: Timer?
        private var observers: [Any] = []
        private let readings: AsyncStream<Int>
        private var total = 0
        private func follow() async { for await reading in readings { total += reading } }
        private func once() async { total += 1 }
        \(members)
        func start() {
          \(body)
        }
      }
      """)
  }

  private static let strongTasks = [
    "task = Task { for await reading in readings { self.total += reading } }",
    "task = Task { for await reading in readings { total += reading } }",
    "task = Task.detached { while true { await self.once() } }",
    "task = Task { while !Task.isCancelled { await once() } }",
    "task = Task { await follow() }",
    "task = Task { [weak self] in await self?.follow() }",
    "task = Task { [weak self] in guard let self else { return }; for await _ in readings { await self.once() } }",
  ]

  @Test(arguments: strongTasks)
  func endlessTasksAreFound(body: String) {
    #expect(model(body) == ["11 endless-task"])
    #expect(model(body, members: "deinit { task?.cancel() }") == ["11 cleanup-in-deinit"])
    #expect(model(body, members: "func stop() { task?.cancel() }") == [])
    #expect(
      model(body, members: "func stop() { task?.cancel() }; deinit { stop() }") == [
        "11 endless-task"
      ])
  }

  @Test func aPrivateEndThatOnlyDeinitCallsIsDeinits() {
    let stop = "private func stop() { task?.cancel() }"
    #expect(
      model(Self.strongTasks[0], members: stop + "; deinit { stop() }") == ["11 cleanup-in-deinit"])
    #expect(model(Self.strongTasks[0], members: stop + "; func end() { stop() }") == [])
  }

  @Test(arguments: [
    "task = Task { await once() }",
    "task = Task { [weak self, readings] in for await reading in readings { self?.total += reading } }",
    "task = Task { [weak self, readings] in for await _ in readings { guard let self else { return }; self.total += 1 } }",
    "task = Task { for await reading in readings { if reading == 0 { break }; total += reading } }",
    "task = Task { for await reading in readings.prefix(3) { total += reading } }",
    "task = Task { for try await line in handle.bytes.lines { self.total += line } }",
    "Task { [weak self] in await self?.once() }",
  ])
  func tasksThatEndOrDoNotHoldAreSilent(body: String) {
    #expect(model(body, members: "deinit { task?.cancel() }") == [])
  }

  @Test func aWeakCaptureInVain() {
    #expect(model("Task { [weak self] in await self?.follow() }") == ["11 endless-task"])
  }

  private static let timer = "Timer.scheduledTimer(withTimeInterval: 1, repeats: true)"
  private static let observer =
    "NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil)"

  @Test(arguments: [timer, observer])
  func registrations(call: String) {
    let weak = "\(call) { [weak self] _ in self?.start() }"
    let strong = "\(call) { _ in self.start() }"
    #expect(model(weak) == ["11 unended-observer"])
    #expect(model("_ = " + weak) == ["11 unended-observer"])
    #expect(model("let dropped = " + weak) == ["11 unended-observer"])
    #expect(model("observers.append(\(weak))") == ["11 unended-observer"])

    let ends = "for each in observers { end(removeObserver(each)) }"
    #expect(model("observers.append(\(weak))", members: "deinit { \(ends) }") == [])
    #expect(
      model("observers.append(\(strong))", members: "deinit { \(ends) }") == [
        "11 cleanup-in-deinit"
      ])
    #expect(model("observers.append(\(strong))", members: "func end() { \(ends) }") == [])
    #expect(
      model("observers.append(\(strong))", members: "func end() { \(ends) }; deinit { end() }")
        == ["11 strong-self"])
    #expect(
      model("let made = \(strong); observers.append(made)", members: "func end() { \(ends) }") == []
    )
    #expect(model("return " + strong) == [])
    #expect(model("given(\(strong))") == [])
    #expect(model("observers = names.map { name in \(weak) }") == [])
    #expect(model("names.forEach { name in \(weak) }") == ["11 unended-observer"])
  }

  @Test func timersThatEnd() {
    let strong = "timer = \(Self.timer) { _ in self.start() }"
    #expect(model(strong, members: "deinit { timer?.invalidate() }") == ["11 cleanup-in-deinit"])
    #expect(model(strong, members: "func stop() { timer?.invalidate() }") == [])
    let end = "{ timer?.invalidate() }"
    #expect(model(strong, members: "func stop() \(end); deinit \(end)") == ["11 strong-self"])
    #expect(model(strong, members: "func viewDidDisappear() \(end); deinit \(end)") == [])
    #expect(model("\(Self.timer) { timer in timer.invalidate() }") == [])
    #expect(
      model("Timer.scheduledTimer(withTimeInterval: 1, repeats: false) { _ in self.start() }") == []
    )
  }

  @Test func observersOfThePropertyThatEnd() {
    let weak = "clock = \(Self.timer) { [weak self] _ in self?.start() }"
    func clock(_ observers: String, _ members: String) -> [String] {
      model(weak, members: "var clock: Timer? { \(observers) }; \(members)")
    }
    let stop = "func stop() { clock = nil }"
    for observers in [
      "didSet { oldValue?.invalidate() }", "willSet { clock?.invalidate() }",
      "didSet(old) { if let old { old.invalidate() } }",
      "willSet { clock.map(center.removeObserver) }",
    ] {
      #expect(clock(observers, stop) == [])
      // They are not called in `deinit`, and another timer in place of the last is no end.
      #expect(clock(observers, "deinit { clock = nil }") == ["11 unended-observer"])
      #expect(clock(observers, "") == ["11 unended-observer"])
    }
    #expect(clock("didSet { print(1) }", stop) == ["11 unended-observer"])
  }

  @Test(arguments: [timer, observer])
  func registrationsOfWhatLivesAsLongAsTheProgram(call: String) {
    let weak = "\(call) { [weak self] _ in self?.start() }"
    let strong = "timer = \(call) { _ in self.start() }"
    for body in [weak, strong] {
      #expect(model(body) == ["11 unended-observer"])
      #expect(model(body, members: "static let shared = Model()") == [])
      #expect(model(body, members: "static let preview = Model()") == ["11 unended-observer"])
    }
    #expect(model(Self.strongTasks[0], members: "static let shared = Model()") == [])
  }
}
