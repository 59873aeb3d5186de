// Three cycles, through the storage of a dictionary, an array and a set.

final class Harbour {
  var berths: [String: Berth] = [:]
  init() { Live.born(Self.self) }
  deinit { Live.died(Self.self) }
}

final class Berth {
  fileprivate(set) var harbour: Harbour?
  init(_ harbour: Harbour) {
    self.harbour = harbour
    Live.born(Self.self)
  }
  deinit { Live.died(Self.self) }
}

final class Branch {
  var twigs: [Branch] = []
  var stem: Branch?
  init() { Live.born(Self.self) }
  deinit { Live.died(Self.self) }
  func grow() {
    let twig = Branch()
    twig.stem = self
    twigs.append(twig)
  }
}

final class Choir {
  var singers: Set<Singer> = []
  init() { Live.born(Self.self) }
  deinit { Live.died(Self.self) }
}

final class Singer: Hashable {
  fileprivate(set) var choir: Choir?
  init(_ choir: Choir) {
    self.choir = choir
    Live.born(Self.self)
  }
  deinit { Live.died(Self.self) }
  static func == (one: Singer, other: Singer) -> Bool { one === other }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension LeakCase {
  static let containers = LeakCase("containers") { variant in
    forEachRound {
      let harbour = Harbour()
      for name in ["north", "south"] { harbour.berths[name] = Berth(harbour) }
      let branch = Branch()
      branch.grow()
      branch.grow()
      let choir = Choir()
      choir.singers = [Singer(choir), Singer(choir)]
      if variant == .opposite {
        harbour.berths = [:]
        branch.twigs = []
        choir.singers = []
      } else if variant == .advised {
        for berth in harbour.berths.values { berth.harbour = nil }
        for twig in branch.twigs { twig.stem = nil }
        for singer in choir.singers { singer.choir = nil }
      }
    }
  }
}
