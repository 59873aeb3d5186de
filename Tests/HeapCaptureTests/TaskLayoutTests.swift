// TaskLayoutTests: tasks of this process, read from a copy of it while they wait.

import SnapshotFormat
import Synchronization
import Testing

@testable import HeapCapture

private final class Trace: Sendable {
  let name = "trace"
}

private enum Local {
  @TaskLocal static var trace: Trace?
}

/// Where tasks say who they are and wait until they are let go.
private final class Gate: Sendable {
  private struct State {
    var taskByName: [String: UInt64] = [:]
    var waiting: [UnsafeContinuation<Void, Never>] = []
  }

  private let _state = Mutex(State())

  func wait(_ name: String) async {
    note(name)
    await withUnsafeContinuation { continuation in
      _state.withLock { $0.waiting.append(continuation) }
    }
  }

  func note(_ name: String) {
    let task = withUnsafeCurrentTask { unsafeBitCast($0, to: UInt64.self) }
    _state.withLock { $0.taskByName[name] = task }
  }

  func task(_ name: String) -> UInt64 { _state.withLock { $0.taskByName[name] ?? 0 } }

  var waitingCount: Int { _state.withLock { $0.waiting.count } }

  func open() {
    let waiting = _state.withLock { state in
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }
}

@Suite struct TaskLayoutTests {
  /// A copy of this process in which `count` tasks wait at the gate.
  private func target(
    _ gate: Gate, waiting names: [String]
  ) async throws -> (LayoutTarget, TaskLayout) {
    // A task gives its continuation away a moment before it is suspended.
    for _ in 0..<1_000 {
      if gate.waitingCount == names.count {
        let target = try LayoutTarget()
        let layout = try #require(TaskLayout(memory: target.memory, images: target.images))
        if names.allSatisfy({ layout.info(of: gate.task($0)).state == .suspended }) {
          return (target, layout)
        }
      }
      try await Task.sleep(for: .milliseconds(10))
    }
    throw CancellationError()
  }

  @Test("A child of async let is cut out of its parent's slab, and each knows where it waits")
  func asyncLet() async throws {
    let gate = Gate()
    let trace = Trace()
    let parent = Task {
      await Local.$trace.withValue(trace) {
        async let child: Void = gate.wait("child")
        await gate.wait("parent")
        await child
      }
    }
    let (target, layout) = try await target(gate, waiting: ["child", "parent"])
    let (parentTask, childTask) = (gate.task("parent"), gate.task("child"))
    #expect(layout.isTask(at: parentTask) && layout.isTask(at: childTask))
    #expect(layout.info(of: parentTask).kind == .unstructured)
    #expect(layout.info(of: childTask).kind == .asyncLet)
    #expect(layout.parent(of: childTask) == parentTask)
    #expect(layout.parent(of: parentTask) == nil)
    #expect(layout.id(of: parentTask) != layout.id(of: childTask))
    #expect(layout.frames(of: parentTask).count > 1)
    #expect(layout.frames(of: childTask).count > 1)

    // The tests' own task has values of its own, which this one was started with.
    let items = layout.localItems(of: parentTask)
    let held = items.map { target.memory.word(at: $0.value.lowerBound) }
    #expect(held.count { $0 == address(of: trace) } == 1)

    let allocations = layout.allocations(of: parentTask)
    #expect(zip(allocations, allocations.dropFirst()).allSatisfy { !$0.overlaps($1) })
    let around = try #require(allocations.first { $0.contains(childTask) })
    let slab = try #require(target.memory.word(at: around.lowerBound - 8))
    let capacity = try #require(target.memory.load(UInt32.self, at: slab + 16))
    let pieces = layout.pieces(ofSlab: slab, size: 32 + UInt64(capacity))
    #expect(pieces.filter(\.isChild).map(\.range.lowerBound) == [childTask])
    #expect(pieces.first?.range.lowerBound == slab)
    #expect(pieces.last?.range.upperBound == slab + 32 + UInt64(capacity))
    for (before, after) in zip(pieces, pieces.dropFirst()) {
      #expect(before.range.upperBound == after.range.lowerBound)
    }
    for piece in pieces {
      #expect(piece.live.allSatisfy { piece.range.clamped(to: $0) == $0 })
    }
    gate.open()
    await parent.value
    withExtendedLifetime(target) {}
  }

