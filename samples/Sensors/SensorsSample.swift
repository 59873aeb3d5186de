// Stopping updates when a feature ends.
//
//     Sensors [--variant NAME]
import SampleSupport

@main
struct SensorsSample {
  @MainActor
  static func main() async {
    switch SampleArguments<Variant>().variant {
    case .strong: await tellModelStory(.strong)
    case .weakOnly: await tellModelStory(.weakOnly)
    case .cancelOnly: await tellModelStory(.cancelOnly)
    case .fixed: await tellModelStory(.weakAndCancel)
    case .leases: await LeaseStory().tell { await $0.leases() }
    case .capturedLease: await LeaseStory().tell { await $0.capturedLease() }
    case .rates: await LeaseStory().tell { await $0.rates() }
    case .stream: await LeaseStory().tell { await $0.stream() }
    }
  }
}
