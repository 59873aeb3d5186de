// SnapshotServer: the socket at which `memgraph run` is asked for snapshots, and who takes them.

internal import Glibc
internal import HeapCapture
internal import Synchronization

/// What became of the snapshots of a run.
package struct SnapshotTally: Sendable {
  /// Their paths, in the order in which they were done.
  package var written: [String] = []

  /// What could not be written, and why.
  package var failures: [(path: String, reason: String)] = []

  /// What is missing in them and how to get it, each sentence once.
  package var notes: [String] = []

  package init() {}
}

/// Listens for the agent and has each snapshot taken by a process of its own.
///
/// The socket lies in a folder that only this user can enter, and a connection of another user is
/// turned away. Root may start a program that becomes another user (`setpriv`, `gosu`), which it must
/// still hear: then whoever knows the socket's name, which nobody can guess or list, is let in, but gets
/// snapshots in the run's folder only. A reader that crashes costs one snapshot.
package final class SnapshotServer: Sendable {
  /// The socket's path.
  package let path: String
  private let _folder: String
  private let _socket: Int32
  private let _readerTool: String
  private let _outputFolder: String
  private let _state = Mutex(State())

  private struct State {
    /// The processes that have greeted.
    var programs: [Int32] = []

    /// Those of them whose snapshot at the end was asked for.
    var ended: Set<Int32> = []
    var tally = SnapshotTally()

    /// Connections of which it is not known yet what they want.
    var unread = 0

    /// Snapshots that are being taken.
    var unfinished = 0

    /// Whether `drain()` has been heard by the thread that accepts.
    var isDrained = false
  }

  /// Opens the socket.
  ///
  /// - Parameters:
  ///   - readerTool: a `memgraph`, run as `memgraph read-twin 3` with the connection.
  ///   - outputFolder: the run's folder, absolute.
  package init(readerTool: String, outputFolder: String) throws(RunError) {
    _readerTool = readerTool
    _outputFolder = outputFolder
    let temporary = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    // A socket's path has 107 bytes at most.
    let parent = temporary.utf8.count <= 64 && temporary.hasPrefix("/") ? temporary : "/tmp"
    var template = Array((parent + "/memgraph-XXXXXX").utf8CString)
    guard mkdtemp(&template) != nil else {
      throw RunError(parent, "no folder for a socket: \(String(cString: strerror(errno)))")
    }
    _folder = template.withUnsafeBufferPointer { String(cString: $0.baseAddress.unsafelyUnwrapped) }
    // Twelve of a generator's bytes: 96 bits that nobody guesses.
    let secret = (0..<12).map { _ in
      String(UInt16.random(in: 0x100...0x1ff), radix: 16).dropFirst()
    }.joined()
    path = _folder + "/" + (geteuid() == 0 ? secret : "channel")
    _socket = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    let bound = withUnixAddress(path) { bind(_socket, $0, $1) }
    guard _socket >= 0, bound == 0, listen(_socket, 64) == 0 else {
      let reason = String(cString: strerror(errno))
      unlink(path)
      rmdir(_folder)
      throw RunError(path, "the socket can't be opened: \(reason)")
    }
    if geteuid() == 0 {
      chmod(_folder, 0o711)
      chmod(path, 0o666)
    }
  }

  /// What became of the snapshots that were asked for.
  package var tally: SnapshotTally { _state.withLock { $0.tally } }

  /// The processes in which the agent has said that it is at work.
  package var programs: [Int32] { _state.withLock { $0.programs } }

  /// The processes with the agent that have not asked for the snapshot of their end.
  package var programsWithoutEnd: [Int32] {
    _state.withLock { state in state.programs.filter { !state.ended.contains($0) } }
  }

  /// Begins to serve, on threads of its own.
  package func start() {
    let thread = startLargeThread { self._acceptAll() }
    pthread_detach(thread)
  }

  /// Waits until it is known of every connection that was made before what it wants and what came of it: a
  /// program may greet, or have its last snapshot, and be gone before that is noted here.
  package func drain() {
    let connection = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer { Glibc.close(connection) }
    // Connections are accepted in order; this process's own is the last.
    guard withUnixAddress(path, { connect(connection, $0, $1) }) == 0 else { return }
    for _ in 0..<2000 {
      if _state.withLock({ $0.isDrained && $0.unread == 0 && $0.unfinished == 0 }) { return }
      usleep(1000)
    }
  }

  /// Ends serving and removes the socket and its folder.
  package func close() {
    unlink(path)
    rmdir(_folder)
    shutdown(_socket, Int32(SHUT_RDWR))
  }

  private func _acceptAll() {
    while true {
      let connection = accept(_socket, nil, nil)
      if connection < 0 {
        if errno == EINTR || errno == ECONNABORTED { continue }
        Glibc.close(_socket)
        return
      }
      closeOnExec(connection)
      let isOwn = peerProcess(of: connection) == getpid()
      if isOwn { _state.withLock { $0.isDrained = true } }
      guard !isOwn, geteuid() == 0 || peerUser(of: connection) == geteuid() else {
        Glibc.close(connection)
        continue
      }
      _state.withLock { $0.unread += 1 }
      // Each on a thread: a mark that takes long must not hold up another program's greeting.
      let thread = startLargeThread {
        self._serve(connection)
        Glibc.close(connection)
      }
      pthread_detach(thread)
    }
  }

  /// Looks at a connection's line without taking it: a request is for the reader to read.
  private func _serve(_ connection: Int32) {
    let (message, hasLeft) = _peek(connection)
    let isGreeting = _state.withLock { state in
      state.unread -= 1
      guard case .hello(let pid, _) = message else {
        if message != nil || !hasLeft { state.unfinished += 1 }
        if case .snapshot(let request) = message, Self._isOfEnd(request.path) {
          state.ended.insert(peerProcess(of: connection) ?? request.pid)
        }
        return false
      }
      // The number that the program has here; in a container it is another than its own.
      state.programs.append(peerProcess(of: connection) ?? pid)
      return true
    }
    // A program that ended before it had said what it wants has asked for nothing.
    if isGreeting || message == nil && hasLeft { return }
    defer { _state.withLock { $0.unfinished -= 1 } }
    var file = "a snapshot"
    if case .snapshot(let request) = message { file = request.path }
    if peerUser(of: connection) != geteuid(), !_isInFolder(file) {
      let sentence =
        "a program of another user than memgraph run's may write to \(_outputFolder) only"
      _ = writeAll(ChannelAnswer.error(errno: EACCES, sentence: sentence).line, to: connection)
      _state.withLock { $0.tally.failures.append((file, sentence)) }
      return
    }
    let (failure, notes) = _read(connection)
    _state.withLock { state in
      for note in notes where !state.tally.notes.contains(note) { state.tally.notes.append(note) }
      if let failure {
        state.tally.failures.append((file, failure))
      } else {
        state.tally.written.append(file)
      }
    }
  }

  /// Whether a file is called as the agent calls the snapshot of a program's end: `exit.mgraph`, or `exit-2.mgraph`
  /// where a mark had that name before.
  private static func _isOfEnd(_ path: String) -> Bool {
    let name = path.split(separator: "/").last ?? ""
    guard name.hasPrefix("exit"), name.hasSuffix(".mgraph") else { return false }
    let rest = name.dropFirst(4).dropLast(7)
    return rest.isEmpty || rest.hasPrefix("-") && rest.dropFirst().allSatisfy(\.isNumber)
  }

  private func _isInFolder(_ path: String) -> Bool {
    path.hasPrefix(_outputFolder + "/")
      && !path.dropFirst(_outputFolder.utf8.count + 1).contains("/")
  }

  /// - Returns: the message, nil where it is none; and whether the other side went away before it had ended a line.
  private func _peek(_ connection: Int32) -> (message: ChannelMessage?, hasLeft: Bool) {
    var buffer = [UInt8](repeating: 0, count: 1 << 14)
    var line: String?
    var before = 0
    while line == nil {
      let count = recv(connection, &buffer, buffer.count, Int32(MSG_PEEK))
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { return (nil, true) }
      if count == buffer.count { return (nil, false) }
      if let end = buffer[..<count].firstIndex(of: UInt8(ascii: "\n")) {
        line = String(decoding: buffer[..<end], as: UTF8.self)
      } else {
        // What is there is seen again, so the end of a part of a line is asked for.
        if count == before, _hasHungUp(connection) { return (nil, true) }
        before = count
        usleep(1000)
      }
    }
    return (line.flatMap(ChannelMessage.init), false)
  }

  /// Whether the other side of a connection is closed.
  private func _hasHungUp(_ connection: Int32) -> Bool {
    var entry = pollfd(fd: connection, events: 0, revents: 0)
    return poll(&entry, 1, 0) == 1 && entry.revents & Int16(POLLHUP) != 0
  }

  /// Runs the reader with a connection, and answers in its place where it ends without an answer.
  ///
  /// - Returns: why there is no snapshot, nil where there is one; and what is missing in it.
  private func _read(_ connection: Int32) -> (failure: String?, notes: [String]) {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    // The reader says on its output why it could not write.
    var output: [Int32] = [-1, -1]
    let hasOutput = pipe(&output) == 0
    if hasOutput {
      output.forEach(closeOnExec)
      posix_spawn_file_actions_adddup2(&actions, output[1], 1)
    }
    posix_spawn_file_actions_adddup2(&actions, connection, 3)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // Of a process group of its own, so that Ctrl-C ends the program and not the snapshot it is
    // waiting for.
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
    let environment = currentEnvironment().filter { !$0.hasPrefix("LD_PRELOAD=") }
    var pid: pid_t = 0
    let error = withCStrings([_readerTool, "read-twin", "3"]) { arguments in
      withCStrings(environment) { environment in
        posix_spawn(&pid, _readerTool, &actions, &attributes, arguments, environment)
      }
    }
    if hasOutput { Glibc.close(output[1]) }
    defer { if hasOutput { Glibc.close(output[0]) } }
    guard error == 0 else {
      let sentence = "the reader can't be run: \(String(cString: strerror(error)))"
      _ = writeAll(ChannelAnswer.error(errno: error, sentence: sentence).line, to: connection)
      return (sentence, [])
    }
    var said: String?
    var notes: [String] = []
    while hasOutput, let line = readLine(from: output[0]) {
      let parts = line.split(separator: "\t", maxSplits: 1).map(String.init)
      guard parts.count == 2 else { continue }
      if parts[0] == "note" { notes.append(parts[1]) } else { said = parts[1] }
    }
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
    if status == 0 { return (said, notes) }
    let end =
      switch ProgramEnd(waitStatus: status) {
      case .exited(let status): "status \(status)"
      case .killed(let signal): "signal \(signal)"
      }
    // Where the program was gone before it could be answered, the reader has said what became of the snapshot.
    let sentence = said ?? "the reader ended by \(end), without an answer"
    _ = writeAll(ChannelAnswer.error(errno: EIO, sentence: sentence).line, to: connection)
    return (sentence, notes)
  }
}
