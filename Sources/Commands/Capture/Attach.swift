// attach: a snapshot of a running process that nobody prepared.

internal import HeapCapture

extension Verb {
  package static let attach = Verb(
    "attach", operands: "PID", operandCount: 1...1,
    summary: "takes a snapshot of a running Swift process, with the agent or without",
    discussion: """
      The process stands still while its memory is copied, and then goes on; how long is
      said. Without the agent nobody recorded allocations: there are no stacks, marks and
      generations, and sizes are those that the allocator gave, not those asked for.
      The process must belong to you, and tracing must be allowed (ptrace).
      """,
    options: [
      Option(
        "output", letter: "o", .text("FILE"),
        help: "write the snapshot to FILE (default: PID.mgraph)")
    ],
    examples: [
      Example("memgraph attach 4711", "Writes 4711.mgraph into the current folder."),
      Example(
        "memgraph attach 4711 -o now.mgraph",
        "For `memgraph leaks now.mgraph`: what has it leaked so far?"),
    ]
  ) { call in
    let word = call.arguments.operands[0]
    guard let pid = Int32(word), pid > 0 else {
      throw CommandError(
        word, "not the number of a process", mend: "`pidof NAME` finds it", status: .usage)
    }
    let progress = call.progress
    defer { progress.finish() }
    progress.report(step: "capturing process \(pid)", done: 0, total: 0)
    let capture: OutsideCapture
    do throws(CaptureError) {
      capture = try captureProcess(pid)
    } catch {
      throw CommandError("process \(pid)", "\(error)", status: .impossible)
    }
    try call.write(
      capture, to: call.arguments.text(.output) ?? "\(pid).mgraph",
      hint: "start the program under `memgraph run` for them", progress: progress)
    return .nothingFound
  }
}
