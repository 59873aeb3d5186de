// The collector that kept collecting after the screen was gone.
//
//     Feed [--variant NAME] [--cycles N]
import SampleSupport

@main
struct FeedSample {
  @MainActor
  static func main() async {
    let arguments = SampleArguments<Variant>(counting: "--cycles", default: 40)
    if arguments.variant == .visibility {
      await printVisibilityTable()
    } else {
      await PushPop(variant: arguments.variant).run(cycles: arguments.count)
    }
  }
}
