// Every subscription has a lifetime.
//
//     Subscriptions [--variant NAME]
import SampleSupport

@main
struct SubscriptionsSample {
  @MainActor
  static func main() async {
    let variant = SampleArguments<Variant>().variant
    switch variant {
    case .strong, .method, .weak, .with: await tellOwnerStory(variant, models: 5)
    case .dropped: await tellDroppedStory(events: 10)
    case .finished: await tellFinishedStory(subscriptions: 1_000)
    case .bag: await tellBagStory(DisposeBag(), subscriptions: 100_000)
    case .lifetimeBag: await tellBagStory(LifetimeBag(), subscriptions: 100_000)
    case .take: tellTakeStory()
    case .order: tellOrderStory()
    }
  }
}
