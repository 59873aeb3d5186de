// The way back is the payload of an enum case: an object in one cycle, a closure in the other.

final class Passenger {
  var elevator: Elevator?
  init() { Live.born(Self.self) }
  deinit { Live.died(Self.self) }
}

final class Elevator {
  enum State {
    case waiting
    case carrying(Passenger)
    case stopped(floor: Int)
    case stuck(floor: Int, alarm: Bool)
  }
  var state = State.waiting
  init() { Live.born(Self.self) }
  deinit { Live.died(Self.self) }
}

final class Scanner {
  enum Stage {
    case idle
    case reading((Int) -> Void)
    case paused(Int)
  }
  var stage = Stage.idle
  private var lines = 0
  init() { Live.born(Self.self) }
  deinit { Live.died(Self.self) }
  func start() { stage = .reading { self.lines += $0 } }
}

extension LeakCase {
  static let enumPayload = LeakCase("enum-payload") { variant in
    forEachRound {
      let passenger = Passenger()
      let elevator = Elevator()
      passenger.elevator = elevator
      elevator.state = .carrying(passenger)
      // Its payload is a number that looks like an address; no object is on the other end.
      let other = Elevator()
      other.state = .stuck(floor: 0x7FFF_0000_1000, alarm: true)
      let scanner = Scanner()
      scanner.start()
      if case .reading(let read) = scanner.stage { read(2) }
      if variant.isMended {
        elevator.state = .stopped(floor: 3)
        scanner.stage = .paused(2)
      }
    }
  }
}
