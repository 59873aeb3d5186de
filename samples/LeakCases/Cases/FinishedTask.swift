// Control: an actor stores a task that captured it; the task has finished and has let go of everything.

final class Bread: Sendable {
  let weight: Int
  init(_ weight: Int) {
    self.weight = weight
    Live.born(Self.self)
  }
  deinit { Live.died(Self.self) }
}

actor Baker {
  private var baking: Task<Bread, Never>?
  private var flour = 500
  init() { Live.born(Self.self) }
  deinit { Live.died(Self.self) }

  func bake(forever: Bool) {
    baking = Task {
      self.flour += 1
      if forever {
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
      }
      return Bread(self.flour)
    }
  }
  func wait() async -> Int { await baking?.value.weight ?? 0 }
}

extension LeakCase {
  static let finishedTask = LeakCase("finished-task") { variant in
    await forEachSettledRound {
      let baker = Baker()
      await baker.bake(forever: variant == .opposite)
      if variant == .asNamed { _ = await baker.wait() }
    }
  }
}
