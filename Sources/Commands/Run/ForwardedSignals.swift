// ForwardedSignals: which signals of `memgraph run` are the program's, and have not reached it yet.

internal import Glibc

/// The signals that this process hands on to the program instead of acting on them.
///
/// What is sent to the process group (by a terminal, `kill -- -GROUP`, `timeout`) has reached the program
/// already. Nothing in a signal says whether it was sent to a group: a third process of the group, the
/// *group watch*, has got it too, or has not.
struct ForwardedSignals {
  let maskBefore: sigset_t
  private var _set = sigset_t()
  private let _watch: GroupWatch?

  /// - Parameter tool: a `memgraph`, run as the group's watch.
  init(tool: String) {
    sigemptyset(&_set)
    for signal in [
      SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH, SIGCONT,
    ] {
      sigaddset(&_set, signal)
    }
    var before = sigset_t()
    pthread_sigmask(SIG_BLOCK, &_set, &before)
    maskBefore = before
    _watch = GroupWatch(tool: tool)
  }

  func restore() {
    _watch?.end()
    var mask = maskBefore
    pthread_sigmask(SIG_SETMASK, &mask, nil)
  }

  /// Hands signals on until the program has ended.
  func forwardUntilEnd(of pid: pid_t) -> ProgramEnd {
    while true {
      var status: Int32 = 0
      let ended = waitpid(pid, &status, WNOHANG)
      if ended == pid { return ProgramEnd(waitStatus: status) }
      if ended < 0 && errno == ECHILD {
        return .exited(status: 0)  // somebody has SIGCHLD ignored: how it ended is lost
      }
      var set = _set
      var info = siginfo_t()
      // With a limit, in case SIGCHLD is ignored and so never comes.
      var limit = timespec(tv_sec: 1, tv_nsec: 0)
      let signal = sigtimedwait(&set, &info, &limit)
      guard signal > 0, signal != SIGCHLD else { continue }
      let wasForGroup = _watch?.hasReceived(signal) ?? false
      // The kernel's own, a terminal's for one, are for the group in any case.
      if !wasForGroup, info.si_code <= 0 { kill(pid, signal) }
    }
  }
}

/// A process of the group that only tells whether a signal has reached it.
///
/// The kernel gives a group's signal to its younger processes first, so when this process has one, its
/// younger child has it too.
private struct GroupWatch {
  private let _pid: pid_t
  private let _channel: Int32

  /// Starts the process; nil where that fails. The signals must be blocked.
  init?(tool: String) {
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else { return nil }
    ends.forEach(closeOnExec)
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    // It must not keep a pipe of the program open.
    for stream in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
      posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0)
    }
    posix_spawn_file_actions_adddup2(&actions, ends[1], 3)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var all = sigset_t()
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &all)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    let environment = currentEnvironment().filter { !$0.hasPrefix("LD_PRELOAD=") }
    var pid: pid_t = 0
    let error = withCStrings([tool, "watch-group", "3"]) { arguments in
      withCStrings(environment) { posix_spawn(&pid, tool, &actions, &attributes, arguments, $0) }
    }
    close(ends[1])
    guard error == 0 else {
      close(ends[0])
      return nil
    }
    _pid = pid
    _channel = ends[0]
  }

  /// Whether a signal has reached the process since it was last asked.
  func hasReceived(_ signal: Int32) -> Bool {
    var byte = UInt8(signal)
    guard send(_channel, &byte, 1, Int32(MSG_NOSIGNAL)) == 1 else { return false }
    var count = 0
    repeat { count = recv(_channel, &byte, 1, 0) } while count < 0 && errno == EINTR
    return count == 1 && byte == 1
  }

  func end() {
    close(_channel)
    var status: Int32 = 0
    while waitpid(_pid, &status, 0) < 0 && errno == EINTR {}
  }
}

/// Is the group's watch: the hidden verb `watch-group`. All signals are blocked.
///
/// - Parameter channel: each byte asks whether the signal of that number is there; 1 or 0 answers.
func watchGroup(channel: Int32) {
  var byte: UInt8 = 0
  while true {
    let count = recv(channel, &byte, 1, 0)
    if count < 0 && errno == EINTR { continue }
    guard count == 1 else { return }
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, Int32(byte))
    var now = timespec()
    byte = sigtimedwait(&set, nil, &now) > 0 ? 1 : 0
    guard send(channel, &byte, 1, Int32(MSG_NOSIGNAL)) == 1 else { return }
  }
}
