// A promise that is never kept holds the callbacks of who waits for it, and one of them holds the order.

final class Pledge<Value> {
  private var waiters: [(Value) -> Void] = []
  private var value: Value?
  init() { Live.born(Self.self) }
  deinit { Live.died(Self.self) }

  func then(_ waiter: @escaping (Value) -> Void) {
    if let value { waiter(value) } else { waiters.append(waiter) }
  }
  func keep(_ value: Value) {
    self.value = value
    let waiting = waiters
    waiters = []
    for waiter in waiting { waiter(value) }
  }
  func map<Other>(_ transform: @escaping (Value) -> Other) -> Pledge<Other> {
    let mapped = Pledge<Other>()
    then { mapped.keep(transform($0)) }
    return mapped
  }
}

final class Order {
  let accepted = Pledge<Int>()
  private var message: Pledge<String>?
  private var seen: [Int] = []
  init(weakly: Bool) {
    Live.born(Self.self)
    if weakly {
      message = accepted.map { [weak self] number in self?.describe(number) ?? "" }
    } else {
      message = accepted.map { number in self.describe(number) }
    }
  }
  deinit { Live.died(Self.self) }
  private func describe(_ number: Int) -> String {
    seen.append(number)
    return "order \(number)"
  }
}

extension LeakCase {
  static let promise = LeakCase("promise") { variant in
    forEachRound {
      let answered = Order(weakly: false)
      answered.accepted.keep(1)
      let waiting = Order(weakly: variant == .advised)
      if variant == .opposite { waiting.accepted.keep(2) }
    }
  }
}
