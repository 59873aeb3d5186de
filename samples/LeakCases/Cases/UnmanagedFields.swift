// Control: objects whose only retain was handed to a field of type Unmanaged, as C's callbacks and queues keep them.

final class Stowaway {
  let ticket = 7
  init() { Live.born(Self.self) }
  deinit { Live.died(Self.self) }
}

private enum Seat {
  case taken(Unmanaged<Stowaway>)
  case free
}

private final class Ferry {
  nonisolated(unsafe) static let shared = Ferry()
  var captain: Unmanaged<Stowaway>?
  var deck: [Unmanaged<Stowaway>] = []
  var seat = Seat.free
}

@inline(never)
private func board(keeps: Bool) {
  let ferry = Ferry.shared
  let stowaway = Unmanaged.passRetained(Stowaway())
  guard keeps else { return }
  if ferry.captain == nil {
    ferry.captain = stowaway
  } else if case .free = ferry.seat {
    ferry.seat = .taken(stowaway)
  } else {
    ferry.deck.append(stowaway)
  }
}

extension LeakCase {
  static let unmanagedFields = LeakCase("unmanaged-fields") { variant in
    forEachRound { board(keeps: variant != .opposite) }
  }
}
