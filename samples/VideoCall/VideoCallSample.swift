// A consultation screen that refuses to die: one consultation after the other, with a mark after each.
//
//     VideoCall [--variant NAME] [--calls N]
import CPeerConnection
import SampleSupport

@main
struct VideoCallSample {
  @MainActor
  static func main() {
    let arguments = SampleArguments<Variant>(counting: "--calls", default: 5)
    print("\(arguments.count) calls, variant: \(arguments.variant.rawValue)")
    for call in 1...arguments.count {
      holdConsultation(arguments.variant)
      let openConnections = peer_connection_open_count()
      print("call \(call): \(LiveCounts.summary) open-connections=\(openConnections)")
      Agent.mark("call-\(call)")
    }
  }
}
