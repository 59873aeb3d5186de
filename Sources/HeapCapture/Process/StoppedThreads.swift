// StoppedThreads: all threads of another process, stopped for as long as a closure runs.

internal import CHeapCapture
internal import Glibc

/// Stops all threads of a process, calls `body` with their state, and lets them go on.
///
/// Threads that are born meanwhile are stopped too: the list is read again until nothing new is in it.
/// The process goes on whatever happens: every path detaches, signals that arrived are handed on, and
/// where this process is killed the kernel detaches. A system call that waits for an event may end early
/// in the stopped program, as after any stop and continue (`EINTR` from `epoll_wait`).
///
/// - Parameters:
///   - pid: the process; not this one.
///   - patience: how many milliseconds a thread may take to stop.
/// - Throws: ``CaptureError`` where the process is gone, may not be traced, or a thread does not stop;
///   what `body` throws.
/// - Complexity: O(*t*) system calls for *t* threads.
func withStoppedThreads<Result>(
  of pid: Int32, patience: Int = 2_000,
  _ body: ([ThreadState]) throws(CaptureError) -> Result
) throws(CaptureError) -> Result {
  var stop = ThreadStop(pid: pid)
  defer { stop.release() }
  try stop.stopAll(patience: patience)
  return try body(stop.states())
}

/// The stop itself. All calls are made on one thread, as the kernel wants it.
private struct ThreadStop {
  private let _pid: Int32
  /// Traced threads, and the signal that each is to receive when it goes on.
  private var _signals: [Int32: Int32] = [:]
  private var _stopped: Set<Int32> = []
  private var _order: [Int32] = []

  init(pid: Int32) { _pid = pid }

  mutating func stopAll(patience: Int) throws(CaptureError) {
    if _pid == getpid() { throw .notPermitted(pid: _pid, because: "it is this process itself") }
    guard _pid > 0, kill(_pid, 0) == 0 || errno == EPERM else {
      throw .noSuchProcess(pid: _pid)
    }
    // A thread can only be born of one that still runs; when a whole listing holds nothing new and all
    // in it have stopped, there is none.
    while true {
      var isNew = false
      for thread in _listing() where _signals[thread] == nil {
        if try _seize(thread) { isNew = true }
      }
      if !isNew { break }
      try _wait(patience: patience)
    }
    if _stopped.isEmpty { throw .noSuchProcess(pid: _pid) }
  }

