// AttachCapture: a snapshot of a process that runs on, with the agent or without.

/// Captures a process: stops it, copies what may change, lets it go on, and reads the copy.
///
/// The copy takes as much memory as the process has pages of its own. Code and constants are read
/// afterwards.
///
/// - Throws: ``CaptureError``; the process goes on in every case.
/// - Complexity: the stop is O(*n*) for *n* bytes of the process's own; the rest is that of
///   `captureSnapshot(memory:inventory:threads:)`.
package func captureProcess(_ pid: Int32) throws(CaptureError) -> OutsideCapture {
  let stopped = try copyProcess(pid)
  return try captureFromOutside(
    memory: stopped.memory, threads: stopped.threads, pid: UInt32(pid),
    pidInside: pidInside(of: pid), pauseNanoseconds: stopped.pauseNanoseconds)
}

/// A process as it stood at one moment.
struct StoppedCopy {
  var memory: TargetMemory
  var threads: [ThreadState]

  /// How long it stood still.
  var pauseNanoseconds: UInt64
}

/// Stops a process, copies what may change, and lets it go on.
func copyProcess(_ pid: Int32) throws(CaptureError) -> StoppedCopy {
  let clock = ContinuousClock()
  let start = clock.now
  var copy = try withStoppedThreads(of: pid) { (threads) throws(CaptureError) -> StoppedCopy in
    let memory = TargetMemory(try ProcessMemory(pid: pid, name: "pid"))
    memory.copyWhatMayChange(pages: PageMap(pid: pid))
    return StoppedCopy(memory: memory, threads: threads, pauseNanoseconds: 0)
  }
  let pause = (clock.now - start).components
  copy.pauseNanoseconds =
    UInt64(pause.seconds) * 1_000_000_000 + UInt64(pause.attoseconds / 1_000_000_000)
  return copy
}

/// The number that a process has in its own namespace, as in a container.
private func pidInside(of pid: Int32) -> UInt32 {
  for line in (readWholeFile("/proc/\(pid)/status") ?? "").split(separator: "\n")
  where line.hasPrefix("NSpid:") {
    return line.split(separator: "\t").last.flatMap { UInt32($0) } ?? UInt32(pid)
  }
  return UInt32(pid)
}
