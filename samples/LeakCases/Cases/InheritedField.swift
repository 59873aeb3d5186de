// The field that closes the cycle is declared in a generic superclass.

class Piece<Neighbour: AnyObject> {
  var neighbour: Neighbour?
}

final class Dovetail: Piece<Mortise> {
  override init() {
    super.init()
    Live.born(Self.self)
  }
  deinit { Live.died(Self.self) }
}

final class Mortise {
  let joint: Dovetail
  init(_ joint: Dovetail) {
    self.joint = joint
    Live.born(Self.self)
  }
  deinit { Live.died(Self.self) }
}

extension LeakCase {
  static let inheritedField = LeakCase("inherited-field") { variant in
    forEachRound {
      let dovetail = Dovetail()
      let mortise = Mortise(dovetail)
      if variant == .asNamed { dovetail.neighbour = mortise }
    }
  }
}
