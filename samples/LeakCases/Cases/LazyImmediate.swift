// Control: a lazy property made by a closure that is called at once holds nothing; a stored one would.

final class Heading {
  private let text: String
  lazy var loud: String = { self.text.uppercased() + "!" }()
  lazy var shout: () -> String = { self.text.uppercased() + "!" }
  init(_ text: String) {
    self.text = text
    Live.born(Self.self)
  }
  deinit { Live.died(Self.self) }
}

extension LeakCase {
  static let lazyImmediate = LeakCase("lazy-immediate") { variant in
    forEachRound {
      let heading = Heading("news of the day, in one line")
      _ = variant == .asNamed ? heading.loud : heading.shout()
    }
  }
}
