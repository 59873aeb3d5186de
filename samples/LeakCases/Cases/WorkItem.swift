// A work item is stored by the object that its block captures; that it has run doesn't empty it.
import Dispatch

final class Redialer: @unchecked Sendable {
  private var next: DispatchWorkItem?
  private var calls = 0
  init() { Live.born(Self.self) }
  deinit { Live.died(Self.self) }

  func dial(weakly: Bool) {
    let item =
      weakly
      ? DispatchWorkItem { [weak self] in self?.calls += 1 }
      : DispatchWorkItem { self.calls += 1 }
    next = item
    item.perform()
  }
}

extension LeakCase {
  static let workItem = LeakCase("work-item") { variant in
    forEachRound { Redialer().dial(weakly: variant.isMended) }
  }
}
