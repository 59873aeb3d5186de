// A program to capture from outside: it prepares a heap, says `ready`, and stands still until its input
// ends. It knows nothing of the agent.
import Glibc

let mode = CommandLine.arguments.count > 1 ? CommandLine.arguments[1] : ""

switch mode {
case "churn":
  // churn SEED THREADS: what the malloc family can do, in random order on several threads.
  let seed = UInt64(CommandLine.arguments[2]) ?? 0
  let threads = Int(CommandLine.arguments[3]) ?? 1
  churn(seed: seed, threads: threads)
case "graph":
  buildGraph()
case "tick":
  // Counts on two threads until its input ends, then says how far it came.
  tick()
case "shared-break":
  // Others move the program's break too.
  sharedBreak()
default:
  print("usage: OutsideTarget churn SEED THREADS | graph | tick | shared-break")
  exit(2)
}

/// Says that the program stands still from here on, and waits until its input ends.
func standStill() {
  print("ready")
  fflush(nil)
  var byte: UInt8 = 0
  while read(0, &byte, 1) > 0 {}
}
