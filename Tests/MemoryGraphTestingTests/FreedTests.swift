// FreedTests: expectFreed.

import MemoryGraphTesting
import Synchronization
import Testing

@Suite struct FreedTests {
  class Base {}
  final class Derived: Base {}
  actor Service {
    func use() {}
  }

  @Test func whatIsGonePasses() async {
    await expectFreed(Screen.self, Client.self) { useScreen() }
  }

  @Test func whoeverHoldsItIsTold() async {
    await expectFailure(
      "1 × MemoryGraphTestingTests.Screen is not freed", "path", "Global.list"
    ) {
      await expectFreed(Screen.self) { Global.list.withLock { $0.append(Screen()) } }
    }
  }

  @Test func leakedOnesAreTold() async {
    await expectFailure("2 × MemoryGraphTestingTests.Screen are not freed", "cycle", "weak self") {
      await expectFreed(Screen.self) {
        leakScreen()
        leakScreen()
      }
    }
  }

  @Test func otherTypesMayStay() async {
    await expectFreed(OtherScreen.self) { Global.list.withLock { $0.append(Screen()) } }
  }

  @Test func subclassesCount() async throws {
    let kept = Mutex<UInt>(0)
    await expectFailure("FreedTests.Derived is not freed") {
      await expectFreed(Base.self) {
        let address = UInt(bitPattern: Unmanaged.passRetained(Derived()).toOpaque())
        kept.withLock { $0 = address }
      }
    }
    let address = try #require(UnsafeRawPointer(bitPattern: kept.withLock { $0 }))
    Unmanaged<Base>.fromOpaque(address).release()
  }

  @Test func whatGoesAMomentLaterPasses() async {
    await expectFreed(Screen.self, Service.self) {
      let (screen, service) = (Screen(), Service())
      Task {
        try? await Task.sleep(for: .milliseconds(200))
        screen.update()
        await service.use()
      }
    }
  }

  @Test(arguments: [false, true]) func whatATaskMakesLaterCounts(isDetached: Bool) async {
    let work: @Sendable () async -> Void = {
      try? await Task.sleep(for: .milliseconds(50))
      leakScreen()
    }
    await expectFailure("1 × MemoryGraphTestingTests.Screen is not freed") {
      await expectFreed(Screen.self) {
        if isDetached { Task.detached(operation: work) } else { Task(operation: work) }
      }
    }
  }

  @Test func objectsFromBeforeDoNotCount() async {
    let old = Screen()
    await expectFreed(Screen.self) { old.update() }
    withExtendedLifetime(old) {}
  }

  @Test func aBodyThatDoesNotWait() async {
    await expectFailure("Screen is not freed") {
      func check() { expectFreed(Screen.self) { leakScreen() } }
      check()
    }
  }
}
