// An actor stores a callback that captures the actor.

actor Warehouse {
  private var onDelivery: (@Sendable (Int) async -> Void)?
  private var stock = 0
  init() { Live.born(Self.self) }
  deinit { Live.died(Self.self) }

  func open(weakly: Bool) {
    if weakly {
      onDelivery = { [weak self] amount in await self?.store(amount) }
    } else {
      onDelivery = { amount in await self.store(amount) }
    }
  }
  func deliver(_ amount: Int) async { await onDelivery?(amount) }
  private func store(_ amount: Int) { stock += amount }
}

extension LeakCase {
  static let actorCallback = LeakCase("actor-callback") { variant in
    await forEachSettledRound {
      let warehouse = Warehouse()
      await warehouse.open(weakly: variant.isMended)
      await warehouse.deliver(4)
    }
  }
}
