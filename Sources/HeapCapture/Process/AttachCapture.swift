// AttachCapture: a snapshot of a process that runs on, with the agent or without.

/// Captures a process: stops it, copies what may change, lets it go on, and reads the copy.
///
/// The copy takes as much memory as the process has pages of its own. Code and constants are read
/// afterwards.
///
/// - Parameter opening: what makes of a process's number, or of that of a thread of it, its memory.
/// - Throws: ``CaptureError``; the process goes on in every case.
/// - Complexity: the stop is O(*n*) for *n* bytes of the process's own; the rest is that of
///   `captureSnapshot(memory:inventory:threads:)`.
package func captureProcess(
  _ pid: Int32, opening: (Int32) throws(CaptureError) -> any MemorySource = openProcess
) throws(CaptureError) -> OutsideCapture {
  let stopped = try copyProcess(pid, opening: opening)
  return try refusingLost(stopped.memory.source, pid: pid) { () throws(CaptureError) in
    try captureFromOutside(
      memory: stopped.memory, threads: stopped.threads, pid: UInt32(pid),
      pidInside: pidInside(of: pid), pauseNanoseconds: stopped.pauseNanoseconds)
  }
}

/// The memory of a process.
package func openProcess(_ pid: Int32) throws(CaptureError) -> any MemorySource {
  try ProcessMemory(pid: pid, name: "pid")
}

/// A process as it stood at one moment.
struct StoppedCopy {
  var memory: TargetMemory
  var threads: [ThreadState]

  /// How long it stood still.
  var pauseNanoseconds: UInt64
}

/// Stops a process, copies what may change, and lets it go on.
func copyProcess(
  _ pid: Int32, opening: (Int32) throws(CaptureError) -> any MemorySource = openProcess
) throws(CaptureError) -> StoppedCopy {
  // Memory for the copy is made before the stop: that is half of the work.
  let room = (try? ProcessMemory(pid: pid, name: "pid")).map { TargetMemory($0) }
  room?.makeRoom(pages: PageMap(pid: pid))
  let clock = ContinuousClock()
  let start = clock.now
  var copy = try withStoppedThreads(of: pid) { (threads) throws(CaptureError) -> StoppedCopy in
    // A main thread that has ended has no memory any more; any other thread's number will do.
    let isMainAlive = threads.contains { $0.id == UInt32(pid) }
    let number = isMainAlive ? pid : Int32(threads[0].id)
    let source: any MemorySource
    do throws(CaptureError) {
      source = try opening(number)
    } catch {
      // It could be stopped, so it was there.
      throw hasMemory(number) ? error : .endedMeanwhile(pid: pid)
    }
    let memory = TargetMemory(source, room: room)
    memory.copyWhatMayChange(pages: PageMap(pid: number))
    return StoppedCopy(memory: memory, threads: threads, pauseNanoseconds: 0)
  }
  let pause = (clock.now - start).components
  copy.pauseNanoseconds =
    UInt64(pause.seconds) * 1_000_000_000 + UInt64(pause.attoseconds / 1_000_000_000)
  return copy
}

/// Whether a process has memory: one that has ended, or is about to, has none.
private func hasMemory(_ pid: Int32) -> Bool {
  guard let pages = readWholeFile("/proc/\(pid)/statm") else { return false }
  return !pages.hasPrefix("0 ")
}

/// The number that a process or thread has in its own namespace, as in a container.
package func pidInside(of pid: Int32) -> UInt32 {
  for line in (readWholeFile("/proc/\(pid)/status") ?? "").split(separator: "\n")
  where line.hasPrefix("NSpid:") {
    return line.split(separator: "\t").last.flatMap { UInt32($0) } ?? UInt32(pid)
  }
  return UInt32(pid)
}
