// A local variable holds a closure that calls itself through that variable: a box and a context, and no
// object of a class is on the cycle.

final class Tape {
  var length = 0
  init() { Live.born(Self.self) }
  deinit { Live.died(Self.self) }
}

@inline(never)
func rewindTape(_ turns: Int) {
  let tape = Tape()
  var rewind: ((Int) -> Void)?
  rewind = { left in
    tape.length += 1
    if left > 0 { rewind?(left - 1) }
  }
  rewind?(turns)
}

/// The same, with the variable emptied in the end.
@inline(never)
func rewindTapeAndForget(_ turns: Int) {
  let tape = Tape()
  var rewind: ((Int) -> Void)?
  rewind = { left in
    tape.length += 1
    if left > 0 { rewind?(left - 1) }
  }
  rewind?(turns)
  rewind = nil
}

extension LeakCase {
  static let recursiveClosure = LeakCase("recursive-closure") { variant in
    forEachRound {
      if variant.isMended { rewindTapeAndForget(2) } else { rewindTape(2) }
    }
  }
}
