// A program to capture from outside: it prepares a heap, says `ready`, and stands still until its input
// ends. It knows nothing of the agent.
import Glibc

/// Of `prctl`, whose header Glibc's module leaves out.
let setDumpable: CInt = 4

let mode = CommandLine.arguments.count > 1 ? CommandLine.arguments[1] : ""

if CommandLine.arguments.last == "undumpable" {
  // As a program that changed its user, or has secrets: nobody without privileges may read its memory.
  typealias ProcessControl = @convention(c) (CInt, UInt, UInt, UInt, UInt) -> CInt
  let control = unsafeBitCast(dlsym(nil, "prctl"), to: ProcessControl.self)
  precondition(control(setDumpable, 0, 0, 0, 0) == 0)
}

switch mode {
case "churn":
  // churn SEED THREADS: what the malloc family can do, in random order on several threads.
  let seed = UInt64(CommandLine.arguments[2]) ?? 0
  let threads = Int(CommandLine.arguments[3]) ?? 1
  churn(seed: seed, threads: threads)
case "hand-over":
  // hand-over SEED THREADS: threads free blocks of others and end.
  let seed = UInt64(CommandLine.arguments[2]) ?? 0
  let threads = Int(CommandLine.arguments[3]) ?? 1
  handOver(seed: seed, threads: threads)
case "graph":
  buildGraph()
case "exec-at-signal":
  // The graph, and another program in its place when SIGUSR2 comes.
  signal(SIGUSR2) { _ in
    let words: [UnsafeMutablePointer<CChar>?] = [strdup("sleep"), strdup("600"), nil]
    execv("/bin/sleep", words)
  }
  buildGraph()
case "phantoms":
  // Memory of C that begins like an object.
  makePhantoms()
case "main-ends":
  // The main thread ends, another goes on.
  goOnWithoutMain()
case "tick":
  // Counts on two threads until its input ends, then says how far it came.
  tick()
case "spin":
  // Threads that run and have objects where no other code looks.
  spin()
case "streams":
  // Old words in the buffers of streams.
  leaveWordsInStreams()
case "shared-break":
  // Others move the program's break too.
  sharedBreak()
default:
  print(
    "usage: OutsideTarget churn SEED THREADS | hand-over SEED THREADS | graph | tick | spin"
      + " | streams | shared-break"
  )
  exit(2)
}

/// Says that the program stands still from here on, and waits until its input ends.
func standStill() {
  fflush(nil)
  // Past the output's buffer: a block as large as that empties all fast bins.
  _ = write(1, "ready\n", 6)
  var byte: UInt8 = 0
  while read(0, &byte, 1) > 0 {}
}
