// NoLeaksTests: what expectNoLeaks and the trait call a leak, and what not.

import Dispatch
import Foundation
import Synchronization
import Testing

@testable import MemoryGraphTesting

@Suite struct NoLeaksTests {
  @Test func aCycleIsTold() async {
    await expectFailure(
      "1 × MemoryGraphTestingTests.Screen, leaked in a cycle", "cycle", "Client.onChange",
      "capture [weak self] at Leaks.swift:10", "made", "leakScreen() at Leaks.swift:24", "id "
    ) {
      await expectNoLeaks { leakScreen() }
    }
  }

  @Test func countsAreTold() async {
    await expectFailure("3 × MemoryGraphTestingTests.Screen") {
      await expectNoLeaks { for _ in 1...3 { leakScreen() } }
    }
  }

  @Test func manyObjects() async {
    let screens = LeakedScreens()
    await expectFailure("3,000 × MemoryGraphTestingTests.Screen") {
      await expectNoLeaks {
        for _ in 1...3_000 {
          screens.leak()
          useScreen()
        }
      }
    }
    screens.mend()
    await expectNoLeaks { for _ in 1...20_000 { useScreen() } }
  }

  @Test func whatIsFreedIsNoLeak() async { await expectNoLeaks { useScreen() } }

  @Test(.leakFree) func theTraitPasses() { useScreen() }

  @Test(.leakFree(iterations: 3)) func theTraitRepeats() async {
    useScreen()
    await Task.yield()
  }

  @Test func theTraitFails() async throws {
    let test = try #require(Test.current)
    await expectFailure("2 × MemoryGraphTestingTests.Screen") {
      try await LeakFreeTrait.leakFree(iterations: 2).provideScope(
        for: test, testCase: Test.Case.current
      ) { leakScreen() }
    }
  }

  @Test func aBodyThatDoesNotWait() async {
    await expectFailure("1 × MemoryGraphTestingTests.Screen") {
      func check() { expectNoLeaks { leakScreen() } }
      check()
    }
    func check() { expectNoLeaks { useScreen() } }
    check()
  }

