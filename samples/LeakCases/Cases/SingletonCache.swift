// A cache of a singleton grows without a bound; a second, bounded container holds a few of the same.

final class Receipt {
  let number: Int
  let lines = Array(repeating: "one line", count: 4)
  let fits: (Int) -> Bool
  init(_ number: Int) {
    self.number = number
    let limit = number + 100
    fits = { $0 < limit }
    Live.born(Self.self)
  }
  deinit { Live.died(Self.self) }
}

final class Till: @unchecked Sendable {
  static let shared = Till()
  private var archive: [Int: Receipt] = [:]
  private var latest: [Receipt] = []

  func print(_ receipt: Receipt, keep: Bool) {
    if keep { archive[receipt.number] = receipt }
    latest.append(receipt)
    if latest.count > 2 { latest.removeFirst() }
  }
}

extension LeakCase {
  static let singletonCache = LeakCase("singleton-cache") { variant in
    var number = 0
    forEachRound {
      number += 1
      Till.shared.print(Receipt(number), keep: variant == .asNamed)
    }
  }
}
