// A task waits for a continuation that nobody keeps, so that nobody can ever resume it.

final class Letter: Sendable {
  let text = "Dear Sir or Madam"
  init() { Live.born(Self.self) }
  deinit { Live.died(Self.self) }
}

/// Waits for an answer; the callback that should resume it is forgotten.
private func answer(to letter: Letter, keeps: Bool) async -> Int {
  await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
    if keeps { continuation.resume() }
  }
  return letter.text.utf8.count
}

extension LeakCase {
  static let droppedContinuation = LeakCase("dropped-continuation") { variant in
    await forEachSettledRound {
      let letter = Letter()
      Task { _ = await answer(to: letter, keeps: variant.isMended) }
    }
  }
}
