// Control: a list in a local variable of a function that stays. It grows, and has no name that a stack could tell.

final class Leaflet {
  var pages = 2
  init() { Live.born(Self.self) }
  deinit { Live.died(Self.self) }
}

/// Puts a leaflet on a pile for each thing it does, and never takes one away.
@inline(never)
private func pileUp(removes: Bool) {
  var pile: [Leaflet] = []
  forEachRound {
    pile.append(Leaflet())
    if removes { pile.removeAll() }
  }
  withExtendedLifetime(pile) {}
}

extension LeakCase {
  static let localList = LeakCase("local-list") { variant in pileUp(removes: variant.isMended) }
}
