// 10,000 tasks, each suspended with an object of its own at each mark, and some thousand that never stand still.
// Not to be optimized: an object that stays in its task would have no block of its own.
//
//     tasks SEED SCALE

import Glibc

final class Held: @unchecked Sendable {
  let number: Int
  init(_ number: Int) { self.number = number }
}

final class Passing: @unchecked Sendable {
  let number: Int
  init(_ number: Int) { self.number = number }
}

/// Holds tasks until it is opened.
actor Gate {
  private var _waiting: [CheckedContinuation<Void, Never>] = []
  var count: Int { _waiting.count }

  func pass() async { await withCheckedContinuation { _waiting.append($0) } }

  func open() {
    let waiting = _waiting
    _waiting = []
    for one in waiting { one.resume() }
  }
}

func mark(_ name: String) {
  typealias Mark = @convention(c) (UnsafePointer<CChar>) -> CInt
  guard let symbol = dlsym(nil, "memory_graph_mark") else { return }
  guard unsafeBitCast(symbol, to: Mark.self)(name) == 0 else {
    print("the mark \(name) could not be taken")
    exit(99)
  }
}

@main struct Tasks {
  static func main() async {
    let scale = CommandLine.arguments.count > 2 ? Int(CommandLine.arguments[2]) ?? 1 : 1
    let gate = Gate()
    let sum = await withTaskGroup(of: Int.self) { group in
      let passing = Task.detached {
        var sum = 0
        while !Task.isCancelled {
          sum &+= await withTaskGroup(of: Int.self) { group in
            for number in 0..<100 { group.addTask { Passing(number).number } }
            return await group.reduce(0, &+)
          }
        }
        return sum
      }
      var alive = 0
      for round in 0..<scale {
        for number in 0..<(10_000 / scale) {
          group.addTask {
            let held = Held(number)
            await gate.pass()
            return held.number
          }
          alive += 1
        }
        while await gate.count < alive { await Task.yield() }
        mark("tasks-\(round)")
        print("objects tasks-\(round) tasks.Held \(alive)")
      }
      await gate.open()
      passing.cancel()
      _ = await passing.value
      return await group.reduce(0, &+)
    }
    print("sum \(sum)")
    exit(23)
  }
}
