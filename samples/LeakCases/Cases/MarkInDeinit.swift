// Control: a mark in the middle of a destruction; what the object has not let go yet is no leak.

final class Book {
  let title = "Walden"
  init() { Live.born(Self.self) }
  deinit { Live.died(Self.self) }
}

private final class Shelf {
  let round: Int
  let books = [Book(), Book(), Book()]
  init(round: Int, forgets: Bool) {
    self.round = round
    if forgets { for book in books { _ = Unmanaged.passRetained(book) } }
  }
  deinit { mark(round: round) }
}

extension LeakCase {
  static let markInDeinit = LeakCase("mark-in-deinit") { variant in
    for round in 1...Rounds.count {
      _ = Shelf(round: round, forgets: variant == .opposite)
    }
  }
}
