// Holds one consultation after the other, with a mark after each.
//
//     VideoCall [--calls N] [--leak closure,renderers,observers,handle|all|none] [--teardown]
import CPeerConnection
import SampleSupport

let options: Options
do {
  options = try Options(arguments: Array(CommandLine.arguments.dropFirst()))
} catch {
  exitWithUsage(error)
}

print(
  "\(options.calls) calls, leaks: \(options.leaks), teardown: \(options.tearsDown ? "yes" : "no")")
for call in 1...options.calls {
  holdConsultation(options)
  let openConnections = peer_connection_open_count()
  print("call \(call): \(LiveCounts.summary) open-connections=\(openConnections)")
  Agent.mark("call-\(call)")
}
