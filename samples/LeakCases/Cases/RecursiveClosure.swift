// A local variable holds a closure that calls itself through that variable: a box and a context, and no
// object of a class is on the cycle.

final class Tape {
  var length = 0
  init() { Live.born(Self.self) }
  deinit { Live.died(Self.self) }
}

@inline(never)
func rewindTape(_ turns: Int, thenForget: Bool) {
  let tape = Tape()
  var rewind: ((Int) -> Void)?
  rewind = { left in
    tape.length += 1
    if left > 0 { rewind?(left - 1) }
  }
  rewind?(turns)
  if thenForget { rewind = nil }
}

extension LeakCase {
  static let recursiveClosure = LeakCase("recursive-closure") { variant in
    forEachRound { rewindTape(2, thenForget: variant.isMended) }
  }
}
