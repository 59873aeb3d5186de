// A shared bell keeps a list of handlers, and a handler keeps the guest that added it.

final class Bell: @unchecked Sendable {
  static let shared = Bell()
  private var handlers: [Int: () -> Void] = [:]
  private var last = 0

  func add(_ handler: @escaping () -> Void) -> Int {
    last += 1
    handlers[last] = handler
    return last
  }
  func remove(_ number: Int) { handlers[number] = nil }
  func ring() { for handler in handlers.values { handler() } }
}

final class Guest {
  private var rings = 0
  private var name = "a guest"
  private var number = 0
  init() { Live.born(Self.self) }
  deinit {
    // Meant as the clean-up; it can't run while the bell's handler holds the guest.
    leave()
    Live.died(Self.self)
  }
  func arrive() {
    let greeting = "welcome, \(name)"
    number = Bell.shared.add { self.rings += greeting.utf8.count }
  }
  func leave() { Bell.shared.remove(number) }
}

extension LeakCase {
  static let handlerList = LeakCase("handler-list") { variant in
    forEachRound {
      let guest = Guest()
      guest.arrive()
      Bell.shared.ring()
      if variant.isMended { guest.leave() }
    }
  }
}
