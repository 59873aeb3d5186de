// TestLibrariesTests: what a test library and this one make for themselves is no object of a check, what they
// call is.

import CMemoryGraphHooks
import Synchronization
import Testing

@testable import MemoryGraphTesting

@Suite struct TestLibrariesTests {
  /// What is left of a body: all blocks, and the objects that count.
  private struct Rest {
    var blockCount: Int
    var objectCount: Int
  }

  private func rest(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Void
  ) async throws -> Rest {
    let scope = try CheckScope.open(takesStrays: false)
    defer { scope.close() }
    try await CheckScope.$current.withValue(scope.token, operation: body)
    let blocks = scope.blocks
    return Rest(blockCount: blocks.count, objectCount: Survivors.objects(among: blocks).count)
  }

  @Test func whatTheLibraryMakesForItselfDoesNotCount() async throws {
    var kept: Confirmation?
    let rest = try await rest {
      await confirmation { confirmation in
        confirmation()
        kept = confirmation
      }
      #expect(Bool(true))
    }
    #expect(rest.blockCount > 0, "it did make something")
    #expect(rest.objectCount == 0)
    withExtendedLifetime(kept) {}
  }

  @Test func whatTheTestMakesCountsAlsoWhereTheLibraryCallsIt() async throws {
    let kept = Mutex<[Screen]>([])
    kept.withLock { $0.reserveCapacity(8) }
    let keep = { kept.withLock { $0.append(Screen()) } }
    let rest = try await rest {
      keep()
      #expect(throws: Never.self) { keep() }
      withKnownIssue(isIntermittent: true) { keep() }
      await confirmation { confirmation in
        confirmation()
        keep()
      }
    }
    // Each with its client. What the test's code makes once in a process may come on top.
    #expect(kept.withLock { $0.count } == 4)
    #expect(rest.objectCount >= 8)
  }

  @Test func anObjectOfATypeOfTheTestCountsWhoeverAskedForIt() async throws {
    let scope = try CheckScope.open(takesStrays: false)
    defer { scope.close() }
    var kept: Confirmation?
    await CheckScope.$current.withValue(scope.token) {
      await confirmation { confirmation in
        confirmation()
        kept = confirmation
      }
    }
    let types = Survivors.metadata(of: [Screen.self])
    let own = try #require(types.first)
    var seen = 0
    for block in scope.blocks {
      guard let type = Survivors.word(at: block.address) else { continue }
      var libraries = TestLibraries()
      guard libraries.own(block, type: type, isClass: true) else { continue }
      seen += 1
      let isLibrarys = libraries.own(block, type: own, isClass: true)
      #expect(!isLibrarys)
    }
    #expect(seen > 0, "the library made something")
    withExtendedLifetime(kept) {}
  }

  @Test func checksLeaveNothingInTheCheckAroundThem() async throws {
    let clean = try await rest {
      await expectNoLeaks { useScreen() }
      await expectFreed(Screen.self) { useScreen() }
      await expectNoGrowth(iterations: 4) { useScreen() }
    }
    #expect(clean.objectCount == 0)
    let failing = {
      await expectFailure("1 × MemoryGraphTestingTests.Screen") {
        await expectNoLeaks { leakScreen() }
      }
    }
    // The first time the runtime keeps what this test's own key paths are.
    await failing()
    let leaking = try await rest(failing)
    #expect(leaking.objectCount == 0)
  }

  private final class Holder: Sendable {
    let screen = Mutex<Screen?>(nil)
  }

  @Test func whatIsMadeQuietlyBelongsToNoCheckAndHolds() async throws {
    var holder: Holder?
    let rest = try await rest { holder = quietly { Holder() } }
    #expect(rest.objectCount == 0)
    // Were it not recorded, nothing would be known to hold the screen: a false leak.
    await expectNoLeaks {
      let made = quietly { Holder() }
      made.screen.withLock { $0 = Screen() }
      holder = made
    }
    withExtendedLifetime(holder) {}
  }
}
