// WriteCapture: what attach and core do with a capture: the file, and a few lines on what is in it.

internal import GraphPrimitives
internal import HeapCapture
internal import SnapshotFormat

extension Invocation {
  /// Writes a snapshot and says on the output what it is.
  ///
  /// - Parameter hint: how to get stacks and generations next time.
  func write(
    _ capture: OutsideCapture, to path: String, hint: String, progress: TerminalProgress
  ) throws {
    progress.report(step: "writing \(path)", done: 0, total: 0)
    try capture.snapshot.write(to: path)
    progress.finish()
    if capture.snapshot.process.isPartial {
      note(
        "\(path): blocks of the program could not be read, so the snapshot is partial;"
          + " what they may hold is not called leaked")
    }
    for gap in fileGaps(in: capture.snapshot) { note(gap) }
    guard !arguments.has(.quiet) else { return }
    let snapshot = capture.snapshot
    let swift = snapshot.nodes.kind.count { $0 != NodeKind.block.rawValue }
    var lines = ["\(path): \(snapshot.nodes.count) blocks, \(swift) of them Swift's"]
    if capture.pauseNanoseconds > 0 {
      let microseconds = capture.pauseNanoseconds / 1_000
      lines[0] +=
        "; the process stood still for \(microseconds / 1_000).\(microseconds % 1_000 / 100) ms"
    }
    if !capture.hasAgent {
      lines.append("no agent in the program, so no stacks, marks and generations; \(hint)")
    }
    try console.tell(lines.joined(separator: "\n"))
  }
}
