// Control: a task that sleeps will wake up, so what it holds is held, though no variable holds the task.

final class Hedgehog: Sendable {
  let name = "Mecki"
  init() { Live.born(Self.self) }
  deinit { Live.died(Self.self) }
}

/// Waits on a continuation that nobody keeps: the mistake that this control stands beside.
private func sleepForGood() async {
  await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
}

extension LeakCase {
  static let sleepingTask = LeakCase("sleeping-task") { variant in
    await forEachSettledRound {
      let hedgehog = Hedgehog()
      Task {
        if variant == .opposite {
          await sleepForGood()
        } else {
          try? await Task.sleep(for: .seconds(600))
        }
        withExtendedLifetime(hedgehog) {}
      }
    }
  }
}
