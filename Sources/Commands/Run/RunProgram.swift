// RunProgram: `memgraph run`: a program with the agent preloaded, its snapshots, its signals, its end.

internal import Glibc
internal import HeapCapture

/// How a program ended.
package enum ProgramEnd: Hashable, Sendable {
  case exited(status: Int32)
  case killed(signal: Int32)

  /// The end in what `waitpid` reports.
  init(waitStatus: Int32) {
    let signal = waitStatus & 0x7f
    self =
      signal == 0 ? .exited(status: waitStatus >> 8 & 0xff) : .killed(signal: signal)
  }

  /// Ends this process in the same way, so that its parent sees what it would have seen.
  ///
  /// - Returns: the exit status to end with. After a signal it does not return, unless the signal can't
  ///   kill this process; then it is 128 and the signal's number, as shells have it.
  package func reproduced() -> Int32 {
    switch self {
    case .exited(let status): return status
    case .killed(let signal):
      // The program has left its core, if cores are wanted; the tool's own would replace it.
      var none = rlimit(rlim_cur: 0, rlim_max: 0)
      setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
      Glibc.signal(signal, SIG_DFL)
      var set = sigset_t()
      sigemptyset(&set)
      sigaddset(&set, signal)
      kill(getpid(), signal)
      pthread_sigmask(SIG_UNBLOCK, &set, nil)
      return 128 + signal
    }
  }
}

/// An end at which no code of the program runs any more, so that there is no snapshot of it.
package enum AbruptEnd: Hashable, Sendable {
  /// A signal that the program did not handle: a crash, `abort`, Ctrl-C.
  case killed(signal: Int32)

  /// `_exit` or `quick_exit`, or the program became another one.
  case left(status: Int32)

  /// The same of a process that the program started.
  case ofChild(pid: Int32)
}

/// What came of a run.
package struct ProgramRun: Sendable {
  package var end: ProgramEnd

  /// Whether the agent worked in the program: it does nothing in one that is not Swift.
  package var hadAgent: Bool

  /// What ended without the snapshot of its end that was wanted.
  package var abrupt: AbruptEnd?

  package var snapshots: SnapshotTally
}

/// Runs a program with the agent and serves its snapshots until it ends.
///
/// The program has this process's standard streams, environment, folder and process group. Signals
/// that a process sends to this one alone are handed on; those that a terminal or a process sends to the
/// group reach the program by themselves. Nothing of the run stays behind but the snapshots.
///
/// - Throws: ``RunError`` where the program was not started.
package func runProgram(_ options: RunOptions) throws(RunError) -> ProgramRun {
  let library = try _preloadedLibrary(options)
  let tool = options.readerTool ?? "/proc/self/exe"
  let folder = try _absoluteFolder(options.outputFolder)

  let channel = try SnapshotServer(readerTool: tool, outputFolder: folder)
  defer { channel.close() }
  let signals = ForwardedSignals(tool: tool)
  defer { signals.restore() }

  let environment = _environment(
    options, library: library, folder: folder, channel: channel.path)
  let pid = try _spawn(options, environment: environment, mask: signals.maskBefore)
  channel.start()
  let timer = options.secondsBetweenMarks.map { seconds in
    _MarkTimer(seconds: seconds, channel: channel)
  }
  let end = signals.forwardUntilEnd(of: pid)
  timer?.stop()
  channel.drain()
  let withoutEnd = options.takesExitSnapshot ? channel.programsWithoutEnd : []
  var abrupt: AbruptEnd?
  if withoutEnd.contains(pid) {
    switch end {
    case .killed(let signal): abrupt = .killed(signal: signal)
    case .exited(let status): abrupt = .left(status: status)
    }
  } else if let first = withoutEnd.first {
    abrupt = .ofChild(pid: first)
  }
  return ProgramRun(
    end: end, hadAgent: !channel.programs.isEmpty, abrupt: abrupt, snapshots: channel.tally)
}

// MARK: - Before the start

private func _preloadedLibrary(_ options: RunOptions) throws(RunError) -> String {
  if let path = options.preloadedLibrary { return path }
  let name = "libMemoryGraphPreload.so"
  let folder = ownFolder()
  guard !folder.isEmpty else {
    throw RunError(name, "this tool can't find itself: /proc is not there")
  }
  let path = folder + name
  guard access(path, R_OK) == 0 else {
    throw RunError(
      path, "the library to preload is not beside the tool; build the whole package")
  }
  // The loader splits the list at these.
  guard !path.contains(":"), !path.contains(" ") else {
    throw RunError(
      path, "LD_PRELOAD can't name a path with a space or a colon; move the tool elsewhere")
  }
  return path
}

