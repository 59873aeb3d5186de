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

/// The same by a local function, which needs no variable to call itself.
@inline(never)
func rewindTapeByFunction(_ turns: Int) {
  let tape = Tape()
  func rewind(_ left: Int) {
    tape.length += 1
    if left > 0 { rewind(left - 1) }
  }
  rewind(turns)
}

extension LeakCase {
  static let recursiveClosure = LeakCase("recursive-closure") { variant in
    forEachRound {
      if variant.isMended { rewindTapeByFunction(2) } else { rewindTape(2) }
    }
  }
}