  /// The checks wait for their looks on all of Swift's threads, and more are there than threads. A look that needed
  /// one of them would never come.
  @Test func checksThatBlockAllThreadsAreMade() async {
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<2 * ProcessInfo.processInfo.activeProcessorCount {
        group.addTask {
          await expectFailure("1 × MemoryGraphTestingTests.OtherScreen") {
            func check() { expectNoLeaks { leakOtherScreen() } }
            check()
          }
        }
      }
    }
  }

  @Test(arguments: TaskKind.allCases)
  func tasksBelongToTheCheckThatTheyComeFrom(_ kind: TaskKind) async {
    await expectFailure("1 × MemoryGraphTestingTests.Screen") {
      await expectNoLeaks { await kind.run { leakScreen() } }
    }
    await expectNoLeaks { await kind.run { useScreen() } }
  }

  enum TaskKind: CaseIterable, Sendable {
    case child, group, unstructured, detached, detachedInDetached, actor, later
    case childInDetached, childOfChildInDetached, groupInDetached, taskOfChildInDetached

    /// Works after a pause, on whatever thread the task goes on.
    private func later(_ work: @Sendable () -> Void) async {
      await Task.yield()
      work()
    }

    func run(_ work: @escaping @Sendable () -> Void) async {
      switch self {
      case .child:
        async let done: Void = work()
        await done
      case .group:
        await withTaskGroup(of: Void.self) { group in
          group.addTask { work() }
          await group.waitForAll()
        }
      case .unstructured: await Task { work() }.value
      case .detached: await Task.detached { work() }.value
      case .detachedInDetached: await Task.detached { await Task.detached { work() }.value }.value
      case .childInDetached:
        await Task.detached {
          async let done: Void = later(work)
          await done
        }.value
      case .childOfChildInDetached:
        await Task.detached {
          async let done: Void = {
            async let first: Void = later {}
            async let second: Void = later(work)
            await first
            await second
          }()
          await done
        }.value
      case .groupInDetached:
        await Task.detached {
          await withTaskGroup(of: Void.self) { group in
            group.addTask {
              async let done: Void = later(work)
              await done
            }
            await group.waitForAll()
          }
        }.value
      case .taskOfChildInDetached:
        await Task.detached {
          async let done: Void = Task.detached { work() }.value
          await done
        }.value
      case .actor: await Worker().run(work)
      case .later:
        Task {
          try? await Task.sleep(for: .milliseconds(100))
          work()
        }
      }
    }
  }

  actor Worker {
    func run(_ work: @Sendable () -> Void) { work() }
  }

  /// A word on another thread's stack may be left over from something else, and is looked at again.
  @Test func aWordOnAnotherStackHidesNoLeakForGood() async {
    await expectFailure("1 × MemoryGraphTestingTests.Screen") {
      await expectNoLeaks { leakBesideAThreadThatKeepsItsAddress() }
    }
  }

  /// Leaks a screen by a retain that nothing explains, so that its address on a stack may be a reference, and has a
  /// thread keep the address there until a look at it is over.
  private func leakBesideAThreadThatKeepsItsAddress() {
    let complement = ~UInt(bitPattern: Unmanaged.passRetained(Screen()).toOpaque())
    let lastLook = Examiner.shared.snapshotCount + 1
    let isThere = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      withUnsafeTemporaryAllocation(of: UInt.self, capacity: 1) { words in
        words[0] = ~complement
        isThere.signal()
        // Where nothing looks a second time it ends all the same.
        for _ in 1...2_000 where Examiner.shared.snapshotCount <= lastLook { usleep(1_000) }
        words[0] = 0
      }
    }
    isThere.wait()
  }

  // MARK: - What is no leak

  @Test func lazyVariablesAndCachesAreNoLeaks() async {
    await expectNoLeaks {
      Global.lazy.listenCarelessly()
      Global.cache.withLock { $0[1] = Screen() }
      _ = "\(1.5)".uppercased() + Date(timeIntervalSince1970: 0).formatted(.iso8601)
      #expect(Bool(true), "the library's own objects")
    }
  }

  @Test func aTaskThatEndsLaterIsWaitedFor() async {
    await expectNoLeaks {
      Task {
        let screen = Screen()
        screen.listenCarelessly()
        try? await Task.sleep(for: .milliseconds(200))
        screen.client.onChange.withLock { $0 = nil }
      }
    }
  }

  @Test func aTaskThatGoesOnHoldsWhatItHas() async {
    let goesOn = Mutex<Task<Void, Never>?>(nil)
    await expectNoLeaks {
      goesOn.withLock {
        $0 = Task {
          let screen = Screen()
          screen.listenCarelessly()
          try? await Task.sleep(for: .seconds(600))
          screen.client.onChange.withLock { $0 = nil }
        }
      }
    }
    goesOn.withLock { $0?.cancel() }
  }

  @Test func aTaskThatNobodyResumesIsALeak() async {
    await expectFailure(
      "leaked in a cycle", "NoLeaksTests.aTaskThatNobodyResumesIsALeak() at NoLeaksTests.swift",
      "resume the continuation on every path: nobody has it any more"
    ) {
      await expectNoLeaks {
        // It waits before the body is over, however busy the machine is.
        await withCheckedContinuation { isWaiting in
          Task {
            let screen = Screen()
            await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in
              isWaiting.resume()
            }
            screen.update()
          }
        }
      }
    }
  }

  /// Runs a check beside a neighbour that leaks the same types all the time, in tasks of its own and on a queue, and
  /// that frees the oldest of them.
  private func besideANeighbourThatLeaks(_ check: () async -> Void) async {
    let isOver = Mutex(false)
    async let neighbour: Void = {
      let screens = LeakedScreens()
      let queue = DispatchQueue(label: "neighbour")
      while !isOver.withLock({ $0 }) {
        screens.leak()
        await Task.detached { screens.leak() }.value
        queue.async { screens.leak() }
        try? await Task.sleep(for: .milliseconds(1))
        screens.mend(allBut: 50)
      }
      queue.sync {}
      screens.mend()
    }()
    await check()
    isOver.withLock { $0 = true }
    await neighbour
  }

  // Without parallel tests what no task of a check asks for is the check's as well.
  @Test(.enabled(if: !CommandLine.arguments.contains("--no-parallel")))
  func neighboursAreNotDisturbed() async {
    for _ in 1...20 {
      await besideANeighbourThatLeaks {
        await expectNoLeaks {
          useScreen()
          try? await Task.sleep(for: .milliseconds(5))
        }
      }
    }
    await besideANeighbourThatLeaks {
      await expectFailure(
        "1 × MemoryGraphTestingTests.OtherScreen", without: ["MemoryGraphTestingTests.Screen"]
      ) {
        await expectNoLeaks {
          leakOtherScreen()
          Global.cache.withLock { $0[2] = Screen() }
          try? await Task.sleep(for: .milliseconds(5))
        }
      }
    }
    await besideANeighbourThatLeaks {
      await expectFailure("1 × MemoryGraphTestingTests.Screen") {
        await expectNoLeaks {
          leakScreen()
          try? await Task.sleep(for: .milliseconds(5))
        }
      }
    }
  }

  // MARK: - Nesting, accepting, throwing

  @Test func aLeakIsToldOnce() async {
    await expectFailure("1 × MemoryGraphTestingTests.Screen") {
      await expectNoLeaks { await expectNoLeaks { leakScreen() } }
    }
    await expectNoLeaks {
      await expectNoLeaks(ignoring: ["Screen"]) { leakScreen() }
    }
  }

  @Test func whatAnInnerCheckDoesNotTellTheOuterOneDoes() async {
    await expectFailure("1 × MemoryGraphTestingTests.Screen") {
      await expectNoLeaks { await expectFreed(OtherScreen.self) { leakScreen() } }
    }
  }

  @Test func ignoredTypes() async {
    await expectNoLeaks(ignoring: ["*.Client"]) { leakScreen() }
    await expectFailure("OtherScreen", without: ["Tests.Screen"]) {
      await expectNoLeaks(ignoring: ["Screen"]) {
        leakScreen()
        leakOtherScreen()
      }
    }
  }

  @Test func knownFindings() async throws {
    let folder = FileManager.default.temporaryDirectory.path
    let file = "\(folder)/known-\(getpid()).json"
    defer { unlink(file) }
    let fingerprint = try #require(await fingerprintOfScreen())
    func write(_ until: String) throws {
      try Data(
        #"""
        {"schema": "memory-graph/known/1",
         "known": [{"fingerprint": "\#(fingerprint)", "reason": "a test"\#(until)}]}
        """#.utf8
      ).write(to: URL(fileURLWithPath: file))
    }
    try write("")
    await expectNoLeaks(known: file) { leakScreen() }
    await expectFailure("OtherScreen") { await expectNoLeaks(known: file) { leakOtherScreen() } }
    try write(#", "until": "2020-01-01""#)
    await expectFailure("Screen", "the time is over", "a test") {
      await expectNoLeaks(known: file) { leakScreen() }
    }
  }

  private func fingerprintOfScreen() async -> String? {
    let found = Mutex<String?>(nil)
    await withKnownIssue {
      await expectNoLeaks { leakScreen() }
    } matching: { issue in
      let words = issue.comments.flatMap { $0.rawValue.split { $0 == " " || $0 == "\n" } }
      if let place = words.firstIndex(of: "id") {
        found.withLock { $0 = String(words[place + 1]) }
      }
      return true
    }
    return found.withLock { $0 }
  }

  @Test func aCheckThatCannotBeMadeFails() async {
    await expectFailure("could not be made", "/nowhere/known.json") {
      await expectNoLeaks(known: "/nowhere/known.json") {}
    }
  }

  @Test func errorsAreThrownOn() async {
    struct Failure: Error {}
    await #expect(throws: Failure.self) {
      try await expectNoLeaks {
        leakScreen()
        throw Failure()
      }
    }
    func check() throws { try expectNoLeaks { throw Failure() } }
    #expect(throws: Failure.self) { try check() }
  }

  @Test @MainActor func theBodyStaysOnItsActor() async {
    var count = 0
    await expectNoLeaks {
      MainActor.assertIsolated()
      count += 1
    }
    #expect(count == 1)
  }
}