/// Makes the folder, with those above it.
private func _absoluteFolder(_ folder: String) throws(RunError) -> String {
  var path = ""
  for part in folder.split(separator: "/", omittingEmptySubsequences: true) {
    path += (path.isEmpty && !folder.hasPrefix("/") ? "" : "/") + part
    guard mkdir(path, 0o777) == 0 || errno == EEXIST else {
      throw RunError(folder, "the folder can't be made: \(String(cString: strerror(errno)))")
    }
  }
  guard let resolved = realpath(folder.isEmpty ? "." : folder, nil) else {
    throw RunError(folder, "not a folder: \(String(cString: strerror(errno)))")
  }
  defer { free(resolved) }
  guard access(resolved, W_OK | X_OK) == 0 else {
    throw RunError(
      folder,
      "snapshots can't be written there: \(String(cString: strerror(errno))); "
        + "name another folder with --out")
  }
  return String(cString: resolved)
}

private func _environment(
  _ options: RunOptions, library: String, folder: String, channel: String
) -> [String] {
  // What the checks of tests accept is no business of this run's recording.
  var entries = currentEnvironment().filter {
    !$0.hasPrefix("MEMORY_GRAPH_") || $0.hasPrefix("MEMORY_GRAPH_KNOWN=")
  }
  let preload = entries.firstIndex { $0.hasPrefix("LD_PRELOAD=") }
  if let preload, entries[preload].utf8.count > "LD_PRELOAD=".utf8.count {
    entries[preload] = "LD_PRELOAD=\(library):" + entries[preload].dropFirst("LD_PRELOAD=".count)
  } else {
    entries.removeAll { $0.hasPrefix("LD_PRELOAD=") }
    entries.append("LD_PRELOAD=\(library)")
  }
  entries.append("MEMORY_GRAPH_CHANNEL=\(channel)")
  entries.append("MEMORY_GRAPH_OUT=\(folder)")
  // The agent takes its own variables out of the environment; leak checks in the program leave their files there, too.
  entries.append("MEMORY_GRAPH_FAILURES=\(folder)")
  entries.append("MEMORY_GRAPH_STACKS=\(options.stacks.rawValue)")
  if options.takesExitSnapshot { entries.append("MEMORY_GRAPH_AT_EXIT=1") }
  if options.swiftOnly { entries.append("MEMORY_GRAPH_BLOCKS=swift") }
  if let bytes = options.sampleInterval { entries.append("MEMORY_GRAPH_SAMPLE=\(bytes)") }
  if let bytes = options.tableBytes { entries.append("MEMORY_GRAPH_TABLE_BYTES=\(bytes)") }
  if options.showsKeys { entries.append("MEMORY_GRAPH_CONTENTS=keys") }
  return entries
}

private func _spawn(
  _ options: RunOptions, environment: [String], mask: sigset_t
) throws(RunError) -> pid_t {
  var attributes = posix_spawnattr_t()
  posix_spawnattr_init(&attributes)
  defer { posix_spawnattr_destroy(&attributes) }
  var mask = mask
  posix_spawnattr_setsigmask(&attributes, &mask)
  posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
  var pid: pid_t = 0
  let error = withCStrings([options.program] + options.arguments) { arguments in
    withCStrings(environment) { environment in
      posix_spawnp(&pid, options.program, nil, &attributes, arguments, environment)
    }
  }
  guard error == 0 else {
    throw RunError(options.program, "can't be run: \(String(cString: strerror(error)))")
  }
  return pid
}

// MARK: - While it runs

/// Asks the program for a mark again and again.
private final class _MarkTimer: @unchecked Sendable {
  private let _stop = StopFlag()
  private let _thread: pthread_t

  init(seconds: Double, channel: SnapshotServer) {
    let stop = _stop
    _thread = startLargeThread {
      var count = 0
      while !stop.wait(seconds: seconds) {
        count += 1
        for pid in channel.programs {
          // A program that has just ended has nothing to be marked.
          _ = try? markProcess(pid: pid, name: "every-\(count)")
        }
      }
    }
  }

  func stop() {
    _stop.raise()
    pthread_join(_thread, nil)
  }
}