  /// The word before the function that a task calls is written for some tasks only.
  @Test(
    "An old function's address before the one that a task calls doesn't move where its frame begins"
  )
  func frameStart() async throws {
    let gate = Gate()
    let trace = Trace()
    let task = Task {
      await gate.wait("task")
      withExtendedLifetime(trace) {}
    }
    let (target, layout) = try await target(gate, waiting: ["task"])
    let address = gate.task("task")
    let end = address + 288
    let start = try #require(layout.frameStart(of: address, until: end))
    // What the closure captured is behind the header of its context.
    let context = try #require(target.memory.word(at: start - 8))
    #expect(context == 0 || target.memory.word(at: context) != nil)
    let function = try #require(target.memory.word(at: start - 16))

    let before = try #require(UnsafeMutablePointer<UInt64>(bitPattern: UInt(start - 24)))
    let kept = before.pointee
    before.pointee = function
    let stale = Result { try LayoutTarget() }
    before.pointee = kept
    let other = try stale.get()
    let second = try #require(TaskLayout(memory: other.memory, images: other.images))
    #expect(other.memory.word(at: start - 24) == function)
    #expect(second.frameStart(of: address, until: end) == start)
    gate.open()
    await task.value
    withExtendedLifetime(target) {}
  }

  @Test("A group's children know their parent, and the parent its group")
  func group() async throws {
    let gate = Gate()
    let parent = Task {
      gate.note("parent")
      await withTaskGroup(of: Void.self) { group in
        group.addTask { await gate.wait("child") }
        await group.waitForAll()
      }
    }
    let (target, layout) = try await target(gate, waiting: ["child"])
    let (parentTask, childTask) = (gate.task("parent"), gate.task("child"))
    #expect(layout.info(of: childTask).kind == .groupChild)
    #expect(layout.parent(of: childTask) == parentTask)
    #expect(layout.groups(of: parentTask).count == 1)
    #expect(layout.groups(of: childTask).isEmpty)
    gate.open()
    await parent.value
    withExtendedLifetime(target) {}
  }

  @Test("A task that has finished waits nowhere, and one that was cancelled says so")
  func states() async throws {
    let gate = Gate()
    let finished = Task { gate.note("finished") }
    await finished.value
    let cancelled = Task { await gate.wait("cancelled") }
    cancelled.cancel()
    let (target, layout) = try await target(gate, waiting: ["cancelled"])
    let task = gate.task("finished")
    #expect(layout.info(of: task).state == .complete)
    #expect(layout.frames(of: task).isEmpty)
    #expect(layout.info(of: gate.task("cancelled")).isCancelled)
    #expect(!layout.isTask(at: task + 8))
    gate.open()
    await cancelled.value
    withExtendedLifetime((finished, target)) {}
  }

  @Test(
    "What the runtime never writes in a task is not looked at, and its closure before its result")
  func words() async throws {
    let gate = Gate()
    let (held, value) = (Trace(), Trace())
    let task = Task {
      await gate.wait("waiting")
      withExtendedLifetime(held) {}
      return value
    }
    let finished = Task {
      gate.note("finished")
      withExtendedLifetime(held) {}
      return value
    }
    _ = await finished.value
    for _ in 0..<1_000 where gate.waitingCount < 1 { try await Task.sleep(for: .milliseconds(10)) }
    let waiting = gate.task("waiting")

    // What had the memory before has left pointers in it.
    let words = try #require(UnsafeMutablePointer<UInt64>(bitPattern: UInt(waiting)))
    let closure = 32
    words[9] = words[closure]
    words[29] = words[closure]
    let (target, layout) = try await target(gate, waiting: ["waiting"])
    func places(_ task: UInt64) -> [UInt64] {
      target.collect(task).words.flatMap {
        stride(from: $0.range.lowerBound, to: $0.range.upperBound, by: 8)
      }
      .map { $0 - task }
    }
    let seen = places(waiting)
    #expect(!seen.contains(72))
    let closurePlace = try #require(seen.firstIndex(of: UInt64(closure) * 8))
    let resultPlace = try #require(seen.firstIndex(of: 232))
    #expect(closurePlace < resultPlace)
    #expect(Set(seen).count == seen.count)

    let done = gate.task("finished")
    #expect(layout.info(of: done).state == .complete)
    #expect(target.memory.word(at: done + 232) == address(of: value))
    #expect(places(done).contains(232))
    #expect(!places(done).contains(UInt64(closure) * 8))
    gate.open()
    _ = await task.value
    withExtendedLifetime((finished, target)) {}
  }
}
