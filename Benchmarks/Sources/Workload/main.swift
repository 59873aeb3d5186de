// Workload: programs that ask for memory as Swift programs do, each with the time that it took.
//
//     Workload NAME SCALE [THREADS]
//
// The last line is `RESULT sum=N ns=N` and more that the workload tells; the sum is the same with and without an agent.

import Foundation
import Glibc

let workloads: [String: @Sendable (Int) -> Int] = [
  "itrees": flatTrees, "trees": deepTrees, "mix": records, "live": liveTrees, "loop": ring,
]

let arguments = CommandLine.arguments
guard arguments.count >= 3, let size = Double(arguments[2]), size > 0 else {
  fail("usage: Workload NAME SCALE [THREADS]", status: 2)
}
let scale = max(Int(size), 1)
let threadCount = arguments.count > 3 ? Int(arguments[3]) ?? 1 : 1

switch arguments[1] {
case "pause": measurePauses(gigabytes: size)
case "objects": holdObjects(count: scale)
case "blocks": scanBlocks(count: scale)
case "fidelity": keepAndLeak(count: scale)
case let name:
  guard let work = workloads[name] else {
    fail("Workload: no workload \(name)", status: 2)
  }
  let start = now()
  var sum = 0
  if threadCount == 1 {
    sum = work(scale)
  } else {
    let results = Results(count: threadCount)
    let group = DispatchGroup()
    for place in 0..<threadCount {
      group.enter()
      let thread = Thread {
        results.set(work(scale), at: place)
        group.leave()
      }
      thread.stackSize = 16 << 20
      thread.start()
    }
    group.wait()
    sum = results.sum
  }
  print("RESULT sum=\(sum) ns=\(now() - start) resident=\(peakResident())")
}
