// Difference: what survived between two snapshots, timed.
//
//     Difference FIRST LAST ROUNDS    a JSON line a round for marks of one run, and one as if they were of two runs

import Glibc
import GraphAnalysis
import SnapshotFormat

func processorTime() -> Int {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// Ends the program with a word to standard error.
func fail(_ text: String, status: Int32) -> Never {
  _ = (text + "\n").withCString { write(2, $0, strlen($0)) }
  exit(status)
}

let arguments = CommandLine.arguments
guard arguments.count == 4, let rounds = Int(arguments[3]) else {
  fail("usage: Difference FIRST LAST ROUNDS", status: 2)
}
do {
  let first = try Snapshot(contentsOf: arguments[1])
  let last = try Snapshot(contentsOf: arguments[2])
  var other = last
  other.process.runIdentity &+= 1
  for _ in 0..<rounds {
    for (kind, compared) in [("ordered", last), ("unordered", other)] {
      let start = processorTime()
      let found = difference(from: first, to: compared)
      let took = processorTime() - start
      print(
        "{\"kind\": \"\(kind)\", \"ns\": \(took), \"objects\": \(max(first.nodes.count, last.nodes.count)),"
          + " \"survived\": \(found.survived.count)}")
    }
  }
} catch {
  fail("Difference: \(error)", status: 1)
}
