// The reference lies in a struct that is too large for an existential's own words, so it is boxed.

protocol Rule {
  func allows(_ amount: Int) -> Bool
}

struct DailyLimit: Rule {
  var limit: Int
  var used: Int
  var currency: String
  var account: Account?
  func allows(_ amount: Int) -> Bool { used + amount <= limit }
}

final class Account {
  var rules: [any Rule] = []
  init() { Live.born(Self.self) }
  deinit { Live.died(Self.self) }
  func pay(_ amount: Int) -> Bool { rules.allSatisfy { $0.allows(amount) } }
}

extension LeakCase {
  static let existentialBox = LeakCase("existential-box") { variant in
    forEachRound {
      let account = Account()
      account.rules.append(
        DailyLimit(
          limit: 10, used: 1, currency: "EUR", account: variant == .advised ? nil : account))
      _ = account.pay(3)
      if variant == .opposite { account.rules = [] }
    }
  }
}