  private func _listing() -> [Int32] {
    guard let folder = opendir("/proc/\(_pid)/task") else { return [] }
    defer { closedir(folder) }
    var threads: [Int32] = []
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if let thread = Int32(name) { threads.append(thread) }
    }
    return threads
  }

  /// - Returns: false where the thread has just ended.
  private mutating func _seize(_ thread: Int32) throws(CaptureError) -> Bool {
    let error = mg_trace_seize(thread)
    switch error {
    case 0:
      break
    case ESRCH:
      return false
    default:
      if let tracer = tracer(of: thread), tracer != getpid(), tracer != 0 {
        throw .alreadyTraced(pid: _pid, by: tracer)
      }
      // The listing may be older than the thread's end. The main thread stays in it where it has ended
      // by itself (`pthread_exit`) and others go on.
      if thread != _pid, state(of: thread) == nil { return false }
      if state(of: thread) == "Z" { return false }
      throw .notPermitted(pid: _pid, because: reasonForRefusal(pid: _pid))
    }
    _signals[thread] = 0
    _order.append(thread)
    _ = mg_trace_interrupt(thread)
    return true
  }

  /// Waits until all traced threads have stopped or ended.
  private mutating func _wait(patience: Int) throws(CaptureError) {
    var waited = 0
    while true {
      for thread in _order where _signals[thread] != nil && !_stopped.contains(thread) {
        var signal: Int32 = 0
        var isGroupStop: Int32 = 0
        switch mg_trace_has_stopped(thread, &signal, &isGroupStop) {
        case 1:
          _stopped.insert(thread)
          _signals[thread] = signal
        case -1:
          _signals[thread] = nil
          _order.removeAll { $0 == thread }
        default:
          break
        }
      }
      guard let late = _order.first(where: { !_stopped.contains($0) }) else { return }
      // The first rounds only give the processor away: most threads stop at once.
      if waited >= patience * 1_000 { throw .didNotStop(pid: _pid, thread: late) }
      usleep(waited < 1_000 ? 50 : 1_000)
      waited += waited < 1_000 ? 50 : 1_000
    }
  }

  /// The state of each stopped thread.
  func states() -> [ThreadState] {
    let isInNamespace = pidInside(of: _pid) != UInt32(_pid)
    return _order.sorted().compactMap { (thread) -> ThreadState? in
      guard _stopped.contains(thread) else { return nil }
      var registers = mg_thread_registers()
      let isKnown = mg_trace_registers(thread, &registers) == 0
      let general = withUnsafeBytes(of: registers.general) { Array($0.bindMemory(to: UInt64.self)) }
      let name = readWholeFile("/proc/\(_pid)/task/\(thread)/comm") ?? ""
      return ThreadState(
        id: UInt32(thread), name: name.last == "\n" ? String(name.dropLast()) : name,
        isStopped: isKnown, registers: general, pc: registers.pc, stackPointer: general[7],
        threadPointer: registers.thread_pointer, vectorState: _vectorState(of: thread),
        idInside: isInNamespace ? pidInside(of: thread) : nil)
    }
  }

  private func _vectorState(of thread: Int32) -> [UInt64] {
    // More than processors have so far: 11 KB with the matrix registers.
    let room = 1 << 14
    return [UInt64](unsafeUninitializedCapacity: room / 8) { words, count in
      var bytes = room
      let isKnown = mg_trace_vectors(thread, words.baseAddress, &bytes) == 0
      count = isKnown ? min(bytes, room) / 8 : 0
    }
  }

  /// Lets all threads go on.
  mutating func release() {
    var ended: [Int32] = []
    for thread in _order {
      guard let signal = _signals[thread] else { continue }
      if _stopped.contains(thread) {
        if mg_trace_detach(thread, signal) != 0 { ended.append(thread) }
        continue
      }
      // Only a stopped thread can be let go. Where it still does not stop, the kernel detaches when
      // this process ends; till then it runs on, traced.
      var pending: Int32 = 0
      var isGroupStop: Int32 = 0
      if mg_trace_has_stopped(thread, &pending, &isGroupStop) == 1 {
        _ = mg_trace_detach(thread, pending)
      }
    }
    _reap(ended)
    _order = []
    _signals = [:]
    _stopped = []
  }

  /// Hears of the end of threads that were killed while they stood still: the kernel keeps them until their
  /// tracer has, and their process's parent would wait for it.
  private func _reap(_ threads: [Int32]) {
    var rest = threads
    for _ in 0..<1_000 {
      rest.removeAll { thread in
        var signal: Int32 = 0
        var isGroupStop: Int32 = 0
        return mg_trace_has_stopped(thread, &signal, &isGroupStop) == -1
      }
      if rest.isEmpty { return }
      usleep(1_000)
    }
  }
}

/// A field of `/proc/PID/status`; nil where the process or the field is not there.
private func status(of pid: Int32, _ field: String) -> String? {
  guard let text = readWholeFile("/proc/\(pid)/status") else { return nil }
  for line in text.split(separator: "\n") where line.hasPrefix(field + ":") {
    return String(line.dropFirst(field.count + 1).drop { $0 == " " || $0 == "\t" })
  }
  return nil
}

private func tracer(of pid: Int32) -> Int32? { status(of: pid, "TracerPid").flatMap { Int32($0) } }

private func state(of pid: Int32) -> String? {
  status(of: pid, "State").map { String($0.prefix(1)) }
}

/// What forbids tracing a process, and what to do about it.
private func reasonForRefusal(pid: Int32) -> String {
  if let owner = status(of: pid, "Uid")?.split(separator: "\t").first.flatMap({ UInt32($0) }),
    owner != geteuid(), geteuid() != 0
  {
    return "it belongs to another user; run memgraph as that user or with sudo"
  }
  let scope = readWholeFile("/proc/sys/kernel/yama/ptrace_scope")?.prefix(1)
  if let scope, scope != "0", geteuid() != 0 {
    if scope == "1" || scope == "2" {
      return "kernel.yama.ptrace_scope is \(scope); run `sudo sysctl kernel.yama.ptrace_scope=0`,"
        + " use sudo, or start the program under `memgraph run`"
    }
    return "kernel.yama.ptrace_scope is \(scope), which forbids tracing until the next boot;"
      + " start the program under `memgraph run`"
  }
  return "the kernel refuses it (a container without CAP_SYS_PTRACE, a seccomp filter, or a program"
    + " with more rights); start the container with `--cap-add=SYS_PTRACE`, or the program under"
    + " `memgraph run`"
}
