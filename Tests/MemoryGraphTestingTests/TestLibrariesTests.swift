// TestLibrariesTests: what a test library and this one make for themselves is no object of a check, what they
// call is.

import CMemoryGraphHooks
import Glibc
import Synchronization
import Testing

@testable import MemoryGraphTesting

@Suite struct TestLibrariesTests {
  /// What is left of a body: all blocks, and the objects that count.
  private struct Rest {
    var blockCount: Int
    var objects: [memory_graph_survivor]

    var objectCount: Int { objects.count }

    /// What the objects begin with, and who asked for them.
    var description: String {
      objects.map { object in
        let type = Survivors.word(at: object.address) ?? 0
        let frames = [UInt64](unsafeUninitializedCapacity: 12) { buffer, count in
          guard let base = buffer.baseAddress else { return }
          count = min(memory_graph_stack_frames(object.stack, base, buffer.count), buffer.count)
        }
        let words = (1..<6).map { Survivors.word(at: object.address + $0 * 8) ?? 0 }
        return "\(object.bytes) bytes that begin with \(Self._name(type))"
          + " (\(words.map { String($0, radix: 16) })), asked for by "
          + frames.map { Self._name($0 - 1) }.joined(separator: " < ")
      }.joined(separator: "\n")
    }

    private static func _name(_ address: UInt64) -> String {
      // Glibc's module has no `dladdr`: file, its place, symbol and its place.
      typealias Place = (UnsafePointer<CChar>?, UInt, UnsafePointer<CChar>?, UInt)
      typealias Look = @convention(c) (UnsafeRawPointer?, UnsafeMutableRawPointer) -> Int32
      var place: Place = (nil, 0, nil, 0)
      guard let look = dlsym(nil, "dladdr").map({ unsafeBitCast($0, to: Look.self) }),
        look(UnsafeRawPointer(bitPattern: UInt(address)), &place) != 0
      else { return String(address, radix: 16) }
      let file = place.0.map { String(cString: $0) }?.split(separator: "/").last ?? ""
      return "\(place.2.map { String(cString: $0) } ?? "?") in \(file)"
    }
  }

  private func rest(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Void
  ) async throws -> Rest {
    let scope = try CheckScope.open(takesStrays: false)
    defer { scope.close() }
    try await CheckScope.$current.withValue(scope.token, operation: body)
    let blocks = scope.blocks
    return Rest(blockCount: blocks.count, objects: Survivors.objects(among: blocks))
  }

  /// The fewest objects that several runs of a body leave: what is made once in a process comes on top of a
  /// run or two, whoever else it is made for.
  private func leastRest(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Void
  ) async throws -> Rest {
    var least = try await rest(body)
    for _ in 0..<3 where least.objectCount > 0 {
      let next = try await rest(body)
      if next.objectCount < least.objectCount { least = next }
    }
    return least
  }

  @Test func whatTheLibraryMakesForItselfDoesNotCount() async throws {
    var kept: [Confirmation] = []
    kept.reserveCapacity(4)
    let rest = try await leastRest {
      await confirmation { confirmation in
        confirmation()
        kept.append(confirmation)
      }
      #expect(Bool(true))
    }
    #expect(rest.blockCount > 0, "it did make something")
    #expect(rest.objectCount == 0, "\(rest.description)")
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
    let clean = try await leastRest {
      await expectNoLeaks { useScreen() }
      await expectFreed(Screen.self) { useScreen() }
      await expectNoGrowth(iterations: 4) { useScreen() }
    }
    #expect(clean.objectCount == 0, "\(clean.description)")
    let failing = {
      await expectFailure("1 × MemoryGraphTestingTests.Screen") {
        await expectNoLeaks { leakScreen() }
      }
    }
    // The first time the runtime keeps what this test's own key paths are.
    let leaking = try await leastRest(failing)
    #expect(leaking.objectCount == 0, "\(leaking.description)")
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
