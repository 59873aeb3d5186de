// Ending: how the tool ends before its time: by a signal, or since it would need too much memory.

internal import Glibc
internal import SnapshotFormat

/// Has the signals of a terminal and of a service manager remove what is half written before they end the
/// process as they do without this.
///
/// The handler says just which signal it was; a thread does the work, since a handler may do next to nothing.
/// Programs that are started have the signals as they were.
func removeLeftoversWhenInterrupted() {
  var ends: [Int32] = [-1, -1]
  // Without a pipe the signals do what they always do.
  guard pipe(&ends) == 0 else { return }
  ends.forEach { _ = fcntl($0, F_SETFD, FD_CLOEXEC) }
  _interrupted = ends[1]
  for number in [SIGINT, SIGTERM, SIGHUP] {
    var before = sigaction()
    sigaction(number, nil, &before)
    // `nohup` has it ignored.
    guard before.__sigaction_handler.sa_handler == nil else { continue }
    var action = sigaction()
    action.__sigaction_handler.sa_handler = { number in
      var byte = UInt8(truncatingIfNeeded: number)
      let error = errno
      _ = Glibc.write(_interrupted, &byte, 1)
      errno = error
    }
    action.sa_flags = SA_RESTART
    sigaction(number, &action, nil)
  }
  let end = ends[0]
  pthread_detach(
    startLargeThread {
      var byte: UInt8 = 0
      while read(end, &byte, 1) < 0 && errno == EINTR {}
      Leftovers.removeAll()
      let number = Int32(byte)
      signal(number, SIG_DFL)
      var set = sigset_t()
      sigemptyset(&set)
      sigaddset(&set, number)
      pthread_sigmask(SIG_UNBLOCK, &set, nil)
      kill(getpid(), number)
      // The process is gone when the signal has reached it.
      while true { pause() }
    })
}

/// Where the handler says which signal it was.
nonisolated(unsafe) private var _interrupted: Int32 = -1

/// Ends the process with status 4 and a sentence when it has taken more memory of its own than it may.
///
/// What is counted is resident memory that belongs to no file: the pages of a mapped snapshot are the page
/// cache's. It is looked at 200 times a second, so for a moment the process can have a few MB more.
func endBeforeMore(than bytes: UInt64, given: String, tool: String, verb: String) {
  let file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
  guard file >= 0 else { return }
  let page = UInt64(getpagesize())
  let sentence =
    "\(tool): \(verb): it needs more memory than --memory-limit \(given) allows; give more, or use a "
    + "machine that has more\n"
  pthread_detach(
    startLargeThread {
      var text = [UInt8](repeating: 0, count: 256)
      while true {
        let count = pread(file, &text, text.count, 0)
        let fields = String(decoding: text.prefix(max(0, count)), as: UTF8.self).split(
          separator: " ")
        if fields.count > 2, let resident = UInt64(fields[1]), let shared = UInt64(fields[2]),
          resident > shared, (resident - shared) * page > bytes
        {
          Leftovers.removeAll()
          let bytes = Array(sentence.utf8)
          _ = write(2, bytes, bytes.count)
          _exit(ExitStatus.impossible.rawValue)
        }
        usleep(5_000)
      }
    })
}
