// What is left of a subscription that has finished.
import SampleSupport

/// Something that a subscription needs while it runs.
final class Payload {
  private let bytes = [UInt8](repeating: 1, count: 1_000)

  init() { LiveCounts.born(Self.self) }
  deinit { LiveCounts.died(Self.self) }

  func use() {}
}

/// A running subscription holds what its closure captured; a finished one has let go of it.
@MainActor
func tellFinishedStory(subscriptions count: Int) async {
  let service = SearchService.shared
  await settle()
  Agent.mark("start")
  for _ in 1...count {
    let payload = Payload()
    service.queries.events.subscribe { (_: String) in payload.use() }.disposed(by: service.bag)
  }
  await report("running", entries: service.bag.count)
  service.queries.complete()
  await report("finished", entries: service.bag.count)
}

/// Subscriptions that each finish after one event, in a bag that stays.
@MainActor
func tellBagStory<Bag: SubscriptionBag>(_ bag: Bag, subscriptions count: Int) async {
  Longevity.shared.bag = bag
  await settle()
  Agent.mark("start")
  let ticks = Subject<Int>()
  for half in ["half", "all"] {
    for number in 0..<count / 2 {
      bag.insert(ticks.events.take(1).subscribe { (_: Int) in })
      ticks.send(number)
    }
    await report(half, entries: bag.count)
  }
}

/// What lives as long as the program.
@MainActor
private final class Longevity {
  static let shared = Longevity()
  var bag: (any SubscriptionBag)?
}

/// What the two bags have in common.
@MainActor
protocol SubscriptionBag: AnyObject {
  var count: Int { get }
  func insert(_ subscription: Subscription<Int>)
}

extension DisposeBag: SubscriptionBag {
  func insert(_ subscription: Subscription<Int>) { insert(subscription as any Disposable) }
}

extension LifetimeBag: SubscriptionBag {
  func insert(_ subscription: Subscription<Int>) { insert(subscription as any FinishingDisposable) }
}

@MainActor
private func report(_ name: String, entries: Int) async {
  await settle()
  print("\(name): \(LiveCounts.summary) entries=\(entries)")
  Agent.mark(name)
}
